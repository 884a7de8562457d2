"""Boolean expressions, and how they become clauses.

NOT is pushed down to the constraints by De Morgan's laws (which hold in three-valued logic), then
AND is distributed over OR. The result can be exponentially larger, so its size is known and
checked before it is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Final, Generic, NoReturn, Protocol, Self, TypeAlias, TypeVar, Union

from predicast.errors import LanguageError, NoTruthValueError, TooManyClausesError
from predicast.model.constraint import Constraint
from predicast.model.subscription import Subscription

MAX_CLAUSES: Final = 256
MAX_CONSTRAINTS: Final = 65_536  # in all clauses together: bounds memory where MAX_CLAUSES cannot


COMBINE: Final = (
    "& | ~ combine comparisons, each in parentheses of its own, such as "
    "(attr('x') > 1) & (attr('sold') == True)"
)


class Negatable(Protocol):
    """What an expression is made of: a constraint, or a constraint with values yet to come."""

    def negated(self) -> Self: ...


L = TypeVar("L", bound=Negatable)
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


def mapped(node: Any, made_of: Callable[[Any], M]) -> Any:
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


def normalised(node: Node[L], max_clauses: int = MAX_CLAUSES) -> list[list[L]]:
    """The clauses of an expression, each a list of leaves, in disjunctive normal form.

    Iterative, since the depth of an expression is the caller's choice.
    """
    pending: list[tuple[Node[L], bool, bool]] = [(node, True, False)]
    done: list[list[list[L]]] = []
    while pending:
        current, positive, parts_are_done = pending.pop()
        if isinstance(current, Leaf):
            leaf = current.constraint
            done.append([[leaf if positive else leaf.negated()]])
        elif isinstance(current, Not):
            pending.append((current.part, not positive, False))
        elif not parts_are_done:
            pending.append((current, positive, True))
            pending.extend((part, positive, False) for part in reversed(current.parts))
        else:
            first = len(done) - len(current.parts)
            combine = _all_of if isinstance(current, And) is positive else _any_of
            done[first:] = [combine(done[first:], max_clauses)]
    return done[0]


def _any_of(parts: list[list[list[L]]], max_clauses: int) -> list[list[L]]:
    _check_size(sum(map(len, parts)), sum(map(_leaves, parts)), max_clauses)
    return [clause for part in parts for clause in part]


def _all_of(parts: list[list[list[L]]], max_clauses: int) -> list[list[L]]:
    count = prod(map(len, parts))
    leaves = sum(_leaves(part) * (count // len(part)) for part in parts if part)
    _check_size(count, leaves, max_clauses)
    return [[leaf for clause in chosen for leaf in clause] for chosen in product(*parts)]


def _leaves(clauses: Sequence[Sequence[L]]) -> int:
    return sum(map(len, clauses))


def _check_size(clauses: int, constraints: int, max_clauses: int) -> None:
    if clauses > max_clauses:
        raise TooManyClausesError(
            f"in disjunctive normal form the expression has {clauses} clauses or more; "
            f"the limit is {max_clauses}. Split it into several subscriptions, "
            "or use IN instead of OR",
            limit=max_clauses,
            actual=clauses,
        )
    if constraints > MAX_CONSTRAINTS:
        raise TooManyClausesError(
            f"in disjunctive normal form the expression has {constraints} constraints or more; "
            f"the limit is {MAX_CONSTRAINTS}. Split it into several subscriptions",
            limit=MAX_CONSTRAINTS,
            actual=constraints,
        )


def subscription_of(expression: Expression, max_clauses: int = MAX_CLAUSES) -> Subscription:
    """The subscription that an expression states."""
    return Subscription.of(normalised(expression, max_clauses))
