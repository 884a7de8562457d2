"""CESQL expressions as trees.

Operators of one precedence that stand side by side are one chain, read from the left: so a list of
a thousand ORs is not a thousand levels deep, and depth is what parentheses, calls and signs make.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias, Union

Scalar: TypeAlias = str | int | bool

INT_MIN: Final = -(2**31)
INT_MAX: Final = 2**31 - 1

LOGIC: Final = frozenset({"AND", "OR", "XOR"})
COMPARISONS: Final = frozenset({"=", "!=", "<", "<=", ">", ">="})  # <> is read as !=
# Of the comparisons these are there for every type, and so cast by what stands on the right.
EQUALITIES: Final = frozenset({"=", "!="})


@dataclass(frozen=True, slots=True)
class Literal:
    """A string, an integer of 32 bits, or a boolean."""

    value: Scalar

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of the event; names are read without case, and lower case is theirs."""

    name: str


@dataclass(frozen=True, slots=True)
class Exists:
    """Whether the event has an attribute."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    """NOT, or the sign ``-``."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Chain:
    """Operands with an operator between each two of them, all of one precedence."""

    operands: tuple[Node, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Like:
    """A test against a pattern, as it was written between the quotes."""

    operand: Node
    pattern: str
    is_negated: bool


@dataclass(frozen=True, slots=True)
class In:
    """Whether one of the elements is equal."""

    operand: Node
    elements: tuple[Node, ...]
    is_negated: bool


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call of a function, by its name in upper case."""

    function: str
    arguments: tuple[Node, ...]


Node: TypeAlias = Union[Literal, Attribute, Exists, Unary, Chain, Like, In, Invocation]  # noqa: UP007  # recursive


def parts_of(node: Node) -> tuple[Node, ...]:
    """The expressions that it is made of."""
    match node:
        case Unary(_, operand) | Like(operand):
            return (operand,)
        case Chain(operands):
            return operands
        case In(operand, elements):
            return (operand, *elements)
        case Invocation(_, arguments):
            return arguments
    return ()


def nodes_of(node: Node) -> Iterator[Node]:
    """It, and all that it is made of."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(parts_of(current))


def attributes_of(node: Node) -> list[str]:
    """The names of the attributes that it looks at, ascending."""
    names = {each.name for each in nodes_of(node) if isinstance(each, Attribute | Exists)}
    return sorted(names)


def reads_all(node: Node) -> bool:
    """Whether it has no value unless all of its attributes have one."""
    for each in nodes_of(node):
        if isinstance(each, Exists):
            return False
        if isinstance(each, Chain) and not {"AND", "OR"}.isdisjoint(each.operators):
            return False
    return True
