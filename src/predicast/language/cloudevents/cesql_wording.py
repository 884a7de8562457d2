"""The wording of a CESQL expression: its own tree, with the text of each part.

An explanation judges by SQL's three values. Where CESQL decides otherwise, since it does not look
behind a part that is true, or stops at an error, the whole is one phrase, and its parts stand
under it.
"""

from __future__ import annotations

from predicast.derived.cesql.printer import text_of
from predicast.derived.cesql.tree import Chain, Node, Unary
from predicast.derived.cesql.types import type_of
from predicast.derived.cesql.values import Type
from predicast.language.cloudevents.outcomes import NEVER
from predicast.language.cloudevents.translation import condition_of, outcome_of
from predicast.language.wording import Phrase, Wording
from predicast.model import And, Leaf, Not, Or


def wording_of_node(node: Node) -> Wording:
    """The wording of an expression that is a filter."""
    if type_of(node) is not Type.BOOLEAN:
        return Leaf(Phrase(text_of(node), condition_of(node), NEVER))
    if isinstance(node, Chain) and set(node.operators) == {"AND"}:
        return And(tuple(map(_part, node.operands)))
    return _part(node)


def _part(node: Node) -> Wording:
    match node:
        case Unary("NOT", operand) if type_of(operand) is Type.BOOLEAN:
            return Not(_part(operand))
        case Chain(operands, operators) if set(operators) == {"AND"}:
            return Leaf(_phrase(node, And(tuple(map(_part, operands)))))
        case Chain(operands, operators) if set(operators) == {"OR"}:
            return Leaf(_phrase(node, Or(tuple(map(_part, operands)))))
    return Leaf(_phrase(node))


def _phrase(node: Node, part: Wording | None = None) -> Phrase:
    outcome = outcome_of(node)
    return Phrase(text_of(node), outcome.is_true, outcome.is_false, part)
