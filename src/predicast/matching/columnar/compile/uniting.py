"""Uniting tables: the clauses of several in one, the cuts on each axis ranked afresh.

Nothing is compiled twice: it takes no more than to rank the cuts that are still in use, and to look
each end of a span up in a list of where its cut is now. What no clause uses any more, be it a
cut, an axis or another test, is left behind, so that a table is as large as what is live.

Cost: O(n log n) in the number of cuts, O(n) in all else. The axes of numbers are ranked together,
since there may be a hundred thousand of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from predicast.arrays import Array, offsets
from predicast.matching.columnar.compile.axes import WRITTEN, Axis, AxisName
from predicast.matching.columnar.compile.coded_tests import CodedTests, Other, stacked
from predicast.matching.columnar.compile.cuts import NumberCuts, TextCuts, ranked_apart

_Cuts = NumberCuts | TextCuts | None


def merged(tables: Sequence[CodedTests]) -> CodedTests:
    """One table of the clauses of several."""
    taken = [_Taken(table) for table in tables]
    if len(tables) == 1 and taken[0].is_all_used():
        return tables[0]
    names = sorted({name for each in taken for name in each.names()})
    rank = {name: number for number, name in enumerate(names)}  # tests of a clause stay ascending
    numbers = [
        np.array([rank.get(axis.name, -1) for axis in table.axes], np.int32) for table in tables
    ]
    lower_cuts, lowers = _united([each.lower for each in taken], numbers, names)
    upper_cuts, uppers = _united([each.upper for each in taken], numbers, names)
    axes = [Axis(*each) for each in zip(names, lower_cuts, upper_cuts, strict=True)]
    sizes = np.array([axis.upper_cuts() for axis in axes], np.int32)
    others, other_numbers = _united_others(taken)
    recoded = []
    for each, number, lower, upper, other in zip(
        taken, numbers, lowers, uppers, other_numbers, strict=True
    ):
        table, unbounded = each.table, sizes[number[each.span_axis]]
        recoded.append(
            replace(
                table,
                axes=axes,
                axis=number[table.axis],
                lo=np.where(each.is_flag, table.lo, lower + 1),
                hi=np.where(each.is_flag, table.hi, np.where(upper < 0, unbounded, upper)),
                others=others,
                other=other[table.other],
                programs=table.programs.renumbered(other),
            )
        )
    return stacked(recoded)


class _Ends:
    """The lower or the upper ends of a table's spans: which cuts they are, -1 being none."""

    def __init__(self, cuts: Sequence[_Cuts], axis: Array, position: Array) -> None:
        self.cuts = cuts
        self.first = offsets([0 if each is None else len(each) for each in cuts])
        self.is_bounded = position >= 0
        self._place = (self.first[axis] + position)[self.is_bounded]
        self.used = np.zeros(self.first[-1], bool)
        self.used[self._place] = True

    def moved(self, now: Array) -> Array:
        """The ends as positions among other cuts, given where each cut is now."""
        position = np.full(len(self.is_bounded), -1, np.int32)
        position[self.is_bounded] = now[self._place]
        return position


class _Taken:
    """A table taken apart, and what of it some clause uses."""

    def __init__(self, table: CodedTests) -> None:
        self.table = table
        self.span_axis = np.repeat(table.axis, np.diff(table.span_first))
        flags = np.array([axis.name.is_flag() for axis in table.axes], bool)
        sizes = np.array([axis.upper_cuts() for axis in table.axes], np.int32)
        self.is_flag = flags[self.span_axis]
        lower = np.where(self.is_flag, -1, table.lo - 1)
        is_open = self.is_flag | (table.hi == sizes[self.span_axis])
        upper = np.where(is_open, -1, table.hi)
        self.lower = _Ends([axis.lower for axis in table.axes], self.span_axis, lower)
        self.upper = _Ends([axis.upper for axis in table.axes], self.span_axis, upper)
        self.axes = np.bincount(table.axis, minlength=len(table.axes)) > 0
        used = np.concatenate([table.other, table.programs.others()])
        self.others = np.bincount(used, minlength=len(table.others)) > 0

    def is_all_used(self) -> bool:
        """Whether there is nothing to leave behind."""
        used = (self.axes, self.others, self.lower.used, self.upper.used)
        return all(bool(each.all()) for each in used)

    def names(self) -> list[AxisName]:
        """The names of the axes that are used."""
        return [self.table.axes[number].name for number in np.flatnonzero(self.axes).tolist()]


def _united(
    tables: Sequence[_Ends], numbers: Sequence[Array], names: Sequence[AxisName]
) -> tuple[list[_Cuts], list[Array]]:
    """The cuts of each united axis, and the ends of each table's spans as positions among them."""
    now = [np.zeros(len(table.used), np.int32) for table in tables]
    cuts: list[_Cuts] = list(_unite_numbers(tables, numbers, now, len(names)))
    for axis, name in enumerate(names):
        if name.is_flag():
            cuts[axis] = None
    for axis, holders in _holders(numbers, names).items():
        cuts[axis] = _unite_words(tables, holders, now)
    return cuts, [table.moved(each) for table, each in zip(tables, now, strict=True)]


def _unite_numbers(
    tables: Sequence[_Ends], numbers: Sequence[Array], now: Sequence[Array], axes: int
) -> list[NumberCuts]:
    """Rank the cuts of all axes of numbers, and write where each of them is now."""
    places, pieces = [], []
    for table, number in zip(tables, numbers, strict=True):
        is_number = np.array([isinstance(each, NumberCuts) for each in table.cuts], bool)
        sizes = np.diff(table.first)
        place = np.flatnonzero(table.used & np.repeat(is_number, sizes))
        place_among_numbers = np.flatnonzero(table.used[np.repeat(is_number, sizes)])
        held = [each for each in table.cuts if isinstance(each, NumberCuts)]
        pieces.append(
            (
                np.repeat(number, sizes)[place].astype(np.int64),
                np.concatenate([_NO_WHOLE, *(each.whole for each in held)])[place_among_numbers],
                np.concatenate([_NO_REST, *(each.rest for each in held)])[place_among_numbers],
                np.concatenate([_NO_SIDE, *(each.side for each in held)])[place_among_numbers],
            )
        )
        places.append(place)
    joined = [np.concatenate(each) for each in zip(*pieces, strict=True)]
    cuts, position = ranked_apart(joined[0], joined[1], joined[2], joined[3], axes)
    ends = np.cumsum([len(place) for place in places])[:-1]
    for each, place, mine in zip(now, places, np.split(position, ends), strict=True):
        each[place] = mine
    return cuts


_NO_WHOLE = np.zeros(0, np.int64)
_NO_REST = np.zeros(0)
_NO_SIDE = np.zeros(0, np.int8)


def _holders(
    numbers: Sequence[Array], names: Sequence[AxisName]
) -> dict[int, list[tuple[int, int]]]:
    """For each united axis of texts, the tables that have it, and where."""
    is_text = np.array([name.scale in WRITTEN for name in names], bool)
    holders: dict[int, list[tuple[int, int]]] = {}
    for table, number in enumerate(numbers):
        there = np.flatnonzero(number >= 0)
        for axis in there[is_text[number[there]]].tolist():
            holders.setdefault(int(number[axis]), []).append((table, axis))
    return holders


def _unite_words(
    tables: Sequence[_Ends], holders: Sequence[tuple[int, int]], now: Sequence[Array]
) -> TextCuts:
    """Rank the cuts of one axis of strings, and write where each of them is now."""
    taken, places = [], []
    for table, axis in holders:
        ends = tables[table]
        cuts = ends.cuts[axis]
        assert isinstance(cuts, TextCuts)
        used = np.flatnonzero(ends.used[ends.first[axis] : ends.first[axis + 1]])
        taken.append(cuts.take(used))
        places.append(ends.first[axis] + used)
    united, position = TextCuts.united(taken)
    ends_ = np.cumsum([len(place) for place in places])[:-1]
    for (table, _), place, mine in zip(holders, places, np.split(position, ends_), strict=True):
        now[table][place] = mine
    return united


def _united_others(taken: Sequence[_Taken]) -> tuple[list[Other], list[Array]]:
    """The other tests in use, and for each table their numbers now."""
    numbers: dict[Other, int] = {}
    every = []
    for each in taken:
        new = np.zeros(len(each.others), np.int32)
        for number in np.flatnonzero(each.others).tolist():
            new[number] = numbers.setdefault(each.table.others[number], len(numbers))
        every.append(new)
    return list(numbers), every
