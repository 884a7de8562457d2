"""``BoundsTable``: clauses of bounds as they are written, before they are compiled.

Most clauses are bounds on numbers and timestamps, or equalities. They wait in one long table and
are tried range by range by a compiled loop (``kernels/recent.py``)::

    keys       [ 7      | 9      | 4  ]       a subscription each
    since      [ 30     | 31     | .. ]       the epoch from which on it is held; they ascend
    gone       [ never  | 33     | .. ]       and that from which on it is not
    row        [ 0      | 1      | .. ]       a clause each: whose it is
    ends       [ 2      | 4      | .. ]       where its ranges end
    shape      [ 0      | 1      | .. ]       which columns it asks of
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
from predicast.model import Kind, Operator
from predicast.model.operators import BOUNDS
from predicast.model.outline import KINDS, OperandType, Outline
from predicast.model.values import EXACT, microseconds

NO_VALUE: Final = np.nan  # which no range holds
NEVER: Final = np.iinfo(np.int64).max  # the epoch of what is not gone
_ROOM: Final = 1 << 8  # clauses that a table has room for at first
_BY_ORDER: Final = frozenset({Kind.NUMBER, Kind.TIMESTAMP})  # others are compared for equality only
_MAX_PLAN_BYTES: Final = 16 << 20  # of what is remembered: a plan takes up to twice its outline


_Places = tuple[tuple[int, bool], ...]  # of the operands that are an end of a range; if it is open


class _Range(NamedTuple):
    """What a clause asks of the values in a column: an operand at each end, or -1 for none."""

    column: int
    low: int
    is_low_open: bool
    high: int
    is_high_open: bool
    more: tuple[tuple[_Places, _Places], ...]  # other operands that are ends of it, if any


class _Ends(NamedTuple):
    """Both ends of each range, the lower ones first, as places among operands and what follows.

    Two numbers follow: those of ends that are unbounded.
    """

    place: Array
    open: Array  # which of them are
    inward: Array  # where to, of these
    more: tuple[tuple[int, int, bool], ...]  # an end, and another operand that is one, too


class Plan(NamedTuple):
    """How the subscriptions of one outline are written to the table."""

    clauses: tuple[tuple[tuple[_Range, ...], int], ...]  # the ranges of each, and its shape
    width: int  # how many clauses there are
    tests: int  # ranges of all of them
    converters: tuple[tuple[int, bool], ...]  # operands that are strings, and timestamps, by place
    ends: Array  # of the ranges of each clause
    shapes: tuple[int, ...]  # of each clause: one for all that test the same columns
    columns: Array  # of all ranges
    bounds: _Ends


class BoundsTable:
    """Subscriptions whose clauses are bounds, and rows for others, which have none here."""

    _ROW_FIELDS: Final = (("keys", "i4"), ("since", "i8"), ("gone", "i8"))
    _CLAUSE_FIELDS: Final = (("row", "i4"), ("ends", "i8"), ("shape", "i4"))
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
        self.keys, self.since, self.gone = views[:3]
        self._row, self._ends, self._shape, self._column, self._lo, self._hi = views[3:]

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

    def put(self, row: int, key: int, epoch: int) -> None:
        """Have a subscription held from an epoch on."""
        self.keys[row], self.since[row], self.gone[row] = key, epoch, NEVER

    def write(  # a tuple of where it goes would cost per call
        self, row: int, clause: int, test: int, plan: Plan, numbers: Sequence[float]
    ) -> None:
        """Write the clauses of a subscription behind so many rows, clauses and ranges."""
        columns, los, his = self._column, self._lo, self._hi
        for ranges, shape in plan.clauses:
            for column, low, is_low_open, high, is_high_open, more in ranges:
                lo, hi = -inf if low < 0 else numbers[low], inf if high < 0 else numbers[high]
                if is_low_open:
                    lo = nextafter(lo, inf)
                if is_high_open:
                    hi = nextafter(hi, -inf)
                if more:
                    lo, hi = _narrower(lo, hi, more[0], numbers)
                columns[test], los[test], his[test] = column, lo, hi
                test += 1
            self._row[clause], self._ends[clause], self._shape[clause] = row, test, shape
            clause += 1

    def write_many(
        self, at: tuple[int, int, int], keys: Sequence[int], epoch: int, plan: Plan, numbers: Array
    ) -> None:
        """Hold many subscriptions of one plan from an epoch on, a row of operands each."""
        row, clause, test = at
        count, width, tests = len(keys), plan.width, plan.tests
        to_keys, to_since, to_gone = self.arrays[:3]
        to_row, to_ends, to_shape, to_column, to_lo, to_hi = self.arrays[3:]
        every = np.arange(count)
        to_keys[row : row + count] = keys
        to_since[row : row + count] = epoch
        to_gone[row : row + count] = NEVER
        to_row[clause : clause + count * width] = np.repeat(every + row, width)
        ends = plan.ends + (test + tests * every)[:, None]
        to_ends[clause : clause + count * width] = ends.ravel()
        to_shape[clause : clause + count * width] = plan.shapes * count
        here = slice(test, test + count * tests)
        to_column[here].reshape(count, tests)[:] = plan.columns
        bounds = _bounds_of(plan.bounds, numbers)
        to_lo[here].reshape(count, tests)[:] = bounds[:, :tests]
        to_hi[here].reshape(count, tests)[:] = bounds[:, tests:]


def _narrower(
    lo: float, hi: float, more: tuple[_Places, _Places], numbers: Sequence[float]
) -> tuple[float, float]:
    """The range with more ends."""
    for place, is_open in more[0]:
        lo = max(lo, nextafter(numbers[place], inf) if is_open else numbers[place])
    for place, is_open in more[1]:
        hi = min(hi, nextafter(numbers[place], -inf) if is_open else numbers[place])
    return lo, hi


def numbers_of(
    plan: Plan, operands: Sequence[Any], words: dict[str, int]
) -> Sequence[float] | None:
    """The operands of one subscription as the table has them, unless one is no exact float64."""
    if plan.converters:
        operands = [*operands]
        for place, is_string in plan.converters:
            if is_string:
                operands[place] = words.setdefault(operands[place], len(words))
            else:
                operands[place] = microseconds(operands[place])
    for number in operands:  # of a few: min and max are calls
        if not -EXACT < number < EXACT:
            return None
    return operands


def number_rows(
    plan: Plan, operands: Sequence[Sequence[Any]], words: dict[str, int]
) -> Array | None:
    """The same of many subscriptions, a row each."""
    if plan.converters:
        columns = [*zip(*operands, strict=True)]
        for place, is_string in plan.converters:
            if is_string:
                columns[place] = tuple([words.setdefault(w, len(words)) for w in columns[place]])
            else:
                columns[place] = tuple(map(microseconds, columns[place]))
        rows = np.array(columns, np.float64).T
    else:
        rows = np.array(operands, np.float64)
    return rows if bool((np.abs(rows) < EXACT).all()) else None


def _bounds_of(ends: _Ends, numbers: Array) -> Array:
    """Both ends of each range of many subscriptions."""
    count, operands = numbers.shape
    every = np.empty((count, operands + 2))
    every[:, :operands] = numbers
    every[:, operands:] = (-inf, inf)
    bounds = every[:, ends.place]
    if len(ends.open):
        bounds[:, ends.open] = np.nextafter(bounds[:, ends.open], ends.inward)
    for end, place, is_open in ends.more:
        is_lower = 2 * end < len(ends.place)
        other = numbers[:, place]
        if is_open:
            other = np.nextafter(other, inf if is_lower else -inf)
        narrower = np.maximum if is_lower else np.minimum
        bounds[:, end] = narrower(bounds[:, end], other)
    return bounds


class Columns:
    """The columns of values that clauses ask for: of one kind of one attribute each."""

    def __init__(self) -> None:
        self._by_attribute: dict[str, dict[Kind, int]] = {}
        self._shapes: dict[tuple[int, ...], int] = {}  # by the columns of a clause
        self.names: list[tuple[str, Kind]] = []
        self.room = _room(0)

    def of(self, attribute: str) -> Mapping[Kind, int] | None:
        """The columns of an attribute, if there are any."""
        return self._by_attribute.get(attribute)

    def attributes(self) -> Mapping[str, Mapping[Kind, int]]:
        """The attributes that have columns, with these."""
        return self._by_attribute

    def planned(self, outline: Outline) -> Plan | None:
        """How subscriptions of an outline are written; ``None`` if they ask for anything else."""
        bounds = _bounds(outline)
        if bounds is None:
            return None
        clauses = tuple(
            tuple(
                _range(self._column(attribute, kind), lows, highs)
                for (attribute, kind), (lows, highs) in clause.items()
            )
            for clause in bounds
        )
        ends = [ends for clause in bounds for ends in clause.values()]
        both = [*(lows for lows, _ in ends), *(highs for _, highs in ends)]
        kinds = enumerate(KINDS[type_] for type_ in outline.places)
        converters = tuple(
            (place, kind is Kind.STRING)
            for place, kind in kinds
            if kind in {Kind.STRING, Kind.TIMESTAMP}
        )
        ranges = [each for clause in clauses for each in clause]
        shapes = tuple(map(self._shape, clauses))
        return Plan(
            tuple(zip(clauses, shapes, strict=True)),
            len(clauses),
            len(ranges),
            converters,
            np.cumsum([len(clause) for clause in clauses]),
            shapes,
            np.array([each.column for each in ranges], np.int32),
            _ends_of(both, len(outline.places)),
        )

    def _shape(self, clause: tuple[_Range, ...]) -> int:
        return self._shapes.setdefault(tuple(each.column for each in clause), len(self._shapes))

    def _column(self, attribute: str, kind: Kind) -> int:
        column = self._by_attribute.get(attribute, {}).get(kind)
        if column is None:
            column = len(self.names)
            self.names.append((attribute, kind))
            self.room = _room(len(self.names))
            # Another dictionary each time: whoever looks at the one before sees it as it was.
            self._by_attribute[attribute] = {**self._by_attribute.get(attribute, {}), kind: column}
        return column


def _room(columns: int) -> tuple[Array, Array, Array]:
    """For one event: where the values of each column are, that there are none, and none passes."""
    return (
        np.arange(columns, dtype=np.int32),
        np.full((columns, 1), NO_VALUE),
        np.zeros((columns, 1), np.uint64),
    )


def _range(column: int, lows: _Places, highs: _Places) -> _Range:
    low, high = (each[0] if each else (-1, False) for each in (lows, highs))
    more = ((lows[1:], highs[1:]),) if len(lows) > 1 or len(highs) > 1 else ()
    return _Range(column, *low, *high, more)


def _ends_of(ranges: Sequence[_Places], operands: int) -> _Ends:
    """The ends of ranges, of which the first half are lower ones."""
    lower = len(ranges) // 2
    first = [
        each[0] if each else (operands + (end >= lower), False) for end, each in enumerate(ranges)
    ]
    open_ = np.flatnonzero([is_open for _, is_open in first])
    more = [(end, *other) for end, each in enumerate(ranges) for other in each[1:]]
    place = np.array([place for place, _ in first], np.int64)
    return _Ends(place, open_, np.where(open_ < lower, inf, -inf), tuple(more))


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
