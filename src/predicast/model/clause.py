"""``Clause``: a conjunction of constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from predicast.model.constraint import Absent, Constraint, Truth
from predicast.model.domain import domain_of
from predicast.model.elements import Elements
from predicast.model.event import Event
from predicast.model.interval import Interval
from predicast.model.values import Value


@dataclass(frozen=True, slots=True)
class Clause:
    """Constraints that must all hold, in the order in which they were written."""

    constraints: tuple[Constraint, ...] = ()

    def matches(self, event: Event, absent: Absent = "fails") -> bool:
        """Whether one point of the event satisfies every constraint.

        A point event is its own only point. In a region event each attribute may choose its point
        freely, but one point must then satisfy *all* the constraints on that attribute.
        """
        return self.held(event, absent) == len(self.constraints)

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
        found: Truth = True
        for constraint in self.constraints:
            truth = constraint.truth(get(constraint.attribute))
            if truth is False:
                return False
            if truth is None:
                found = None
        return found

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
