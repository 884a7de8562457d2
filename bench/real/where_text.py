"""Expressions as ``where`` text: what somebody would write who had only the language."""

from __future__ import annotations

from predicast.language import to_where
from predicast.model import And, Expression, Leaf, Not


def expression_text(expression: Expression) -> str:
    """The expression's own tree, not its clauses.

    >>> from predicast import attr
    >>> expression_text((attr("x") > 1) & ~(attr("y").is_absent() | (attr("y") == "a")))
    "x > 1 AND NOT (y IS NULL OR y = 'a')"
    """
    if isinstance(expression, Leaf):
        return to_where(expression.constraint)
    if isinstance(expression, Not):
        return f"NOT {_grouped(expression.part)}"
    word, none = (" AND ", "TRUE") if isinstance(expression, And) else (" OR ", "FALSE")
    return word.join(map(_grouped, expression.parts)) or none


def _grouped(expression: Expression) -> str:
    text = expression_text(expression)
    is_one_test = isinstance(expression, Leaf) and not expression.constraint.parts
    return text if is_one_test or isinstance(expression, Not) else f"({text})"
