"""Merging segments: which are due, and a background thread that makes one of them.

As in a log-structured merge tree, segments of similar size are merged, so that each is more than
twice as large as all smaller ones together: there are O(log n) of them, and a clause is merged
O(log n) times. Sizes are those of what is live, and a segment that is mostly deleted is due as
well: what is held stays bounded by what is live. Where nothing changes any more, segments of any
size are merged once asking all of them has cost as much as that (``worth_merging``).
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence
from typing import Final

import numpy as np

from predicast.matching.columnar.compile.uniting import merged
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.segment import Segment
from predicast.model import Absent

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


def worth_merging(segments: Sequence[Segment], affordable: float) -> list[Segment]:
    """The smallest segments, as many as it has cost more not to have merged.

    ``affordable`` is how many clauses could have been merged for what it has cost to ask one more
    segment; to ask several more has cost several times as much.
    """
    by_size = sorted(segments, key=Segment.live)
    clauses = 0
    chosen = 0
    for count, segment in enumerate(by_size, 1):
        clauses += segment.live()
        if count > 1 and clauses <= affordable * (count - 1):
            chosen = count
    return by_size[:chosen]


class Merge:
    """Segments that are being made into one.

    They stay in use meanwhile. What is deleted from them is noted, and deleted from the merged one
    when it takes their place. The thread works on arrays and leaves the interpreter to others
    nearly all the time.
    """

    def __init__(self, segments: Sequence[Segment], absent: Absent, layout: Layout) -> None:
        self.segments = tuple(segments)
        self._absent: Absent = absent
        self._layout = layout
        self._deleted = array("i")
        self._outcome: Segment | BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="predicast-merge", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # there are too many threads, or the interpreter is about to end
            self._run()

    def is_over(self) -> bool:
        """Whether there is a result, or never will be: a fork leaves threads behind."""
        return self._outcome is not None or not self._thread.is_alive()

    def is_idle(self) -> bool:
        """Whether nothing that it merges is live any more."""
        return not any(segment.live() for segment in self.segments)

    def wait(self) -> None:
        """Come back when it is over."""
        if self._thread.is_alive():
            self._thread.join()

    def note_deleted(self, keys: np.ndarray) -> None:
        """Subscriptions were deleted from one of the segments."""
        self._deleted.extend(keys.tolist())

    def result(self) -> Segment | None:
        """The merged segment; ``None`` if the merge came to nothing. Asking again is harmless."""
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        if self._outcome is not None:
            self._outcome.mark_deleted(np.array(self._deleted, np.int64))
            self._outcome.recount()
        return self._outcome

    def _run(self) -> None:
        try:
            self._outcome = together(self.segments, self._absent, self._layout)
        except BaseException as error:  # noqa: BLE001  # raised again where it can be seen
            self._outcome = error


def together(segments: Sequence[Segment], absent: Absent, layout: Layout) -> Segment:
    """One segment of what is live in several."""
    return Segment.of(merged([segment.tests() for segment in segments]), absent, layout)
