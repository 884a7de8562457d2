"""From a CESQL tree to its one text, which reads back as the same tree."""

from __future__ import annotations

import re

from predicast.derived.cesql.tokens import unquoted
from predicast.derived.cesql.tree import (
    COMPARISONS,
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
from predicast.errors import LanguageError, shortened

_LOGICAL, _COMPARED, _SUM, _PRODUCT, _TESTED, _SIGNED, _PRIMARY = range(7)


def text_of(node: Node) -> str:
    """The text of an expression."""
    return _text(node)[0]


def _text(node: Node) -> tuple[str, int]:
    """The text, and how tightly it holds together."""
    match node:
        case Literal(value):
            return literal_text(value), _PRIMARY
        case Attribute(name):
            return name, _PRIMARY
        case Exists(name):
            return f"EXISTS {name}", _SIGNED
        case Unary(operator, operand):
            space = " " if operator == "NOT" else ""
            return f"{operator}{space}{_signed_operand(operator, operand)}", _SIGNED
        case Like(operand, pattern, is_negated):
            word = "NOT LIKE" if is_negated else "LIKE"
            return f"{_within(operand, _TESTED)} {word} {string_text(pattern)}", _TESTED
        case In(operand, elements, is_negated):
            word = "NOT IN" if is_negated else "IN"
            return f"{_within(operand, _TESTED)} {word} ({_listed(elements)})", _TESTED
        case Invocation(function, arguments):
            return f"{function}({_listed(arguments)})", _PRIMARY
        case Chain(operands, operators):
            return _chain(operands, operators)


def _chain(operands: tuple[Node, ...], operators: tuple[str, ...]) -> tuple[str, int]:
    level = _level(operators[0])
    words = [_within(operands[0], level + 1)]
    for operator, operand in zip(operators, operands[1:], strict=True):
        words += [operator, _within(operand, level + 1)]
    return " ".join(words), level


def _level(operator: str) -> int:
    if operator in LOGIC:
        return _LOGICAL
    if operator in COMPARISONS:
        return _COMPARED
    return _SUM if operator in {"+", "-"} else _PRODUCT


def _signed_operand(operator: str, operand: Node) -> str:
    # A sign before digits would be the integer's own, and of two signs the second.
    text = _within(operand, _SIGNED)
    if operator == "-" and isinstance(operand, Literal) and type(operand.value) is int:
        return f"({text})"
    return text


def _within(node: Node, level: int) -> str:
    text, holds = _text(node)
    return text if holds >= level else f"({text})"


def _listed(nodes: tuple[Node, ...]) -> str:
    return ", ".join(map(text_of, nodes))


def literal_text(value: Scalar) -> str:
    """A literal as it is written."""
    if type(value) is bool:
        return "TRUE" if value else "FALSE"
    if type(value) is int:
        return str(value)
    assert isinstance(value, str)
    return string_text(value)


def string_text(value: str) -> str:
    """A string in quotes; some, such as one that ends in a backslash, cannot be written."""
    if "\\" not in value and "'" not in value:
        return f"'{value}'"
    for quote in ("'", '"'):
        written = value.replace(quote, f"\\{quote}")
        if _is_one_string(written, quote) and unquoted(f"{quote}{written}{quote}") == value:
            return f"{quote}{written}{quote}"
    raise LanguageError(f"CESQL has no way to write the string {shortened(value)}")


def _is_one_string(written: str, quote: str) -> bool:
    return re.fullmatch(rf"(?:\\.|[^{quote}\\])*", written, re.DOTALL) is not None
