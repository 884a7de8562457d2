"""``Recent``: subscriptions that are not compiled yet, visible to the very next event.

Most clauses are bounds on numbers and timestamps, or equalities. They wait in one long table and
are tried as they are, range by range, by a compiled loop (``kernels/recent.py``)::

    keys       [ 7      | 9      | 4  ]       a clause each
    gone       [ never  | 33     | .. ]       the epoch from which on it is
    column     [ 0    1 | 0    2 | .. ]       of values of one kind of one attribute
    lo         [ 3    8 | 5   -∞ | .. ]       float64: of an open end the next float
    hi         [ 4    8 | 9    7 | .. ]

Operands below 2^53 are exact as float64. An event's integer beyond that is rounded when it becomes
a float64, and stays beyond every operand: comparing it is exact all the same. A string is the
number of an equal one among those that are waited for. Whatever else a clause may state is tried
by the model's own definition. So adding costs a few writes, and asking a few nanoseconds per event
and clause, which a compiled segment undercuts only when there are hundreds of them.

What is held only grows, at the end, and what is dropped gets an epoch from which on it is gone:
a ``RecentView`` is how far it reached once, and answers as of an epoch while others are added. A
table that is full is copied to a larger one; views of before keep theirs.

Rent or buy: asking adds up, and when it has cost as much as compiling would, that is due. It is due
as well when so much waits that compiling it takes some ten milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, nextafter
from typing import Any, Final, NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.bounded_cache import remembered
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.typed_values import Decimals, Intervals, Strings, TypedValues
from predicast.matching.brute_force import CHUNK_ROWS, Groups, MaskCache
from predicast.matching.columnar import loops
from predicast.matching.columnar.compile.coded_tests import CodedTests
from predicast.matching.columnar.compile.cuts import EXACT
from predicast.matching.columnar.compile.from_alike import coded_alike
from predicast.matching.columnar.compile.from_bounds import coded_subscriptions
from predicast.matching.columnar.compile.uniting import merged
from predicast.matching.columnar.reserved import LACKING, OTHER, VALUE
from predicast.matching.columnar.runs import Runs, with_starts
from predicast.model import Absent, Event, Kind, Operator, Subscription
from predicast.model.operand_columns import OperandColumns
from predicast.model.operators import BOUNDS
from predicast.model.outline import KINDS, OperandType, Outline, Stated
from predicast.model.values import kind_of, microseconds

NEVER: Final = np.iinfo(np.int64).max  # the epoch of what is not gone
FEW_ALIKE: Final = 8  # subscriptions of one outline that are compiled one by one
_MOST_VALUES: Final = 1 << 20  # of events in columns, laid out at a time
_ROOM: Final = 1 << 8  # clauses that a table has room for at first
_GAPS: Final = 1 << 10  # clauses that may be gone before the others are worth moving

# What compiling costs, in microseconds or so: once, for each clause and for each of its tests.
_COMPILE: Final = 3_000
_COMPILE_CLAUSE: Final = 10
_COMPILE_TEST: Final = 3
_DEAR: Final = 15_000

_BY_ORDER: Final = frozenset({Kind.NUMBER, Kind.TIMESTAMP})  # others are compared for equality only


class _Range(NamedTuple):
    """What a clause asks of the values in a column: places of operands, which may be left out."""

    column: int
    lows: tuple[tuple[int, bool], ...]
    highs: tuple[tuple[int, bool], ...]


class _Plan(NamedTuple):
    """How the subscriptions of one outline are written to the table."""

    cost: int  # of compiling one of them
    clauses: tuple[tuple[_Range, ...], ...] | None  # None: they are not
    tests: int = 0
    converters: tuple[tuple[int, Kind], ...] = ()  # operands that are no numbers, by place


class _Waiting:
    """A subscription that waits."""

    __slots__ = ("_groups", "_subscription", "end", "first", "gone", "key", "stated")

    def __init__(self, key: int, stated: Stated, first: int, end: int) -> None:
        self.key = key
        self.stated = stated
        self.first, self.end = first, end  # its clauses in the table; none if it is not there
        self.gone: int = NEVER
        self._subscription: Subscription | None = None
        self._groups: list[Groups] | None = None

    def subscription(self) -> Subscription:
        """What it states, as an object."""
        if self._subscription is None:
            self._subscription = self.stated.subscription()
        return self._subscription

    def groups(self) -> list[Groups]:
        """Its clauses as brute force tests them by column."""
        if self._groups is None:
            clauses = self.subscription().clauses
            self._groups = [list(clause.by_attribute().items()) for clause in clauses]
        return self._groups


class _Table:
    """The arrays of the table, with room for more."""

    _FIELDS: Final = (("keys", "i4"), ("gone", "i8"), ("ends", "i8"))  # of clauses
    _TEST_FIELDS: Final = (("column", "i4"), ("lo", "f8"), ("hi", "f8"))

    def __init__(self, clauses: int, tests: int) -> None:
        self.room, self.test_room = clauses, tests
        arrays = [np.empty(clauses, type_) for _, type_ in self._FIELDS]
        arrays += [np.empty(tests, type_) for _, type_ in self._TEST_FIELDS]
        self.arrays: tuple[Array, ...] = tuple(arrays)
        # Python writes a memoryview faster than an array.
        views: list[Any] = [memoryview(each) for each in arrays]  # type: ignore[arg-type]
        self.keys, self.gone, self.ends, self.column, self.lo, self.hi = views

    def larger(self, clauses: int, tests: int) -> _Table:
        """The same with room for so many clauses and tests more."""
        larger = _Table(2 * self.room + clauses, 2 * self.test_room + tests)
        for old, new in zip(self.arrays, larger.arrays, strict=True):
            new[: len(old)] = old
        return larger


class Recent:
    """What came since the last segment."""

    def __init__(self, absent: Absent) -> None:
        self.absent: Absent = absent
        self.table = _Table(_ROOM, 4 * _ROOM)
        self.waiting: list[_Waiting] = []
        self.odd: list[_Waiting] = []  # those of them that are not in the table
        self.columns: dict[str, dict[Kind, int]] = {}
        self.names: list[tuple[str, Kind]] = []  # of the columns
        self.words: dict[str, int] = {}
        self._live: dict[int, _Waiting] = {}
        self._plans: dict[Outline, _Plan] = {}
        self._clauses = 0
        self._tests = 0
        self._cost = 0
        self._may_repeat = False

    def __len__(self) -> int:
        return len(self._live)

    def clauses(self) -> int:
        """How many clauses there are."""
        return sum(len(each.stated.outline.clauses) for each in self._live.values())

    def is_full(self) -> bool:
        """Whether so much waits that compiling more would take too long."""
        return self._cost > _DEAR

    def compile_cost(self) -> int:
        """What compiling it would cost."""
        return _COMPILE + self._cost

    def has_gaps(self) -> bool:
        """Whether most of what the table holds is gone, as where the same ones change again."""
        return len(self.waiting) > _GAPS + 2 * len(self._live)

    def moved(self) -> Recent:
        """The same without what is gone."""
        recent = Recent(self.absent)
        for key, each in self._live.items():
            recent.add(key, each.stated)
        return recent

    def view(self) -> RecentView:
        """How far it reaches now."""
        return RecentView(self, self._clauses, self._may_repeat)

    # Changing it.

    def add(self, key: int, stated: Stated) -> None:
        """Hold one more."""
        outline, operands = stated
        try:
            plan = self._plans[outline]
        except KeyError:
            plan = self._plans[outline] = self._planned(outline)
        self._cost += plan.cost
        start = self._clauses
        is_odd = plan.clauses is None or not self._write(key, plan, operands)
        waiting = _Waiting(key, stated, start, self._clauses)
        if is_odd:
            self.odd.append(waiting)
        self.waiting.append(waiting)
        self._live[key] = waiting

    def _write(self, key: int, plan: _Plan, numbers: Sequence[Any]) -> bool:
        """Write one to the table, unless an operand is no exact float64."""
        if plan.converters:
            numbers = self._converted(plan, numbers)
        for number in numbers:
            if not -EXACT < number < EXACT:
                return False
        table, clause, test, clauses = self.table, self._clauses, self._tests, plan.clauses
        assert clauses is not None
        if clause + len(clauses) > table.room or test + plan.tests > table.test_room:
            self.table = table = table.larger(len(clauses), plan.tests)
        columns, los, his = table.column, table.lo, table.hi
        for ranges in clauses:
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
            table.keys[clause], table.gone[clause], table.ends[clause] = key, NEVER, test
            clause += 1
        self._clauses, self._tests = clause, test
        self._may_repeat |= len(clauses) > 1
        return True

    def drop(self, key: int, epoch: int) -> bool:
        """Have one gone from an epoch on, if it is here."""
        waiting = self._live.pop(key, None)
        if waiting is None:
            return False
        self._cost -= self._plans[waiting.stated.outline].cost
        waiting.gone = epoch
        gone = self.table.gone
        for clause in range(waiting.first, waiting.end):
            gone[clause] = epoch
        return True

    def _converted(self, plan: _Plan, operands: Sequence[Any]) -> Sequence[float]:
        """The operands as the table has them."""
        numbers = [*operands]
        for place, kind in plan.converters:
            if kind is Kind.STRING:
                numbers[place] = self.words.setdefault(operands[place], len(self.words))
            else:
                numbers[place] = microseconds(operands[place])
        return numbers

    def _planned(self, outline: Outline) -> _Plan:
        cost = _COMPILE_CLAUSE * len(outline.clauses)
        cost += _COMPILE_TEST * sum(map(len, outline.clauses))
        bounds = _bounds(outline)
        if bounds is None:
            return _Plan(cost, None)
        clauses = tuple(
            tuple(
                _Range(self._column(attribute, kind), lows, highs)
                for (attribute, kind), (lows, highs) in clause.items()
            )
            for clause in bounds
        )
        kinds = enumerate(KINDS[type_] for type_ in outline.places)
        converters = tuple(each for each in kinds if each[1] in {Kind.STRING, Kind.TIMESTAMP})
        return _Plan(cost, clauses, sum(map(len, clauses)), converters)

    def _column(self, attribute: str, kind: Kind) -> int:
        column = self.columns.get(attribute, {}).get(kind)
        if column is None:
            column = len(self.names)
            self.names.append((attribute, kind))
            # Another dictionary each time: whoever looks at the one before sees it as it was.
            self.columns[attribute] = {**self.columns.get(attribute, {}), kind: column}
        return column


class RecentView:
    """What waited once: it answers as of any epoch from then on."""

    __slots__ = ("_clauses", "_odd", "_table", "_width", "may_repeat", "recent", "waiting")

    def __init__(self, recent: Recent, clauses: int, may_repeat: bool) -> None:
        self.recent = recent
        self.waiting = len(recent.waiting)
        self.may_repeat = may_repeat
        self._odd = len(recent.odd)
        self._clauses = clauses
        self._table = recent.table
        self._width = len(recent.names)

    def rent(self, events: int) -> float:
        """What asking so many events costs, in microseconds or so."""
        return 0.01 * events * self._clauses + 20 + self._odd * min(2 * events, 30 + events // 10)

    # Asking.

    def match(self, event: Event, epoch: int) -> list[int]:
        """The keys that one event matches; some perhaps twice."""
        absent = self.recent.absent
        if (event.is_region or event.has_decimals()) and self._has_columns_of(event):
            asked: Iterable[_Waiting] = self.recent.waiting[: self.waiting]
            return _by_definition(asked, event, absent, epoch)
        odd = self.recent.odd[: self._odd] if self._odd else ()
        found = _by_definition(odd, event, absent, epoch) if odd else []
        if self._clauses:
            values = np.zeros((1, self._width))
            states = np.full((1, self._width), LACKING, np.uint8)
            columns, words = self.recent.columns, self.recent.words
            for attribute, value in event.items():
                mine = columns.get(attribute)
                if mine is None:
                    continue
                own = kind_of(value)  # type: ignore[arg-type]
                for kind, column in mine.items():
                    if column >= self._width:
                        continue
                    states[0, column] = VALUE if kind is own else OTHER
                    if kind is own:
                        values[0, column] = _number(value, words)
            found += self._ask(self._table.arrays[3], values, states, epoch)[0].tolist()
        return found

    def _has_columns_of(self, event: Event) -> bool:
        columns = self.recent.columns
        return any(name in columns for name, _ in event.items())

    def match_columns(self, columns: EventBatch, epoch: int) -> list[Runs]:
        """The matches of a batch, in pieces whose values fit in memory."""
        if any(
            isinstance(part, Intervals | Decimals)
            for name in self.recent.columns
            for part in columns.parts(name)
        ):
            return self._by_masks(self.recent.waiting[: self.waiting], columns, epoch)
        found = self._by_masks(self.recent.odd[: self._odd], columns, epoch) if self._odd else []
        if self._clauses:
            # What no event of the batch has is one column, of nothing.
            names = self.recent.names[: self._width]
            there = [column for column, (name, _) in enumerate(names) if columns.parts(name)]
            moved = np.full(len(names), len(there), np.int32)
            moved[there] = np.arange(len(there))
            tests = int(self._table.ends[self._clauses - 1])
            column = moved[self._table.arrays[3][:tests]]
            for start, piece in columns.chunks(max(_MOST_VALUES // (len(there) + 1), 1)):
                values, states = self._values(piece, [names[each] for each in there])
                keys, ends = self._ask(column, values, states, epoch)
                found.append(Runs(keys, with_starts(ends, start)))
        return found

    def _ask(self, column: Array, values: Array, states: Array, epoch: int) -> tuple[Array, Array]:
        keys, gone, ends, _, lo, hi = self._table.arrays
        passes = self.recent.absent == "passes"
        found: tuple[Array, Array] = loops.now.match_bounds(
            keys, gone, ends, column, lo, hi, self._clauses, values, states, passes, epoch
        )
        return found

    def _values(self, columns: EventBatch, names: list[tuple[str, Kind]]) -> tuple[Array, Array]:
        """The values of a batch in columns, and what else there is; the last one is of nothing."""
        values = np.zeros((len(columns), len(names) + 1))
        states = np.full(values.shape, LACKING, np.uint8)
        for column, (name, kind) in enumerate(names):
            for part in columns.parts(name):
                rows = slice(None) if part.rows is None else part.rows
                states[rows, column] = VALUE if part.kind is kind else OTHER
                if part.kind is kind:
                    values[rows, column] = self._numbers(part)
        return values, states

    def _numbers(self, part: TypedValues) -> Array:
        if isinstance(part, Strings):
            words = self.recent.words
            return np.array([words.get(word, -1) for word in part.words], np.float64)[part.values]
        return part.values

    def _by_masks(self, asked: Sequence[_Waiting], columns: EventBatch, epoch: int) -> list[Runs]:
        """Some of those that wait, tried by column as brute force does."""
        found = []
        for start, chunk in columns.chunks(CHUNK_ROWS):
            masks = MaskCache(chunk, self.recent.absent)
            for each in asked:
                if each.gone <= epoch:
                    continue
                events = masks.rows_of(each.groups())
                if len(events):
                    place = np.arange(len(events))
                    runs = np.stack([events + start, place, place + 1], axis=1)
                    found.append(Runs(np.full(len(events), each.key, np.int32), runs))
        return found

    # Compiling.

    def tables(self, epoch: int) -> list[CodedTests]:
        """What was held at an epoch, compiled: one table, or none if nothing can match."""
        by_outline: dict[Outline, list[_Waiting]] = {}
        for each in self.recent.waiting[: self.waiting]:
            if each.gone > epoch:
                by_outline.setdefault(each.stated.outline, []).append(each)
        absent = self.recent.absent
        tables: list[CodedTests] = []
        few: list[tuple[int, Subscription]] = []
        for outline, alike in by_outline.items():
            if len(alike) > FEW_ALIKE:
                keys = np.array([each.key for each in alike], np.int64)
                operands = OperandColumns.of(outline, [each.stated.operands for each in alike])
                tables += coded_alike(keys, operands, absent)
            else:
                few += [(each.key, each.stated.subscription()) for each in alike]
        if few:
            tables += coded_subscriptions(few, absent)
        return [merged(tables)] if tables else []

    def deletions(self, epoch: int) -> list[tuple[int, int]]:
        """Keys of what has gone since an epoch, and the epochs from which on they are."""
        return [
            (each.key, each.gone)
            for each in self.recent.waiting[: self.waiting]
            if epoch < each.gone < NEVER
        ]


def _by_definition(
    asked: Iterable[_Waiting], event: Event, absent: Absent, epoch: int
) -> list[int]:
    return [
        each.key
        for each in asked
        if each.gone > epoch and each.subscription().matches(event, absent)
    ]


def _number(value: Any, words: dict[str, int]) -> float:
    """A value of an event as a column has it."""
    if type(value) is str:
        return words.get(value, -1)
    return float(value if type(value) in _PLAIN else microseconds(value))


_PLAIN: Final = frozenset({int, float, bool})
_MAX_PLAN_BYTES: Final = 16 << 20  # of what is remembered: a plan takes up to twice its outline


_Ends = tuple[tuple[tuple[int, bool], ...], tuple[tuple[int, bool], ...]]


@remembered(_MAX_PLAN_BYTES, lambda arguments, _: 3 * arguments[0].cost)
def _bounds(outline: Outline) -> list[dict[tuple[str, Kind], _Ends]] | None:
    """The ends that each clause sets to values of a kind; ``None`` if it asks for anything else."""
    place = 0
    clauses = []
    for slots in outline.clauses:
        bounds: dict[tuple[str, Kind], _Ends] = {}
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
