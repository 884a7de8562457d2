"""Predicast: content-based publish/subscribe. Events go to everyone whose predicate they
satisfy.
"""

from predicast.__about__ import __version__
from predicast.engine import Engine
from predicast.language import attr
from predicast.model import Event, Interval, covers
from predicast.operations import Change, Subscribe, Unsubscribe

__all__ = [
    "Change",
    "Engine",
    "Event",
    "Interval",
    "Subscribe",
    "Unsubscribe",
    "__version__",
    "attr",
    "covers",
]
