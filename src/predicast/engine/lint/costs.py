"""What a subscription costs the default matcher: by which of its conditions an event finds it.

An event looks only at subscriptions that some condition on it leads to. Where a clause has an
equality, a range with two ends or a text to look for, few events come to it; where it has but one
end of a range, some do; where it has only what nearly every event satisfies, a NOT say, or what no
index knows, a regular expression without a letter that must occur, it is tested with every event.
"""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

from predicast.engine.lint.truth import shortened_text
from predicast.language.where.printer import to_where
from predicast.matching.columnar.patterns.required_literals import required_literals
from predicast.model import Clause, Constraint, Kind, Subscription
from predicast.model.constraint import Absent
from predicast.model.domain import Domain, domain_of
from predicast.model.operators import Operator
from predicast.model.patterns import LikePattern


class Cost(enum.StrEnum):
    """How many events a subscription is tested with."""

    LOW = "low"  # few
    MEDIUM = "medium"  # some
    HIGH = "high"  # every one


class CostOf(NamedTuple):
    """The cost of a subscription, and why, where it is not low."""

    cost: Cost
    why: str = ""
    advice: str = ""


_ORDER: Final = (Cost.LOW, Cost.MEDIUM, Cost.HIGH)
_LOW: Final = CostOf(Cost.LOW)


def cost_of(subscription: Subscription, absent: Absent = "fails") -> CostOf:
    """What a subscription costs: as much as the dearest of its clauses."""
    costs = (_clause_cost(clause, absent) for clause in subscription.clauses)
    return max(costs, key=lambda each: _ORDER.index(each.cost), default=_LOW)


def _clause_cost(clause: Clause, absent: Absent) -> CostOf:
    groups = clause.by_attribute().values()
    best = min((_cost(group, absent) for group in groups), key=_ORDER.index, default=Cost.HIGH)
    if best is Cost.LOW:
        return _LOW
    if best is Cost.MEDIUM:
        return CostOf(best, "it is found by one end of a range alone", "say the other end as well")
    for constraint in clause.constraints:
        for part in constraint.plain():
            if part.operator is Operator.MATCHES:
                return CostOf(
                    best,
                    f"no text must occur for {shortened_text(to_where(part))} to hold, so that it "
                    "is run on every value",
                    "begin it with a letter or word that must be there, or say another condition",
                )
    if not clause.constraints:
        return CostOf(best, "it has no condition that must hold", "say one that few events satisfy")
    shown = shortened_text(to_where(Clause(clause.constraints)))
    return CostOf(
        best,
        f"it is tested with every event: nothing but {shown} must hold",
        "say a condition that few events satisfy, such as an equality",
    )


def _cost(group: tuple[Constraint, ...], absent: Absent) -> Cost:
    """How many events satisfy what must hold of one attribute, at a guess."""
    domain = domain_of(group, absent)
    if domain.absent and domain.spans:
        return Cost.HIGH  # most attributes are absent from most events
    if not domain.spans:
        return Cost.HIGH if domain.absent else Cost.LOW
    if domain.kind is None:
        return Cost.HIGH
    return max((_kind_cost(each) for each in domain.by_kind()), key=_ORDER.index)


def _kind_cost(domain: Domain) -> Cost:
    """The same of the values of one kind."""
    if any(_is_looked_for(test) for test in domain.rest):
        return Cost.LOW
    if domain.kind in {Kind.BOOLEAN, Kind.LIST}:
        return Cost.LOW if domain.kind is Kind.BOOLEAN and not domain.rest else Cost.HIGH
    first, last = domain.spans[0].lo, domain.spans[-1].hi
    if domain.kind is Kind.STRING:
        first = first or None  # every string is "" or after it
    if first is not None and last is not None:
        return Cost.LOW
    if first is None and last is None:
        return Cost.HIGH
    return Cost.MEDIUM


def _is_looked_for(test: Constraint) -> bool:
    """Whether a test of strings has a text by which it is found."""
    match test.operator:
        case Operator.CONTAINS | Operator.SUFFIX:
            return bool(test.operand)
        case Operator.LIKE:
            assert isinstance(test.operand, LikePattern)
            return any(isinstance(part, str) for part in test.operand.parts())
        case Operator.MATCHES:
            return bool(required_literals(str(test.operand)))
        case Operator.ANY:
            return all(_is_looked_for(part) for part in test.parts)
        case Operator.ALL:
            return any(_is_looked_for(part) for part in test.parts)
    return False
