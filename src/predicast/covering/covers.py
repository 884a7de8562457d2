"""``covers(a, b)``: does every event that matches ``b`` match ``a``?

Never wrongly true. Complete for clauses of comparisons, between, in and prefix (and their
negations) on every kind of value; for suffixes, substrings and LIKE it knows the implications
that paper 2's table 1 lists and their mixtures; regular expressions cover only themselves. For
subscriptions of several clauses each clause of ``b`` must be covered by one clause of ``a``,
which is sound and may miss a cover by several together. Unions of all these on one attribute are
compared as exactly as their parts. The rest of a clause is an expression that is not looked into:
it can only narrow what matches, so that a clause with one is covered by whatever covers its
constraints, and covers only clauses that have it as well.
"""

from __future__ import annotations

from typing import TypeAlias

from predicast.model.clause import Clause
from predicast.model.constraint import Absent, Constraint
from predicast.model.domain import ANYTHING, domain_of
from predicast.model.expression import And, Expression
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
    if not conjuncts(outer.rest) <= conjuncts(inner.rest):
        return False
    for attribute, group in outer.by_attribute().items():
        inner_group = inner_groups.get(attribute)
        inner_domain = domain_of(inner_group, absent) if inner_group else ANYTHING
        if not domain_of(group, absent).includes(inner_domain):
            return False
    return True


def conjuncts(rest: Expression | None) -> frozenset[Expression]:
    """The expressions that must all hold for the rest of a clause to hold."""
    if rest is None:
        return frozenset()
    return frozenset(rest.parts if isinstance(rest, And) else (rest,))
