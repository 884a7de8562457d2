"""``BoundsTable``: clauses of bounds as they are written, before they are compiled.

Most clauses are bounds on numbers and timestamps, or equalities. They wait in one long table and
are tried range by range by a compiled loop (``kernels/recent.py``)::

    keys       [ 7      | 9      | 4  ]       a subscription each
    gone       [ never  | 33     | .. ]       the epoch from which on it is
    row        [ 0      | 1      | .. ]       a clause each: whose it is
    ends       [ 2      | 4      | .. ]       where its ranges end
    column     [ 0    1 | 0    2 | .. ]       of values of one kind of one attribute
    lo         [ 3    8 | 5   -∞ | .. ]       float64: of an open end the next float
    hi         [ 4    8 | 9    7 | .. ]

Operands below 2^53 are exact as float64. An event's integer beyond that is rounded when it becomes
a float64, and stays beyond every operand: comparing it is exact all the same. A string is the
number of an equal one among those that are waited for.

It only grows, at the end, but for the epochs of ``gone``. A table that is full is copied to a
larger one; whoever looks at the one before keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, nextafter
from typing import Any, Final, NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.bounded_cache import remembered
from predicast.matching.columnar.compile.cuts import EXACT
from predicast.model import Kind, Operator
from predicast.model.operators import BOUNDS
from predicast.model.outline import KINDS, OperandType, Outline
from predicast.model.values import microseconds

NEVER: Final = np.iinfo(np.int64).max  # the epoch of what is not gone
_ROOM: Final = 1 << 8  # clauses that a table has room for at first
_BY_ORDER: Final = frozenset({Kind.NUMBER, Kind.TIMESTAMP})  # others are compared for equality only
_MAX_PLAN_BYTES: Final = 16 << 20  # of what is remembered: a plan takes up to twice its outline


class _Range(NamedTuple):
    """What a clause asks of the values in a column: places of operands, which may be left out."""

    column: int
    lows: tuple[tuple[int, bool], ...]
    highs: tuple[tuple[int, bool], ...]


class _Ends(NamedTuple):
    """One end of each range, as positions among the operands and one more: of those unbounded."""

    place: Array
    is_open: Array
    more: tuple[tuple[int, int, bool], ...]  # a range, and another end that is set to it


class Plan(NamedTuple):
    """How the subscriptions of one outline are written to the table."""

    clauses: tuple[tuple[_Range, ...], ...]
    tests: int  # ranges of all of them
    converters: tuple[tuple[int, Kind], ...]  # operands that are no numbers, by place
    ends: Array  # of the ranges of each clause
    columns: Array  # of all ranges
    lows: _Ends
    highs: _Ends


class BoundsTable:
    """Subscriptions whose clauses are bounds, and rows for others, which have none here."""

    _ROW_FIELDS: Final = (("keys", "i4"), ("gone", "i8"))
    _CLAUSE_FIELDS: Final = (("row", "i4"), ("ends", "i8"))
    _TEST_FIELDS: Final = (("column", "i4"), ("lo", "f8"), ("hi", "f8"))

    def __init__(self, room: tuple[int, int, int] = (_ROOM, _ROOM, 4 * _ROOM)) -> None:
        self._room = room
        fields = (self._ROW_FIELDS, self._CLAUSE_FIELDS, self._TEST_FIELDS)
        self.arrays: tuple[Array, ...] = tuple(
            np.empty(length, type_)
            for length, each in zip(room, fields, strict=True)
            for _, type_ in each
        )
        # Python writes a memoryview faster than an array.
        views: list[Any] = [memoryview(each) for each in self.arrays]  # type: ignore[arg-type]
        self.keys, self.gone, self._row, self.ends, self._column, self._lo, self._hi = views

    def with_room(self, rows: int, clauses: int, tests: int) -> BoundsTable:
        """The same, with room for so many rows, clauses and ranges."""
        room = self._room
        if rows <= room[0] and clauses <= room[1] and tests <= room[2]:
            return self
        needed = rows, clauses, tests
        larger = BoundsTable(tuple(max(2 * a, b) for a, b in zip(self._room, needed, strict=True)))  # type: ignore[arg-type]
        for old, new in zip(self.arrays, larger.arrays, strict=True):
            new[: len(old)] = old
        return larger

    def write(
        self, at: tuple[int, int, int], key: int, plan: Plan, numbers: Sequence[float]
    ) -> None:
        """Write a subscription behind so many rows, clauses and ranges."""
        row, clause, test = at
        columns, los, his = self._column, self._lo, self._hi
        for ranges in plan.clauses:
            for column, lows, highs in ranges:
                lo, hi = -inf, inf
                for place, is_open in lows:
                    end = nextafter(numbers[place], inf) if is_open else numbers[place]
                    lo = max(lo, end)
                for place, is_open in highs:
                    end = nextafter(numbers[place], -inf) if is_open else numbers[place]
                    hi = min(hi, end)
                columns[test], los[test], his[test] = column, lo, hi
                test += 1
            self._row[clause], self.ends[clause] = row, test
            clause += 1
        self.keys[row], self.gone[row] = key, NEVER

    def write_many(
        self, at: tuple[int, int, int], keys: Sequence[int], plan: Plan, numbers: Array
    ) -> None:
        """The same with many subscriptions of one plan, a row of operands each."""
        row, clause, test = at
        count, width, tests = len(keys), len(plan.clauses), plan.tests
        to_keys, to_gone, to_row, to_ends, to_column, to_lo, to_hi = self.arrays
        every = np.arange(count)
        to_keys[row : row + count] = keys
        to_gone[row : row + count] = NEVER
        to_row[clause : clause + count * width] = np.repeat(every + row, width)
        ends = plan.ends + (test + tests * every)[:, None]
        to_ends[clause : clause + count * width] = ends.ravel()
        here = slice(test, test + count * tests)
        to_column[here].reshape(count, tests)[:] = plan.columns
        to_lo[here].reshape(count, tests)[:] = _outermost(plan.lows, numbers, -inf)
        to_hi[here].reshape(count, tests)[:] = _outermost(plan.highs, numbers, inf)


def numbers_of(
    plan: Plan, operands: Sequence[Any], words: dict[str, int]
) -> Sequence[float] | None:
    """The operands of one subscription as the table has them, unless one is no exact float64."""
    if plan.converters:
        operands = [*operands]
        for place, kind in plan.converters:
            if kind is Kind.STRING:
                operands[place] = words.setdefault(operands[place], len(words))
            else:
                operands[place] = microseconds(operands[place])
    for number in operands:
        if not -EXACT < number < EXACT:
            return None
    return operands


def number_rows(
    plan: Plan, operands: Sequence[Sequence[Any]], words: dict[str, int]
) -> Array | None:
    """The same of many subscriptions, a row each."""
    if plan.converters:
        columns = [*zip(*operands, strict=True)]
        for place, kind in plan.converters:
            if kind is Kind.STRING:
                columns[place] = tuple([words.setdefault(w, len(words)) for w in columns[place]])
            else:
                columns[place] = tuple(map(microseconds, columns[place]))
        rows = np.array(columns, np.float64).T
    else:
        rows = np.array(operands, np.float64)
    return rows if bool((np.abs(rows) < EXACT).all()) else None


def _outermost(ends: _Ends, numbers: Array, unbounded: float) -> Array:
    """One end of each range of many subscriptions."""
    inward = -unbounded
    bounds = np.empty((len(numbers), len(ends.place)))
    bounded = ends.place >= 0
    bounds[:, ~bounded] = unbounded
    bounds[:, bounded] = numbers[:, ends.place[bounded]]
    if ends.is_open.any():
        bounds[:, ends.is_open] = np.nextafter(bounds[:, ends.is_open], inward)
    narrower = np.maximum if inward > 0 else np.minimum
    for number, place, is_open in ends.more:
        end = numbers[:, place]
        if is_open:
            end = np.nextafter(end, inward)
        bounds[:, number] = narrower(bounds[:, number], end)
    return bounds


class Columns:
    """The columns of values that clauses ask for: of one kind of one attribute each."""

    def __init__(self) -> None:
        self._by_attribute: dict[str, dict[Kind, int]] = {}
        self.names: list[tuple[str, Kind]] = []

    def of(self, attribute: str) -> Mapping[Kind, int] | None:
        """The columns of an attribute, if there are any."""
        return self._by_attribute.get(attribute)

    def attributes(self) -> Sequence[str]:
        """The attributes that have columns."""
        return list(self._by_attribute)

    def planned(self, outline: Outline) -> Plan | None:
        """How subscriptions of an outline are written; ``None`` if they ask for anything else."""
        bounds = _bounds(outline)
        if bounds is None:
            return None
        clauses = tuple(
            tuple(
                _Range(self._column(attribute, kind), lows, highs)
                for (attribute, kind), (lows, highs) in clause.items()
            )
            for clause in bounds
        )
        kinds = enumerate(KINDS[type_] for type_ in outline.places)
        converters = tuple(each for each in kinds if each[1] in {Kind.STRING, Kind.TIMESTAMP})
        ranges = [each for clause in clauses for each in clause]
        return Plan(
            clauses,
            len(ranges),
            converters,
            np.cumsum([len(clause) for clause in clauses]),
            np.array([each.column for each in ranges], np.int32),
            _ends_of([each.lows for each in ranges]),
            _ends_of([each.highs for each in ranges]),
        )

    def _column(self, attribute: str, kind: Kind) -> int:
        column = self._by_attribute.get(attribute, {}).get(kind)
        if column is None:
            column = len(self.names)
            self.names.append((attribute, kind))
            # Another dictionary each time: whoever looks at the one before sees it as it was.
            self._by_attribute[attribute] = {**self._by_attribute.get(attribute, {}), kind: column}
        return column


_Places = tuple[tuple[int, bool], ...]  # of the operands that are an end of a range; if it is open


def _ends_of(ranges: Sequence[_Places]) -> _Ends:
    first = [each[0] if each else (-1, False) for each in ranges]
    more = [(number, *end) for number, each in enumerate(ranges) for end in each[1:]]
    place = np.array([place for place, _ in first], np.int64)
    return _Ends(place, np.array([is_open for _, is_open in first], bool), tuple(more))


@remembered(_MAX_PLAN_BYTES, lambda arguments, _: 3 * arguments[0].cost)
def _bounds(outline: Outline) -> list[dict[tuple[str, Kind], tuple[_Places, _Places]]] | None:
    """The ends that each clause sets to values of a kind; ``None`` if it asks for anything else."""
    if outline.rests:
        return None
    place = 0
    clauses = []
    for slots in outline.clauses:
        bounds: dict[tuple[str, Kind], tuple[_Places, _Places]] = {}
        for attribute, operator, operands in slots:
            kinds = {KINDS.get(type_) for type_ in operands}
            kind = kinds.pop() if len(kinds) == 1 else None
            if kind is None or operator not in BOUNDS or OperandType.DECIMAL in operands:
                return None
            if kind not in _BY_ORDER and operator is not Operator.EQ:
                return None
            lows, highs = bounds.get((attribute, kind), ((), ()))
            for is_lower, operand, is_open in BOUNDS[operator]:
                end = (place + operand % len(operands), is_open)
                lows, highs = ((*lows, end), highs) if is_lower else (lows, (*highs, end))
            bounds[attribute, kind] = lows, highs
            place += len(operands)
        clauses.append(bounds)
    return clauses
