"""``Recent``: subscriptions that are not compiled yet, visible to the very next event.

Most clauses are bounds on numbers. They wait in one long table and are tried as they are, bound by
bound, by a compiled loop (``_recent_kernels.py``)::

    keys       [ 7      | 9         | -1 ]       a clause each; -1: gone
    attribute  [ 0    0 | 0   1   1 | .. ]       which column of values
    bound      [ >=  <  | =   >   < | .. ]
    operand    [ 3    8 | 5   0   9 | .. ]       exact as float64, being below 2^53

An event's integer beyond 2^53 is rounded when it becomes a float64, and stays beyond every
operand: comparing it is exact all the same. Whatever else a clause may state waits in a
brute-force matcher. So adding costs a few appends, and asking a few nanoseconds per event and
clause, which a compiled segment undercuts only when there are hundreds of them.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from predicast.matching.brute_force import BruteForce
from predicast.matching.columnar import _recent_kernels
from predicast.matching.columnar._recent_kernels import EQ, GE, GT, LACKING, LE, LT, NUMBER, OTHER
from predicast.matching.columnar.coded_tests import Array, CodedTests
from predicast.matching.columnar.from_alike import coded_alike
from predicast.matching.columnar.from_bounds import coded_subscriptions
from predicast.matching.columnar.runs import Runs, with_starts
from predicast.matching.columns import Columns
from predicast.matching.parts import Floats, Integers, Intervals
from predicast.model import Absent, Event, Interval, Operator
from predicast.model.alike import Gathering
from predicast.model.outline import OperandType, Outline, Stated

FEW_ALIKE: Final = 8  # subscriptions of one outline that are compiled one by one
_EXACT: Final = 2**53
_BOUNDS: Final = {
    Operator.EQ: EQ,
    Operator.LT: LT,
    Operator.LE: LE,
    Operator.GT: GT,
    Operator.GE: GE,
}
_NUMBERS: Final = frozenset({OperandType.INTEGER, OperandType.FLOAT})


class _Bound(NamedTuple):
    """One bound of a clause: on which attribute, and which operand."""

    attribute: str
    bound: int
    place: int


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
        self._keys = array("i")
        self._first = array("q", [0])
        self._attribute = array("i")
        self._bound = array("b")
        self._operand = array("d")
        self.may_repeat = False

    def __len__(self) -> int:
        return len(self._stated)

    def clauses(self) -> int:
        """How many clauses there are."""
        return sum(len(each.outline.clauses) for each in self._stated.values())

    def price(self, events: int) -> float:
        """What asking costs, in microseconds or so."""
        plain = 0.004 * events * len(self._keys) + 20
        return plain + len(self._odd) * min(2 * events, 30 + events // 10)

    def add(self, key: int, stated: Stated) -> None:
        """Hold one more."""
        self._stated[key] = stated
        plan = _plan(stated.outline)
        operands = stated.operands
        if plan is None or not all(
            -_EXACT < operands[each.place] < _EXACT for clause in plan for each in clause
        ):
            self._odd.subscribe(key, stated.subscription())
            return
        start = len(self._keys)
        for clause in plan:
            for attribute, bound, place in clause:
                self._attribute.append(
                    self._attributes.setdefault(attribute, len(self._attributes))
                )
                self._bound.append(bound)
                self._operand.append(operands[place])
            self._first.append(len(self._operand))
            self._keys.append(key)
        self._clauses[key] = range(start, len(self._keys))
        self.may_repeat |= len(plan) > 1

    def drop(self, key: int) -> bool:
        """Forget one, if it is here."""
        if self._stated.pop(key, None) is None:
            return False
        clauses = self._clauses.pop(key, None)
        if clauses is None:
            self._odd.unsubscribe(key)
        else:
            for clause in clauses:
                self._keys[clause] = -1
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
            np.frombuffer(self._bound, np.int8) if self._bound else _NO_BOUNDS,
            np.frombuffer(self._operand, np.float64) if self._operand else _NO_OPERANDS,
            values,
            states,
            self._absent == "passes",
        )
        return Runs(keys, with_starts(ends))

    # Compiling.

    def tables(self) -> list[CodedTests]:
        """All of it, compiled; then there is nothing left."""
        gathering = Gathering()
        for key, stated in self._stated.items():
            gathering.add(key, *stated)
        tables: list[CodedTests] = []
        few = []
        for keys, alike in gathering.groups():
            if len(keys) > FEW_ALIKE:
                tables += coded_alike(keys, alike, self._absent)
            else:
                few += list(zip(keys.tolist(), alike.subscriptions(), strict=True))
        if few:
            tables += coded_subscriptions(few, self._absent)
        self._clear()
        return tables


_NONE: Final = np.zeros(0, np.int32)
_NO_BOUNDS: Final = np.zeros(0, np.int8)
_NO_OPERANDS: Final = np.zeros(0)


@lru_cache(maxsize=4_096)
def _plan(outline: Outline) -> tuple[tuple[_Bound, ...], ...] | None:
    """The bounds of each clause; ``None`` if there is anything but bounds on numbers."""
    place = 0
    clauses = []
    for slots in outline.clauses:
        bounds: list[_Bound] = []
        for attribute, operator, operands in slots:
            if not operands or not _NUMBERS.issuperset(operands):
                return None
            if operator is Operator.BETWEEN:
                bounds += [_Bound(attribute, GE, place), _Bound(attribute, LE, place + 1)]
            elif operator in _BOUNDS:
                bounds.append(_Bound(attribute, _BOUNDS[operator], place))
            else:
                return None
            place += len(operands)
        clauses.append(tuple(bounds))
    return tuple(clauses)
