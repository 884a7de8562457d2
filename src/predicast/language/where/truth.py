"""Whether a condition is true, false or unknown: tests that are never unknown themselves.

What ``NOT`` makes of ``x IS TRUE`` is not ``x != TRUE``: it holds where ``x`` is absent as well. So
such a test is kept as two conditions, one that is true where it holds and one that is true where it
does not, until it is known which of them is asked for. Where it is simply asked for, nothing
is added to what was written: ``x IS TRUE`` is ``x = TRUE``, and ``x <=> 5`` is ``x = 5``.

Of values of another kind than a test is about it says as little as any test does: ``x IS NOT TRUE``
holds for FALSE and where ``x`` is absent, not for 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from predicast.language.where.shape import ConstraintTemplate
from predicast.model import And, Leaf, Not, Operator, Or
from predicast.model.expression import Node
from predicast.model.operators import PRESENCE


@dataclass(frozen=True, slots=True)
class Decided:
    """A test that is either true or not."""

    true: Written
    untrue: Written

    def negated(self) -> Decided:
        return Decided(self.untrue, self.true)


Written: TypeAlias = Node[ConstraintTemplate | Decided]
Plain: TypeAlias = Node[ConstraintTemplate]


def is_true(node: Written) -> Written:
    """``(...) IS TRUE``."""
    return Leaf(Decided(node, _untrue(node)))


def is_unknown(node: Written) -> Written:
    """``(...) IS UNKNOWN``."""
    if isinstance(node, Not):
        return is_unknown(node.part)
    if not _some_leaf(node, lambda test: not _is_decided(test)):
        return Or(())
    if isinstance(node, Leaf):
        return _absent(node)
    neither = And((_untrue(node), _untrue(Not(node))))
    return Leaf(Decided(neither, Or((node, Not(node)))))


def _untrue(node: Written) -> Written:
    """True where the condition is false or unknown: of AND, where that is so of some part."""
    return _other_than(node, wanted=True)


def _other_than(node: Written, *, wanted: bool) -> Written:
    """True where the condition is not what is wanted, but the opposite or unknown."""
    match node:
        case Leaf(test):
            opposite: Written = Not(node) if wanted else node
            return opposite if _is_decided(test) else Or((opposite, _absent(node)))
        case Not(part):
            return _other_than(part, wanted=not wanted)
        case And(parts) | Or(parts):
            others = tuple(_other_than(part, wanted=wanted) for part in parts)
            return Or(others) if isinstance(node, And) is wanted else And(others)


def _is_decided(test: ConstraintTemplate | Decided) -> bool:
    return isinstance(test, Decided) or test.operator in PRESENCE


def _absent(leaf: Leaf[ConstraintTemplate | Decided]) -> Written:
    test = leaf.constraint
    assert isinstance(test, ConstraintTemplate)
    return Leaf(replace(test, operator=Operator.ABSENT, literals=(), element=None))


def plain(node: Written) -> Plain:
    """The condition with tests that are decided spelt out."""
    if _some_leaf(node, lambda test: isinstance(test, Decided)):
        return _plain(node)
    return node  # type: ignore[return-value]


def _some_leaf(node: Written, has: Callable[[ConstraintTemplate | Decided], bool]) -> bool:
    match node:
        case Leaf(test):
            return has(test)
        case Not(part):
            return _some_leaf(part, has)
        case And(parts) | Or(parts):
            return any(_some_leaf(part, has) for part in parts)


def _plain(node: Written, *, wanted: bool = True) -> Plain:
    """The condition, or its negation, with NOT only before single tests."""
    match node:
        case Leaf(test):
            if isinstance(test, Decided):
                return _plain(test.true if wanted else test.untrue)
            leaf: Plain = Leaf(test)
            return leaf if wanted else Not(leaf)
        case Not(part):
            return _plain(part, wanted=not wanted)
        case And(parts) | Or(parts):
            plain_parts = tuple(_plain(part, wanted=wanted) for part in parts)
            return And(plain_parts) if isinstance(node, And) is wanted else Or(plain_parts)
