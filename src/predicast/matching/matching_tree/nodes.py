"""The nodes of the matching tree (``predicast.matching.matching_tree.tree``) and their edges.

An edge is a node and a *label*: all that a clause asks of the node's attribute. The label that asks
nothing is the don't-care edge. Equal labels are the same edge, so their constraints are kept in one
order. A label that is a single equality is hashed by kind and value (the kind because 1 and True
are one key in a hash table); the others are tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from predicast.model import Absent, Constraint, Held, Interval, Kind, Operator
from predicast.model.constraint import trusted_constraint
from predicast.model.domain import domain_of
from predicast.model.values import kind_of

Label: TypeAlias = tuple[Constraint, ...]
DONT_CARE: Final[Label] = ()


class TreeLeaf:
    """The end of paths."""

    __slots__ = ("keys",)

    def __init__(self) -> None:
        self.keys: list[int] = []  # whose clauses end here, ascending


class InnerNode:
    """A test of one attribute, with an edge for each label."""

    __slots__ = ("_hashed", "_others", "attribute", "dont_care")

    def __init__(self, attribute: str) -> None:
        self.attribute = attribute
        self.dont_care: Node | None = None
        self._hashed: dict[tuple[Kind, Any], Node] = {}
        self._others: dict[Label, Node] = {}

    def child(self, label: Label) -> Node | None:
        """Where an edge leads."""
        if not label:
            return self.dont_care
        value = hashed_value(label)
        return self._others.get(label) if value is None else self._hashed.get(value)

    def put(self, label: Label, child: Node | None) -> None:
        """Let an edge lead to a node; no node, no edge."""
        value = hashed_value(label)
        if not label:
            self.dont_care = child
        elif value is None:
            _put(self._others, label, child)
        else:
            _put(self._hashed, value, child)

    def has_labels(self) -> bool:
        return bool(self._hashed or self._others)

    def following(self, value: Held | None, absent: Absent) -> tuple[list[Node], int]:
        """The children that an event reaches by labelled edges, and how many tests it took."""
        if value is None:
            return self._following_absence(absent)
        if isinstance(value, Interval):
            return self._following_interval(value, absent)
        tested = 1
        equal = self._hashed.get((kind_of(value), value))
        reached = [] if equal is None else [equal]
        for label, child in self._others.items():
            for constraint in label:
                tested += 1
                if not constraint.holds(value):
                    break
            else:
                reached.append(child)
        return reached, tested

    def _following_absence(self, absent: Absent) -> tuple[list[Node], int]:
        reached = list(self._hashed.values()) if absent == "passes" else []
        for label, child in self._others.items():
            if all(constraint.holds_absent(absent) for constraint in label):
                reached.append(child)
        return reached, len(self._others)

    def _following_interval(self, interval: Interval, absent: Absent) -> tuple[list[Node], int]:
        edges = list(self._edges())
        reached = [child for label, child in edges if domain_of(label, absent).meets(interval)]
        return reached, len(edges)

    def _edges(self) -> Iterator[tuple[Label, Node]]:
        for (kind, value), child in self._hashed.items():
            yield (trusted_constraint(self.attribute, Operator.EQ, value, kind),), child
        yield from self._others.items()


Node: TypeAlias = InnerNode | TreeLeaf


def label_of(constraints: Label) -> Label:
    """The one spelling of constraints that all must hold."""
    if len(constraints) == 1:
        return constraints
    return tuple(sorted(dict.fromkeys(constraints), key=_spelling))


def hashed_value(label: Label) -> tuple[Kind, Any] | None:
    """The kind and value of a label that is a single equality."""
    if len(label) != 1 or label[0].operator is not Operator.EQ:
        return None
    assert label[0].kind is not None
    return label[0].kind, label[0].operand


def _spelling(constraint: Constraint) -> tuple[str, str, str]:
    kind = constraint.kind.value if constraint.kind else ""
    return constraint.operator.value, kind, repr(constraint.operand)


def _put(edges: dict[Any, Node], label: Any, child: Node | None) -> None:
    if child is None:
        del edges[label]
    else:
        edges[label] = child
