"""The constraint-subscription list: every distinct constraint once, with the clauses that hold it.

Shared by the three counting matchers (``counting``, ``improved-counting``,
``redundant-attributes``). The paper (redundant-attribute matching, 2010, section 3.1, figure 4)
keeps subscriptions behind each constraint; a subscription of ours is a disjunction, so we keep its
clauses, each of which is what the paper calls a subscription::

    HeldConstraint                      CountedClause
    x > 3   ──► [clause 0, clause 4]    clause 0: key 7, needed 2
    y = 'a' ──► [clause 0, clause 1]    clause 1: key 7, needed 1

**Counting.** A clause is matched when as many of its *distinct* constraints are satisfied as it
has. To count constraints on absent attributes without visiting them, both numbers leave out the
constraints that hold while their attribute is absent: ``needed`` counts the others, and when an
event does carry the attribute, those that were left out are first *forfeited* (counted as -1 each)
and then counted like any other if the value satisfies them::

    absent="fails"     left out: IS NULL                     needed: everything else
    absent="passes"    left out: everything but IS NOT NULL  needed: IS NOT NULL

Each attribute contributes at most what the clause needs of it, so the sum equals ``needed`` only
if every constraint is satisfied. A clause with ``needed == 0`` (the empty clause is one) *stands*:
it matches unless something was counted against it.

**Regions.** The papers' counting knows no intervals. Here a constraint counts as satisfied by an
interval that meets its own domain; that is necessary, and sufficient when it is the clause's only
constraint on that attribute. A clause that has ``several`` there must satisfy them in one common
point, so it is then verified by definition.

**Invariants.** A constraint is held as long as some clause has it. ``clauses`` is ascending by
number, since numbers only grow and are never used again.

**Cost.** Per constraint of a subscription: a hash look-up, and to unsubscribe a binary search and
a shift in the list of its clauses; a constraint that comes or goes is told to the store.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Protocol

from predicast.matching.matcher import OneByOne
from predicast.model import Absent, Clause, Constraint, Event, Interval, Subscription
from predicast.model.domain import domain_of
from predicast.model.normal_form import without_rests

_number = attrgetter("number")


@dataclass(slots=True, eq=False)
class CountedClause:
    """A clause as counting sees it: how many distinct constraints an event must satisfy."""

    number: int
    key: int
    clause: Clause
    needed: int
    several: frozenset[str]  # attributes on which it has more than one constraint

    def is_verified_by(self, event: Event, absent: Absent) -> bool:
        """Whether the right count is a match: it is, unless an interval faces several tests."""
        if not event.is_region or not self.several:
            return True
        if any(isinstance(event.get(name), Interval) for name in self.several):
            return self.clause.matches(event, absent)
        return True


@dataclass(slots=True, eq=False)
class HeldConstraint:
    """A distinct constraint with the clauses that hold it."""

    constraint: Constraint
    clauses: list[CountedClause] = field(default_factory=list)

    def meets(self, interval: Interval) -> bool:
        """Whether some point of a region event's interval satisfies it."""
        return domain_of((self.constraint,), "fails").meets(interval)


class ConstraintStore(Protocol):
    """Where a matcher keeps the distinct constraints so as to find those that a value satisfies."""

    def insert(self, row: HeldConstraint) -> None:
        """Keep a constraint that was not held before."""

    def remove(self, row: HeldConstraint) -> None:
        """Forget a constraint that no clause holds any more."""


class ConstraintSubscriptionList:
    """Subscriptions as clauses and distinct constraints; tells the store which to keep."""

    def __init__(self, store: ConstraintStore, absent: Absent) -> None:
        self._store = store
        self._absent: Absent = absent
        self._rows: dict[Constraint, HeldConstraint] = {}
        self._clauses: dict[int, list[CountedClause]] = {}
        self._next_number = 0
        # Clauses that match unless something is counted against them.
        self.standing: dict[CountedClause, None] = {}
        # What a clause forfeits, and how often, when an event carries the attribute.
        self.forfeits: dict[str, Counter[CountedClause]] = {}

    def subscribe(self, key: int, subscription: Subscription) -> None:
        self._clauses[key] = self._held(key, subscription)

    def unsubscribe(self, key: int) -> None:
        self._forget(self._clauses.pop(key))

    def change(self, key: int, subscription: Subscription) -> None:
        """Hold the new clauses before the old ones go: what they share never leaves the store."""
        before = self._clauses[key]
        self._clauses[key] = self._held(key, subscription)
        self._forget(before)

    def sizes(self) -> dict[str, int]:
        """How much is held."""
        return {
            "subscriptions": len(self._clauses),
            "clauses": sum(map(len, self._clauses.values())),
            "constraints": len(self._rows),
        }

    def _held(self, key: int, subscription: Subscription) -> list[CountedClause]:
        return [self._hold(key, clause) for clause in subscription.clauses]

    def _hold(self, key: int, clause: Clause) -> CountedClause:
        distinct = dict.fromkeys(clause)
        per_attribute = Counter(constraint.attribute for constraint in distinct)
        counted = CountedClause(
            self._next_number,
            key,
            clause,
            needed=sum(not each.holds_absent(self._absent) for each in distinct),
            several=frozenset(name for name, count in per_attribute.items() if count > 1),
        )
        self._next_number += 1
        for constraint in distinct:
            row = self._rows.get(constraint)
            if row is None:
                row = self._rows[constraint] = HeldConstraint(constraint)
                self._store.insert(row)
            row.clauses.append(counted)
            if constraint.holds_absent(self._absent):
                self.forfeits.setdefault(constraint.attribute, Counter())[counted] += 1
        if counted.needed == 0:
            self.standing[counted] = None
        return counted

    def _forget(self, clauses: Iterable[CountedClause]) -> None:
        for counted in clauses:
            self.standing.pop(counted, None)
            for constraint in dict.fromkeys(counted.clause):
                self._forget_one(constraint, counted)

    def _forget_one(self, constraint: Constraint, counted: CountedClause) -> None:
        row = self._rows[constraint]
        del row.clauses[bisect_left(row.clauses, counted.number, key=_number)]
        if not row.clauses:
            self._store.remove(row)
            del self._rows[constraint]
        forfeited = self.forfeits.get(constraint.attribute)
        if forfeited is not None and forfeited.pop(counted, 0) and not forfeited:
            del self.forfeits[constraint.attribute]


class CountingFamily(OneByOne):
    """A matcher whose subscriptions are in a constraint-subscription list."""

    def __init__(self, store: ConstraintStore, *, absent: Absent = "fails") -> None:
        super().__init__(absent=absent)
        self._list = ConstraintSubscriptionList(store, absent)

    def subscribe(self, key: int, subscription: Subscription) -> None:
        self._list.subscribe(key, without_rests(subscription, self.name))

    def unsubscribe(self, key: int) -> None:
        self._list.unsubscribe(key)

    def change(self, key: int, subscription: Subscription) -> None:
        self._list.change(key, without_rests(subscription, self.name))
