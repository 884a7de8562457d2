"""Coding a column of events, as ``kernels/coding.py`` does."""

from __future__ import annotations

import numpy as np

from predicast.arrays import Array
from predicast.matching.columnar.reserved import INTEGER


def code_by_search(cuts: Array, values: Array, rows: Array, codes: Array) -> None:
    """Search each value among the least values behind each cut; no rows at all are all rows."""
    _put(np.searchsorted(cuts, values, "right"), rows, codes)


def code_by_table(table: Array, first: int, values: Array, rows: Array, codes: Array) -> None:
    """Look each integer up in a table of codes from ``first`` on; its ends stand for the rest."""
    _put(table[np.clip(values, first, first + len(table) - 1) - first], rows, codes)


def code_numbers(
    ints: Array,
    floats: Array,
    ranges: Array,
    wholes: Array,
    reals: Array,
    said: Array,
    low: Array,
    high: Array,
) -> None:
    """Code the numbers of one event: on each axis an integer, a float, or nothing."""
    for axis in np.flatnonzero(said).tolist():
        is_integer = said[axis] == INTEGER
        least, value = (ints, wholes[axis]) if is_integer else (floats, reals[axis])
        first = ranges[axis].tolist()[0 if is_integer else 4 :]
        low[0, axis] = np.searchsorted(least[first[0] : first[1]], value, "right")
        high[0, axis] = np.searchsorted(least[first[2] : first[3]], value, "right")
        said[axis] = 0


def code_columns(
    least: Array,
    ranges: Array,
    values: Array,
    wanted: Array,
    at: int,
    low: Array,
    high: Array,
    wide: Array,
) -> None:
    """Code columns of numbers, a row of ``values`` each, on several axes."""
    for axis, row, column in wanted.tolist():
        first = ranges[axis].tolist()[at : at + 4]
        low[:, column] = np.searchsorted(least[first[0] : first[1]], values[row], "right")
        high[:, column] = np.searchsorted(least[first[2] : first[3]], values[row], "right")
        wide[:, column] = False


def _put(found: Array, rows: Array, codes: Array) -> None:
    codes[rows if len(rows) else slice(len(found))] = found
