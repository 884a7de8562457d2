"""From a subscription to filters of the Subscriptions API, if there are some that mean the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from predicast.derived import Call, Input
from predicast.derived.cesql.printer import text_of
from predicast.derived.cesql.tree import Attribute, Invocation
from predicast.errors import NotExpressibleError
from predicast.language.cloudevents.cesql_printing import cesql_text, stated, subject_of
from predicast.language.derived_names import expression_of, is_derived
from predicast.language.where import to_where
from predicast.model import (
    Clause,
    Constraint,
    Expression,
    Leaf,
    Not,
    Operator,
    Or,
    Subscription,
    subscription_of,
)

Filter = dict[str, Any]

_WORDS: Final = {
    Operator.EQ: "exact",
    Operator.PREFIX: "prefix",
    Operator.SUFFIX: "suffix",
}


def filters_text(subscription: Subscription, parse: Callable[[str], Expression]) -> str:
    """Filters that are true of every event that matches the subscription, and of no other."""
    clauses = [_filters(clause) for clause in subscription.clauses]
    if not clauses:
        clauses = [[{"sql": "FALSE"}]]
    filters = clauses[0]
    if len(clauses) > 1:
        filters = [{"any": [_all(each) for each in clauses]}]
    text = json.dumps(filters[0] if len(filters) == 1 else filters, ensure_ascii=False)
    if stated(subscription_of(parse(text))) != stated(subscription):
        shown = to_where(subscription)
        raise NotExpressibleError(
            f"there are no filters of CloudEvents that mean {shown}",
            dialect="cloudevents",
            part=shown,
        )
    return text


def _filters(clause: Clause) -> list[Filter]:
    filters = [_filter(each) for each in clause.constraints]
    return filters if clause.rest is None else [*filters, _rest(clause.rest)]


def _all(filters: list[Filter]) -> Filter:
    if not filters:
        return {"sql": "TRUE"}
    return filters[0] if len(filters) == 1 else {"all": filters}


def _rest(expression: Expression) -> Filter:
    if isinstance(expression, Leaf):
        return _filter(expression.constraint)
    assert not isinstance(expression, Not), "the rest of a clause has no NOT"
    parts = [_rest(part) for part in expression.parts]
    return {"any": parts} if isinstance(expression, Or) else {"all": parts}


def _filter(constraint: Constraint) -> Filter:
    untrue = _untrue(constraint)
    if untrue is not None:
        return {"not": _filter(untrue)}
    if constraint.operator is Operator.IN:
        return {"any": [_filter(each) for each in _equalities(constraint)]}
    name, word = _compared(constraint), _WORDS.get(constraint.operator)
    if name is not None and word is not None and isinstance(constraint.operand, str):
        return {word: {name: constraint.operand}}
    if constraint.operand is True and name is None:
        return {"sql": text_of(subject_of(constraint))}
    if constraint.operator is Operator.ANY:
        return {"any": [_filter(each) for each in constraint.parts]}
    return {"sql": cesql_text(Subscription.of([[constraint]]))}


def _untrue(constraint: Constraint) -> Constraint | None:
    """What a constraint says is not so, if it also holds of what is missing."""
    parts = constraint.parts
    if constraint.operator is not Operator.ANY or not parts:
        return None
    others = [part for part in parts if part.operator is not Operator.ABSENT]
    if len(others) != 1 or len(parts) != 2:
        return None
    test = others[0]
    if test.operand is False and test.operator is Operator.EQ:
        return Constraint(test.attribute, Operator.EQ, True)
    negated = test.negated()
    return negated if negated.operator in {*_WORDS, Operator.IN} else None


def _equalities(constraint: Constraint) -> Iterator[Constraint]:
    assert isinstance(constraint.operand, tuple)
    for value in constraint.operand:
        assert not isinstance(value, Constraint)
        yield Constraint(constraint.attribute, Operator.EQ, value)


def _compared(constraint: Constraint) -> str | None:
    """The attribute whose text is compared."""
    if is_derived(constraint.attribute):
        match expression_of(constraint.attribute):
            case Call("cast STRING", (Input(name),)):
                return name
    match subject_of(constraint):
        case Attribute(name) | Invocation("STRING", (Attribute(name),)):
            return name
    return None
