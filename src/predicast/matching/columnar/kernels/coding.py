"""Coding a column of events: how many cuts lie before each value, written where it belongs.

One call per column and end, whatever the number of events: in wide schemas there are hundreds
of columns, and a handful of NumPy calls on each would be most of the work.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from predicast.matching.columnar.kernels.compiling import array, entry, kernel
from predicast.matching.columnar.reserved import FLOAT, INTEGER

_CODES: Final = types.Array(types.int32, 1, "A")  # one column of many


@entry(
    (array(types.int64), array(types.int64), array(types.int64), _CODES),
    (array(types.float64), array(types.float64), array(types.int64), _CODES),
    nogil=False,
)
def code_by_search(cuts: Any, values: Any, rows: Any, codes: Any) -> None:
    """Search each value among the least values behind each cut; no rows at all are all rows."""
    every = len(rows) == 0
    for place in range(len(values)):
        value = values[place]
        low, high = 0, len(cuts)
        while low < high:
            middle = (low + high) // 2
            if cuts[middle] <= value:
                low = middle + 1
            else:
                high = middle
        codes[place if every else rows[place]] = low


@entry(
    (array(types.int32), types.int64, array(types.int64), array(types.int64), _CODES),
    nogil=False,
)
def code_by_table(table: Any, first: int, values: Any, rows: Any, codes: Any) -> None:
    """Look each integer up in a table of codes from ``first`` on; its ends stand for the rest."""
    every = len(rows) == 0
    last = first + len(table) - 1
    for place in range(len(values)):
        value = min(max(values[place], first), last)
        codes[place if every else rows[place]] = table[value - first]


@kernel
def code_numbers(
    ints: Any, floats: Any, ranges: Any, wholes: Any, reals: Any, said: Any, low: Any, high: Any
) -> None:
    """Code the numbers of one event: on each axis an integer, a float, or nothing.

    ``ranges`` says where the least integers and floats behind the lower and the upper cuts of each
    axis begin and end. What is said is nothing again afterwards, for the next event.
    """
    for axis in range(len(said)):
        if said[axis] == INTEGER:
            low[0, axis] = _behind(ints, ranges[axis, 0], ranges[axis, 1], wholes[axis])
            high[0, axis] = _behind(ints, ranges[axis, 2], ranges[axis, 3], wholes[axis])
        elif said[axis] == FLOAT:
            low[0, axis] = _behind(floats, ranges[axis, 4], ranges[axis, 5], reals[axis])
            high[0, axis] = _behind(floats, ranges[axis, 6], ranges[axis, 7], reals[axis])
        said[axis] = 0


@entry(
    (
        array(types.int64),
        array(types.int64, 2),
        array(types.int64, 2),
        array(types.int64, 2),
        types.int64,
        array(types.int32, 2, written=True),
        array(types.int32, 2, written=True),
        array(types.boolean, 2, written=True),
    ),
    (
        array(types.float64),
        array(types.int64, 2),
        array(types.float64, 2),
        array(types.int64, 2),
        types.int64,
        array(types.int32, 2, written=True),
        array(types.int32, 2, written=True),
        array(types.boolean, 2, written=True),
    ),
    nogil=False,
)
def code_columns(
    least: Any, ranges: Any, values: Any, wanted: Any, at: int, low: Any, high: Any, wide: Any
) -> None:
    """Code columns of numbers, a row of ``values`` each, on several axes.

    ``wanted`` are (axis, row of values, column of codes). Where the least values behind the cuts of
    an axis begin and end is in ``ranges``, from ``at`` on: the lower ones, then the upper ones.
    """
    places = np.empty(values.shape[1], np.int64)
    for each in range(len(wanted)):
        axis, row, column = wanted[each, 0], wanted[each, 1], wanted[each, 2]
        _all_behind(least, ranges[axis, at], ranges[axis, at + 1], values, row, places)
        for event in range(len(places)):
            low[event, column] = places[event]
            wide[event, column] = False
        _all_behind(least, ranges[axis, at + 2], ranges[axis, at + 3], values, row, places)
        for event in range(len(places)):
            high[event, column] = places[event]


@kernel
def _all_behind(least: Any, first: int, end: int, values: Any, row: int, places: Any) -> None:
    """How many of the ascending values are at or below each of a row.

    All of them are searched for a step at a time: by the next batch the cuts have left the caches,
    and so the processor waits for many of them at once and not for one after the other.
    """
    for event in range(len(places)):
        places[event] = 0
    size = end - first
    while size > 0:
        half = (size + 1) // 2
        for event in range(len(places)):
            behind = least[first + places[event] + half - 1] <= values[row, event]
            places[event] += half if behind else 0
        size -= half


@kernel
def _behind(least: Any, first: int, end: int, value: Any) -> int:
    """How many of the ascending values are at or below one."""
    begin = first
    while first < end:
        middle = (first + end) // 2
        if least[middle] <= value:
            first = middle + 1
        else:
            end = middle
    return first - begin
