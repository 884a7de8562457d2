"""Predicast: content-based publish/subscribe. Events go to everyone whose predicate they
satisfy.
"""

from typing import TYPE_CHECKING, Any

from predicast.__about__ import __version__
from predicast.covering import covers
from predicast.engine import Change, Engine, Subscribe, Unsubscribe
from predicast.language import attr
from predicast.model import Event, Interval

if TYPE_CHECKING:
    from predicast.matching.region_join import (
        RegionPairs,
        count_region_pairs,
        join_regions,
        join_regions_in_pieces,
    )

__all__ = [
    "Change",
    "Engine",
    "Event",
    "Interval",
    "RegionPairs",
    "Subscribe",
    "Unsubscribe",
    "__version__",
    "attr",
    "count_region_pairs",
    "covers",
    "join_regions",
    "join_regions_in_pieces",
]

# What needs NumPy and Arrow, which take longer to import than all the rest, is imported when asked.
_LATER = frozenset({"RegionPairs", "count_region_pairs", "join_regions", "join_regions_in_pieces"})


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from predicast.matching import region_join

    return getattr(region_join, name)
