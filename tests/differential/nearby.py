"""Values next to a constraint's operands: where a matcher that is off by one gives itself away."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final

from predicast.model import Clause, Constraint, LikePattern, Operator, Value
from predicast.testing.edges import neighbours

_MET: Final = 0.9  # how often a value is one that meets the constraints, if there is any
_PATTERN_SIGNS: Final = str.maketrans("", "", "%_!\\^$.*+?()[]|")


def values_near(clause: Clause, chance: Random) -> dict[str, Value]:
    """For each attribute of a clause a value that mostly meets it, often only just."""
    found: dict[str, Value] = {}
    for attribute, constraints in clause.by_attribute().items():
        pool = [near for each in constraints for near in candidates(each)]
        meeting = [value for value in pool if all(each.holds(value) for each in constraints)]
        if meeting and chance.random() < _MET:
            pool = meeting
        if pool:
            found[attribute] = chance.choice(pool)
    return found


def candidates(constraint: Constraint) -> list[Value]:
    """The operands, their neighbours, and what lies between two of them."""
    if constraint.operator is Operator.ABSENT:
        return []
    operands = _operands(constraint)
    near = [value for operand in operands for value in neighbours(operand)]
    numbers = [each for each in operands if type(each) in {int, float}]
    if len(numbers) > 1:
        near.append(numbers[0] / 2 + numbers[-1] / 2)
    return near


def _operands(constraint: Constraint) -> Sequence[Any]:
    if constraint.parts:
        return [each for part in constraint.plain() for each in _operands(part)]
    operand = constraint.operand
    if operand is None:
        return [1]
    if isinstance(operand, LikePattern):
        return [operand.pattern.translate(_PATTERN_SIGNS)]
    if constraint.operator in {Operator.MATCHES, Operator.NOT_MATCHES}:
        return [str(operand).translate(_PATTERN_SIGNS)]
    return operand if isinstance(operand, tuple) else [operand]
