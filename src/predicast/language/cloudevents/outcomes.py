"""``Outcome``: when an expression is true, when it is false, and when it is either.

CESQL and the filters of CloudEvents have rules of their own for what is missing or cannot be cast;
SQL's third value is not one of them. So nothing is negated here. Each part says in conditions of
the model when it *is true*, when it *is false*, and when it is *decided*, one or the other, without
an error; AND, OR and NOT are made of these. Conditions stand under AND and OR alone.

What is decided is cheaper to say than what is false, and as good beside what is true: ``a OR b`` is
true if a is, or if a is decided and b is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from predicast.model import And, Constraint, Expression, Leaf, Operator, Or
from predicast.model.expression import leaves_of

ALWAYS: Final[Expression] = And(())
NEVER: Final[Expression] = Or(())

_FEW: Final = 8  # parts whose conditions are not looked at to count them
_MOST_COUNTED: Final = 1 << 16  # constraints that are

Condition: TypeAlias = Callable[[], Expression]


class Sizes(NamedTuple):
    """Of how many constraints each condition is made, or more: known before any is made."""

    true: int = 1
    false: int = 1
    decided: int = 1


_ONE: Final = Sizes()


class Outcome:
    """Conditions under which an expression is true, false or decided; made when asked for."""

    __slots__ = ("_conditions", "_made", "sizes")

    sizes: Sizes

    def __init__(
        self,
        is_true: Condition,
        is_false: Condition,
        is_decided: Condition,
        sizes: Sizes = _ONE,
    ) -> None:
        self._conditions = (is_true, is_false, is_decided)
        self._made: list[Expression | None] = [None, None, None]
        self.sizes = sizes

    @property
    def is_true(self) -> Expression:
        """When it is true."""
        return self._condition(0)

    @property
    def is_false(self) -> Expression:
        """When it is false."""
        return self._condition(1)

    @property
    def is_decided(self) -> Expression:
        """When it is true or false."""
        return self._condition(2)

    def _condition(self, which: int) -> Expression:
        made = self._made[which]
        if made is None:
            made = self._made[which] = self._conditions[which]()
        return made

    def negated(self) -> Outcome:
        """NOT of it."""
        true, false, decided = self.sizes
        return Outcome(
            lambda: self.is_false,
            lambda: self.is_true,
            lambda: self.is_decided,
            Sizes(false, true, decided),
        )

    def within(self, most: int, another: Callable[[], Outcome]) -> Outcome:
        """The same, with conditions of another that means the same where its own are too large."""
        if max(self.sizes) <= most:
            return self
        other = another()
        chosen = [self if size <= most else other for size in self.sizes]
        return Outcome(
            lambda: chosen[0].is_true,
            lambda: chosen[1].is_false,
            lambda: chosen[2].is_decided,
            Sizes(*(min(each) for each in zip(self.sizes, other.sizes, strict=True))),
        )


def known(value: bool | None) -> Outcome:
    """The same for every event; ``None``: never decided."""
    return Outcome(
        lambda: ALWAYS if value is True else NEVER,
        lambda: ALWAYS if value is False else NEVER,
        lambda: NEVER if value is None else ALWAYS,
    )


def of_test(constraint: Constraint) -> Outcome:
    """A test of a typed value: false where its negation holds, decided where there is a value."""
    return Outcome(
        lambda: Leaf(constraint),
        lambda: Leaf(constraint.negated()),
        lambda: Leaf(Constraint(constraint.attribute, Operator.EXISTS)),
    )


def all_outcomes(parts: Sequence[Outcome]) -> Outcome:
    """AND, which does not look behind a part that is false."""
    before, decided = _decided_sizes(parts)
    false = before + sum(part.sizes.false for part in parts)
    return Outcome(
        lambda: all_of(part.is_true for part in parts),
        lambda: any_of(_in_turn(parts, [part.is_false for part in parts])),
        lambda: any_of(
            [
                # The last one, if it is looked at, only has to be decided.
                *_in_turn(parts[:-1], [part.is_false for part in parts[:-1]]),
                all_of(part.is_decided for part in parts),
            ]
        ),
        Sizes(sum(part.sizes.true for part in parts), false, false + decided),
    )


def any_outcome(parts: Sequence[Outcome]) -> Outcome:
    """OR, which does not look behind a part that is true: by De Morgan, as AND is."""
    return all_outcomes([part.negated() for part in parts]).negated()


def one_outcome(left: Outcome, right: Outcome) -> Outcome:
    """``left XOR right``."""

    def when(of_right_if_true: Condition, of_right_if_false: Condition) -> Expression:
        return any_of(
            [
                all_of([left.is_true, of_right_if_true()]),
                all_of([left.is_false, of_right_if_false()]),
            ]
        )

    size = sum((*left.sizes[:2], *right.sizes[:2]))
    return Outcome(
        lambda: when(lambda: right.is_false, lambda: right.is_true),
        lambda: when(lambda: right.is_true, lambda: right.is_false),
        lambda: all_of([left.is_decided, right.is_decided]),
        Sizes(size, size, left.sizes.decided + right.sizes.decided),
    )


def _decided_sizes(parts: Sequence[Outcome]) -> tuple[int, int]:
    """What is decided before each part, in all; and of all parts together.

    Where there are many parts, that is often the same of all: so it is counted once.
    """
    decided = sum(part.sizes.decided for part in parts)
    if len(parts) > _FEW and decided <= _MOST_COUNTED:
        conditions = {part.is_decided for part in parts}
        decided = sum(sum(1 for _ in leaves_of(each)) for each in conditions)
    return len(parts) * decided, decided


def _in_turn(parts: Sequence[Outcome], wanted: Sequence[Expression]) -> Iterable[Expression]:
    """What is wanted of each part, where all of those before it are decided."""
    before: dict[Expression, None] = {}
    for part, condition in zip(parts, wanted, strict=True):
        yield all_of([*before, condition])
        before[part.is_decided] = None


def all_of(given: Iterable[Expression]) -> Expression:
    """AND, without what follows from the rest of it."""
    parts = list(dict.fromkeys(_flat(given, And)))
    if len(parts) == 1:
        return parts[0]
    if NEVER in parts:
        return NEVER
    tested = {_tested(part) for part in parts} - {None}
    left = [part for part in parts if _existing(part) not in tested]
    return left[0] if len(left) == 1 else And(tuple(left))


def any_of(given: Iterable[Expression]) -> Expression:
    """OR, without what follows from the rest of it."""
    parts = list(dict.fromkeys(_flat(given, Or)))
    if len(parts) == 1:
        return parts[0]
    leaves = [part.constraint for part in parts if isinstance(part, Leaf)]
    existing = {each.attribute for each in leaves if each.operator is Operator.EXISTS}
    absent = {each.attribute for each in leaves if each.operator is Operator.ABSENT}
    if ALWAYS in parts or existing & absent:
        return ALWAYS
    return Or(tuple(parts))


def _flat(parts: Iterable[Expression], operator: type[And[Any] | Or[Any]]) -> Iterable[Expression]:
    for part in parts:
        if isinstance(part, operator):
            yield from part.parts
        else:
            yield part


def _tested(part: Expression) -> str | None:
    """The attribute that an event needs to have to pass it, be it a test of that attribute."""
    if not isinstance(part, Leaf) or part.constraint.operator is Operator.EXISTS:
        return None
    return None if part.constraint.holds_absent("fails") else part.constraint.attribute


def _existing(part: Expression) -> str | None:
    """The attribute of which it is said that it exists, and no more."""
    if isinstance(part, Leaf) and part.constraint.operator is Operator.EXISTS:
        return part.constraint.attribute
    return None
