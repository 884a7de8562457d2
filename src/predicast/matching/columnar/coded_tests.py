"""The tests of many clauses as codes: what a segment is built from, and what it turns back into.

::

    clauses   keys     [ 7      | 8          | 9    ]   the subscription each belongs to
    tests     clause   [ 0    0 | 1    1   1 | 2    ]   ascending; each test is on one axis
              axis     [ 0    2 | 0    1   2 | 1    ]
    spans     first    [ 0    1 | 2    3   4 | 7    ]   a test holds if one of its spans does
              lo, hi   [ ..   ..| ..   ..  .. .. .. | .. ]

A test of one span is a comparison, an equality or a between; one of several spans is an IN or a
<>. What codes cannot express stands apart, as *others*. Tables are merged by ranking the cuts of
both afresh, which takes no more than looking up each code in a table: nothing is compiled twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.matching.columnar.axes import Axis, AxisName
from predicast.matching.columnar.cuts import NumberCuts, TextCuts
from predicast.matching.columnar.ranges import entries, firsts, firsts_of
from predicast.model import Constraint

Array = npt.NDArray[Any]

STRUCK: Final = -1  # the key of a clause that nobody asks for any more


class Other(NamedTuple):
    """A test that codes cannot express: constraints on one attribute, to hold or (inverted) not."""

    attribute: str
    constraints: tuple[Constraint, ...]
    inverted: bool


@dataclass(frozen=True, slots=True, eq=False)
class CodedTests:
    """The tests of clauses; arrays as drawn above."""

    keys: Array
    axes: list[Axis]
    clause: Array
    axis: Array
    span_first: Array
    lo: Array
    hi: Array
    is_point: Array  # of each test: whether all of its spans are single values
    others: list[Other]
    other_clause: Array  # ascending
    other: Array

    def __len__(self) -> int:
        return len(self.keys)

    def is_plain(self) -> Array:
        """Which clauses consist of tests of one span only."""
        plain = np.ones(len(self.keys), bool)
        plain[self.clause[np.diff(self.span_first) != 1]] = False
        plain[self.other_clause] = False
        return plain

    def live(self) -> CodedTests:
        """The same without the clauses that are struck out."""
        clauses = np.flatnonzero(self.keys >= 0)
        if len(clauses) == len(self):
            return self
        number = np.zeros(len(self), np.int32)
        number[clauses] = np.arange(len(clauses))
        tests = entries(firsts_of(self.clause, len(self)), clauses)
        spans = entries(self.span_first, tests)
        others = entries(firsts_of(self.other_clause, len(self)), clauses)
        return CodedTests(
            self.keys[clauses],
            self.axes,
            number[self.clause[tests]],
            self.axis[tests],
            firsts(np.diff(self.span_first)[tests]),
            self.lo[spans],
            self.hi[spans],
            self.is_point[tests],
            self.others,
            number[self.other_clause[others]],
            self.other[others],
        )


def merged(tables: Sequence[CodedTests]) -> CodedTests:
    """One table of the clauses of several, the cuts ranked afresh."""
    if len(tables) == 1:
        return tables[0]
    trimmed = [_Trimmed(table) for table in tables]
    axes, places = _united_axes(trimmed)
    others, numbers = _united_others(tables)
    recoded = []
    for table, place, number in zip(tables, places, numbers, strict=True):
        span_axis = np.repeat(table.axis, np.diff(table.span_first))
        recoded.append(
            replace(
                table,
                axes=axes,
                axis=place.number[table.axis],
                lo=place.lower[place.lower_first[span_axis] + table.lo],
                hi=place.upper[place.upper_first[span_axis] + table.hi],
                others=others,
                other=number[table.other],
            )
        )
    return stacked(recoded)


def stacked(tables: Sequence[CodedTests]) -> CodedTests:
    """One table of the clauses of several that have the same axes and others."""
    clauses = firsts([len(table) for table in tables])
    spans = firsts([len(table.lo) for table in tables])

    def joined(name: str, shifts: Array | None = None) -> Array:
        parts = [getattr(table, name) for table in tables]
        if shifts is not None:
            parts = [p + shift for p, shift in zip(parts, shifts, strict=False)]
        return np.concatenate(parts)

    ends = [table.span_first[1:] + shift for table, shift in zip(tables, spans, strict=False)]
    return CodedTests(
        joined("keys"),
        tables[0].axes,
        joined("clause", clauses).astype(np.int32),
        joined("axis"),
        np.concatenate([[0], *ends]).astype(np.int64),
        joined("lo"),
        joined("hi"),
        joined("is_point"),
        tables[0].others,
        joined("other_clause", clauses).astype(np.int32),
        joined("other"),
    )


class _Places(NamedTuple):
    """Where the axes of one table are in another, and what its codes are there."""

    number: Array
    lower_first: Array
    lower: Array
    upper_first: Array
    upper: Array


class _Trimmed:
    """A table, and which of its cuts some span still uses."""

    def __init__(self, table: CodedTests) -> None:
        self.table = table
        self.lower_first = _firsts([axis.lower_cuts() + 1 for axis in table.axes])
        self.upper_first = _firsts([axis.upper_cuts() + 1 for axis in table.axes])
        self.lower_used = np.zeros(self.lower_first[-1], bool)
        self.upper_used = np.zeros(self.upper_first[-1], bool)
        span_axis = np.repeat(table.axis, np.diff(table.span_first))
        self.lower_used[self.lower_first[span_axis] + table.lo] = True
        self.upper_used[self.upper_first[span_axis] + table.hi] = True

    def lower(self, place: int) -> Array:
        """The lower cuts of an axis that are used, by number."""
        first, end = self.lower_first[place] + 1, self.lower_first[place + 1]
        return np.flatnonzero(self.lower_used[first:end])

    def upper(self, place: int) -> Array:
        """The upper cuts of an axis that are used, by number."""
        first, end = self.upper_first[place], self.upper_first[place + 1] - 1
        return np.flatnonzero(self.upper_used[first:end])


def _firsts(sizes: Sequence[int]) -> Array:
    return np.cumsum([0, *sizes], dtype=np.int64)


def _united_axes(tables: Sequence[_Trimmed]) -> tuple[list[Axis], list[_Places]]:
    """All axes, and for each table where its codes are on them."""
    holders: dict[AxisName, list[tuple[int, int]]] = {}
    for number, each in enumerate(tables):
        for place, axis in enumerate(each.table.axes):
            holders.setdefault(axis.name, []).append((number, place))
    places = [
        _Places(
            np.zeros(len(each.table.axes), np.int32),
            each.lower_first,
            np.zeros(each.lower_first[-1], np.int32),
            each.upper_first,
            np.zeros(each.upper_first[-1], np.int32),
        )
        for each in tables
    ]
    axes: list[Axis] = []
    for name, holding in sorted(holders.items()):  # keeps the tests of each clause ascending
        for number, place in holding:
            places[number].number[place] = len(axes)
        axes.append(_united_axis(name, holding, tables, places))
    return axes, places


def _united_axis(
    name: AxisName,
    holding: list[tuple[int, int]],
    tables: Sequence[_Trimmed],
    places: list[_Places],
) -> Axis:
    if name.is_flag():
        for number, place in holding:
            lower, upper = places[number].lower_first[place], places[number].upper_first[place]
            places[number].lower[lower : lower + 2] = (0, 1)
            places[number].upper[upper : upper + 2] = (0, 1)
        return Axis(name, None, None)
    lowers = [tables[number].lower(place) for number, place in holding]
    uppers = [tables[number].upper(place) for number, place in holding]
    axes = [tables[number].table.axes[place] for number, place in holding]
    lower_cuts, lower = _united_cuts([axis.lower for axis in axes], lowers)
    upper_cuts, upper = _united_cuts([axis.upper for axis in axes], uppers)
    for index, (number, place) in enumerate(holding):
        codes, first = places[number].lower, places[number].lower_first[place]
        codes[first + 1 + lowers[index]] = lower[index] + 1  # 0, unbounded, stays 0
        codes, first = places[number].upper, places[number].upper_first[place]
        codes[first + uppers[index]] = upper[index]
        codes[places[number].upper_first[place + 1] - 1] = len(upper_cuts)
    return Axis(name, lower_cuts, upper_cuts)


def _united_cuts(
    cuts: Sequence[NumberCuts | TextCuts | None], used: Sequence[Array]
) -> tuple[NumberCuts | TextCuts, list[Array]]:
    """The used ones among several tables' cuts, and where those of each table are now."""
    kind: Any = type(cuts[0])  # all are of one kind
    taken = [each.take(which) for each, which in zip(cuts, used, strict=True) if each is not None]
    united, position = kind.united(taken)
    return united, np.split(position, np.cumsum([len(which) for which in used])[:-1])


def _united_others(tables: Sequence[CodedTests]) -> tuple[list[Other], list[Array]]:
    numbers: dict[Other, int] = {}
    return_numbers = []
    for table in tables:
        used = np.unique(table.other)
        new = np.zeros(len(table.others), np.int32)
        for number in used.tolist():
            new[number] = numbers.setdefault(table.others[number], len(numbers))
        return_numbers.append(new)
    return list(numbers), return_numbers
