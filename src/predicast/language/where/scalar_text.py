"""The text of an expression over attributes, which is also the name of the derived attribute.

A derived attribute is named ``=`` and its text, as a formula is in a spreadsheet: ``=price * qty``.
The text reads back as the same tree, and equal trees have one text. An attribute whose own name
begins with ``=`` is itself such an expression, of that attribute alone: ``=`` and the name in
back-quotes. So no two attributes share a name, whatever an event's are called.
"""

from __future__ import annotations

from typing import Final

from predicast.derived import Call, Case, Constant, Each, Input, Span, Test, Tree
from predicast.derived.functions import COMPARISONS
from predicast.derived.tree import Condition
from predicast.language.where.printer import (
    DERIVED,
    VALUE_WORDS,
    name,
    plain_constraint,
    quoted,
)
from predicast.model import And, Leaf, Not
from predicast.model.values import show

_ADDING, _MULTIPLYING, _SIGNED, _PRIMARY = range(1, 5)
_LEVELS: Final = {
    **dict.fromkeys(("+", "-"), _ADDING),
    **dict.fromkeys(("*", "/", "%"), _MULTIPLYING),
}
_UNITS: Final = (
    ("day", 86_400_000_000),
    ("hour", 3_600_000_000),
    ("minute", 60_000_000),
    ("second", 1_000_000),
    ("microsecond", 1),
)


def name_of(tree: Tree) -> str:
    """The name of the attribute that an expression makes."""
    if isinstance(tree, Input) and not tree.name.startswith(DERIVED):
        return tree.name
    return DERIVED + text_of(tree)


def text_of(tree: Tree) -> str:
    """The expression as text."""
    return _text(tree)[0]


def _text(tree: Tree) -> tuple[str, int]:
    """The text, and how tightly it holds together."""
    match tree:
        case Input(attribute):
            return _name(attribute), _PRIMARY
        case Constant(value):
            shown = show(value)
            return shown, _SIGNED if shown.startswith("-") else _PRIMARY
        case Span():
            return f"INTERVAL '{_span(tree)}'", _PRIMARY
        case Case():
            return _case(tree), _PRIMARY
        case Each(attribute, computed):
            parts = [_name(attribute), *(text_of(part) for _, part in computed)]
            return f"elements({', '.join(parts)})", _PRIMARY
        case Call(function, arguments):
            return _call(function, arguments)


def _call(function: str, arguments: tuple[Tree, ...]) -> tuple[str, int]:
    if function in COMPARISONS:
        left, right = arguments
        return f"({_within(left, _ADDING)} {function} {_within(right, _ADDING)})", _PRIMARY
    if function in _LEVELS:
        level = _LEVELS[function]
        left, right = arguments
        return f"{_within(left, level)} {function} {_within(right, level + 1)}", level
    if function == "shift":
        return " + ".join((_within(arguments[0], _ADDING), text_of(arguments[1]))), _ADDING
    if function == "negative":
        text = _within(arguments[0], _SIGNED)
        return f"-({text})" if text.startswith("-") else f"-{text}", _SIGNED
    if function.startswith("cast "):
        return f"CAST({text_of(arguments[0])} AS {function.split()[1]})", _PRIMARY
    if function == "cesql":  # its text says which attributes it takes
        arguments = arguments[:1]
    return f"{function}({', '.join(map(text_of, arguments))})", _PRIMARY


def _within(tree: Tree, level: int) -> str:
    text, holds = _text(tree)
    return text if holds >= level else f"({text})"


def _name(attribute: str) -> str:
    parts = attribute.split(".")
    if all(parts) and any(part.lower() in VALUE_WORDS for part in parts):
        return ".".join(map(quoted, parts))
    return name(attribute, derived=False)


def _span(span: Span) -> str:
    parts = [f"{span.months} month"] if span.months else []
    if span.microseconds or not parts:
        unit, size = next(each for each in _UNITS if span.microseconds % each[1] == 0)
        parts.append(f"{span.microseconds // size} {unit}")
    return " ".join(parts)


def _case(tree: Case) -> str:
    branches = [
        f" WHEN {_condition(condition)} THEN {text_of(result)}"
        for condition, result in tree.branches
    ]
    otherwise = "" if tree.otherwise is None else f" ELSE {text_of(tree.otherwise)}"
    return f"CASE{''.join(branches)}{otherwise} END"


def _condition(condition: Condition) -> str:
    if isinstance(condition, Leaf):
        return _test(condition.constraint)
    if isinstance(condition, Not):
        return f"NOT {_grouped(condition.part)}"
    word, none = (" AND ", "TRUE") if isinstance(condition, And) else (" OR ", "FALSE")
    return word.join(map(_grouped, condition.parts)) or none


def _grouped(condition: Condition) -> str:
    text = _condition(condition)
    return text if isinstance(condition, Leaf) else f"({text})"


def _test(test: Test) -> str:
    return plain_constraint(test.constraint)
