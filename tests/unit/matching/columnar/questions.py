"""Questions to no segment, for tests of what is written into them."""

from __future__ import annotations

import numpy as np

from predicast.matching.columnar.compile.axes import Axis
from predicast.matching.columnar.event_codes import EventCoder, OneEvent
from predicast.matching.columnar.layout.question import QuestionArrays
from predicast.matching.columnar.patterns.pattern_index import PatternIndex
from predicast.matching.columnar.reserved import OF_END


def blank_question(axes: int) -> QuestionArrays:
    """Of an event that says nothing, on so many axes without cuts."""
    longs, ints, none = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint8)
    low, high = np.zeros((1, axes), np.int32), np.zeros((1, axes), np.int32)
    return QuestionArrays(
        *(none, longs, ints, longs),
        *(longs, np.zeros(0), ints, np.zeros((axes, 2 * OF_END), np.int64)),
        *(longs, none, longs.view(np.uint64), longs.view(np.uint64), ints),
        *(np.zeros((0, 9), np.int64), np.zeros((0, 6), np.int64)),
        *(np.zeros(axes, np.int64), np.zeros(axes), np.zeros(axes, np.uint8)),
        *(np.full(1, -1, np.int64), none),
        *(low, high, np.zeros((1, axes), bool), np.arange(axes, dtype=np.int32)),
        *PatternIndex([]).room(),
        *(np.zeros(1, np.int32), ints),
    )


def coded_by(coder: EventCoder, one: OneEvent, axes: list[Axis]) -> QuestionArrays:
    """Of an event that was written, by the cuts of a coder."""
    blank = blank_question(len(axes))
    said = (*one.numbers, one.spots, one.raw, *one.arrays)
    return QuestionArrays._make((*blank[:4], *coder.pools(), *said, *blank[-11:]))
