"""A Sigma rule as an expression, of what pySigma makes of the rule's selections and condition.

Of a rule its ``detection`` is taken; which log it is meant for is the caller's business, as is what
its fields are called in the events at hand: pySigma's pipelines rename them.

Values without a field, *keywords*, may stand anywhere in an event. They are looked for in one
attribute, ``text``, that holds the whole of it: the line that was logged, or the strings of all
fields one below the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sigma.conditions import (
    ConditionAND,
    ConditionFieldEqualsValueExpression,
    ConditionNOT,
    ConditionOR,
    ConditionValueExpression,
)
from sigma.exceptions import SigmaError
from sigma.rule.detection import SigmaDetections
from sigma.types import SigmaExpansion, SigmaType

from bench.real.sigma.tests import Test, all_of, any_of, contained_in, none_of, tests_on
from predicast.errors import LanguageError
from predicast.model import And, Expression, Leaf, Not, Or
from predicast.model.expression import Node

TEXT: Final = "_text"


def rule_expression(detection: Mapping[str, Any], *, text: str = TEXT) -> Expression:
    """What a rule's ``detection`` asks of an event.

    >>> from predicast.language import parse_where, to_subscription
    >>> rule = {"selection": {"Image|endswith": "Cmd.exe"}, "condition": "selection"}
    >>> to_subscription(rule_expression(rule)) == parse_where("endswith(lower(Image), 'cmd.exe')")
    True
    """
    try:
        detections = SigmaDetections.from_dict(dict(detection))
        conditions = [each.parsed for each in detections.parsed_condition]
    except SigmaError as error:
        raise LanguageError(f"no Sigma rule: {error}") from error
    return any_of([_written_out(_node(condition, text)) for condition in conditions])


def _node(condition: Any, text: str) -> Node[Test]:
    match condition:
        case ConditionNOT(args=[part]):
            return Not(_node(part, text))
        case ConditionAND(args=parts):
            return And(tuple(_node(part, text) for part in parts))
        case ConditionOR(args=parts):
            return _or(parts, text)
        case ConditionFieldEqualsValueExpression(field, value):
            return _some(tests_on(field, _values(value)))
        case ConditionValueExpression(value):
            return _some([contained_in(text, each) for each in _values(value)])
        case _:
            raise LanguageError(f"a condition of this kind is not supported: {condition!r}")


def _or(parts: Sequence[Any], text: str) -> Node[Test]:
    """Alternatives; values of one field are read together."""
    by_field: dict[str, list[SigmaType]] = {}
    others: list[Node[Test]] = []
    for part in parts:
        if isinstance(part, ConditionFieldEqualsValueExpression):
            by_field.setdefault(part.field, []).extend(_values(part.value))
        else:
            others.append(_node(part, text))
    fields = [_some(tests_on(field, values)) for field, values in by_field.items()]
    alternatives = (*fields, *others)
    return alternatives[0] if len(alternatives) == 1 else Or(alternatives)


def _values(value: SigmaType) -> list[SigmaType]:
    """Modifiers such as ``windash`` make several values of one."""
    if not isinstance(value, SigmaExpansion):
        return [value]
    return [each for part in value.values for each in _values(part)]


def _some(tests: Sequence[Test]) -> Node[Test]:
    leaves: tuple[Node[Test], ...] = tuple(Leaf(test) for test in tests)
    return leaves[0] if len(leaves) == 1 else Or(leaves)


def _written_out(node: Node[Test]) -> Expression:
    """Where it holds."""
    match node:
        case Leaf(test):
            return test.true
        case Not(part):
            return _untrue(part)
        case And(parts):
            return all_of([_written_out(part) for part in parts])
        case Or(parts):
            return any_of([_written_out(part) for part in parts])


def _untrue(node: Node[Test]) -> Expression:
    """Where it does not hold."""
    match node:
        case Leaf(test):
            return none_of([test])
        case Not(part):
            return _written_out(part)
        case And(parts):
            return any_of([_untrue(part) for part in parts])
        case Or(parts):
            tests = [part.constraint for part in parts if isinstance(part, Leaf)]
            others = [_untrue(part) for part in parts if not isinstance(part, Leaf)]
            return all_of([*([none_of(tests)] if tests else []), *others])
