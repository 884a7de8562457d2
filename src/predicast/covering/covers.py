"""``covers(a, b)``: does every event that matches ``b`` match ``a``?

Never wrongly true. Complete for clauses of comparisons, between, in and prefix (and their
negations) on every kind of value; for suffixes, substrings and LIKE it knows the implications
that paper 2's table 1 lists and their mixtures; regular expressions cover only themselves. For
subscriptions of several clauses each clause of ``b`` must be covered by one clause of ``a``,
which is sound and may miss a cover by several together.
"""

from __future__ import annotations

from typing import TypeAlias

from predicast.model.clause import Clause
from predicast.model.constraint import Absent, Constraint
from predicast.model.domain import ANYTHING, domain_of
from predicast.model.subscription import Subscription

Coverable: TypeAlias = Constraint | Clause | Subscription


def covers(a: Coverable, b: Coverable, *, absent: Absent = "fails") -> bool:
    """Whether ``a`` covers ``b``: constraints, clauses or subscriptions, in any mixture."""
    outer = _clauses(a)
    return all(
        any(_clause_covers(candidate, clause, absent) for candidate in outer)
        for clause in _clauses(b)
        if not is_unsatisfiable(clause, absent)
    )


def is_unsatisfiable(clause: Clause, absent: Absent = "fails") -> bool:
    """Whether it is known that no event can match the clause."""
    return any(domain_of(group, absent).is_empty() for group in clause.by_attribute().values())


def _clauses(expression: Coverable) -> tuple[Clause, ...]:
    if isinstance(expression, Subscription):
        return expression.clauses
    return (expression if isinstance(expression, Clause) else Clause((expression,)),)


def _clause_covers(outer: Clause, inner: Clause, absent: Absent) -> bool:
    inner_groups = inner.by_attribute()
    for attribute, group in outer.by_attribute().items():
        inner_group = inner_groups.get(attribute)
        inner_domain = domain_of(inner_group, absent) if inner_group else ANYTHING
        if not domain_of(group, absent).includes(inner_domain):
            return False
    return True
