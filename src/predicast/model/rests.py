"""Whether an event satisfies the rest of a clause: an expression of AND and OR over constraints.

A point event decides every constraint, and the expression with them. A region event chooses a point
of each of its intervals, and *one* point must satisfy all that the clause says: what only points
decide is decided first, and then a point is searched for (``region_search.py``).
"""

from __future__ import annotations

from collections.abc import Callable

from predicast.model.constraint import Absent, Constraint, Truth, joined_truth
from predicast.model.domain import domain_of
from predicast.model.elements import Elements
from predicast.model.event import Event
from predicast.model.expression import Expression, Leaf, Not, Or, leaves_of
from predicast.model.interval import Interval
from predicast.model.region_search import decided, some_point
from predicast.model.values import Value


def rest_holds(
    rest: Expression, constraints: tuple[Constraint, ...], event: Event, absent: Absent
) -> bool:
    """Whether one point of an event satisfies the rest together with constraints it satisfies."""

    def decide(leaf: Leaf[Constraint]) -> bool | Expression:
        """Whether it holds; if that is up to an interval, which it may, the leaf itself."""
        constraint = leaf.constraint
        value = event.get(constraint.attribute)
        if value is None:
            return constraint.holds_absent(absent)
        if not isinstance(value, Interval):
            return constraint.holds(value)
        return leaf if domain_of((constraint,), absent).meets(value) else False

    left = decided(rest, decide)
    if isinstance(left, bool):
        return left
    asked = (*constraints, *leaves_of(left))
    values = {each.attribute: event.get(each.attribute) for each in asked}
    intervals = {name: value for name, value in values.items() if isinstance(value, Interval)}
    beside = [each for each in constraints if each.attribute in intervals]
    return some_point(left, beside, intervals, absent)


def rest_truth(rest: Expression, get: Callable[[str], Value | Elements | None]) -> Truth:
    """Whether the rest is true, false or unknown of attributes that are single values or lists."""
    if isinstance(rest, Leaf):
        return rest.constraint.truth(get(rest.constraint.attribute))
    assert not isinstance(rest, Not), "the rest of a clause has no NOT"
    truths = (rest_truth(part, get) for part in rest.parts)
    return joined_truth(truths, decides=isinstance(rest, Or))
