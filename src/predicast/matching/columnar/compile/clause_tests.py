"""A clause as tests that the columnar matcher can run: ranges on axes, sets of ranges, and others.

Everything that order can express becomes a *range* test (one span on an axis) or a *set* test
(several spans on one axis, as for IN and !=). Presence and absence are ranges too, on axes of their
own. What is left (substrings, suffixes, general LIKE, regular expressions, conditions on the
elements of lists) becomes an *other* test: the constraints themselves, resolved once per distinct
value of a batch. What OR leaves beyond these is the clause's *program*, a tree of such tests.

A region event that leaves an attribute a choice may satisfy two tests of one tree by two
points. Within one attribute a condition is exact (``conditions.py``); a clause that names an
attribute of numbers or timestamps again, in its rest, is asked as a whole about such events: one
more other test, inverted, which is marked where the clause does not match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from predicast.matching.columnar.compile.axes import AxisName, Scale
from predicast.matching.columnar.compile.coded_tests import Other
from predicast.matching.columnar.compile.conditions import condition_tree
from predicast.matching.columnar.compile.trees import (
    NOTHING,
    Atom,
    Coded,
    Every,
    Some,
    Tree,
    atoms_of,
    every,
    some,
)
from predicast.model import Absent, Clause, Constraint, Kind
from predicast.model.expression import And, Expression, Leaf, Or
from predicast.model.spans import Span

# A range on a flag axis is given as codes, on any other axis as a span.
Range: TypeAlias = tuple[AxisName, Span | tuple[int, int]]


class ClauseTests(NamedTuple):
    """All tests of one clause, every one of which must hold, and so must the program."""

    ranges: list[Range]
    sets: list[tuple[AxisName, tuple[Span | tuple[int, int], ...]]]
    others: list[Other]
    program: Tree | None = None


# Trees of conditions by what is asked for: many clauses share some of them.
Trees: TypeAlias = dict[tuple[Constraint, ...], Tree]


def compiled_tests(clause: Clause, absent: Absent, known: Trees) -> ClauseTests | None:
    """The tests of a clause, or ``None`` if no event can match it.

    Conditions that are ``known`` are not worked out again, and the others are known from then on.
    """
    groups = []
    for attribute, group in clause.by_attribute().items():
        tree = known.get(group)
        if tree is None:
            tree = known[group] = condition_tree(attribute, group, absent)
        groups.append(tree)
    if clause.rest is not None:
        groups += _rest_trees(clause, groups, absent)
    tree = every(groups)
    if tree == NOTHING:
        return None
    tests, left = ClauseTests([], [], []), []
    for part in tree.parts if isinstance(tree, Every) else (tree,):
        if isinstance(part, Some):
            left.append(part)
        elif isinstance(part, Other):
            tests.others.append(part)
        elif isinstance(part, Coded) and len(part.spans) == 1:
            tests.ranges.append((part.axis, part.spans[0]))
        elif isinstance(part, Coded):
            tests.sets.append((part.axis, part.spans))
    return tests._replace(program=every(left)) if left else tests


# The rest.


def _rest_trees(clause: Clause, groups: Sequence[Tree], absent: Absent) -> list[Tree]:
    """The tree of the rest, and what else it takes to be right about regions."""
    assert clause.rest is not None
    conditions = list(groups)
    tree = _rest_tree(clause.rest, absent, conditions)
    named = Counter(name for each in conditions for name in _with_intervals(each))
    if max(named.values(), default=0) < 2:
        return [tree]
    return [tree, Other("", clause.constraints, inverted=True, rest=clause.rest)]


def _rest_tree(node: Expression, absent: Absent, conditions: list[Tree]) -> Tree:
    """The tree of an expression; the trees of its conditions are added to the others."""
    if isinstance(node, Leaf):
        tree = condition_tree(node.constraint.attribute, (node.constraint,), absent)
        conditions.append(tree)
        return tree
    assert isinstance(node, And | Or)
    if isinstance(node, Or):
        return some([_rest_tree(part, absent, conditions) for part in node.parts])
    return every(_parts_of_and(node, absent, conditions))


def _parts_of_and(node: And[Constraint], absent: Absent, conditions: list[Tree]) -> Iterator[Tree]:
    leaves = Clause(tuple(part.constraint for part in node.parts if isinstance(part, Leaf)))
    for attribute, group in leaves.by_attribute().items():
        tree = condition_tree(attribute, group, absent)
        conditions.append(tree)
        yield tree
    for part in node.parts:
        if not isinstance(part, Leaf):
            yield _rest_tree(part, absent, conditions)


def _with_intervals(tree: Tree) -> set[str]:
    """The attributes whose intervals a condition may hold for."""
    return {
        atom.axis.attribute if isinstance(atom, Coded) else atom.attribute
        for atom in atoms_of(tree)
        if _may_hold_for_intervals(atom)
    }


def _may_hold_for_intervals(atom: Atom) -> bool:
    if isinstance(atom, Coded):
        return atom.axis.scale in {Scale.NUMBER, Scale.EXACT, Scale.TIMESTAMP}
    single = {Kind.STRING, Kind.LIST}
    return any(constraint.kind not in single for constraint in atom.constraints)
