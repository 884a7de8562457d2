"""Subscriptions as ``where`` text, such that parsing the text gives the subscription back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from predicast.language.class_tests import ClassTest
from predicast.model import (
    And,
    Clause,
    Constraint,
    Expression,
    Leaf,
    LikePattern,
    Not,
    Operator,
    Or,
    Subscription,
)
from predicast.model.elements import ELEMENT
from predicast.model.values import quote, show

_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words that mean something else in some position; quoting more than needed does no harm.
# fmt: off
_QUOTED_WORDS: Final = frozenset((
    "and", "or", "not", "in", "between", "like", "rlike", "regexp", "ilike", "is", "null",
    "true", "false", "escape", "select", "case", "exists", "timestamp", "timestamp_ltz",
    "timestamp_ntz", "date", "interval", "from", "where", "when", "then", "else", "end",
    "cast", "distinct", "any", "all", "some", "div", "show", "set", "use", "describe",
    "explain", "call", "execute", "fetch", "optimize", "prepare", "rename", "vacuum",
    "startswith", "endswith", "contains", "isnull", "isnotnull",
))
# Words that are refused where a value is expected (``mistakes.py``), unless quoted.
VALUE_WORDS: Final = frozenset((
    "now", "current_timestamp", "current_date", "curdate", "getdate", "current_time",
    "localtimestamp", "sysdate", "unix_timestamp", "convert", "any", "all", "some", "array",
    "none", "nil", "undefined", "nan", "inf", "infinity", "interval", "date", "timestamp",
    "symmetric", "exists", "eq", "ne",
))
# fmt: on
# What the name of a derived attribute begins with; its expression follows (``scalar_text.py``).
DERIVED: Final = "="
_EACH: Final = f"{DERIVED}elements("  # how the name of a list begins whose elements compute
_LIST_NAME: Final = re.compile(r"(?:`(?:[^`]|``)*`|[^`,])+")
_FUNCTIONS: Final = {
    Operator.PREFIX: "startswith",
    Operator.SUFFIX: "endswith",
    Operator.CONTAINS: "contains",
}


def to_where(expression: Subscription | Clause | Constraint) -> str:
    """The text of a subscription, clause or constraint.

    >>> from predicast.language import parse_where
    >>> to_where(parse_where("NOT (a = 1 AND b >= 2)"))
    'a != 1 OR b < 2'
    """
    if isinstance(expression, Constraint):
        return _one_of([expression])
    if isinstance(expression, Clause):
        return _one_of([_conjuncts(expression)])
    return _one_of([_conjuncts(clause) for clause in expression.clauses])


def expression_text(expression: Expression) -> str:
    """The text of an expression as it was built, tests of classes included."""
    return _alone(expression)


def _conjuncts(clause: Clause) -> Constraint | list[Constraint | Expression]:
    """All that must hold; a single constraint as itself."""
    if clause.rest is None:
        return clause.constraints[0] if len(clause) == 1 else [*clause.constraints]
    rest = clause.rest.parts if isinstance(clause.rest, And) else (clause.rest,)
    return [*clause.constraints, *rest]


_Written: TypeAlias = "Constraint | ClassTest | Expression | list[Constraint | Expression]"


def _one_of(alternatives: Sequence[_Written]) -> str:
    """Alternatives with OR between them."""
    if len(alternatives) == 1:
        return _alone(alternatives[0])
    return " OR ".join(map(_alternative, alternatives)) or "FALSE"


def _alone(written: _Written) -> str:
    """Without parentheses around it."""
    match written:
        case Leaf(constraint):
            return _alone(constraint)
        case And(parts):
            return _all_of(parts)
        case Or(parts):
            return _one_of(parts)
        case Not(part):
            return f"NOT ({_alone(part)})"
        case ClassTest(text):
            return text
        case list():
            return _all_of(written)
        case Constraint(operator=Operator.ANY):
            return _any_like(written) or " OR ".join(map(_part_of_any, written.parts))
        case Constraint(operator=Operator.ALL):
            # A conjunction would come apart again into constraints of their own.
            return f"NOT ({_alone(written.negated())})"
        case Constraint():
            return _constraint(written)
    raise AssertionError(f"no such thing is written: {written!r}")


def _alternative(written: _Written) -> str:
    match written:
        case Leaf(constraint):
            return _alternative(constraint)
        case And(parts) | list(parts) if len(parts) > 1:
            return f"({_alone(written)})"
    return _alone(written)


def _part_of_any(constraint: Constraint) -> str:
    """One of several on an attribute, which are one constraint again however they are written."""
    if constraint.operator is Operator.ALL:
        return f"({_all_of(constraint.parts)})"
    return _alternative(constraint)


def _all_of(parts: Sequence[Constraint | Expression]) -> str:
    """Parts with AND between them."""
    return " AND ".join(map(_conjunct, parts)) or "TRUE"


def _conjunct(written: Constraint | Expression) -> str:
    match written:
        case Leaf(constraint):
            return _conjunct(constraint)
        case Constraint(operator=Operator.ANY):
            return _any_like(written) or f"({_alone(written)})"
        case Or():
            return f"({_alone(written)})"
    return _alone(written)


def _any_like(constraint: Constraint) -> str | None:
    """Patterns in a list, if there is nothing but patterns."""
    patterns: list[Any] = [part.operand for part in constraint.parts]
    if not all(part.operator is Operator.LIKE for part in constraint.parts):
        return None
    if any(pattern.escape != "\\" for pattern in patterns):
        return None
    listed = ", ".join(quote(pattern.pattern) for pattern in patterns)
    return f"{name(constraint.attribute)} LIKE ANY ({listed})"


def name(attribute: str, *, derived: bool = True) -> str:
    """An attribute's name, back-quoted where a plain one would not read back.

    A derived attribute is written as its expression, unless the name is meant as it stands.
    """
    if derived and attribute.startswith(DERIVED):
        return attribute.removeprefix(DERIVED)
    return (
        ".".join(_part(part) for part in attribute.split("."))
        if _splits(attribute)
        else (quoted(attribute))
    )


def _splits(attribute: str) -> bool:
    return all(attribute.split("."))


def _part(part: str) -> str:
    plain = _PLAIN_NAME.fullmatch(part) and part.lower() not in _QUOTED_WORDS
    return part if plain else quoted(part)


def quoted(part: str) -> str:
    """A name in back-quotes."""
    return "`" + part.replace("`", "``") + "`"


def _constraint(constraint: Constraint) -> str:
    """A constraint; the comparison of two attributes as it was written."""
    text = plain_constraint(constraint)
    if constraint.operand is True and constraint.attribute.startswith(f"{DERIVED}("):
        compared = constraint.attribute.removeprefix(DERIVED)
        if text == f"{compared} = TRUE":
            return _without_parentheses(compared)
        if text == f"{compared} != TRUE":
            return f"NOT {compared}"
    return text


def _without_parentheses(text: str) -> str:
    """The text without the parentheses around the whole of it, if that is what it has."""
    inside = text[1:-1]
    if text.endswith(")") and not {"(", ")", "'", "`"} & set(inside):
        return inside
    return text


def plain_constraint(constraint: Constraint) -> str:
    """A constraint with its operator and operand, whatever they are."""
    attribute, operator = name(constraint.attribute), constraint.operator
    operand: Any = constraint.operand
    match operator:
        case Operator.EXISTS:
            return f"{attribute} IS NOT NULL"
        case Operator.ABSENT:
            return f"{attribute} IS NULL"
        case Operator.BETWEEN | Operator.NOT_BETWEEN:
            return f"{attribute} {operator.value.upper()} {show(operand[0])} AND {show(operand[1])}"
        case Operator.IN | Operator.NOT_IN:
            return f"{attribute} {operator.value.upper()} ({', '.join(map(show, operand))})"
        case Operator.LIKE | Operator.NOT_LIKE:
            return f"{attribute} {operator.value.upper()} {_pattern(operand)}"
        case Operator.MATCHES:
            return f"{attribute} RLIKE {quote(operand)}"
        case Operator.NOT_MATCHES:
            return f"{attribute} NOT RLIKE {quote(operand)}"
        case Operator.PREFIX | Operator.SUFFIX | Operator.CONTAINS:
            return f"{_FUNCTIONS[operator]}({attribute}, {quote(operand)})"
        case Operator.NOT_PREFIX | Operator.NOT_SUFFIX | Operator.NOT_CONTAINS:
            return f"NOT {_FUNCTIONS[operator.negation]}({attribute}, {quote(operand)})"
        case Operator.HAS:
            return _of_elements(constraint)
        case Operator.NOT_HAS:
            return f"NOT {_of_elements(constraint)}"
        case _:
            return f"{attribute} {operator.value} {show(operand)}"


def _of_elements(constraint: Constraint) -> str:
    """A test of a list, by the plainest function that says it."""
    attribute, wanted = _list_name(constraint.attribute), constraint.operand
    assert isinstance(wanted, Subscription)
    tests = [*wanted.constraints()]
    if len(wanted.clauses) == 1 and len(tests) == 1 and tests[0].attribute == ELEMENT:
        operand: Any = tests[0].operand
        if tests[0].operator is Operator.EQ:
            return f"array_contains({attribute}, {show(operand)})"
        if tests[0].operator is Operator.IN:
            return f"arrays_overlap({attribute}, array({', '.join(map(show, operand))}))"
    return f"exists({attribute}, {ELEMENT} -> {to_where(wanted)})"


def _list_name(attribute: str) -> str:
    """A list as it is written, without what is computed from its elements."""
    if not attribute.startswith(_EACH):
        return name(attribute)
    written = _LIST_NAME.match(attribute, len(_EACH))
    assert written is not None
    return written.group()


def _pattern(pattern: LikePattern) -> str:
    escape = "" if pattern.escape == "\\" else f" ESCAPE {quote(pattern.escape)}"
    return quote(pattern.pattern) + escape
