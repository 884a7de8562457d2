"""Routing: brokers in a tree that carry each event only towards those who want it."""

from predicast.routing.host import Delivered, Host
from predicast.routing.messages import (
    Acknowledge,
    Announce,
    Bye,
    Events,
    Hello,
    KeepAlive,
    Message,
    PeerKind,
    Published,
    Refuse,
    Send,
)
from predicast.routing.options import LinkOptions, RouterOptions
from predicast.routing.router import Router
from predicast.routing.state import RouterState

__all__ = [
    "Acknowledge",
    "Announce",
    "Bye",
    "Delivered",
    "Events",
    "Hello",
    "Host",
    "KeepAlive",
    "LinkOptions",
    "Message",
    "PeerKind",
    "Published",
    "Refuse",
    "Router",
    "RouterOptions",
    "RouterState",
    "Send",
]
