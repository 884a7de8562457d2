"""How often a test may hold: a guess, from what it says alone, made before any event was seen.

It decides only through which of its tests a clause is reached, never an answer. The longer a
literal, the rarer; a letter more halves it, which is about what texts in use show, for their
words come whole. An equality is rarer than the literal inside a longer text. What has no literal
to look for (``[0-9]+``, ``___``) may hold for any string.
"""

from __future__ import annotations

from typing import Any, Final

from predicast.matching.columnar.patterns.required_literals import required_literals
from predicast.model.constraint import Constraint
from predicast.model.operators import Operator
from predicast.model.patterns import LikePattern

_RAREST: Final = 1e-4  # longer literals are rare all the same, and not rarer
_ANY_TEXT: Final = 0.5
_WHOLE: Final = 2  # what being the whole text is worth, in letters
_EDGE: Final = 1  # what being its beginning or its end is
_LONGEST: Final = 16  # letters that are counted


def pattern_share(constraint: Constraint) -> float:
    """The part of all events that a positive pattern on strings may hold for."""
    operand: Any = constraint.operand
    match constraint.operator:
        case Operator.EQ:
            return _literal_share(len(operand) + _WHOLE)
        case Operator.PREFIX | Operator.SUFFIX:
            return _literal_share(len(operand) + _EDGE)
        case Operator.CONTAINS:
            return _literal_share(len(operand))
        case Operator.LIKE:
            assert isinstance(operand, LikePattern)
            pieces = (part for part in operand.parts() if isinstance(part, str))
            return _literal_share(max(map(len, pieces), default=0))
        case Operator.MATCHES:
            choices = required_literals(operand)
            return min((sum(map(_share_of, choice)) for choice in choices), default=_ANY_TEXT)
    return _ANY_TEXT


def _share_of(literal: str) -> float:
    return _literal_share(len(literal))


def _literal_share(letters: int) -> float:
    return max(0.5 ** min(letters + 1, _LONGEST), _RAREST)
