"""Widening: a subscription that covers another, and many others that are much like it.

Told exactly what is wanted, a neighbour holds a filter for each subscription and hears of each that
moves a little. Told of ranges whose ends lie on a grid, it holds one for all that fall between the
same lines, and hears of those that cross one. The price is events that nobody wants, and *slack*
says how many: an end moves by less than that share of the range's width, so that of events spread
evenly at most ``(1 + 2 * slack) ** ranges`` times as many pass.

The lines are the multiples of a power of two, the greatest within the slack. So ranges of about the
same width have the same lines, whatever else there is: nothing depends on which subscription
came first, and none has to be widened anew when another comes or goes.

Only ranges of numbers and timestamps with two ends are widened. With infinite slack all conditions
are left out.
"""

from __future__ import annotations

import math
from typing import Any, Final

from predicast.model import Absent, Clause, Constraint, Kind, Operator, Subscription
from predicast.model.decimals import ExactDecimal
from predicast.model.domain import Domain, domain_of
from predicast.model.values import INT_MAX, INT_MIN, from_microseconds

_EVERYTHING: Final = Subscription((Clause(),))


def widened(subscription: Subscription, slack: float, absent: Absent) -> Subscription:
    """What covers the subscription, its ranges drawn out to the lines of a grid."""
    if slack == 0:
        return subscription
    if math.isinf(slack):
        return _EVERYTHING if subscription.clauses else subscription
    return Subscription.of(_widened_clause(each, slack, absent) for each in subscription.clauses)


def _widened_clause(clause: Clause, slack: float, absent: Absent) -> Clause:
    constraints: list[Constraint] = []
    for attribute, group in clause.by_attribute().items():
        ends = _widened_ends(domain_of(group, absent), slack, absent)
        if ends is None:
            constraints += group
        else:
            constraints.append(Constraint(attribute, Operator.BETWEEN, ends))
    return Clause(tuple(constraints), clause.rest)


def _widened_ends(domain: Domain, slack: float, absent: Absent) -> tuple[Any, Any] | None:
    """Both ends on the grid; ``None`` if it is no range, or is better left alone."""
    if len(domain.spans) != 1 or domain.others or domain.rest:
        return None
    if domain.absent != (absent == "passes"):
        return None  # BETWEEN would say otherwise of an event without the attribute
    lo, hi = domain.spans[0].lo, domain.spans[0].hi
    if lo is None or hi is None:
        return None
    if domain.kind is Kind.NUMBER:
        return _on_grid(lo, hi, slack)
    if domain.kind is not Kind.TIMESTAMP:
        return None
    ends = _on_grid(lo, hi, slack)
    try:
        return None if ends is None else (from_microseconds(ends[0]), from_microseconds(ends[1]))
    except OverflowError:
        return None


def _on_grid(lo: Any, hi: Any, slack: float) -> tuple[Any, Any] | None:
    if type(lo) is ExactDecimal or type(hi) is ExactDecimal:
        return None
    room = slack * float(hi - lo)
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
