"""``Question``: all that one event is asked with, and where it lies in memory.

A compiled loop takes each array that it is given apart, which costs as long as a look at a cache
that misses. For a batch that is nothing; for one event, thirty arrays in three calls were a third
of the whole. So what single events are asked with is put down once, as a table of addresses that
the loop makes arrays of again (``kernels/addresses.py``), and one number stands for all of them.

Whoever holds the table must hold the arrays, and none of them may move: that is what the class is
for.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array


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
    # Room for marks, and for what is found.
    marks: Array
    found: Array


# The type of each, in the same order and the same groups.
_CODES: Final = """
    u1 i8 i4 i8
    i8 f8 i8 i8 u1 u8 u8 i4 i8 i8
    i8 f8 u1 i8 u1
    i4 i4 ?  i4
    i4 i4
"""
_DTYPES: Final = QuestionArrays(*map(np.dtype, _CODES.split()))  # type: ignore[arg-type]


class Question:
    """The arrays, and a table of where each begins and how many bytes it has."""

    __slots__ = ("arrays", "table")

    def __init__(self, arrays: QuestionArrays) -> None:
        for name, each, dtype in zip(QuestionArrays._fields, arrays, _DTYPES, strict=True):
            assert each.dtype == dtype and each.flags.c_contiguous, name
        self.arrays = arrays
        self.table = np.array([(each.ctypes.data, each.nbytes) for each in arrays], np.int64)
