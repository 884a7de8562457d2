"""Subscriptions in other words: what a matcher that looks for equal ones must not trip over.

``startswith(s, '')``, ``contains(s, '')``, ``s LIKE '%'`` and ``s >= ''`` say the same, and so do
``x BETWEEN 1 AND 2`` and ``x <= 2 AND x >= 1 AND x >= 0``. Two subscriptions drawn one by one are
hardly ever such a pair.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

from predicast.model import Clause, Constraint, LikePattern, Operator, Subscription
from predicast.model.domain import after_prefix
from predicast.model.operators import FROM, ORDER
from predicast.testing.edges import neighbours
from predicast.testing.strategies import constraints

_Tests: TypeAlias = tuple[tuple[Operator, Any], ...]  # that must all hold

_EVERY_STRING: Final[tuple[_Tests, ...]] = (
    ((Operator.GE, ""),),
    ((Operator.PREFIX, ""),),
    ((Operator.SUFFIX, ""),),
    ((Operator.CONTAINS, ""),),
    ((Operator.LIKE, LikePattern("%")),),
    ((Operator.LIKE, LikePattern("%%")),),
)


@st.composite
def reworded(draw: st.DrawFn, subscription: Subscription) -> Subscription:
    """The same with other operators, with things said twice, and in another order."""
    clauses: list[Clause] = []
    for clause in draw(st.permutations(subscription.clauses)):
        said = [each for test in clause for each in draw(st.sampled_from(other_words(test)))]
        if draw(st.booleans()) and said:
            said += draw(st.sampled_from(implied(draw(st.sampled_from(said)))))
        clauses.append(Clause(tuple(draw(st.permutations(said))), clause.rest))
    if draw(st.booleans()) and clauses:  # a case of another clause
        case = draw(st.sampled_from(clauses))
        clauses.append(Clause((*case.constraints, draw(constraints())), case.rest))
    return Subscription.of(clauses)


def other_words(test: Constraint) -> list[tuple[Constraint, ...]]:
    """Ways to say the same as a constraint; the first is its own."""
    operand: Any = test.operand
    ways: list[_Tests] = [((test.operator, operand),)]
    if ways[0] in _EVERY_STRING:
        ways += _EVERY_STRING
    each = tuple((part.operator, part.operand) for part in test.parts)
    ways += [each] if test.operator is Operator.ALL else []
    match test.operator:
        case Operator.EQ:
            ways.append(((Operator.IN, (operand,)),))
            if not isinstance(operand, bool):
                ways.append(((Operator.BETWEEN, (operand, operand)),))
                ways.append(((Operator.LE, operand), (Operator.GE, operand)))
        case Operator.NE:
            ways.append(((Operator.NOT_IN, (operand,)),))
        case Operator.NOT_IN:
            ways.append(tuple((Operator.NE, member) for member in operand))
        case Operator.BETWEEN:
            ways.append(((Operator.GE, operand[0]), (Operator.LE, operand[1])))
        case Operator.PREFIX:
            ways.append(((Operator.LIKE, LikePattern(_escaped(operand) + "%")),))
            ways.append(((Operator.GE, operand), *_before(after_prefix(operand))))
        case Operator.SUFFIX:
            ways.append(((Operator.LIKE, LikePattern("%" + _escaped(operand))),))
        case Operator.CONTAINS:
            ways.append(((Operator.LIKE, LikePattern(f"%{_escaped(operand)}%")),))
        case Operator.NOT_PREFIX:
            ways.append(((Operator.NOT_LIKE, LikePattern(_escaped(operand) + "%")),))
        case Operator.LE if (following := _next(operand)) is not None:
            ways.append(((Operator.LT, following),))
        case Operator.GT if (following := _next(operand)) is not None:
            ways.append(((Operator.GE, following),))
    return [_constraints(test.attribute, way) for way in ways]


def implied(test: Constraint) -> list[tuple[Constraint, ...]]:
    """The constraint again, in its own words or in others, or something that follows from it."""
    found = other_words(test)
    operand: Any = test.operand
    for near in neighbours(operand) if test.operator in ORDER else ():
        is_weaker: bool = near <= operand if test.operator in FROM else near >= operand
        if is_weaker:
            found.append((Constraint(test.attribute, test.operator, near),))
    return found


def _constraints(attribute: str, tests: _Tests) -> tuple[Constraint, ...]:
    return tuple(Constraint(attribute, operator, operand) for operator, operand in tests)


def _before(end: str | None) -> _Tests:
    return () if end is None else ((Operator.LT, end),)


def _escaped(text: str) -> str:
    return "".join("\\" + each if each in "\\%_" else each for each in text)


def _next(value: Any) -> Any:
    """The next value, where there is one."""
    if isinstance(value, str):
        return value + "\0"
    if isinstance(value, datetime) and value < datetime.max.replace(tzinfo=value.tzinfo):
        return value + timedelta(microseconds=1)
    return None
