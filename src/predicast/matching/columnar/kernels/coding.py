"""Coding a column of events: how many cuts lie before each value, written where it belongs.

One call per column and end, whatever the number of events: in wide schemas there are hundreds
of columns, and a handful of NumPy calls on each would be most of the work.
"""

from __future__ import annotations

from typing import Any, Final

from numba import types

from predicast.matching.columnar.kernels.compiling import array, entry

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
