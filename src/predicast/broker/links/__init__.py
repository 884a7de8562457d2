"""Linked brokers: each tenant's events go over a tree of brokers to whoever wants them there.

``predicast serve --parent URL`` is the way in for people. The algorithms are those of
``predicast.routing``; here are connections, what survives a crash, and who is called when.
"""

from predicast.broker.links.connection import Connection
from predicast.broker.links.links import Links, serve_link
from predicast.broker.links.settings import LinkSettings, Parent
from predicast.broker.links.sqlite_store import SqliteLinkStore
from predicast.broker.links.status import LinksStatus, NeighbourStatus, ParentStatus, Traffic
from predicast.broker.links.store import LinkStore

__all__ = [
    "Connection",
    "LinkSettings",
    "LinkStore",
    "Links",
    "LinksStatus",
    "NeighbourStatus",
    "Parent",
    "ParentStatus",
    "SqliteLinkStore",
    "Traffic",
    "serve_link",
]
