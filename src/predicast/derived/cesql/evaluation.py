"""What a CESQL expression gives for an event: a value, and the first error if there was one.

An operator that goes wrong itself gives a value as well as the error: ``5 / 0`` is 0, and what
cannot be cast is the zero value of the type that it is cast to. An operator over something that
went wrong, or that is missing, gives the zero value of its own type and the error, without a look
at the rest (4.1, fail fast). So there is at most one error, and as a filter an expression passes
where it gives TRUE and no error.

Integers that leave 32 bits are an error of the arithmetic (the specification leaves that open).
NOT takes no integer, though a cast from one exists: the specification's own test kit asks for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from predicast.bounded_cache import remembered
from predicast.derived.cesql.errors import ErrorKind, EvaluationError
from predicast.derived.cesql.functions import CASTING, Function, function_of
from predicast.derived.cesql.parser import parse
from predicast.derived.cesql.tree import (
    COMPARISONS,
    EQUALITIES,
    INT_MAX,
    INT_MIN,
    LOGIC,
    Attribute,
    Chain,
    Exists,
    In,
    Invocation,
    Like,
    Literal,
    Node,
    Scalar,
    Unary,
)
from predicast.derived.cesql.values import CASTS, TYPES, ZEROS, Type, of_event
from predicast.errors import shortened
from predicast.model.like import like_test
from predicast.model.patterns import LikePattern
from predicast.model.values import checked

Get: TypeAlias = Callable[[str], Any]
Errors: TypeAlias = list[EvaluationError]
Compiled: TypeAlias = Callable[[Get, Errors], Any]  # a value in any case; errors are added

# A CloudEvent has these, or it is none.
REQUIRED: Final = frozenset({"id", "source", "specversion", "type"})
_MAX_BYTES: Final = 16 << 20  # of functions that are remembered
_LEAST: Final = 4_000  # of one, and per character:
_PER_CHARACTER: Final = 200


def evaluate(expression: str, event: Mapping[str, Any]) -> tuple[Scalar, EvaluationError | None]:
    """What an expression gives for the attributes of an event, and the error if there was one.

    >>> evaluate("int(hop) < int(ttl)", {"hop": "5", "ttl": "10"})
    (True, None)
    >>> value, error = evaluate("sequence + 1", {"sequence": "five"})
    >>> value, error.kind.value
    (1, 'cast')
    """
    errors: Errors = []
    value = _compiled_text(expression)(lambda name: _checked(name, event.get(name)), errors)
    return value, errors[0] if errors else None


def _checked(name: str, value: Any) -> Any:
    if value is None or isinstance(value, dict | list | tuple):
        return None
    return checked(name, value)


@remembered(_MAX_BYTES, lambda given, _: _LEAST + _PER_CHARACTER * len(given[0]))
def _compiled_text(text: str) -> Compiled:
    return compiled(parse(text))


def compiled(node: Node) -> Compiled:
    """The function that an expression is."""
    match node:
        case Literal(value):
            return lambda _, __: value
        case Attribute(name):
            return _attribute(name)
        case Exists(name):
            if name in REQUIRED:
                return lambda _, __: True
            return lambda get, _: get(name) is not None
        case Unary("NOT", operand):
            return _not(compiled(operand))
        case Unary(_, operand):
            return _negative(compiled(operand))
        case Like(operand, pattern, is_negated):
            return _like(compiled(operand), pattern, is_negated=is_negated)
        case In(operand, elements, is_negated):
            return _in(compiled(operand), list(map(compiled, elements)), is_negated=is_negated)
        case Invocation(function, arguments):
            return _invocation(function, list(map(compiled, arguments)))
        case Chain(operands, operators):
            return _chain(list(map(compiled, operands)), operators)


def _attribute(name: str) -> Compiled:
    missing = EvaluationError(ErrorKind.MISSING_ATTRIBUTE, f"the event has no attribute {name!r}")

    def read(get: Get, errors: Errors) -> Any:
        value = get(name)
        if type(value) is not str:
            value = of_event(value)
            if value is None:
                errors.append(missing)
                return False
        return value

    return read


def cast(value: Scalar, to: Type, errors: Errors) -> Any:
    """The value as one of a type; the type's zero value if it cannot be."""
    found = CASTS[to](value)
    if found is None:
        why = f"{shortened(value)} is no {to.value}"
        errors.append(EvaluationError(ErrorKind.CAST, why))
        return ZEROS[to]
    return found


def _not(operand: Compiled) -> Compiled:
    def negate(get: Get, errors: Errors) -> Any:
        value = operand(get, errors)
        if errors:
            return False
        if type(value) is int:
            errors.append(EvaluationError(ErrorKind.CAST, f"NOT takes no integer, such as {value}"))
            return True
        return not cast(value, Type.BOOLEAN, errors)

    return negate


def _negative(operand: Compiled) -> Compiled:
    def negate(get: Get, errors: Errors) -> Any:
        value = operand(get, errors)
        return 0 if errors else _fitting(-cast(value, Type.INTEGER, errors), errors)

    return negate


def _fitting(number: int, errors: Errors) -> int:
    if INT_MIN <= number <= INT_MAX:
        return number
    errors.append(EvaluationError(ErrorKind.MATH, f"{number} leaves 32 bits"))
    return 0


def like_pattern(pattern: str) -> LikePattern:
    """A pattern in the model's words: there a backslash that escapes nothing is written twice."""
    pieces, position = [], 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\" and pattern[position + 1 : position + 2] not in {"%", "_"}:
            pieces.append("\\\\")
        elif character == "\\":
            pieces.append(pattern[position : position + 2])
            position += 1
        else:
            pieces.append(character)
        position += 1
    return LikePattern("".join(pieces))


def _like(operand: Compiled, pattern: str, *, is_negated: bool) -> Compiled:
    is_like = like_test(like_pattern(pattern))

    def test(get: Get, errors: Errors) -> Any:
        value = operand(get, errors)
        if errors:
            return False
        return is_like(cast(value, Type.STRING, errors)) is not is_negated

    return test


def _in(operand: Compiled, elements: list[Compiled], *, is_negated: bool) -> Compiled:
    def test(get: Get, errors: Errors) -> Any:
        value = operand(get, errors)
        if errors:
            return False
        wanted, found = TYPES[type(value)], False
        for element in elements:  # all of them: only AND and OR leave out what comes after
            given = element(get, errors)
            if errors:
                return False
            other = cast(given, wanted, errors)
            if errors:
                return False
            found = found or other == value
        return found is not is_negated

    return test


def _invocation(name: str, arguments: list[Compiled]) -> Compiled:
    if name in CASTING and len(arguments) == 1:
        return _casting(arguments[0], CASTING[name])
    function = function_of(name, len(arguments))
    if function is None:
        missing = EvaluationError(
            ErrorKind.MISSING_FUNCTION,
            f"there is no function {name} of {len(arguments)} arguments",
        )

        def fail(_: Get, errors: Errors) -> Any:
            errors.append(missing)
            return False

        return fail
    return _call(function, arguments)


def _casting(argument: Compiled, to: Type) -> Compiled:
    zero = ZEROS[to]

    def convert(get: Get, errors: Errors) -> Any:
        value = argument(get, errors)
        return zero if errors else cast(value, to, errors)

    return convert


def _call(function: Function, arguments: list[Compiled]) -> Compiled:
    parameters = [function.parameter(position) for position in range(len(arguments))]
    apply, zero = function.apply, ZEROS[function.result]

    def call(get: Get, errors: Errors) -> Any:
        values = []
        for argument in arguments:
            values.append(argument(get, errors))
            if errors:
                return zero
        given = [cast(*each, errors) for each in zip(values, parameters, strict=True)]
        value, error = apply(*given)
        if error is not None:
            errors.append(error)
        return value

    return call


def _chain(operands: list[Compiled], operators: tuple[str, ...]) -> Compiled:
    apply = _OPERATORS[operators[0]]
    if len(operators) == 1:
        left, right, operator = operands[0], operands[1], operators[0]
        return lambda get, errors: apply(operator, left(get, errors), right, get, errors)
    first, steps = operands[0], list(zip(operators, operands[1:], strict=True))

    def run(get: Get, errors: Errors) -> Any:
        value = first(get, errors)
        for operator, operand in steps:
            value = apply(operator, value, operand, get, errors)
        return value

    return run


def _logical(operator: str, left: Any, operand: Compiled, get: Get, errors: Errors) -> Any:
    if errors:
        return False
    left = cast(left, Type.BOOLEAN, errors)
    if errors:
        return False
    if operator != "XOR" and left is (operator == "OR"):
        return left
    right = operand(get, errors)
    if errors:
        return False
    right = cast(right, Type.BOOLEAN, errors)
    return right is not left if operator == "XOR" else right


def _compared(operator: str, left: Any, operand: Compiled, get: Get, errors: Errors) -> Any:
    if errors:
        return False
    right = operand(get, errors)
    if errors:
        return False
    if operator in EQUALITIES:  # there for every type: the right side says which
        if type(left) is not type(right):
            left = cast(left, TYPES[type(right)], errors)
        return (left == right) is (operator == "=")
    if type(left) is not int:
        left = cast(left, Type.INTEGER, errors)
    if type(right) is not int:
        right = cast(right, Type.INTEGER, errors)
    if operator == "<":
        return left < right
    if operator == "<=":
        return left <= right
    return left > right if operator == ">" else left >= right


def _computed(operator: str, left: Any, operand: Compiled, get: Get, errors: Errors) -> Any:
    if errors:
        return 0
    right = operand(get, errors)
    if errors:
        return 0
    left, right = cast(left, Type.INTEGER, errors), cast(right, Type.INTEGER, errors)
    if operator == "+":
        return _fitting(left + right, errors)
    if operator == "-":
        return _fitting(left - right, errors)
    if operator == "*":
        return _fitting(left * right, errors)
    if right == 0:
        errors.append(EvaluationError(ErrorKind.MATH, "a division by zero"))
        return 0
    quotient = abs(left) // abs(right)
    quotient = quotient if (left < 0) is (right < 0) else -quotient
    return _fitting(quotient, errors) if operator == "/" else left - quotient * right


_OPERATORS: Final = {
    **dict.fromkeys(LOGIC, _logical),
    **dict.fromkeys(COMPARISONS, _compared),
    **dict.fromkeys(("+", "-", "*", "/", "%"), _computed),
}
