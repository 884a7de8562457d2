"""One attribute: both sides sorted by their lower ends, and scanned forward together.

Of two intervals that meet, one begins within the other. So the pairs are those in which the
subscription begins within the publication, or at the same place, and those in which the
publication begins within the subscription, later than it. Either is a run of neighbours in sorted
order, whose ends binary searches find. How many pairs there are is known before any is written.

Cost: two sorts, four searches of one sorted array in the order of another, and the pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from predicast.arrays import Array, offsets
from predicast.matching.region_join.codes import Codes


class _Runs(NamedTuple):
    """For each region of one side a run of the other, all of them in sorted order."""

    first: Array
    counts: Array


class ForwardScan:
    """The pairs of intervals that meet."""

    def __init__(self, publications: Codes, subscriptions: Codes) -> None:
        self._publications = np.argsort(publications.lo)
        self._subscriptions = np.argsort(subscriptions.lo)
        published = publications.taken(self._publications)
        subscribed = subscriptions.taken(self._subscriptions)
        self._later = _runs(published, subscribed.lo, "left")
        self._earlier = _runs(subscribed, published.lo, "right")

    def count(self) -> int:
        """How many pairs there are."""
        return int(self._later.counts.sum() + self._earlier.counts.sum())

    def pieces(self, most: int) -> Iterator[tuple[Array, Array]]:
        """The pairs, at most so many at a time."""
        for mine, others in _expanded(self._later, most):
            yield self._publications[mine], self._subscriptions[others]
        for mine, others in _expanded(self._earlier, most):
            yield self._publications[others], self._subscriptions[mine]


def _runs(of: Codes, begins: Array, side: str) -> _Runs:
    """For each interval those that begin within it, from where it begins or after that."""
    first = np.searchsorted(begins, of.lo, side)  # type: ignore[call-overload]
    counts = np.searchsorted(begins, of.hi, "right") - first
    return _Runs(first, np.maximum(counts, 0))


def _expanded(runs: _Runs, most: int) -> Iterator[tuple[Array, Array]]:
    """Each region with each of its run, at most so many at a time."""
    ends = offsets(runs.counts)
    total = int(ends[-1])
    for begin in range(0, total, most):
        end = min(begin + most, total)
        lead = int(np.searchsorted(ends, begin, "right")) - 1
        last = int(np.searchsorted(ends, end, "left"))
        edges = np.clip(ends[lead : last + 1], begin, end)
        mine = np.repeat(np.arange(lead, last), np.diff(edges))
        yield mine, np.arange(begin, end) - (ends[:-1] - runs.first)[mine]
