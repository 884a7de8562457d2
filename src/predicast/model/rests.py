"""Whether an event satisfies the rest of a clause: an expression of AND and OR over constraints.

A point event decides every constraint, and the expression with them. A region event chooses a point
of each of its intervals, and *one* point must satisfy all that the clause says. So the alternatives
of the rest are searched, depth first: the constraints chosen so far on an attribute must leave its
interval a point (``domain_of``), or the search turns back.

Cost of a search: what only points decide is decided first, and alternatives that an interval leaves
no point are never entered. In the worst case, ORs over several intervals that contradict each other
late, it tries every combination of alternatives, exponentially many: the question is as hard as
that of satisfying a propositional formula. Ordinary rests have a handful.
"""

from __future__ import annotations

from collections.abc import Callable

from predicast.model.constraint import Absent, Constraint, Truth, joined_truth
from predicast.model.domain import domain_of
from predicast.model.elements import Elements
from predicast.model.event import Event
from predicast.model.expression import And, Expression, Leaf, Not, Or
from predicast.model.interval import Interval
from predicast.model.values import Value

_Chosen = dict[str, tuple[Constraint, ...]]
# Expressions that are all to hold, as a linked list: alternatives share what comes after them.
_Pending = tuple[Expression, "_Pending"] | None


def rest_holds(
    rest: Expression, constraints: tuple[Constraint, ...], event: Event, absent: Absent
) -> bool:
    """Whether one point of an event satisfies the rest together with constraints it satisfies."""
    left = _decided(rest, event, absent)
    if isinstance(left, bool):
        return left
    chosen: _Chosen = {}
    for constraint in constraints:
        if isinstance(event.get(constraint.attribute), Interval):
            before = chosen.get(constraint.attribute, ())
            chosen[constraint.attribute] = (*before, constraint)
    return _some_point((left, None), chosen, event, absent)


def rest_truth(rest: Expression, get: Callable[[str], Value | Elements | None]) -> Truth:
    """Whether the rest is true, false or unknown of attributes that are single values or lists."""
    if isinstance(rest, Leaf):
        return rest.constraint.truth(get(rest.constraint.attribute))
    assert not isinstance(rest, Not), "the rest of a clause has no NOT"
    truths = (rest_truth(part, get) for part in rest.parts)
    return joined_truth(truths, decides=isinstance(rest, Or))


def _decided(node: Expression, event: Event, absent: Absent) -> bool | Expression:
    """Whether the expression holds; if that is up to intervals, what they have to satisfy."""
    if isinstance(node, Leaf):
        constraint = node.constraint
        value = event.get(constraint.attribute)
        if value is None:
            return constraint.holds_absent(absent)
        if not isinstance(value, Interval):
            return constraint.holds(value)
        return node if domain_of((constraint,), absent).meets(value) else False
    assert not isinstance(node, Not), "the rest of a clause has no NOT"
    is_or = isinstance(node, Or)
    left: list[Expression] = []
    for part in node.parts:
        found = _decided(part, event, absent)
        if not isinstance(found, bool):
            left.append(found)
        elif found is is_or:
            return is_or
    if len(left) < 2:
        return left[0] if left else not is_or
    # What narrows the choice comes before what leaves one.
    left.sort(key=lambda part: isinstance(part, Or))
    return Or(tuple(left)) if is_or else And(tuple(left))


def _some_point(pending: _Pending, chosen: _Chosen, event: Event, absent: Absent) -> bool:
    while pending is not None:
        node, pending = pending
        if isinstance(node, Leaf):
            attribute = node.constraint.attribute
            value = event.get(attribute)
            assert isinstance(value, Interval)
            together = (*chosen.get(attribute, ()), node.constraint)
            if not domain_of(together, absent).meets(value):
                return False
            chosen = {**chosen, attribute: together}
        elif isinstance(node, And):
            for part in reversed(node.parts):
                pending = (part, pending)
        else:
            assert isinstance(node, Or)
            return any(_some_point((part, pending), chosen, event, absent) for part in node.parts)
    return True
