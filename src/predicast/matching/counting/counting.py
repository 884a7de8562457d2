"""Counting: every distinct constraint is tested once, and hits are counted per clause.

The algorithm of Yan and Garcia-Molina (Index structures for selective dissemination of
information under the Boolean model, 1994), as the baseline "Counting" of the papers on
redundant-attribute matching (2010, section 4) and on CEEM (2011, section 4).

Structure::

    name, type ──► distinct constraints ──► clauses that hold them     clause ──► needed
    x, number      x > 3                    clause 0, clause 4         clause 0   2
                   x = 5                    clause 1                   clause 1   1
    y, string      y = 'a'                  clause 0                   clause 4   3

The right half is ``ConstraintSubscriptionList``, which also says how absent attributes, the empty
clause and region events are counted.

**Match.** For each attribute of the event, test every distinct constraint on it once; for each
that holds, add one to every clause behind it; a clause whose count equals its number of
constraints matches.

**Cost.** Per event: one test per distinct constraint on the attributes it carries, one increment
per (satisfied constraint, clause), a glance at every clause that was counted at all. Space is
linear in the constraints.

**Limits.** There is no early exit. Brute force, event by event, leaves a subscription at the first
constraint that fails; so where events carry many of the names that subscriptions use, it tests
fewer constraints than counting does, and wins. (``BruteForce.match_batch`` works on columns with
NumPy and is no measure for the algorithms here; the papers' baseline is its ``match``.)

**Departures.** Constraints are grouped by name and type, so that only those an attribute can
satisfy are tested; the 2010 paper seems to run through all of them, for its times do not depend on
the number of names. Counts live in a fresh hash table per event instead of an array to be reset,
so an event pays for the clauses it touches. The clauses of one subscription are counted apart, and
the subscription is reported once.

``constraints_tested`` counts these tests, ``candidates`` the increments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from operator import attrgetter
from typing import ClassVar, Protocol, TypeAlias

from predicast.matching.counting.constraint_subscription_list import (
    ConstraintStore,
    CountedClause,
    CountingFamily,
    HeldConstraint,
)
from predicast.matching.memory import deep_bytes
from predicast.model import Absent, Event, Held, Interval, Kind
from predicast.model.values import kind_of

_clauses = attrgetter("clauses")

# An insertion-ordered set: rows come and go in O(1).
_Rows: TypeAlias = dict[HeldConstraint, None]


class SearchableStore(ConstraintStore, Protocol):
    """A store that finds the constraints which one attribute satisfies."""

    @property
    def tested(self) -> int:
        """How many comparisons were made so far."""

    def matching(self, name: str, value: Held) -> list[HeldConstraint]:
        """The constraints on the name that the value satisfies (that the interval meets)."""


class ConstraintTable:
    """Distinct constraints by name and type, tested one after the other."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[Kind | None, _Rows]] = {}
        self.tested = 0

    def insert(self, row: HeldConstraint) -> None:
        by_kind = self._rows.setdefault(row.constraint.attribute, {})
        by_kind.setdefault(row.constraint.kind, {})[row] = None

    def remove(self, row: HeldConstraint) -> None:
        name, kind = row.constraint.attribute, row.constraint.kind
        by_kind = self._rows[name]
        del by_kind[kind][row]
        if not by_kind[kind]:
            del by_kind[kind]
        if not by_kind:
            del self._rows[name]

    def matching(self, name: str, value: Held) -> list[HeldConstraint]:
        by_kind = self._rows.get(name)
        if by_kind is None:
            return []
        if isinstance(value, Interval):
            rows = list(chain.from_iterable(by_kind.values()))
            self.tested += len(rows)
            return [row for row in rows if row.meets(value)]
        found: list[HeldConstraint] = []
        for kind in (kind_of(value), None):  # None: presence, or values of several kinds
            of_kind = by_kind.get(kind)
            if of_kind is not None:
                self.tested += len(of_kind)
                found += [row for row in of_kind if row.constraint.holds(value)]
        return found


class Counting(CountingFamily):
    """Counts, per event, the satisfied constraints of each clause."""

    name = "counting"
    store: ClassVar[type[SearchableStore]] = ConstraintTable

    def __init__(self, *, absent: Absent = "fails") -> None:
        self._constraints = self.store()
        super().__init__(self._constraints, absent=absent)
        self._events = 0
        self._increments = 0

    def match(self, event: Event) -> list[int]:
        rows: list[HeldConstraint] = []
        for name, value in event.items():
            rows += self._constraints.matching(name, value)
        counts = Counter(chain.from_iterable(map(_clauses, rows)))
        self._events += 1
        self._increments += counts.total()
        if self._list.forfeits:
            self._forfeit(counts, event)
        matched = {
            clause.key
            for clause in self._complete(counts)
            if clause.is_verified_by(event, self.absent)
        }
        return list(matched)

    def statistics(self) -> dict[str, int]:
        return {
            **self._list.sizes(),
            "events": self._events,
            "constraints_tested": self._constraints.tested,
            "candidates": self._increments,
            "bytes": deep_bytes(self._list, self._constraints),
        }

    def _forfeit(self, counts: Counter[CountedClause], event: Event) -> None:
        """Take back what held only as long as the event's attributes might have been absent."""
        forfeits = self._list.forfeits
        for name, _ in event.items():  # noqa: PERF102  # an Event is no dict
            if name in forfeits:
                counts.subtract(forfeits[name])

    def _complete(self, counts: Counter[CountedClause]) -> Iterator[CountedClause]:
        """The clauses whose count is what they need."""
        for clause, count in counts.items():
            if count == clause.needed:
                yield clause
        for clause in self._list.standing:
            if clause not in counts:
                yield clause
