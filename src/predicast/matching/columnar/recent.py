"""``Recent``: subscriptions that are not compiled yet, visible to the very next event.

Most clauses are bounds on numbers. They wait in one long table and are tried as they are, range by
range, by a compiled loop (``_recent_kernels.py``)::

    keys       [ 7      | 9      | -1 ]       a clause each; -1: gone
    attribute  [ 0    1 | 0    2 | .. ]       which column of values
    lo         [ 3    8 | 5   -∞ | .. ]       float64: of an open end the next float
    hi         [ 4    8 | 9    7 | .. ]

Operands below 2^53 are exact as float64. An event's integer beyond that is rounded when it becomes
a float64, and stays beyond every operand: comparing it is exact all the same. Whatever else a
clause may state waits in a brute-force matcher. So adding costs a few appends, and asking a few
nanoseconds per event and clause, which a compiled segment undercuts only when there are hundreds
of them.
"""

from __future__ import annotations

from array import array
from math import inf, nextafter
from typing import Final, NamedTuple

import numpy as np

from predicast.bounded_cache import remembered
from predicast.matching.brute_force import BruteForce
from predicast.matching.columnar import _recent_kernels
from predicast.matching.columnar._recent_kernels import LACKING, NUMBER, OTHER
from predicast.matching.columnar.coded_tests import STRUCK, Array, CodedTests
from predicast.matching.columnar.cuts import EXACT
from predicast.matching.columnar.from_alike import coded_alike
from predicast.matching.columnar.from_bounds import coded_subscriptions
from predicast.matching.columnar.runs import Runs, with_starts
from predicast.matching.columns import Columns
from predicast.matching.parts import Floats, Integers, Intervals
from predicast.model import Absent, Event, Interval, Operator, Subscription
from predicast.model.alike import Alike
from predicast.model.operators import FROM, UP_TO
from predicast.model.outline import OperandType, Outline, Stated

FEW_ALIKE: Final = 8  # subscriptions of one outline that are compiled one by one
_ROOM: Final = 1 << 10  # clauses that may be gone before the table is made anew
_NUMBERS: Final = frozenset({OperandType.INTEGER, OperandType.FLOAT})


class _Range(NamedTuple):
    """What a clause asks of one attribute: places of operands, and whether they are left out."""

    attribute: str
    lows: tuple[tuple[int, bool], ...]
    highs: tuple[tuple[int, bool], ...]


class Recent:
    """What came since the last segment."""

    def __init__(self, absent: Absent) -> None:
        self._absent: Absent = absent
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
        self.may_repeat = False

    def __len__(self) -> int:
        return len(self._stated)

    def clauses(self) -> int:
        """How many clauses there are."""
        return sum(len(each.outline.clauses) for each in self._stated.values())

    def price(self, events: int) -> float:
        """What asking costs, in microseconds or so."""
        plain = 0.01 * events * len(self._keys) + 20
        return plain + len(self._odd) * min(2 * events, 30 + events // 10)

    def add(self, key: int, stated: Stated) -> None:
        """Hold one more."""
        if len(self._keys) > _ROOM + 2 * self._live:  # what changes again and again leaves gaps
            held = self._stated
            self._clear()
            for other, its in held.items():
                self.add(other, its)
        self._stated[key] = stated
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
        if self._stated.pop(key, None) is None:
            return False
        clauses = self._clauses.pop(key, None)
        if clauses is None:
            self._odd.unsubscribe(key)
        else:
            self._live -= len(clauses)
            for clause in clauses:
                self._keys[clause] = STRUCK
        if not self._stated:
            self._clear()
        return True

    # Asking.

    def can_tell(self, columns: Columns) -> bool:
        """Whether no attribute in question is an interval: those are asked of segments."""
        return not any(
            isinstance(part, Intervals)
            for attribute in self._attributes
            for part in columns.parts(attribute)
        )

    def match(self, event: Event) -> list[int]:
        """The keys that one event matches; some perhaps twice."""
        found = self._odd.match(event) if len(self._odd) else []
        if not self._keys:
            return found
        values = np.zeros((1, len(self._attributes)))
        states = np.full(values.shape, LACKING, np.uint8)
        for attribute, column in self._attributes.items():
            value = event.get(attribute)
            if type(value) is int or type(value) is float:
                values[0, column], states[0, column] = value, NUMBER
            elif value is not None:
                states[0, column] = OTHER
        found += self._match(values, states).keys.tolist()
        return found

    def can_tell_one(self, event: Event) -> bool:
        """The same of one event."""
        return not any(isinstance(event.get(name), Interval) for name in self._attributes)

    def match_columns(self, columns: Columns) -> list[Runs]:
        """The matches of a batch."""
        found = []
        if len(self._odd):
            events, keys = self._odd.match_columns(columns)
            place = np.arange(len(events))
            runs = np.stack([events, place, place + 1], axis=1)
            found.append(Runs(keys.astype(np.int32), runs))
        if self._keys:
            values = np.zeros((len(columns), len(self._attributes)))
            states = np.full(values.shape, LACKING, np.uint8)
            for attribute, column in self._attributes.items():
                for part in columns.parts(attribute):
                    rows = slice(None) if part.rows is None else part.rows
                    is_number = isinstance(part, Integers | Floats)
                    states[rows, column] = NUMBER if is_number else OTHER
                    if is_number:
                        values[rows, column] = part.values
            found.append(self._match(values, states))
        return found

    def _match(self, values: Array, states: Array) -> Runs:
        keys, ends = _recent_kernels.match_bounds(
            np.frombuffer(self._keys, np.int32),
            np.frombuffer(self._first, np.int64),
            np.frombuffer(self._attribute, np.int32) if self._attribute else _NONE,
            np.frombuffer(self._lo, np.float64) if self._lo else _NO_ENDS,
            np.frombuffer(self._hi, np.float64) if self._hi else _NO_ENDS,
            values,
            states,
            self._absent == "passes",
        )
        return Runs(keys, with_starts(ends))

    # Compiling.

    def tables(self) -> list[CodedTests]:
        """All of it, compiled; then there is nothing left."""
        by_outline: dict[Outline, list[int]] = {}
        for key, stated in self._stated.items():
            by_outline.setdefault(stated.outline, []).append(key)
        tables: list[CodedTests] = []
        few: list[tuple[int, Subscription]] = []
        for outline, keys in by_outline.items():
            if len(keys) > FEW_ALIKE:
                alike = Alike.of(outline, [self._stated[key].operands for key in keys])
                tables += coded_alike(np.array(keys, np.int64), alike, self._absent)
            else:
                few += [(key, self._stated[key].subscription()) for key in keys]
        if few:
            tables += coded_subscriptions(few, self._absent)
        self._clear()
        return tables


_NONE: Final = np.zeros(0, np.int32)
_NO_ENDS: Final = np.zeros(0)
_MAX_PLAN_BYTES: Final = 16 << 20  # a plan's ranges take up to twice what its outline does


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
