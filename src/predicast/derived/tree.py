"""Expressions over attributes, as trees: what a derived attribute is computed from.

A tree is frozen and hashable, and two spellings of one expression (spaces, the case of a function,
parentheses that change nothing) are equal trees: the parser writes functions under one name and
leaves parentheses out. Its depth is bounded, so that whatever walks it may recurse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias, Union

from predicast.model import And, Constraint, Leaf, Not, Or, Value
from predicast.model.expression import Node

# The event's arrival. It has the name of the derived attribute that it is, and is given with the
# attributes: it is no constant of the expression.
NOW: Final = "=now()"
MAX_DEPTH: Final = 64  # of one expression, calls and signs counted


@dataclass(frozen=True, slots=True)
class Input:
    """An attribute of the event."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A value of the text; 1 and 1.0 are two constants, since they compute differently."""

    value: Value

    def __post_init__(self) -> None:
        if isinstance(self.value, float):
            object.__setattr__(self, "value", self.value + 0.0)  # there is one zero

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time to add or subtract: months are of different lengths, so they count apart."""

    months: int
    microseconds: int

    def __neg__(self) -> Span:
        return Span(-self.months, -self.microseconds)


@dataclass(frozen=True, slots=True)
class Call:
    """A function, under the name that ``functions.py`` has for it, of some arguments."""

    function: str
    arguments: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Test:
    """A constraint on what an expression gives; its attribute is the expression's own name."""

    subject: Tree
    constraint: Constraint

    def negated(self) -> Test:
        return Test(self.subject, self.constraint.negated())


@dataclass(frozen=True, slots=True)
class Case:
    """The result beside the first condition that is true; otherwise the last, if there is one."""

    branches: tuple[tuple[Condition, Tree], ...]
    otherwise: Tree | None


@dataclass(frozen=True, slots=True)
class Each:
    """A list, with what is computed from each of its elements beside the element.

    For conditions on elements that compute, as in ``exists(tags, t -> lower(t) = 'a')``: inside of
    such a list ``=lower(element)`` is an attribute like ``element``.
    """

    name: str  # of the list
    computed: tuple[tuple[str, Tree], ...]  # by name, the names ascending


Tree: TypeAlias = Union[Input, Constant, Span, Call, Case, Each]  # noqa: UP007  # recursive
Condition: TypeAlias = Node[Test]

CLOCK: Final = Call("now", ())


def depth_of(tree: Tree) -> int:
    """How many functions stand inside one another."""
    if isinstance(tree, Call | Case | Each):
        return 1 + max(map(depth_of, parts_of(tree)), default=0)
    return 0


def inputs_of(tree: Tree) -> frozenset[str]:
    """The names of the attributes that it is computed from."""
    if isinstance(tree, Input | Each):
        return frozenset({tree.name})
    return frozenset(name for part in parts_of(tree) for name in inputs_of(part))


def asks_for_now(tree: Tree) -> bool:
    """Whether its value depends on when the event arrived."""
    return tree == CLOCK or any(map(asks_for_now, parts_of(tree)))


def parts_of(tree: Tree) -> Iterator[Tree]:
    """The expressions that it is made of."""
    if isinstance(tree, Call):
        yield from tree.arguments
    elif isinstance(tree, Case):
        for condition, result in tree.branches:
            yield from (test.subject for test in tests_of(condition))
            yield result
        if tree.otherwise is not None:
            yield tree.otherwise
    elif isinstance(tree, Each):
        yield from (part for _, part in tree.computed)


def tests_of(condition: Condition) -> Iterator[Test]:
    """The tests of a condition."""
    pending: list[Condition] = [condition]
    while pending:
        match pending.pop():
            case Leaf(test):
                yield test
            case Not(part):
                pending.append(part)
            case And(parts) | Or(parts):
                pending.extend(reversed(parts))
