"""Where a round's subscriptions and events come from: a workload's generator, or anything at all.

A workload is drawn as a *pool*: its table is loaded by parts, its subscriptions are also had one
by one, for changes. When a pool is used up, another is drawn with the next seed. Events are the
workload's own and, every other one, such as only just meet a standing subscription, or only just
do not: random events alone would hardly ever be at an edge.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from bench.matchers.redundant import SparseWorkload
from bench.matchers.rival import AnyWorkload
from predicast import Engine
from predicast.model import Event, Interval, Subscription
from tests.differential.anything import World, with_near
from tests.differential.constraint_tables import has_rows, table_of
from tests.differential.event_batches import Batch, batch_of
from tests.differential.nearby import values_near
from tests.differential.steps import Bulk

Make: TypeAlias = Callable[[int, int, int], AnyWorkload]  # subscriptions, events, seed

_NEAR: Final = 0.5  # the share of events that are near a subscription
_IN_COLUMNS: Final = 0.6  # the share of batches of anything that Arrow can hold
_POOL_EVENTS: Final = 300


class Source(ABC):
    """Draws subscriptions with new ids, and batches of events."""

    @abstractmethod
    def bulk(self, count: int) -> Bulk:
        """So many new subscriptions, to be loaded at once."""

    @abstractmethod
    def one(self) -> tuple[str, Subscription]:
        """One new subscription."""

    @abstractmethod
    def events(self, count: int, standing: Sequence[Subscription]) -> Batch:
        """So many events, some near the standing subscriptions."""


class WorkloadSource(Source):
    """Subscriptions and events of a generator."""

    def __init__(self, make: Make, size: int, chance: Random) -> None:
        self._make = make
        self._size = size
        self._chance = chance
        self._pools = 0
        self._draw_pool()

    def _draw_pool(self) -> None:
        seed = self._chance.randrange(2**31)
        workload = self._make(self._size, _POOL_EVENTS, seed)
        table = workload.table()
        ids = pc.binary_join_element_wise(f"p{self._pools}-", table["id"].cast(pa.string()), "")
        self._table = table.set_column(table.column_names.index("id"), "id", ids)
        engine = Engine(matcher="brute-force")
        engine.subscribe_arrow(self._table)
        self._left = [(entry.id, entry.subscription) for entry in engine.subscriptions()]
        self._chance.shuffle(self._left)
        self._events = _events_of(workload)
        self._intervals = frozenset(getattr(workload, "intervals", ()))
        self._pools += 1

    def bulk(self, count: int) -> Bulk:
        if not self._left:
            self._draw_pool()
        taken, self._left = dict(self._left[:count]), self._left[count:]
        rows = pc.is_in(self._table["id"], pa.array(list(taken), pa.string()))
        return Bulk(self._table.filter(rows), {}, taken)

    def one(self) -> tuple[str, Subscription]:
        if not self._left:
            self._draw_pool()
        return self._left.pop()

    def events(self, count: int, standing: Sequence[Subscription]) -> Batch:
        drawn = self._chance.choices(self._events, k=count)
        return batch_of([self._near(event, standing) for event in drawn], self._chance)

    def _near(self, event: Event, standing: Sequence[Subscription]) -> Event:
        if not standing or self._chance.random() > _NEAR:
            return event
        clause = self._chance.choice(self._chance.choice(standing).clauses)
        near: dict[str, Any] = dict(values_near(clause, self._chance))
        for name in self._intervals & set(near):
            wide = self._chance.choice((0.0, 0.0, 1.0, 1000.0))
            ends = (float(near[name]), float(near[name]) + wide)
            near[name] = (
                Interval(*ends)
                if self._chance.random() < 0.5
                else Interval(ends[0] - wide, ends[0])
            )
        return Event({**dict(event.items()), **near})


def _events_of(workload: AnyWorkload) -> list[Event]:
    if isinstance(workload, SparseWorkload):
        return list(workload.events)
    rows = workload.events.to_pylist()
    for row in rows:
        for name, (low, high) in workload.intervals.items():
            row[name] = Interval(row.pop(low), row.pop(high))
    return [Event(row) for row in rows]


class AnythingSource(Source):
    """Every operator, every kind of value."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._world = World(chance)
        self._drawn = 0

    def one(self) -> tuple[str, Subscription]:
        self._drawn += 1
        return f"s{self._drawn}", self._world.subscription()

    def bulk(self, count: int) -> Bulk:
        drawn = dict(self.one() for _ in range(count))
        in_rows = {id: each for id, each in drawn.items() if has_rows(each)}
        others = {id: each for id, each in drawn.items() if id not in in_rows}
        return Bulk(table_of(in_rows), others, drawn)

    def events(self, count: int, standing: Sequence[Subscription]) -> Batch:
        columns = self._chance.random() < _IN_COLUMNS
        types = self._world.column_types() if columns else None
        return batch_of([self._event(types, standing) for _ in range(count)], self._chance)

    def _event(
        self, types: Mapping[str, tuple[type, bool]] | None, standing: Sequence[Subscription]
    ) -> Event:
        world = self._world
        event = world.free_event() if types is None else world.column_event(types)
        if not standing or self._chance.random() > _NEAR:
            return Event(event)
        clauses = self._chance.choice(standing).clauses
        near = values_near(self._chance.choice(clauses), self._chance) if clauses else {}
        return with_near(event, near, types)
