"""Trees of tests: what a clause says beyond tests that must all hold.

An *atom* is a test that a loop decides at once: a code within spans on an axis, or an other test
that is marked or not. A tree has atoms under AND (``Every``) and OR (``Some``); there is no NOT,
since an other test may be inverted and the spans outside of spans are spans.

For whoever looks for the clauses of an event a tree has *signs*: atoms of which at least one holds
wherever the tree does. Those of an AND are the signs of all its parts, each on its own; an OR has
one if every part has, the rarest of each together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias, Union

from predicast.matching.columnar.compile.axes import AxisName
from predicast.matching.columnar.compile.coded_tests import Other
from predicast.matching.columnar.reserved import FAILS, HOLDS
from predicast.model.spans import Span

_LARGEST_SIGN: Final = 4_096  # atoms; a sign of more would hold for most events anyway


class Coded(NamedTuple):
    """A test that holds if one of its spans does; on a flag axis spans are given as codes."""

    axis: AxisName
    spans: tuple[Span | tuple[int, int], ...]


# Not named tuples, as an AND of the same parts would be equal to the OR.
@dataclass(frozen=True, slots=True)
class Every:
    """All of the parts must hold."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """One of the parts must hold."""

    parts: tuple[Tree, ...]


Atom: TypeAlias = Coded | Other
Tree: TypeAlias = Union[Coded, Other, Every, Some]  # noqa: UP007  # recursive: named before it is known

NOTHING: Final = Some(())  # holds never
ANYTHING: Final = Every(())  # holds always


def every(parts: Iterable[Tree]) -> Tree:
    """All of the parts, those of parts that are ANDs themselves side by side with the others."""
    return _joined(Every, parts, settled_by=NOTHING)


def some(parts: Iterable[Tree]) -> Tree:
    """One of the parts, likewise."""
    return _joined(Some, parts, settled_by=ANYTHING)


def _joined(kind: type[Every | Some], parts: Iterable[Tree], *, settled_by: Tree) -> Tree:
    flat: list[Tree] = []
    for part in parts:
        flat += part.parts if isinstance(part, kind) else (part,)
    distinct = tuple(dict.fromkeys(flat))
    if settled_by in distinct:
        return settled_by
    return distinct[0] if len(distinct) == 1 else kind(distinct)


def atoms_of(tree: Tree) -> Iterator[Atom]:
    """The atoms, from left to right."""
    if isinstance(tree, Every | Some):
        for part in tree.parts:
            yield from atoms_of(part)
    else:
        yield tree


class Step(NamedTuple):
    """Look at an atom, and go on from there: to a later step, or to one of the two ends."""

    atom: Atom
    then: int
    otherwise: int


def steps_of(tree: Tree) -> list[Step]:
    """A tree as a program: each atom is looked at once at most, and only if it can matter.

    What is small comes first, since it may settle the matter for less.
    """
    backwards: list[Step] = []

    def place(step: int) -> int:  # steps are counted from the last one while they are made
        return step if step < 0 else len(backwards) - 1 - step

    def write(node: Tree, then: int, otherwise: int) -> int:
        if not isinstance(node, Every | Some):
            backwards.append(Step(node, then, otherwise))
            return len(backwards) - 1
        entry = then if isinstance(node, Every) else otherwise
        for part in sorted(node.parts, key=_size, reverse=True):
            if isinstance(node, Every):
                entry = write(part, entry, otherwise)
            else:
                entry = write(part, then, entry)
        return entry

    entry = write(tree, HOLDS, FAILS)
    assert entry == len(backwards) - 1, "a tree of a program has an atom"
    return [Step(atom, place(then), place(other)) for atom, then, other in reversed(backwards)]


def _size(tree: Tree) -> int:
    return sum(map(_size, tree.parts)) if isinstance(tree, Every | Some) else 1


Share: TypeAlias = Callable[[Atom], float]  # the part of all events that an atom may hold for


def signs_of(tree: Tree, share: Share) -> list[tuple[Atom, ...]]:
    """The signs of a tree; none if it may hold where nothing else does."""
    if isinstance(tree, Every):
        return [sign for part in tree.parts for sign in signs_of(part, share)]
    if isinstance(tree, Some):
        together: dict[Atom, None] = {}
        for part in tree.parts:
            signs = signs_of(part, share)
            if not signs:
                return []
            together |= dict.fromkeys(min(signs, key=lambda sign: sum(map(share, sign))))
        return [tuple(together)] if 0 < len(together) <= _LARGEST_SIGN else []
    return [] if isinstance(tree, Other) and tree.inverted else [(tree,)]
