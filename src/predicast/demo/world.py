"""A world: events and subscriptions that belong together, and what came of matching them.

Both are plain data. A world knows nothing of Spark, of tables or of pictures, so that a test can
hand the same world to the pipeline and to an ``Engine`` and compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.engine import Engine
from predicast.engine.explanation import Explanation
from predicast.model import Event, Interval, Subscription

SUBSCRIPTION: Final = "subscription"
"""The column of the deliveries that holds the subscription's id."""


@dataclass(frozen=True, slots=True)
class World:
    """Events as rows, subscriptions as ``where`` texts by id."""

    name: str
    title: str
    event_id: str
    events: pa.Table
    subscriptions: Mapping[str, str]
    intervals: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def event(self, id: Any) -> Event:
        """One event as the model has it, without its id."""
        row = pc.index(self.events[self.event_id], id).as_py()
        attributes = self.events.slice(row, 1).to_pylist()[0]
        del attributes[self.event_id]
        for name, ends in self.intervals.items():
            attributes[name] = Interval(*(attributes.pop(end) for end in ends))
        return Event(attributes)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The deliveries of a world: event id and subscription id, and how long they took."""

    world: World
    deliveries: pa.Table
    seconds: float

    @property
    def matches(self) -> int:
        """The number of deliveries."""
        count: int = self.deliveries.num_rows
        return count

    @property
    def events_per_second(self) -> float:
        """Events read, matched and delivered in a second."""
        rate: float = self.world.events.num_rows / self.seconds
        return rate

    def by_subscription(self) -> dict[str, int]:
        """Deliveries per subscription that got any, the most first."""
        return self._counts(SUBSCRIPTION)

    def by_event(self) -> np.ndarray:
        """Deliveries of each event, in the order of the world's events."""
        counts = self._counts(self.world.event_id)
        ids = self.world.events[self.world.event_id].to_pylist()
        return np.array([counts.get(id, 0) for id in ids], np.int64)

    def busiest(self) -> tuple[Any, int]:
        """The event with the most deliveries, and how many they are."""
        return next(iter(self._counts(self.world.event_id).items()))

    def explained(self) -> Explanation | None:
        """Why the busiest event went to the most demanding of its subscribers."""
        if not self.matches:
            return None
        event, _ = self.busiest()
        same = pc.equal(self.deliveries[self.world.event_id], event)
        received = self.deliveries.filter(same)[SUBSCRIPTION].to_pylist()
        engine = Engine()
        engine.subscribe_many((id, self.world.subscriptions[id]) for id in sorted(received))
        demanding = max(engine.subscriptions(), key=lambda entry: _constraints(entry.subscription))
        return engine.explain(demanding.id, self.world.event(event))

    def _counts(self, column: str) -> dict[Any, int]:
        keys = self.deliveries.select([column])
        counted = keys.group_by(column).aggregate([([], "count_all")])
        # Ties go to the lesser id, so that two runs print the same table.
        ordered = counted.sort_by([("count_all", "descending"), (column, "ascending")])
        return dict(zip(ordered[column].to_pylist(), ordered["count_all"].to_pylist(), strict=True))


def _constraints(subscription: Subscription) -> int:
    """How much a subscription asks for: the constraints of its shortest clause."""
    return min(len(tuple(clause)) for clause in subscription.clauses)
