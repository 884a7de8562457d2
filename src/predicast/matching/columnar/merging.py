"""Compiling what is recent and merging segments: which are due, and how one is made of several.

As in a log-structured merge tree, segments of similar size are merged, so that each is more than
twice as large as all smaller ones together: there are O(log n) of them, and a clause is merged
O(log n) times. Sizes are those of what is live, and a segment that is mostly deleted is due as
well: what is held stays bounded by what is live. Where nothing changes any more, segments of any
size are merged once asking all of them has cost as much as that (``worth_merging``).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import accumulate
from math import inf
from typing import Final, Literal

from predicast.matching.columnar.compile.uniting import merged
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.recent import Recent
from predicast.matching.columnar.segment import Segment
from predicast.model import Absent

Lane = Literal["small", "large"]  # what is compiled or merged within milliseconds, and the rest

_EACH: Final = 1.0  # what merging a clause costs, in microseconds or so
_SIMILAR: Final = 2  # segments up to this many times as large as all smaller ones are merged


def due(segments: Sequence[Segment], small: int, room: int) -> list[Segment]:
    """The segments that should be merged into one.

    Those of similar size, if together they are more than ``small``; and those that are mostly
    deleted, each of more than ``room`` clauses: for a few it is not worth it.
    """
    similar: list[Segment] = []
    live = 0
    for segment in sorted(segments, key=Segment.live):
        if similar and segment.live() > _SIMILAR * live:
            break
        similar.append(segment)
        live += segment.live()
    if len(similar) < 2 or sum(segment.weight() for segment in similar) <= small:
        similar = []
    worn = [each for each in segments if each.is_worn() and each.deleted > room]
    return similar + [each for each in worn if each not in similar]


def worth_merging(segments: Sequence[Segment], spent: float) -> list[Segment]:
    """The smallest segments, as many as it has cost more not to have merged.

    ``spent`` is what it has cost to ask one more segment, in microseconds or so; to ask several
    more has cost several times as much.
    """
    by_size, costs = _merge_costs(segments)
    chosen = max((count for count, cost in enumerate(costs, 2) if cost <= spent), default=0)
    return by_size[:chosen]


def cheapest_merge(segments: Sequence[Segment]) -> float:
    """What asking one more segment must have cost for any merge to be worth it."""
    return min(_merge_costs(segments)[1], default=inf)


def _merge_costs(segments: Sequence[Segment]) -> tuple[list[Segment], list[float]]:
    """Segments by size; what merging the first two, three, … costs for each that is then less."""
    by_size = sorted(segments, key=Segment.live)
    clauses = list(accumulate(segment.live() for segment in by_size))
    return by_size, [_EACH * sum_ / fewer for fewer, sum_ in enumerate(clauses[1:], 1)]


class Merge:
    """Parts that are being made into one segment, and stay in use meanwhile.

    It is made of what was held at an epoch. What has been deleted from the parts since is deleted
    from the segment when it takes their place.
    """

    def __init__(self, recents: Sequence[Recent], segments: Sequence[Segment], epoch: int) -> None:
        self.recents, self.segments = tuple(recents), tuple(segments)
        self.thread = threading.current_thread()  # that makes it
        self._epoch = epoch
        self._deleted = [segment.deleted for segment in segments]
        self._made: Segment | None = None
        self.merged = sum(segment.live() for segment in segments)  # clauses that were compiled
        self.compiled = 0  # clauses that were not

    def run(self, absent: Absent, layout: Layout) -> None:
        """Make the segment."""
        self._made = together(self.recents, self.segments, self._epoch, absent, layout)
        self.compiled = max((0 if self._made is None else len(self._made)) - self.merged, 0)

    def result(self) -> Segment | None:
        """The segment as it is to be by now; ``None`` if nothing is left of the parts."""
        made = self._made
        if made is None:
            return None
        deletions = [
            segment.deletions(before)
            for segment, before in zip(self.segments, self._deleted, strict=True)
        ]
        deletions += [recent.deletions(self._epoch) for recent in self.recents]
        for keys, epochs in deletions:
            if len(keys):
                made.delete(keys, epochs, int(epochs.max()))
        return made if made.live() else None


def together(
    recents: Sequence[Recent],
    segments: Sequence[Segment],
    epoch: int,
    absent: Absent,
    layout: Layout,
) -> Segment | None:
    """One segment of what is live in several parts; ``None`` if nothing is."""
    tables = [table for recent in recents for table in recent.tables(epoch)]
    tables += [table for segment in segments if len(table := segment.tests())]
    if not tables:
        return None
    segment = Segment.of(merged(tables), absent, layout)
    segment.make_ready()
    return segment
