"""Coding a column of events: how many cuts lie before each value, written where it belongs.

One call per column and end, whatever the number of events: in wide schemas there are hundreds
of columns, and a handful of NumPy calls on each would be most of the work.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from predicast.matching.columnar.kernels.compiling import array, entry, kernel
from predicast.matching.columnar.reserved import FLOAT, INTEGER, OF_END

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
def code_numbers(pool: Any, wholes: Any, reals: Any, said: Any, low: Any, high: Any) -> None:
    """Code the numbers of one event: on each axis an integer, a float, or nothing.

    The pool is as ``NumberPool`` has it. What is said is nothing again afterwards, for the next
    event.
    """
    for axis in range(len(said)):
        if said[axis] == INTEGER:
            low[0, axis] = _code_of_integer(pool, axis, 0, wholes[axis])
            high[0, axis] = _code_of_integer(pool, axis, OF_END, wholes[axis])
        elif said[axis] == FLOAT:
            floats, ranges = pool[1], pool[3]
            low[0, axis] = _behind(floats, ranges[axis, 2], ranges[axis, 3], reals[axis])
            first, end = ranges[axis, OF_END + 2], ranges[axis, OF_END + 3]
            high[0, axis] = _behind(floats, first, end, reals[axis])
        said[axis] = 0


@kernel
def _code_of_integer(pool: Any, axis: int, at: int, value: int) -> Any:
    """The code of an integer on an axis; what is known of its lower or upper cuts is at ``at``."""
    ints, _, tables, ranges = pool
    size = ranges[axis, at + 5]
    if size:
        first = ranges[axis, at + 6]
        place = min(max(value, first), first + size - 1) - first
        return np.int64(tables[ranges[axis, at + 4] + place])
    return _behind(ints, ranges[axis, at], ranges[axis, at + 1], value)


@entry(
    (
        *(array(types.int64), array(types.float64), array(types.int32), array(types.int64, 2)),
        *(array(types.int64, 2), array(types.int64, 2)),
        *(array(types.float64, 2), array(types.int64, 2)),
        array(types.int32, 2, written=True),
        array(types.int32, 2, written=True),
        array(types.boolean, 2, written=True),
    ),
    nogil=False,
)
def code_columns(  # noqa: PLR0913, PLR0917  # arrays: a tuple would cost per call
    ints: Any,
    floats: Any,
    tables: Any,
    ranges: Any,
    wholes: Any,
    of_wholes: Any,
    reals: Any,
    of_reals: Any,
    low: Any,
    high: Any,
    wide: Any,
) -> None:
    """Code columns of integers and of floats, a row of ``wholes`` or ``reals`` each.

    The first four arrays are a ``NumberPool``. What is wanted of wholes and of reals are
    (axis, row of numbers, column of codes).
    """
    places = np.empty(len(low), np.int64)
    for each in range(len(of_wholes)):
        axis, row, column = of_wholes[each, 0], of_wholes[each, 1], of_wholes[each, 2]
        _integers_behind(ints, tables, ranges, axis, 0, wholes, row, places)
        for event in range(len(places)):
            low[event, column] = places[event]
            wide[event, column] = False
        _integers_behind(ints, tables, ranges, axis, OF_END, wholes, row, places)
        for event in range(len(places)):
            high[event, column] = places[event]
    for each in range(len(of_reals)):
        axis, row, column = of_reals[each, 0], of_reals[each, 1], of_reals[each, 2]
        _all_behind(floats, ranges[axis, 2], ranges[axis, 3], reals, row, places)
        for event in range(len(places)):
            low[event, column] = places[event]
            wide[event, column] = False
        first, end = ranges[axis, OF_END + 2], ranges[axis, OF_END + 3]
        _all_behind(floats, first, end, reals, row, places)
        for event in range(len(places)):
            high[event, column] = places[event]


@kernel
def _integers_behind(
    ints: Any, tables: Any, ranges: Any, axis: int, at: int, values: Any, row: int, places: Any
) -> None:
    """How many cuts lie before each integer of a row; by a table, where there is one."""
    size = ranges[axis, at + 5]
    if size == 0:
        _all_behind(ints, ranges[axis, at], ranges[axis, at + 1], values, row, places)
        return
    begin, first = ranges[axis, at + 4], ranges[axis, at + 6]
    last = first + size - 1
    for event in range(len(places)):
        places[event] = tables[begin + min(max(values[row, event], first), last) - first]


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
