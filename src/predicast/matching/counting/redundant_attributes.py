"""Redundant-attribute matching: a whole batch at once, each distinct attribute looked up once.

"RABasedMatching" of the paper on redundant-attribute matching (2010, section 3). The events of a
batch repeat attributes; matching event by event looks the same attribute up again and again.

Structure (section 3.1)::

    attribute-event list (figure 3)        constraint index (figure 6)
    number x 4    ──► events 0, 7          type → name → operator → list
    number x 5    ──► event 3                     │
    string y 'a'  ──► events 0, 3, 7              ▼
          │                                constraint-subscription list (figure 4)
          │                                x > 3   ──► clauses 0, 4
          ▼                                y = 'a' ──► clause 0
    subscription-event list (figure 5)            │
    clause 0, needed 2 ──► 0, 7, 3, 0, 3, 7  ◄────┘
    clause 4, needed 3 ──► 0, 7, 3

The attribute-event list and the subscription-event list live as long as one batch; the constraint
index and the constraint-subscription list hold the subscriptions and change with them.

**Match (section 3.2).** For each distinct attribute of the batch and each operator, the constraint
index gives the constraints that match; for each of them, every event of the attribute is counted
for every clause of the constraint. A clause and an event that were counted as often as the clause
has constraints are a match. A single event is a batch of one.

**Departures.**

- *The subscription-event list holds events, not counters.* Each time a constraint of a clause is
  satisfied by some events, their numbers are appended to the clause's list. How often an event
  occurs in it is the paper's ``MatchedConsCount``, read off once at the end.
- *Order operators in one walk.* The paper adds the events of each attribute to every constraint
  behind the first that matches. Here all values of one name first take their places in the sorted
  list, and one walk along it carries the events that have joined so far from constraint to
  constraint (``matching_batch`` of the order lists). The counts are the same.
- *Distinct constraints are counted.* The paper counts pairs of attribute and constraint, so an
  event with two attributes that satisfy one constraint would be counted twice. An event of ours
  has one value per name, and a list gives a constraint at most once for one value.
- *Absent attributes, the empty clause, regions*: see ``ConstraintSubscriptionList``. The empty
  clause matches every event though nothing is ever counted for it.
- *Big batches go in pieces*, since the subscription-event list grows with events × clauses.

**Cost.** Searches are per distinct attribute, not per event. Increments are as many as in
``improved-counting``, but made by appending whole lists. The gain grows with the batch; for a
single event the lists are overhead.

``constraints_tested`` counts the steps of the searches (see ``ConstraintIndex``), ``candidates``
the entries of the subscription-event list, ``attributes`` the distinct attributes looked up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, Final, TypeAlias

from predicast.matching.counting.constraint_index import ConstraintIndex
from predicast.matching.counting.constraint_lists import Carried
from predicast.matching.counting.constraint_subscription_list import (
    CountedClause,
    CountingFamily,
    HeldConstraint,
)
from predicast.matching.memory import deep_bytes
from predicast.model import Absent, Elements, Event, Interval
from predicast.model.decimals import ExactDecimal

# Matched together: enough for attributes to repeat, few enough for the lists to fit in memory.
_BATCH_EVENTS: Final = 4_096

# name → value → the numbers of the events that carry it
_Names: TypeAlias = defaultdict[str, defaultdict[Any, list[int]]]


class AttributeEventList:
    """Each distinct attribute (type, name, value) of a batch with the events that carry it."""

    def __init__(self, events: Iterable[Event]) -> None:
        numbers = _names()  # integers and floats in one: equal numbers are one attribute
        types: dict[type, _Names] = {int: numbers, float: numbers}
        singles = (ExactDecimal, str, bool, datetime, Elements)
        types |= {type_: _names() for type_ in singles}
        intervals = _names()
        for number, event in enumerate(events):
            for name, value in event.items():
                if type(value) is Interval:
                    # Equal to Python, unequal to us: [0, 1] of integers and of reals.
                    intervals[name][value, value.is_discrete()].append(number)
                else:
                    types[type(value)][name][value].append(number)
        del types[float]
        self._types = types
        self._intervals = intervals

    def points(self) -> Iterator[tuple[type, str, Carried]]:
        """Type and name with the events by value."""
        for type_, names in self._types.items():
            for name, carried in names.items():
                yield type_, name, carried

    def regions(self) -> Iterator[tuple[str, Interval, list[int]]]:
        """Name and interval with the events."""
        for name, carried in self._intervals.items():
            for (interval, _), events in carried.items():
                yield name, interval, events

    def carriers(self, name: str) -> list[int]:
        """The events that carry the name, whatever the value."""
        everywhere = (*self._types.values(), self._intervals)
        found = [names[name].values() for names in everywhere if name in names]
        return list(chain.from_iterable(chain.from_iterable(found)))

    def __len__(self) -> int:
        everywhere = (*self._types.values(), self._intervals)
        return sum(len(carried) for names in everywhere for carried in names.values())


def _names() -> _Names:
    return defaultdict(lambda: defaultdict(list))


class SubscriptionEventList:
    """Each clause with the events that satisfy its constraints, once per satisfied constraint."""

    def __init__(self) -> None:
        self.satisfied: defaultdict[CountedClause, list[int]] = defaultdict(list)
        self._forfeited: defaultdict[CountedClause, list[int]] = defaultdict(list)

    def add(self, row: HeldConstraint, events: list[int]) -> None:
        """Count a satisfied constraint for each of the events."""
        for clause in row.clauses:
            self.satisfied[clause] += events

    def forfeit(self, clauses: Counter[CountedClause], events: list[int]) -> None:
        """Take back what held only as long as the events might have lacked the attribute."""
        for clause, times in clauses.items():
            self._forfeited[clause] += events * times

    def matches(self, clause: CountedClause, batch: int) -> list[int]:
        """The events of the batch whose count is what the clause needs."""
        satisfied = self.satisfied.get(clause, [])
        if len(satisfied) < clause.needed:
            return []
        counts = Counter(satisfied)
        if self._forfeited:
            counts.subtract(self._forfeited.get(clause, ()))
        if clause.needed == 0:
            return [number for number in range(batch) if not counts.get(number)]
        return [number for number, count in counts.items() if count == clause.needed]


class RedundantAttributes(CountingFamily):
    """Matches the distinct attributes of a batch, then counts per clause and event."""

    name = "redundant-attributes"

    def __init__(self, *, absent: Absent = "fails") -> None:
        self._index = ConstraintIndex()
        super().__init__(self._index, absent=absent)
        self._events = 0
        self._attributes = 0
        self._increments = 0

    def match(self, event: Event) -> list[int]:
        return self.match_batch([event])[0]

    def match_batch(self, events: Sequence[Event]) -> list[list[int]]:
        found: list[list[int]] = []
        for start in range(0, len(events), _BATCH_EVENTS):
            found += self._match_piece(events[start : start + _BATCH_EVENTS])
        return found

    def statistics(self) -> dict[str, int]:
        return {
            **self._list.sizes(),
            "events": self._events,
            "attributes": self._attributes,
            "constraints_tested": self._index.tested,
            "candidates": self._increments,
            "bytes": deep_bytes(self._list, self._index),
        }

    def _match_piece(self, events: Sequence[Event]) -> list[list[int]]:
        attributes = AttributeEventList(events)
        counted = self._counted(attributes)
        self._events += len(events)
        self._attributes += len(attributes)
        self._increments += sum(map(len, counted.satisfied.values()))
        found: list[set[int]] = [set() for _ in events]
        for clause in {**self._list.standing, **counted.satisfied}:
            for number in counted.matches(clause, len(events)):
                if clause.is_verified_by(events[number], self.absent):
                    found[number].add(clause.key)
        return [list(keys) for keys in found]

    def _counted(self, attributes: AttributeEventList) -> SubscriptionEventList:
        """Every satisfied constraint counted for its clauses and events."""
        counted = SubscriptionEventList()
        for type_, name, carried in attributes.points():
            for constraints in self._index.lists(type_, name):
                for row, events in constraints.matching_batch(carried):
                    counted.add(row, events)
        for name, interval, events in attributes.regions():
            for row in self._index.meeting(name, interval):
                counted.add(row, events)
        for name, exists in self._index.exists.items():
            counted.add(exists, attributes.carriers(name))
        for name, forfeited in self._list.forfeits.items():
            counted.forfeit(forfeited, attributes.carriers(name))
        return counted
