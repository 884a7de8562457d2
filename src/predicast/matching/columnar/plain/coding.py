"""Coding a column of events, as ``kernels/coding.py`` does."""

from __future__ import annotations

import numpy as np

from predicast.arrays import Array
from predicast.matching.columnar.reserved import INTEGER, OF_END


def code_by_search(cuts: Array, values: Array, rows: Array, codes: Array) -> None:
    """Search each value among the least values behind each cut; no rows at all are all rows."""
    _put(np.searchsorted(cuts, values, "right"), rows, codes)


def code_by_table(table: Array, first: int, values: Array, rows: Array, codes: Array) -> None:
    """Look each integer up in a table of codes from ``first`` on; its ends stand for the rest."""
    _put(table[np.clip(values, first, first + len(table) - 1) - first], rows, codes)


def code_numbers(
    pool: tuple[Array, ...], wholes: Array, reals: Array, said: Array, low: Array, high: Array
) -> None:
    """Code the numbers of one event: on each axis an integer, a float, or nothing."""
    ints, floats, _, ranges = pool
    for axis in np.flatnonzero(said).tolist():
        is_integer = said[axis] == INTEGER
        least, value = (ints, wholes[axis]) if is_integer else (floats, reals[axis])
        low[0, axis], high[0, axis] = _behind(least, ranges[axis], 0 if is_integer else 2, value)
        said[axis] = 0


def code_columns(  # noqa: PLR0913, PLR0917  # as the compiled one
    ints: Array,
    floats: Array,
    tables: Array,
    ranges: Array,
    wholes: Array,
    of_wholes: Array,
    reals: Array,
    of_reals: Array,
    low: Array,
    high: Array,
    wide: Array,
) -> None:
    """Code columns of integers and of floats, a row of ``wholes`` or ``reals`` each."""
    for least, values, wanted, at in ((ints, wholes, of_wholes, 0), (floats, reals, of_reals, 2)):
        for axis, row, column in wanted.tolist():
            low[:, column], high[:, column] = _behind(least, ranges[axis], at, values[row])
            wide[:, column] = False


def _behind(least: Array, known: Array, at: int, values: Array) -> tuple[Array, Array]:
    """How many of an axis's lower and of its upper cuts lie before values."""
    lower, upper = known[at : at + 2], known[OF_END + at : OF_END + at + 2]
    behind = (np.searchsorted(least[slice(*end)], values, "right") for end in (lower, upper))
    return tuple(behind)  # type: ignore[return-value]


def _put(found: Array, rows: Array, codes: Array) -> None:
    codes[rows if len(rows) else slice(len(found))] = found
