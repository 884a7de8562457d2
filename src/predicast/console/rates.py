"""Rates from counts that only grow, and quantiles of what happened in between."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from predicast.broker.latencies import quantile

# Counts of a backend's statistics that are drawn, by what people call them.
DRAWN: Final = {
    "published": "events_published",
    "acknowledged": "deliveries_acknowledged",
    "delivered again": "deliveries_repeated",
    "dropped": "deliveries_dropped",
    "given up": "deliveries_dead",
}
_APART: Final = 0.5  # seconds between looks: several pages may look at the same counts
_KEPT: Final = 120  # looks; two minutes of one each second


class Look(NamedTuple):
    """What happened between two looks, for each second."""

    at: float
    rates: Mapping[str, float]
    typical: float | None  # seconds from publish to acknowledgement of half of the events
    slowest: float | None  # of all but one in a hundred


class Rates:
    """Looks at a tenant's counts, one after the other."""

    def __init__(self) -> None:
        self.looks: deque[Look] = deque(maxlen=_KEPT)
        self._before: tuple[float, Mapping[str, float], Sequence[int]] | None = None

    def look(self, at: float, counts: Mapping[str, float], latencies: Sequence[int]) -> Look | None:
        """Take the next look, unless it is too soon; of the first there is nothing to tell."""
        before = self._before
        if before is not None and at - before[0] < _APART:
            return None
        self._before = (at, dict(counts), list(latencies))
        if before is None:
            return None
        passed = at - before[0]
        rates = {
            # A count that went back is of a process that began anew.
            name: max(0.0, counts.get(key, 0.0) - before[1].get(key, 0.0)) / passed
            for name, key in DRAWN.items()
        }
        between = [now - then for now, then in zip(latencies, before[2], strict=True)]
        look = Look(at, rates, quantile(between, 0.5), quantile(between, 0.99))
        self.looks.append(look)
        return look


def shown_rate(rate: float) -> str:
    """A rate for people."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}".removesuffix(".0")


def shown_seconds(seconds: float | None) -> str:
    """A span of time for people."""
    if seconds is None:
        return "–"
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"
