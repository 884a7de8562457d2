"""What can be said of an expression before there is an event: its type, whether it is constant."""

from __future__ import annotations

from predicast.derived.cesql.functions import result_of
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
    Unary,
    parts_of,
)
from predicast.derived.cesql.values import TYPES, Type


def type_of(node: Node) -> Type | None:
    """The type of what it gives; ``None`` for an attribute, which may be of any."""
    match node:
        case Literal(value):
            return TYPES[type(value)]
        case Attribute():
            return None
        case Exists() | Like() | In() | Unary("NOT"):
            return Type.BOOLEAN
        case Invocation(function, arguments):
            return result_of(function, len(arguments)) or Type.BOOLEAN
        case Chain(_, operators) if operators[0] in LOGIC or operators[0] in COMPARISONS:
            return Type.BOOLEAN
    return Type.INTEGER


def is_constant(node: Node) -> bool:
    """Whether it gives the same for every event."""
    if isinstance(node, Attribute | Exists):
        return False
    return isinstance(node, Literal) or all(map(is_constant, parts_of(node)))
