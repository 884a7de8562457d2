"""Values next to a constraint's operands: where a matcher that is off by one gives itself away."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final

from predicast.model import (
    Clause,
    Constraint,
    Event,
    Kind,
    LikePattern,
    Operator,
    Subscription,
)
from predicast.model.elements import ELEMENT, FIELDS
from predicast.model.operators import ELEMENTS
from predicast.testing.edges import neighbours

_MET: Final = 0.9  # how often a value is one that meets the constraints, if there is any
_PATTERN_SIGNS: Final = str.maketrans("", "", "%_!\\^$.*+?()[]|")


def values_near(clause: Clause, chance: Random) -> dict[str, Any]:
    """For each attribute of a clause a value that mostly meets it, often only just."""
    found: dict[str, Any] = {}
    for attribute, constraints in clause.by_attribute().items():
        pool = [near for each in constraints for near in candidates(each)]
        meeting = [value for value in pool if all(each.holds(value) for each in constraints)]
        if meeting and chance.random() < _MET:
            pool = meeting
        if pool:
            found[attribute] = chance.choice(pool)
    return found


def candidates(constraint: Constraint) -> list[Any]:
    """The operands, their neighbours, and what lies between two of them."""
    if constraint.operator is Operator.ABSENT:
        return []
    if constraint.kind is Kind.LIST:
        return [each for plain in constraint.plain() for each in _lists_near(plain)]
    operands = _operands(constraint)
    near: list[Any] = [value for operand in operands for value in neighbours(operand)]
    numbers = [each for each in operands if type(each) in {int, float}]
    if len(numbers) > 1:
        near.append(numbers[0] / 2 + numbers[-1] / 2)
    return near


def _lists_near(constraint: Constraint) -> list[Any]:
    """Lists of elements that mostly meet what is asked of one, alone and beside others."""
    wanted = constraint.operand
    assert isinstance(wanted, Subscription)
    elements: list[Any] = [None]
    for clause in wanted.clauses[:2]:
        values = {
            attribute: near[0]
            for attribute, tests in clause.by_attribute().items()
            if (near := [v for each in tests for v in candidates(each)])
        }
        fields = {name.removeprefix(FIELDS): v for name, v in values.items() if name != ELEMENT}
        elements += [values.get(ELEMENT)] if ELEMENT in values else [fields]
    lists = [elements, elements[1:], elements[1:] * 2, []]
    return [Event({"x": each}).get("x") for each in lists]


def _operands(constraint: Constraint) -> Sequence[Any]:
    if constraint.parts:
        plain = [each for each in constraint.plain() if each.operator not in ELEMENTS]
        return [each for part in plain for each in _operands(part)]
    operand = constraint.operand
    if operand is None:
        return [1]
    if isinstance(operand, LikePattern):
        return [operand.pattern.translate(_PATTERN_SIGNS)]
    if constraint.operator in {Operator.MATCHES, Operator.NOT_MATCHES}:
        return [str(operand).translate(_PATTERN_SIGNS)]
    return operand if isinstance(operand, tuple) else [operand]
