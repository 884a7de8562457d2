"""Axes of numbers: the cuts of all of them side by side, so that one call codes them all.

Integers are looked up in a table where cuts are dense (``compile/cuts.py``), whatever else is
searched. To look after one axis after the other took longer than a small batch does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from predicast.matching.batches.typed_values import Floats, Integers, TypedValues
from predicast.matching.columnar.compile.axes import Axis, Scale
from predicast.matching.columnar.compile.cuts import NumberCuts
from predicast.matching.columnar.reserved import OF_END

Wanted: TypeAlias = tuple[int, int, int]  # an axis, a row of numbers, a column of codes
_NONE: Final = np.zeros((0, 3), np.int64)


class NumberPool(NamedTuple):
    """The cuts of all axes of numbers side by side, as ``code_columns`` reads them.

    ``ranges`` has, for the lower and then for the upper cuts of each axis: where the least integers
    behind them begin and end, where the least floats do, and of a table of codes its place, its
    size (0 if there is none) and the first integer that is in it.
    """

    ints: npt.NDArray[np.int64]
    floats: npt.NDArray[np.float64]
    tables: npt.NDArray[np.int32]
    ranges: npt.NDArray[np.int64]


def pool_of(axes: Sequence[Axis]) -> NumberPool:
    """The pool of the axes of numbers among some."""
    ints: list[npt.NDArray[np.int64]] = [np.zeros(0, np.int64)]
    floats: list[npt.NDArray[np.float64]] = [np.zeros(0)]
    tables: list[npt.NDArray[np.int32]] = [np.zeros(0, np.int32)]
    tabled: list[NumberCuts] = []
    ranges = np.zeros((len(axes), 2 * OF_END), np.int64)
    of_ints = of_floats = of_tables = 0
    for axis, (name, *both) in enumerate(axes):
        if name.scale is not Scale.NUMBER:
            continue
        for end, cuts in enumerate(both):
            assert isinstance(cuts, NumberCuts)
            ints.append(cuts.ints)
            floats.append(cuts.floats)
            first, table = cuts.table
            tables.append(table)
            tabled.append(cuts)
            ranges[axis, end * OF_END : (end + 1) * OF_END] = (
                *(of_ints, of_ints + len(cuts.ints)),
                *(of_floats, of_floats + len(cuts.floats)),
                *(of_tables, len(table), first),
            )
            of_ints += len(cuts.ints)
            of_floats += len(cuts.floats)
            of_tables += len(table)
    pool = NumberPool(np.concatenate(ints), np.concatenate(floats), np.concatenate(tables), ranges)
    ends = np.cumsum([len(table) for table in tables[1:]])
    for each, table in zip(tabled, np.split(pool.tables, ends), strict=False):
        each.keep_table(table)
    return pool


class NumberColumns:
    """Which columns of a batch are numbers throughout, and the axes on which they are coded."""

    def __init__(self) -> None:
        self._places: dict[type, list[int]] = {Integers: [], Floats: []}
        self._wanted: dict[type, list[Wanted]] = {Integers: [], Floats: []}
        self._made: dict[type, npt.NDArray[np.int64]] = {Integers: _NONE, Floats: _NONE}

    def take(self, place: int, type_: type, axes: Sequence[int], columns: Sequence[int]) -> bool:
        """Take the column at a place, if it is one; its codes on these axes go to these columns."""
        places = self._places.get(type_)
        if places is None:
            return False
        self._wanted[type_] += [
            (axis, len(places), column) for axis, column in zip(axes, columns, strict=True)
        ]
        self._made[type_] = np.array(self._wanted[type_], np.int64).reshape(-1, 3)
        places.append(place)
        return True

    def of(self, parts: Sequence[TypedValues]) -> tuple[npt.NDArray[Any], ...]:
        """What is to be coded of a batch: integers and floats, each with what is wanted of them."""
        whole, real = self._places[Integers], self._places[Floats]
        wholes = np.array([parts[place].values for place in whole]) if whole else _NO_WHOLES
        reals = np.array([parts[place].values for place in real]) if real else _NO_REALS
        return wholes, self._made[Integers], reals, self._made[Floats]


_NO_WHOLES: Final = np.zeros((0, 0), np.int64)
_NO_REALS: Final = np.zeros((0, 0))
