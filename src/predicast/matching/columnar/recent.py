"""``Recent``: subscriptions that are not compiled yet, visible to the very next event.

Clauses of bounds wait in one long table and are tried as they are (``bounds_table.py``), those of
short lists of values as one for each value (``listed_values.py``); when there are hundreds of them
they are put in an order that spares trying most (``bounds_blocks.py``).
Whatever else a clause may state is tried by the model's own definition. So adding costs a few
writes, and asking some nanoseconds per event and clause, or less than one where they are in order.

What is held only grows, at the end. Each row has the epoch from which on it is held, and what is
dropped that from which on it is gone: so it answers as of any epoch while others are added, and a
change need not tell anybody how far it reached.

Rent or buy: asking adds up, and when it has cost as much as compiling would, that is due. It is due
as well when so much waits that compiling it takes some ten milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.brute_force import CHUNK_ROWS, Groups, MaskCache
from predicast.matching.columnar import loops
from predicast.matching.columnar.bounds_blocks import FIRST, BoundsBlocks
from predicast.matching.columnar.bounds_events import (
    Asked,
    BatchLayout,
    ValueRules,
    asked_of_event,
)
from predicast.matching.columnar.bounds_table import (
    NEVER,
    BoundsTable,
    Columns,
    Plan,
    number_rows,
    numbers_of,
)
from predicast.matching.columnar.compile.coded_tests import CodedTests
from predicast.matching.columnar.compile.from_bounds import coded_subscriptions
from predicast.matching.columnar.compile.from_operands import coded_operands
from predicast.matching.columnar.compile.uniting import merged
from predicast.matching.columnar.listed_values import without_lists
from predicast.matching.columnar.runs import Runs, with_starts
from predicast.model import Absent, Event, Subscription
from predicast.model.operand_columns import OperandColumns
from predicast.model.outline import Outline, Stated

FEW_ALIKE: Final = 8  # subscriptions of one outline that are compiled one by one
_FEW: Final = 8  # subscriptions that are quicker written one by one than as arrays
_MOST_VALUES: Final = 1 << 20  # of events in columns, laid out at a time
_GAPS: Final = 1 << 10  # clauses that may be gone before the others are worth moving

# What compiling costs, in microseconds or so: once, for each clause and for each of its tests; and
# for those of subscriptions that are compiled together with others of their outline.
_COMPILE: Final = 3_000
_COMPILE_CLAUSE: Final = 10
_COMPILE_TEST: Final = 3
_COMPILE_CLAUSE_ALIKE: Final = 1.0
_COMPILE_TEST_ALIKE: Final = 0.2
_DEAR: Final = 20_000

# What asking costs: once, for each clause and event in the table, and in blocks.
_ASK: Final = 12.0
_ASK_BATCH: Final = 35.0
_ASK_CLAUSE: Final = 0.015
_ASK_CLAUSE_EACH: Final = 0.001
_ASK_IN_BLOCK: Final = 0.0003
_LEAST_RENT: Final = 0.1  # of what asking costs: nothing is to wait for good


class _Known:
    """An outline: how its subscriptions are written, and what compiling those that wait costs."""

    __slots__ = ("_cost", "_cost_alike", "_waiting", "plan")

    def __init__(self, outline: Outline, plan: Plan | None) -> None:
        self.plan = plan
        clauses, tests = len(outline.clauses), sum(map(len, outline.clauses))
        self._cost = _COMPILE_CLAUSE * clauses + _COMPILE_TEST * tests
        self._cost_alike: float = self._cost
        if plan is not None:
            self._cost_alike = _COMPILE_CLAUSE_ALIKE * clauses + _COMPILE_TEST_ALIKE * tests
        self._waiting = 0

    def one_more(self) -> float:
        """What compiling one more costs."""
        self._waiting += 1
        return self._cost if self._waiting <= FEW_ALIKE else self._cost_alike

    def more(self, count: int) -> float:
        """What compiling so many more costs."""
        few = max(min(FEW_ALIKE - self._waiting, count), 0)
        self._waiting += count
        return few * self._cost + (count - few) * self._cost_alike

    def one_fewer(self) -> float:
        """What compiling one fewer spares."""
        self._waiting -= 1
        return self._cost if self._waiting < FEW_ALIKE else self._cost_alike


class _Definition:
    """A subscription as an object, as the model defines it."""

    __slots__ = ("_groups", "key", "row", "subscription")

    def __init__(self, row: int, key: int, stated: Stated) -> None:
        self.row = row
        self.key = key
        self.subscription = stated.subscription()
        self._groups: list[Groups] | None = None

    def groups(self) -> list[Groups]:
        """Its clauses as brute force tests them by column."""
        if self._groups is None:
            clauses = self.subscription.clauses
            self._groups = [Groups.of(clause) for clause in clauses]
        return self._groups


class _Waiting(NamedTuple):
    """Clauses in the table that somebody asks, some of them in blocks."""

    clauses: int
    blocks: BoundsBlocks


class Recent:
    """What came since the last segment, a row each.

    Whoever asks looks at what waits and at ``rows()`` before the columns and the table: what they
    count is in whatever is there then.
    """

    def __init__(self, absent: Absent) -> None:
        self.absent: Absent = absent
        self.table = BoundsTable()
        self.stated: list[Stated] = []  # by row
        self.odd: list[int] = []  # rows that have no clauses in the table
        self.columns = Columns()
        self.words: dict[str, int] = {}
        self.clauses = 0  # in the table
        self.blocks = BoundsBlocks()  # the first of them, in order
        self.may_repeat = False
        self._live: dict[int, int] = {}  # rows by key
        self._known: dict[Outline, _Known] = {}
        self._definitions: dict[int, _Definition] = {}  # by row, of those that were asked so
        self._tests = 0
        self._cost = 0.0
        self._rules = ValueRules(self.words, absent == "passes")
        self._layout: BatchLayout | None = None  # that of the latest batch

    def __len__(self) -> int:
        return len(self._live)

    def rows(self) -> int:
        """How many there are, those that are gone included."""
        return len(self.stated)

    def live_clauses(self) -> int:
        """How many clauses there are of what is not gone."""
        return sum(len(self.stated[row].outline.clauses) for row in self._live.values())

    def is_full(self) -> bool:
        """Whether so much waits that compiling more would take too long."""
        return self._cost > _DEAR

    def compile_cost(self) -> float:
        """What compiling it would cost."""
        return _COMPILE + self._cost

    def has_gaps(self) -> bool:
        """Whether most of what the table holds is gone, as where the same ones change again."""
        return len(self.stated) > _GAPS + 2 * len(self._live)

    def moved(self, epoch: int) -> Recent:
        """The same without what is gone, held from an epoch on."""
        recent = Recent(self.absent)
        recent.add_many([(key, self.stated[row]) for key, row in self._live.items()], epoch)
        return recent

    def definition(self, row: int) -> _Definition:
        """The subscription in a row, as an object."""
        found = self._definitions.get(row)
        if found is None:
            found = _Definition(row, self.table.keys[row], self.stated[row])
            self._definitions[row] = found
        return found

    # Changing it.

    def add(self, key: int, stated: Stated, epoch: int) -> None:
        """Hold one more from an epoch on."""
        outline, operands = stated
        known = self._known.get(outline) or self._learned(outline)
        plan, row = known.plan, len(self.stated)
        if plan is None and (spread := without_lists(stated)) is not None:
            outline, operands = spread
            plan = (self._known.get(outline) or self._learned(outline)).plan
        numbers = None if plan is None else numbers_of(plan, operands, self.words)
        clauses, tests = self.clauses, self._tests
        if plan is None or numbers is None:
            table = self.table.with_room(row + 1, clauses, tests)
            table.put(row, key, epoch)
            self.table = table
            self.odd.append(row)
        else:
            more, more_tests = clauses + plan.width, tests + plan.tests
            table = self.table.with_room(row + 1, more, more_tests)
            table.put(row, key, epoch)
            table.write(row, clauses, tests, plan, numbers)
            if plan.width > 1:
                self.may_repeat = True
            # In this order: somebody may look meanwhile.
            self.table, self._tests = table, more_tests
            self.clauses = more
            if more - self.blocks.clauses >= FIRST:
                self.blocks = self.blocks.with_more(table, more)
        self._cost += known.one_more()
        self.stated.append(stated)
        self._live[key] = row

    def add_many(self, pairs: Sequence[tuple[int, Stated]], epoch: int) -> None:
        """Hold some more from an epoch on, of which no two have the same key."""
        if len(pairs) <= _FEW:
            for key, stated in pairs:
                self.add(key, stated, epoch)
            return
        by_outline: dict[Outline, list[tuple[int, Stated]]] = {}
        for pair in pairs:
            outline = pair[1][0]
            group = by_outline.get(outline)
            if group is None:
                group = by_outline[outline] = []
            group.append(pair)
        for outline, group in by_outline.items():
            if len(group) <= _FEW or not self._add_alike(outline, group, epoch):
                for key, stated in group:
                    self.add(key, stated, epoch)

    def _add_alike(self, outline: Outline, pairs: Sequence[tuple[int, Stated]], epoch: int) -> bool:
        """Hold many of one outline, unless some of them have no place in the table."""
        known = self._known.get(outline) or self._learned(outline)
        plan = known.plan
        if plan is None or not outline.places:
            return False
        numbers = number_rows(plan, [stated.operands for _, stated in pairs], self.words)
        if numbers is None:
            return False
        keys = [key for key, _ in pairs]
        row, count = len(self.stated), len(keys)
        clauses = self.clauses + count * plan.width
        tests = self._tests + count * plan.tests
        table = self.table.with_room(row + count, clauses, tests)
        table.write_many((row, self.clauses, self._tests), keys, epoch, plan, numbers)
        if plan.width > 1:
            self.may_repeat = True
        self.table, self._tests = table, tests  # in this order, as above
        self.clauses = clauses
        if clauses - self.blocks.clauses >= FIRST:
            self.blocks = self.blocks.with_more(table, clauses)
        self._cost += known.more(count)
        self.stated += [stated for _, stated in pairs]
        self._live.update(zip(keys, range(row, row + count), strict=True))
        return True

    def drop(self, keys: Sequence[int], epoch: int) -> Sequence[int]:
        """Have those gone from an epoch on that are here; the others."""
        live, gone = self._live, self.table.gone
        if live.keys().isdisjoint(keys):
            return keys
        left = []
        for key in keys:
            row = live.pop(key, -1)
            if row < 0:
                left.append(key)
                continue
            self._cost -= self._known[self.stated[row].outline].one_fewer()
            gone[row] = epoch
        return left

    def _learned(self, outline: Outline) -> _Known:
        known = self._known[outline] = _Known(outline, self.columns.planned(outline))
        return known

    # Asking.

    def rent(self, events: int, of_segment: float) -> float:
        """What asking so many events costs more than asking a segment, in microseconds or so."""
        in_blocks = self.blocks.clauses
        bounds = (self.clauses - in_blocks) * (_ASK_CLAUSE + _ASK_CLAUSE_EACH * events)
        bounds += in_blocks * _ASK_IN_BLOCK * events
        odd = len(self.odd) * min(2 * events, 30 + events // 10)
        cost = min(_ASK * events, _ASK_BATCH) + bounds + odd
        return max(cost - of_segment, _LEAST_RENT * cost)

    def match(self, event: Event, epoch: int) -> list[int]:
        """The keys that one event matches; some perhaps twice."""
        if (event.is_region or event.has_decimals()) and self._has_columns_of(event):
            return self._by_definition(range(self.rows()), event, epoch)
        found = []
        if self.odd:
            found = self._by_definition(self.odd, event, epoch)
        waiting = self._waiting()
        if waiting.clauses:
            asked = asked_of_event(self.columns, self._rules, event, epoch)
            found += self._ask(waiting, asked)[0].tolist()
        return found

    def _waiting(self) -> _Waiting:
        blocks = self.blocks  # first: it may hold more by the time that clauses are counted
        return _Waiting(max(self.clauses, blocks.clauses), blocks)

    def _has_columns_of(self, event: Event) -> bool:
        columns = self.columns
        return any(columns.of(name) is not None for name, _ in event.items())

    def match_columns(self, columns: EventBatch, epoch: int) -> list[Runs]:
        """The matches of a batch, in pieces whose values fit in memory."""
        waiting = self._waiting()
        attributes = self.columns.attributes()
        kinds, parts = columns.parts_with_kinds(attributes)
        layout = self._layout
        if layout is None or layout.kinds != kinds or layout.names < len(self.columns.names):
            layout = self._layout = BatchLayout.of(self.columns, kinds)
        if not layout.are_exact:
            return self._by_masks(range(self.rows()), columns, epoch)
        found = self._by_masks(self.odd, columns, epoch) if self.odd else []
        if waiting.clauses:
            for start, piece in columns.chunks(max(_MOST_VALUES // layout.rows, 1)):
                if piece is not columns:
                    kinds, parts = piece.parts_with_kinds(attributes)
                    if kinds != layout.kinds:  # of some there is nothing in this piece
                        layout = BatchLayout.of(self.columns, kinds)
                asked = layout.asked(parts, len(piece), self._rules, epoch)
                keys, ends = self._ask(waiting, asked)
                found.append(Runs(keys, with_starts(ends, start)))
        return found

    def _ask(self, waiting: _Waiting, asked: Asked) -> tuple[Array, Array]:
        clauses, blocks = waiting
        found: tuple[Array, Array] = loops.now.match_bounds(
            *self.table.arrays, blocks.clauses, clauses, *blocks.arrays, *asked
        )
        return found

    def _held(self, rows: Iterable[int], epoch: int) -> Iterator[_Definition]:
        """Those of some rows that are held at an epoch."""
        known = list(rows)  # first, as others may be added
        table = self.table
        since, gone = table.since, table.gone
        return (self.definition(row) for row in known if since[row] <= epoch < gone[row])

    def _by_definition(self, rows: Iterable[int], event: Event, epoch: int) -> list[int]:
        absent, held = self.absent, self._held(rows, epoch)
        return [each.key for each in held if each.subscription.matches(event, absent)]

    def _by_masks(self, rows: Iterable[int], columns: EventBatch, epoch: int) -> list[Runs]:
        """Some of those that wait, tried by column as brute force does."""
        asked = list(self._held(rows, epoch))
        found = []
        for start, chunk in columns.chunks(CHUNK_ROWS):
            masks = MaskCache(chunk, self.absent)
            for each in asked:
                events = masks.rows_of(each.groups())
                if len(events):
                    place = np.arange(len(events))
                    runs = np.stack([events + start, place, place + 1], axis=1)
                    found.append(Runs(np.full(len(events), each.key, np.int32), runs))
        return found

    # Compiling.

    def tables(self, epoch: int) -> list[CodedTests]:
        """What was held at an epoch, compiled: one table, or none if nothing can match."""
        count, stated, absent = self.rows(), self.stated, self.absent
        keys, since, gone = self.table.arrays[:3]
        held = (since[:count] <= epoch) & (gone[:count] > epoch)
        by_outline: dict[Outline, list[int]] = {}
        latest, alike = None, list[int]()
        for row in np.flatnonzero(held).tolist():
            outline = stated[row].outline
            if outline is not latest:  # most often it is: to look it up takes longer than all else
                latest, alike = outline, by_outline.setdefault(outline, [])
            alike.append(row)
        tables: list[CodedTests] = []
        few: list[tuple[int, Subscription]] = []
        for outline, rows in by_outline.items():
            if len(rows) > FEW_ALIKE:
                operands = OperandColumns.of(outline, [stated[row].operands for row in rows])
                tables += coded_operands(keys[rows].astype(np.int64), operands, absent)
            else:
                few += [(int(keys[row]), stated[row].subscription()) for row in rows]
        if few:
            tables += coded_subscriptions(few, absent)
        return [merged(tables)] if tables else []

    def deletions(self, epoch: int) -> tuple[Array, Array]:
        """Keys of what has gone since an epoch, and the epochs from which on they are."""
        count = self.rows()
        keys, since, gone = (each[:count] for each in self.table.arrays[:3])
        rows = np.flatnonzero((since <= epoch) & (gone > epoch) & (gone < NEVER))
        return keys[rows].astype(np.int64), gone[rows]
