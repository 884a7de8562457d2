"""``Subscription``: what a subscriber wants, as clauses of which one must match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from predicast.model.clause import Clause
from predicast.model.constraint import Absent, Constraint, Truth
from predicast.model.elements import Elements
from predicast.model.event import Event
from predicast.model.values import Value


@dataclass(frozen=True, slots=True)
class Subscription:
    """Clauses in disjunctive normal form.

    No clause at all matches nothing; a clause without constraints matches everything.
    """

    clauses: tuple[Clause, ...]

    @classmethod
    def of(cls, clauses: Iterable[Iterable[Constraint]]) -> Subscription:
        """From lists of constraints; what is said twice is kept once."""
        distinct = dict.fromkeys(Clause(tuple(dict.fromkeys(clause))) for clause in clauses)
        return cls(tuple(distinct))

    def matches(self, event: Event, absent: Absent = "fails") -> bool:
        """The definition of a match, against which every matcher is tested."""
        return any(clause.matches(event, absent) for clause in self.clauses)

    def truth(self, get: Callable[[str], Value | Elements | None]) -> Truth:
        """Whether it is true, false or unknown of attributes that are single values or lists."""
        found: Truth = False
        for clause in self.clauses:
            truth = clause.truth(get)
            if truth:
                return True
            if truth is None:
                found = None
        return found

    def constraints(self) -> Iterator[Constraint]:
        """Every constraint of every clause."""
        for clause in self.clauses:
            yield from clause.constraints

    def attributes(self) -> frozenset[str]:
        """The names of all the attributes it looks at."""
        return frozenset(constraint.attribute for constraint in self.constraints())
