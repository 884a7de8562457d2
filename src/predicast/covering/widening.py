"""Widening: subscriptions that cover another, and many others that are much like it.

Told exactly what is wanted, a neighbour holds a filter for each subscription and hears of each that
moves a little. Told of ranges whose ends lie on a grid, it holds one for all that fall between the
same lines, and hears of those that cross one. The price is events that nobody wants, and *slack*
says how many: an end moves by less than that share of the range's width, so that of events spread
evenly at most ``(1 + 2 * slack) ** ranges`` times as many pass. A range with one end has no width;
its end moves by less than that share of its distance from zero.

The lines are the multiples of a power of two, the greatest within the slack. So ranges of about the
same width have the same lines, whatever else there is: nothing depends on which subscription
came first, and none has to be widened anew when another comes or goes.

Only ranges of numbers are widened, and those of timestamps with two ends: the distance from 1970
says nothing of a time. A value is what somebody wants or not, and has no neighbours to share a
line with. But from a slack of 1 on sets of a few values are told value by value, and alternatives
one by one, which lets nothing more through: ``symbol IN ('A', 'B') AND price < 9`` is covered by
what another wants of A and a third of B, and hardly ever by one of them.

With infinite slack all conditions are left out.
"""

from __future__ import annotations

import math
from typing import Any, Final

from predicast.model import Absent, Clause, Constraint, Kind, Operator, Subscription
from predicast.model.decimals import ExactDecimal
from predicast.model.domain import Domain, domain_of
from predicast.model.values import INT_MAX, INT_MIN, from_microseconds

EVERYTHING: Final = Subscription((Clause(),))
# In narrow ranges few parts find something that covers them, and each is a row: 300 subscriptions
# to 200 symbols took a fifth more rows at a slack of 0.25; 5,000 took two fifths fewer at 1.
_APART_FROM: Final = 1.0
_MOST_PARTS: Final = 8  # of one clause; many values are better told at once


def parts(subscription: Subscription, slack: float, absent: Absent) -> list[Subscription]:
    """What covers the subscription together, each to be told by itself.

    With little slack it stays in one piece, or it would be several rows instead of one.
    """
    if slack < _APART_FROM or math.isinf(slack):
        return [widened(subscription, slack, absent)]
    found = (
        Subscription.of([_widened_clause(each, slack, absent)])
        for clause in subscription.clauses
        for each in _value_by_value(clause)
    )
    return list(dict.fromkeys(found))


def _value_by_value(clause: Clause) -> list[Clause]:
    """The same with a single value in the place of each set of a few."""
    found = [clause]
    for place, constraint in enumerate(clause.constraints):
        values: Any = constraint.operand
        if constraint.operator is not Operator.IN or len(values) * len(found) > _MOST_PARTS:
            continue
        found = [
            Clause((*before[:place], single, *before[place + 1 :]), clause.rest)
            for before in (each.constraints for each in found)
            for single in (Constraint(constraint.attribute, Operator.EQ, each) for each in values)
        ]
    return found


def widened(subscription: Subscription, slack: float, absent: Absent) -> Subscription:
    """What covers the subscription, its ranges drawn out to the lines of a grid."""
    if slack == 0:
        return subscription
    if math.isinf(slack):
        return EVERYTHING if subscription.clauses else subscription
    return Subscription.of(_widened_clause(each, slack, absent) for each in subscription.clauses)


def _widened_clause(clause: Clause, slack: float, absent: Absent) -> Clause:
    constraints: list[Constraint] = []
    for attribute, group in clause.by_attribute().items():
        wide = _widened_range(attribute, domain_of(group, absent), slack, absent)
        constraints += group if wide is None else [wide]
    return Clause(tuple(constraints), clause.rest)


def _widened_range(
    attribute: str, domain: Domain, slack: float, absent: Absent
) -> Constraint | None:
    """The range with its ends on the grid; ``None`` if it is none, or is better left alone."""
    if len(domain.spans) != 1 or domain.others or domain.rest:
        return None
    if domain.absent != (absent == "passes"):
        return None  # a range would say otherwise of an event without the attribute
    lo, hi = domain.spans[0].lo, domain.spans[0].hi
    if domain.kind is Kind.NUMBER:
        return _of_numbers(attribute, lo, hi, slack)
    if domain.kind is not Kind.TIMESTAMP or lo is None or hi is None:
        return None
    ends = _on_grid(lo, hi, slack * float(hi - lo))
    try:
        times = None if ends is None else (from_microseconds(ends[0]), from_microseconds(ends[1]))
    except OverflowError:
        return None
    return None if times is None else Constraint(attribute, Operator.BETWEEN, times)


def _of_numbers(attribute: str, lo: Any, hi: Any, slack: float) -> Constraint | None:
    if type(lo) is ExactDecimal or type(hi) is ExactDecimal:
        return None
    if lo is not None and hi is not None:
        ends = _on_grid(lo, hi, slack * float(hi - lo))
        return None if ends is None else Constraint(attribute, Operator.BETWEEN, ends)
    end = hi if lo is None else lo
    ends = None if end is None else _on_grid(end, end, slack * abs(float(end)))
    if ends is None:
        return None
    if lo is None:
        return Constraint(attribute, Operator.LE, ends[1])
    return Constraint(attribute, Operator.GE, ends[0])


def _on_grid(lo: Any, hi: Any, room: float) -> tuple[Any, Any] | None:
    """Both ends on the lines next to them, that are no farther apart than there is room."""
    if room == 0 or math.isinf(room):
        return None
    exponent = math.frexp(room)[1] - 1
    if exponent >= 0:
        step = 1 << exponent
        ends = math.floor(lo) // step * step, -(-math.ceil(hi) // step) * step
        return ends if ends[0] >= INT_MIN and ends[1] <= INT_MAX else None
    if type(lo) is int and type(hi) is int:
        return None  # between two whole numbers there is no line to move to
    least, greatest = math.ldexp(lo, -exponent), math.ldexp(hi, -exponent)
    return (
        math.ldexp(math.floor(least), exponent),
        math.ldexp(math.ceil(greatest), exponent),
    )
