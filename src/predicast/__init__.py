"""Predicast: content-based publish/subscribe. Events go to everyone whose predicate they
satisfy.
"""

from predicast.__about__ import __version__
from predicast.covering import covers
from predicast.engine import Change, Engine, Subscribe, Unsubscribe
from predicast.language import attr
from predicast.model import Event, Interval

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
