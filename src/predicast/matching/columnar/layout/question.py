"""``Question``: all that one event is asked with, and where it lies in memory.

A compiled loop takes each array that it is given apart, which costs as long as a look at a cache
that misses. For a batch that is nothing; for one event, thirty arrays in three calls were a third
of the whole. So what single events are asked with is put down once, as a table of addresses that
the loop makes arrays of again (``kernels/addresses.py``), and one number stands for all of them.

Whoever holds the table must hold the arrays, and none of them may move: that is what the class is
for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from predicast.arrays import Array


class Counts(NamedTuple):
    """Where in an array of counts each stands."""

    given: int = 0  # tests that hold, written before the event is asked
    asked: int = 1  # what of the tests has to be asked
    # The room that there has to be for what is written, if there is too little.
    room_for_tests: int = 2
    room_for_asked: int = 3
    room_for_found: int = 4


class QuestionArrays(NamedTuple):
    """What is asked, and of what."""

    # The segment: its image, and what is deleted since when.
    data: Array
    directory: Array
    deleted: Array
    since: Array
    # The cuts of numbers (``NumberPool``) and of strings (``TextPool``), and what strings say.
    ints: Array
    floats: Array
    tables: Array
    ranges: Array
    first: Array
    cuts: Array
    keys: Array
    slots: Array
    uppers: Array
    axes: Array
    of_strings: Array
    # What the event says: on each axis an integer, a float or nothing, and the strings.
    wholes: Array
    reals: Array
    said: Array
    spots: Array
    raw: Array
    # Its codes, one row.
    low: Array
    high: Array
    wide: Array
    column: Array
    # The index of patterns (``IndexImage``), and what it has seen.
    patterns: Array
    patterns_directory: Array
    seen: Array
    # The other tests that hold, as ``Hits`` has them of one word: those that are given, then those
    # that the index finds; what of them has to be asked; and how many of each (``Counts``).
    word: Array
    held: Array
    tests: Array
    columns: Array
    asked: Array
    counts: Array
    # Room for marks, and for what is found.
    marks: Array
    found: Array


# The type of each, in the same order and the same groups.
_CODES: Final = """
    u1 i8 i4 i8
    i8 f8 i4 i8 i8 u1 u8 u8 i4 i8 i8
    i8 f8 u1 i8 u1
    i4 i4 ?  i4
    u1 i8 i4
    i4 i8 i4 i8 i8 i8
    i4 i4
"""
_DTYPES: Final = QuestionArrays(*map(np.dtype, _CODES.split()))  # type: ignore[arg-type]


class Question:
    """The arrays, and a table of where each begins and how many bytes it has."""

    __slots__ = ("arrays", "counts", "table")

    def __init__(self, arrays: QuestionArrays) -> None:
        for name, each, dtype in zip(QuestionArrays._fields, arrays, _DTYPES, strict=True):
            assert each.dtype == dtype and each.flags.c_contiguous, name
        self.arrays = arrays
        self.counts: Any = memoryview(arrays.counts)  # type: ignore[arg-type]  # Python reads it faster
        self.table = np.array([(each.ctypes.data, each.nbytes) for each in arrays], np.int64)

    def hits(self) -> tuple[Array, ...]:
        """The tests that hold, as ``Hits`` has them."""
        a = self.arrays
        return a.word, a.held, a.tests, a.columns, a.tests[:0]

    def with_room(self) -> Question:
        """The same with as much room as it takes."""
        counts, a = Counts(), self.arrays
        given = self.counts[counts.given]
        tests = np.empty(max(self.counts[counts.room_for_tests], len(a.tests)), np.int32)
        tests[:given] = a.tests[:given]
        return Question(
            a._replace(
                tests=tests,
                asked=np.empty(max(self.counts[counts.room_for_asked], len(a.asked)), np.int64),
                found=np.empty(max(self.counts[counts.room_for_found], len(a.found)), np.int32),
            )
        )

    def give(self, tests: Sequence[int]) -> Question:
        """Have some tests hold, whatever the index finds; perhaps elsewhere, with room for them."""
        a, counts = self.arrays, Counts()
        if len(tests) > len(a.tests):
            return Question(a._replace(tests=np.empty(2 * len(tests), np.int32))).give(tests)
        a.tests[: len(tests)] = tests
        self.counts[counts.given] = len(tests)
        return self
