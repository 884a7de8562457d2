"""What may go wrong while a CESQL expression is evaluated: a value beside the value, not raised."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ErrorKind(Enum):
    """The specification's kinds (3.3). What cannot be parsed raises a ``ParseError`` instead."""

    MATH = "math"
    CAST = "cast"
    MISSING_ATTRIBUTE = "missingAttribute"
    MISSING_FUNCTION = "missingFunction"
    FUNCTION_EVALUATION = "functionEvaluation"


@dataclass(frozen=True, slots=True)
class EvaluationError:
    """The first error of an evaluation."""

    kind: ErrorKind
    message: str

    def __str__(self) -> str:
        return self.message
