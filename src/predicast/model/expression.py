"""Boolean expressions: tests under AND, OR and NOT. How they become clauses: ``normal_form.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Generic, NoReturn, TypeAlias, TypeVar, Union

from predicast.errors import LanguageError, NoTruthValueError
from predicast.model.constraint import Constraint

COMBINE: Final = (
    "& | ~ combine comparisons, each in parentheses of its own, such as "
    "(attr('x') > 1) & (attr('sold') == True)"
)


# What an expression is made of: a constraint, or what becomes one.
L = TypeVar("L")
M = TypeVar("M")


class Combinable(Generic[L]):
    """Expressions combine with ``&``, ``|`` and ``~``."""

    __slots__ = ()

    def __and__(self, other: Node[L]) -> And[L]:
        return And((*_parts(self, And), *_parts(other, And)))

    def __or__(self, other: Node[L]) -> Or[L]:
        return Or((*_parts(self, Or), *_parts(other, Or)))

    def __invert__(self) -> Not[L]:
        return Not(self)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        # Python would drop one side of `a and b` without a word.
        raise NoTruthValueError(
            "an expression has no truth value before there is an event: combine with & | ~ "
            "instead of and, or, not; write 0 < x < 10 as attr('x').between(...), "
            "and x in [1, 2] as attr('x').isin([1, 2])"
        )

    def __rand__(self, other: object) -> NoReturn:
        # Without parentheses, `attr("x") == 1 & (...)` asks for 1 & (...).
        raise LanguageError(f"{COMBINE}, not {other!r}")

    __ror__ = __rand__


def _parts(node: object, operator: type[And[L] | Or[L]]) -> tuple[Node[L], ...]:
    if not isinstance(node, Leaf | Not | And | Or):
        raise LanguageError(f"{COMBINE}, not {node!r}")
    return node.parts if isinstance(node, operator) else (node,)


@dataclass(frozen=True, slots=True)
class Leaf(Combinable[L]):
    """One constraint."""

    constraint: L


@dataclass(frozen=True, slots=True)
class Not(Combinable[L]):
    """True where the part is false; unknown where it is unknown."""

    part: Node[L]


@dataclass(frozen=True, slots=True)
class And(Combinable[L]):
    """All of the parts; true if there are none."""

    parts: tuple[Node[L], ...]


@dataclass(frozen=True, slots=True)
class Or(Combinable[L]):
    """Some of the parts; false if there are none."""

    parts: tuple[Node[L], ...]


Node: TypeAlias = Union[Leaf[L], Not[L], And[L], Or[L]]  # noqa: UP007  # recursive, read by mypy
Expression: TypeAlias = Node[Constraint]


def mapped(node: Node[L], made_of: Callable[[L], M]) -> Node[M]:
    """The same expression with something else at each leaf, in the order of ``leaves_of``."""
    match node:
        case Leaf(constraint):
            return Leaf(made_of(constraint))
        case Not(part):
            return Not(mapped(part, made_of))
        case And(parts):
            return And(tuple([mapped(part, made_of) for part in parts]))
        case Or(parts):
            return Or(tuple([mapped(part, made_of) for part in parts]))


def leaves_of(node: Node[L]) -> Iterator[L]:
    """What stands at the leaves, from left to right."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, Leaf):
            yield current.constraint
        elif isinstance(current, Not):
            pending.append(current.part)
        else:
            pending.extend(reversed(current.parts))
