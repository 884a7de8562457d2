"""``Subscription``: what a subscriber wants, as clauses of which one must match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from predicast.model.clause import Clause
from predicast.model.constraint import Absent, Constraint, Truth, joined_truth
from predicast.model.elements import Elements
from predicast.model.event import Event
from predicast.model.values import Value


@dataclass(frozen=True, slots=True)
class Subscription:
    """Clauses, of which one must match.

    No clause at all matches nothing; a clause without constraints matches everything.
    """

    clauses: tuple[Clause, ...]

    @classmethod
    def of(cls, clauses: Iterable[Clause | Iterable[Constraint]]) -> Subscription:
        """From clauses or lists of constraints; what is said twice is kept once."""
        distinct = dict.fromkeys(
            Clause(
                tuple(dict.fromkeys(clause)), clause.rest if isinstance(clause, Clause) else None
            )
            for clause in clauses
        )
        return cls(tuple(distinct))

    def matches(self, event: Event, absent: Absent = "fails") -> bool:
        """The definition of a match, against which every matcher is tested."""
        return any(clause.matches(event, absent) for clause in self.clauses)

    def truth(self, get: Callable[[str], Value | Elements | None]) -> Truth:
        """Whether it is true, false or unknown of attributes that are single values or lists."""
        return joined_truth((clause.truth(get) for clause in self.clauses), decides=True)

    def constraints(self) -> Iterator[Constraint]:
        """Every constraint of every clause and its rest."""
        for clause in self.clauses:
            yield from clause.all_constraints()

    def attributes(self) -> frozenset[str]:
        """The names of all the attributes it looks at."""
        return frozenset(constraint.attribute for constraint in self.constraints())
