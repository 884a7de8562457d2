"""``Recent``: subscriptions that are not compiled yet, visible to the very next event.

Most clauses are bounds on numbers. They wait in one long table and are tried as they are, range by
range, by a compiled loop (``kernels/recent.py``)::

    keys       [ 7      | 9      | -1 ]       a clause each; -1: gone
    attribute  [ 0    1 | 0    2 | .. ]       which column of values
    lo         [ 3    8 | 5   -∞ | .. ]       float64: of an open end the next float
    hi         [ 4    8 | 9    7 | .. ]

Operands below 2^53 are exact as float64. An event's integer beyond that is rounded when it becomes
a float64, and stays beyond every operand: comparing it is exact all the same. Whatever else a
clause may state waits in a brute-force matcher. So adding costs a few appends, and asking a few
nanoseconds per event and clause, which a compiled segment undercuts only when there are hundreds
of them.

Rent or buy: asking adds up, and when it has cost as much as compiling would, that is due. It is due
as well when so much waits that compiling it takes some ten milliseconds: nobody is ever to pay for
a pile. Only ``add`` and ``drop`` change what is held. Asking and compiling leave it as it is,
wherever they are interrupted.
"""

from __future__ import annotations

from array import array
from math import inf, nextafter
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.bounded_cache import remembered
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.typed_values import Floats, Integers, Intervals
from predicast.matching.brute_force import BruteForce
from predicast.matching.columnar import loops
from predicast.matching.columnar.compile.coded_tests import DELETED, CodedTests
from predicast.matching.columnar.compile.cuts import EXACT
from predicast.matching.columnar.compile.from_alike import coded_alike
from predicast.matching.columnar.compile.from_bounds import coded_subscriptions
from predicast.matching.columnar.compile.uniting import merged
from predicast.matching.columnar.reserved import LACKING, NUMBER, OTHER
from predicast.matching.columnar.runs import Runs, with_starts
from predicast.model import Absent, Event, Interval, Operator, Subscription
from predicast.model.operand_columns import OperandColumns
from predicast.model.operators import FROM, UP_TO
from predicast.model.outline import OperandType, Outline, Stated

FEW_ALIKE: Final = 8  # subscriptions of one outline that are compiled one by one
_MOST_VALUES: Final = 1 << 20  # of events on attributes, laid out at a time

# What compiling costs, in microseconds or so: once, for each clause and for each of its tests.
_COMPILE: Final = 3_000
_COMPILE_CLAUSE: Final = 10
_COMPILE_TEST: Final = 3
_DEAR: Final = 15_000
_ROOM: Final = 1 << 10  # clauses that may be gone before the table is made anew
_NUMBERS: Final = frozenset({OperandType.INTEGER, OperandType.FLOAT})


class _Range(NamedTuple):
    """What a clause asks of one attribute: places of operands, and whether they are left out."""

    attribute: str
    lows: tuple[tuple[int, bool], ...]
    highs: tuple[tuple[int, bool], ...]


class _Bounds(NamedTuple):
    """The table as the compiled loop reads it: a copy, since arrays that are looked at cannot grow.

    Whoever keeps an exception keeps what the calls that it went through looked at.
    """

    keys: Array
    first: Array
    attribute: Array
    lo: Array
    hi: Array


class Recent:
    """What came since the last segment."""

    def __init__(self, absent: Absent) -> None:
        self._absent: Absent = absent
        self._rent = 0.0
        self._clear()

    def _clear(self) -> None:
        self._stated: dict[int, Stated] = {}
        self._odd = BruteForce(absent=self._absent)
        self._clauses: dict[int, range] = {}  # of the plain ones
        self._attributes: dict[str, int] = {}
        self._live = 0  # clauses in the table that are not gone
        self._keys = array("i")
        self._first = array("q", [0])
        self._attribute = array("i")
        self._lo = array("d")
        self._hi = array("d")
        self._bounds: _Bounds | None = None
        self._cost = 0
        self.may_repeat = False

    def __len__(self) -> int:
        return len(self._stated)

    def clauses(self) -> int:
        """How many clauses there are."""
        return sum(len(each.outline.clauses) for each in self._stated.values())

    def is_due(self, events: int, compile_threshold: float) -> bool:
        """Whether compiling should not wait any longer, now that so many events ask."""
        plain = 0.01 * events * len(self._keys) + 20
        self._rent += plain + len(self._odd) * min(2 * events, 30 + events // 10)
        return self._rent > compile_threshold * (_COMPILE + self._cost)

    def is_full(self) -> bool:
        """Whether so much waits that compiling more would take too long."""
        return self._cost > _DEAR

    def add(self, key: int, stated: Stated) -> None:
        """Hold one more."""
        if len(self._keys) > _ROOM + 2 * self._live:  # what changes again and again leaves gaps
            held = self._stated
            self._clear()
            for other, its in held.items():
                self.add(other, its)
        self._bounds = None
        self._stated[key] = stated
        self._cost += _cost(stated.outline)
        plan = _plan(stated.outline)
        operands = stated.operands
        if plan is None or not all(-EXACT < operand < EXACT for operand in operands):
            self._odd.subscribe(key, stated.subscription())
            return
        start = len(self._keys)
        for clause in plan:
            for attribute, lows, highs in clause:
                column = self._attributes.setdefault(attribute, len(self._attributes))
                lo, hi = -inf, inf
                for place, is_open in lows:
                    lo = max(lo, nextafter(operands[place], inf) if is_open else operands[place])
                for place, is_open in highs:
                    hi = min(hi, nextafter(operands[place], -inf) if is_open else operands[place])
                self._attribute.append(column)
                self._lo.append(lo)
                self._hi.append(hi)
            self._first.append(len(self._lo))
            self._keys.append(key)
        self._clauses[key] = range(start, len(self._keys))
        self._live += len(plan)
        self.may_repeat |= len(plan) > 1

    def drop(self, key: int) -> bool:
        """Forget one, if it is here."""
        stated = self._stated.pop(key, None)
        if stated is None:
            return False
        self._bounds = None
        self._cost -= _cost(stated.outline)
        clauses = self._clauses.pop(key, None)
        if clauses is None:
            self._odd.unsubscribe(key)
        else:
            self._live -= len(clauses)
            for clause in clauses:
                self._keys[clause] = DELETED
        if not self._stated:
            self._clear()
        return True

    # Asking.

    def can_answer(self, columns: EventBatch) -> bool:
        """Whether no attribute in question is an interval: those are asked of segments."""
        return not any(
            isinstance(part, Intervals)
            for attribute in self._attributes
            for part in columns.parts(attribute)
        )

    def can_answer_one(self, event: Event) -> bool:
        """The same of one event."""
        return not any(
            isinstance(value, Interval) and name in self._attributes
            for name, value in event.items()
        )

    def match(self, event: Event) -> list[int]:
        """The keys that one event matches; some perhaps twice."""
        found = self._odd.match(event) if len(self._odd) else []
        if not self._keys:
            return found
        values = np.zeros((1, len(self._attributes)))
        states = np.full(values.shape, LACKING, np.uint8)
        for attribute, value in event.items():
            column = self._attributes.get(attribute)
            if column is None:
                continue
            if type(value) is int or type(value) is float:
                values[0, column], states[0, column] = value, NUMBER
            else:
                states[0, column] = OTHER
        found += self._match(self._table(), values, states).keys.tolist()
        return found

    def match_columns(self, columns: EventBatch) -> list[Runs]:
        """The matches of a batch, in pieces whose values fit in memory."""
        found = []
        if len(self._odd):
            events, keys = self._odd.match_columns(columns)
            place = np.arange(len(events))
            runs = np.stack([events, place, place + 1], axis=1)
            found.append(Runs(keys.astype(np.int32), runs))
        if self._keys:
            # What no event of the batch has is one column, of nothing.
            there = [name for name in self._attributes if columns.parts(name)]
            column = np.full(len(self._attributes), len(there), np.int32)
            column[[self._attributes[name] for name in there]] = np.arange(len(there))
            table = self._table()
            table = table._replace(attribute=column[table.attribute])
            for start, piece in columns.chunks(max(_MOST_VALUES // (len(there) + 1), 1)):
                found.append(self._match(table, *_values(piece, there), start))
        return found

    def _table(self) -> _Bounds:
        if self._bounds is None:
            self._bounds = _Bounds(
                np.array(self._keys, np.int32),
                np.array(self._first, np.int64),
                np.array(self._attribute, np.int32),
                np.array(self._lo, np.float64),
                np.array(self._hi, np.float64),
            )
        return self._bounds

    def _match(self, table: _Bounds, values: Array, states: Array, start: int = 0) -> Runs:
        keys, ends = loops.now.match_bounds(*table, values, states, self._absent == "passes")
        return Runs(keys, with_starts(ends, start))

    # Compiling.

    def tables(self) -> list[CodedTests]:
        """All of it, compiled: one table, or none if no event can match any of it."""
        by_outline: dict[Outline, list[int]] = {}
        for key, stated in self._stated.items():
            by_outline.setdefault(stated.outline, []).append(key)
        tables: list[CodedTests] = []
        few: list[tuple[int, Subscription]] = []
        for outline, keys in by_outline.items():
            if len(keys) > FEW_ALIKE:
                alike = OperandColumns.of(outline, [self._stated[key].operands for key in keys])
                tables += coded_alike(np.array(keys, np.int64), alike, self._absent)
            else:
                few += [(key, self._stated[key].subscription()) for key in keys]
        if few:
            tables += coded_subscriptions(few, self._absent)
        return [merged(tables)] if tables else []


_MAX_PLAN_BYTES: Final = 16 << 20  # a plan's ranges take up to twice what its outline does


def _values(columns: EventBatch, attributes: list[str]) -> tuple[Array, Array]:
    """The numbers of a batch, and what else there is; the last column is of nothing."""
    values = np.zeros((len(columns), len(attributes) + 1))
    states = np.full(values.shape, LACKING, np.uint8)
    for column, attribute in enumerate(attributes):
        for part in columns.parts(attribute):
            rows = slice(None) if part.rows is None else part.rows
            is_number = isinstance(part, Integers | Floats)
            states[rows, column] = NUMBER if is_number else OTHER
            if is_number:
                values[rows, column] = part.values
    return values, states


def _cost(outline: Outline) -> int:
    """What compiling one such subscription costs."""
    clauses = outline.clauses
    return _COMPILE_CLAUSE * len(clauses) + _COMPILE_TEST * sum(map(len, clauses))


@remembered(_MAX_PLAN_BYTES, lambda arguments, _: 3 * arguments[0].cost)
def _plan(outline: Outline) -> tuple[tuple[_Range, ...], ...] | None:
    """The ranges of each clause; ``None`` if there is anything but bounds on numbers."""
    place = 0
    clauses = []
    for slots in outline.clauses:
        lows: dict[str, list[tuple[int, bool]]] = {}
        highs: dict[str, list[tuple[int, bool]]] = {}
        for attribute, operator, operands in slots:
            if not operands or not _NUMBERS.issuperset(operands) or operator not in FROM | UP_TO:
                return None
            mine = lows.setdefault(attribute, []), highs.setdefault(attribute, [])
            if operator in FROM:
                mine[0].append((place, operator is Operator.GT))
            if operator in UP_TO:
                mine[1].append((place + len(operands) - 1, operator is Operator.LT))
            place += len(operands)
        clauses.append(tuple(_Range(a, tuple(lows[a]), tuple(highs[a])) for a in lows))
    return tuple(clauses)
