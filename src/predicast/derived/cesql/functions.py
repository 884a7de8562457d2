"""CESQL's built-in functions (specification, 3.5), by name and number of arguments.

A function gives a value in any case, and tells of what went wrong beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from predicast.derived.cesql.errors import ErrorKind, EvaluationError
from predicast.derived.cesql.tree import INT_MAX, INT_MIN
from predicast.derived.cesql.values import Type

# The characters that Unicode calls white space; Python strips some control characters as well.
_SPACES: Final = "".join(
    map(chr, [*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)])
) + "\u2028\u2029\u202f\u205f\u3000"  # fmt: skip

Outcome = tuple[Any, EvaluationError | None]


class Function(NamedTuple):
    """What it takes, by position, and gives; with ``rest`` it takes any number more of that."""

    parameters: tuple[Type, ...]
    rest: Type | None
    result: Type
    apply: Callable[..., Outcome]

    def takes(self, count: int) -> bool:
        """Whether it may be called with so many arguments."""
        if self.rest is None:
            return count == len(self.parameters)
        return count >= len(self.parameters)

    def parameter(self, position: int) -> Type:
        """The type of an argument."""
        if position < len(self.parameters):
            return self.parameters[position]
        assert self.rest is not None
        return self.rest


def _failed(why: str) -> EvaluationError:
    return EvaluationError(ErrorKind.FUNCTION_EVALUATION, why)


def _plain(apply: Callable[..., Any]) -> Callable[..., Outcome]:
    """What cannot go wrong."""
    return lambda *arguments: (apply(*arguments), None)


def _left(text: str, count: int) -> Outcome:
    if count < 0:
        return text, _failed(f"LEFT of {count} characters")
    return text[:count], None


def _right(text: str, count: int) -> Outcome:
    if count < 0:
        return text, _failed(f"RIGHT of {count} characters")
    return text[max(len(text) - count, 0) :], None


def _substring(text: str, position: int, count: int = INT_MAX) -> Outcome:
    if abs(position) > len(text):
        return "", _failed(f"SUBSTRING from {position} of {len(text)} characters")
    if count < 0:
        return "", _failed(f"SUBSTRING of {count} characters")
    if position == 0:
        return "", None
    start = position - 1 if position > 0 else len(text) + position
    return text[start : start + count], None


def _absolute(number: int) -> Outcome:
    if number == INT_MIN:
        why = f"{INT_MIN} has no opposite of 32 bits"
        return INT_MAX, EvaluationError(ErrorKind.MATH, why)
    return abs(number), None


def _joined(delimiter: str, *texts: str) -> str:
    return delimiter.join(texts)


_STRING, _INTEGER, _BOOLEAN = Type.STRING, Type.INTEGER, Type.BOOLEAN

# The casts have no parameters' types here: they are the casts that others are made by.
CASTING: Final = {"INT": _INTEGER, "STRING": _STRING, "BOOL": _BOOLEAN}
FUNCTIONS: Final[dict[str, tuple[Function, ...]]] = {
    "LENGTH": (Function((_STRING,), None, _INTEGER, _plain(len)),),
    "CONCAT": (Function((), _STRING, _STRING, _plain(lambda *texts: "".join(texts))),),
    "CONCAT_WS": (Function((_STRING,), _STRING, _STRING, _plain(_joined)),),
    "LOWER": (Function((_STRING,), None, _STRING, _plain(str.lower)),),
    "UPPER": (Function((_STRING,), None, _STRING, _plain(str.upper)),),
    "TRIM": (Function((_STRING,), None, _STRING, _plain(lambda text: text.strip(_SPACES))),),
    "LEFT": (Function((_STRING, _INTEGER), None, _STRING, _left),),
    "RIGHT": (Function((_STRING, _INTEGER), None, _STRING, _right),),
    "SUBSTRING": (
        Function((_STRING, _INTEGER), None, _STRING, _substring),
        Function((_STRING, _INTEGER, _INTEGER), None, _STRING, _substring),
    ),
    "ABS": (Function((_INTEGER,), None, _INTEGER, _absolute),),
}
NAMES: Final = (*CASTING, *FUNCTIONS)


def function_of(name: str, count: int) -> Function | None:
    """The function of that name that takes so many arguments; not a cast."""
    return next((each for each in FUNCTIONS.get(name, ()) if each.takes(count)), None)


def result_of(name: str, count: int) -> Type | None:
    """The type of what a call gives, ``None`` if there is no such function."""
    if name in CASTING:
        return CASTING[name] if count == 1 else None
    function = function_of(name, count)
    return None if function is None else function.result
