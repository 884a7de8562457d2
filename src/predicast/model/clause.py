"""``Clause``: a conjunction of constraints, and perhaps of a rest.

The *rest* is an expression that is not multiplied out into clauses
(``predicast.model.normal_form``): AND and OR over constraints, without NOT. It is tested where all
the constraints hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from predicast.errors import InvalidConstraintError
from predicast.model.constraint import Absent, Constraint, Truth, joined_truth
from predicast.model.domain import domain_of
from predicast.model.elements import Elements
from predicast.model.event import Event
from predicast.model.expression import And, Expression, Leaf, Or, leaves_of
from predicast.model.interval import Interval
from predicast.model.rests import rest_holds, rest_truth
from predicast.model.values import Value


@dataclass(frozen=True, slots=True)
class Clause:
    """Constraints that must all hold, in the order in which they were written; and the rest."""

    constraints: tuple[Constraint, ...] = ()
    rest: Expression | None = None

    def __post_init__(self) -> None:
        if self.rest is not None:
            _check_rest(self.rest)

    def matches(self, event: Event, absent: Absent = "fails") -> bool:
        """Whether one point of the event satisfies every constraint, and the rest.

        A point event is its own only point. In a region event each attribute may choose its point
        freely, but one point must then satisfy *all* that is said of that attribute.
        """
        if self.held(event, absent) < len(self.constraints):
            return False
        return self.rest is None or rest_holds(self.rest, self.constraints, event, absent)

    def held(self, event: Event, absent: Absent = "fails") -> int:
        """How many constraints hold before the first that does not."""
        for position, constraint in enumerate(self.constraints):
            value = event.get(constraint.attribute)
            if value is None:
                if not constraint.holds_absent(absent):
                    return position
            elif isinstance(value, Interval):
                if not domain_of(self.on(constraint.attribute), absent).meets(value):
                    return position
            elif not constraint.holds(value):
                return position
        return len(self.constraints)

    def truth(self, get: Callable[[str], Value | Elements | None]) -> Truth:
        """Whether it is true, false or unknown of attributes that are single values or lists."""
        tests = (each.truth(get(each.attribute)) for each in self.constraints)
        if self.rest is None:
            return joined_truth(tests, decides=False)
        return joined_truth((*tests, rest_truth(self.rest, get)), decides=False)

    def all_constraints(self) -> Iterator[Constraint]:
        """Its constraints, and those of the rest, of which not all need hold."""
        yield from self.constraints
        if self.rest is not None:
            yield from leaves_of(self.rest)

    def on(self, attribute: str) -> tuple[Constraint, ...]:
        """The constraints on one attribute."""
        return tuple(each for each in self.constraints if each.attribute == attribute)

    def by_attribute(self) -> dict[str, tuple[Constraint, ...]]:
        """The constraints of each attribute, which are judged together."""
        grouped: dict[str, list[Constraint]] = {}
        for constraint in self.constraints:
            grouped.setdefault(constraint.attribute, []).append(constraint)
        return {attribute: tuple(group) for attribute, group in grouped.items()}

    def __iter__(self) -> Iterator[Constraint]:
        return iter(self.constraints)

    def __len__(self) -> int:
        return len(self.constraints)


# As with constraints, writing the slots is several times as fast as a frozen dataclass's __init__.
_new = object.__new__
_slots: Final[dict[str, Any]] = dict(vars(Clause))
_set_constraints = _slots["constraints"].__set__
_set_rest = _slots["rest"].__set__


def trusted_clause(constraints: tuple[Constraint, ...], rest: Expression | None = None) -> Clause:
    """A clause whose rest, if it has one, is known to be right; for bulk work."""
    clause = _new(Clause)
    _set_constraints(clause, constraints)
    _set_rest(clause, rest)
    return clause


def _check_rest(rest: Expression) -> None:
    pending = [rest]
    while pending:
        node = pending.pop()
        if isinstance(node, And | Or) and node.parts:
            pending.extend(node.parts)
        elif not isinstance(node, Leaf):
            raise InvalidConstraintError(
                f"the rest of a clause is made of AND, OR and constraints, not of {node}"
            )
