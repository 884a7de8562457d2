"""``Latencies``: how long things took, as counts of ever longer spans of time.

Each span ends a quarter above the one before, so that a quantile is off by a quarter at most,
whatever happened before, at the cost of one number per span.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

_SHORTEST: Final = 1e-5  # seconds
_GROWTH: Final = 1.25
_SPANS: Final = 80  # the last ends after seven minutes, and has whatever took longer too


class Latencies:
    """Counts, to which somebody adds and of which others take differences."""

    def __init__(self) -> None:
        self.counts = [0] * _SPANS
        self.total_s = 0.0

    def add(self, seconds: float, times: int = 1) -> None:
        """That many things took that long."""
        steps = math.log(max(seconds, _SHORTEST) / _SHORTEST, _GROWTH)
        self.counts[min(math.ceil(steps), _SPANS - 1)] += times
        self.total_s += seconds * times

    def up_to(self, every: int) -> list[tuple[float, int]]:
        """How many took at most so many seconds, by every so many spans; the last are all."""
        sums = [*accumulate(self.counts)]
        ends = [*range(every - 1, _SPANS - 1, every), _SPANS - 1]
        return [
            (math.inf if end == _SPANS - 1 else _SHORTEST * _GROWTH**end, sums[end]) for end in ends
        ]


def quantile(counts: Sequence[int], part: float) -> float | None:
    """The seconds that this part of all took at most; ``None`` if there were none."""
    wanted = part * sum(counts)
    seen = 0
    for place, count in enumerate(counts):
        seen += count
        if seen and seen >= wanted:
            return _SHORTEST * _GROWTH**place
    return None
