"""The matching tree (``matching-tree``).

Aguilera, Strom, Sturman, Astley and Chandra, *Matching events in a content-based subscription
system*, PODC 1999. Paper 1 (CEEM, section 4.2) measures itself against it.

**Structure.** An inner node tests one attribute. Its edges are labelled with what clauses ask of
that attribute; clauses that ask the same share the edge and the test. A clause that asks nothing
of the attribute follows the *don't-care* edge (``*``). Leaves hold the clauses. With ``a = 1``
under key 0, ``a = 1 AND b < 5`` under key 1 and ``b < 5`` under key 2::

                a
         ┌──────┴──────┐
        = 1            *
         b             b
      ┌──┴──┐          │
     < 5    *         < 5
     (1)   (0)        (2)

**Order of attributes.** Fixed, so that no path ever changes: an attribute comes after all those
that were known when it was first seen. Of several first seen in one clause, those tested for
equality come first, since their edges are hashed, and shared most.

**Edges.** All constraints of a clause on one attribute are one label. A single equality is hashed
by its kind and value; any other label is tested. An event follows every edge whose label holds,
and the don't-care edge. An interval of a region event follows the labels whose domain it meets,
which is the model's own definition: regions need no further check.

**Invariants.** Along don't-care edges the attributes come in their order, and a leaf comes last. An
inner node has a labelled edge. A leaf has keys. The root is an inner node that tests nothing: its
don't-care edge leads to the tree, and it is not counted in ``nodes``.

**Cost.** To match: for each node visited a look-up, and a test of each label that is not hashed.
With equalities alone that is less than linear in the subscriptions. To subscribe or unsubscribe:
one path. Space is the catch: two ranges are seldom the same, so below its first range a clause has
a path of its own, with a node and its tables for every attribute.

**Limits.** A subscription for which there might not be room within ``max_nodes`` is refused before
anything changes. Its clauses are reckoned as sharing no new nodes with each other, and those that a
change replaces as staying, so the refusal may come a few nodes early.

**Where we depart from the paper, and why.** There, every path tests every attribute of a fixed
schema, and nodes with nothing but a don't-care edge are taken out again, to save time. Our schema
is open, so they are never made: a don't-care edge leads to the next node that tests anything.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import Counter
from typing import Final, TypeAlias

from predicast.errors import UnsupportedByMatcherError
from predicast.matching.matcher import OneByOne
from predicast.matching.matching_tree.nodes import (
    DONT_CARE,
    InnerNode,
    Label,
    Node,
    TreeLeaf,
    hashed_value,
    label_of,
)
from predicast.matching.memory import deep_bytes
from predicast.model import Absent, Clause, Event, Subscription
from predicast.model.normal_form import without_rests

# At a few hundred bytes for a node and its label, about a gigabyte.
MAX_NODES: Final = 2_000_000

# What a clause asks of each of its attributes, in the order of the attributes.
_Path: TypeAlias = list[tuple[str, Label]]


class MatchingTree(OneByOne):
    """Clauses as paths from a root to leaves, which they share as far as they agree."""

    name = "matching-tree"

    def __init__(self, *, absent: Absent = "fails", max_nodes: int = MAX_NODES) -> None:
        super().__init__(absent=absent)
        self.max_nodes = max_nodes
        self._root = InnerNode("")
        self._subscriptions: dict[int, Subscription] = {}
        self._ranks: dict[str, int] = {}  # the order of the attributes
        self._uses: Counter[str] = Counter()  # in how many clauses each of them occurs
        self._next_rank = 0
        self._nodes = 0
        self._events = 0
        self._tested = 0
        self._visited = 0

    def subscribe(self, key: int, subscription: Subscription) -> None:
        subscription = without_rests(subscription, self.name)
        self._check_room(subscription)
        self._hold(key, subscription)

    def unsubscribe(self, key: int) -> None:
        for clause in self._subscriptions.pop(key).clauses:
            self._drop(key, self._path(clause))

    def change(self, key: int, subscription: Subscription) -> None:
        subscription = without_rests(subscription, self.name)
        self._check_room(subscription)
        self.unsubscribe(key)
        self._hold(key, subscription)

    def match(self, event: Event) -> list[int]:
        self._events += 1
        matched: dict[int, None] = {}
        pending: list[Node | None] = [self._root.dont_care]
        while pending:
            node = pending.pop()
            if node is None:
                continue
            self._visited += 1
            if isinstance(node, TreeLeaf):
                matched.update(dict.fromkeys(node.keys))
                continue
            reached, tested = node.following(event.get(node.attribute), self.absent)
            self._tested += tested
            pending.append(node.dont_care)
            pending.extend(reached)
        return list(matched)

    def statistics(self) -> dict[str, int]:
        """What is held, and the work done.

        ``constraints_tested`` counts each constraint of a label up to the one that fails, a look-up
        among the hashed edges as one, and a label as one if the attribute is absent or an interval.
        ``candidates`` counts the nodes visited.
        """
        return {
            "subscriptions": len(self._subscriptions),
            "clauses": sum(len(each.clauses) for each in self._subscriptions.values()),
            "nodes": self._nodes,
            "events": self._events,
            "constraints_tested": self._tested,
            "candidates": self._visited,
            "bytes": deep_bytes(self._root, self._subscriptions, self._ranks, self._uses),
        }

    def _hold(self, key: int, subscription: Subscription) -> None:
        self._subscriptions[key] = subscription
        for clause in subscription.clauses:
            self._add(key, self._path(clause))

    def _path(self, clause: Clause) -> _Path:
        """What the clause asks of each attribute, in the order of the attributes."""
        path = [(attribute, label_of(group)) for attribute, group in clause.by_attribute().items()]
        path.sort(key=lambda step: (self._rank(step[0]), hashed_value(step[1]) is None))
        return path

    def _rank(self, attribute: str | None) -> float:
        """The attribute's place in the order; new attributes come last, and leaves with them."""
        return math.inf if attribute is None else self._ranks.get(attribute, math.inf)

    def _edge_to(
        self, attribute: str | None, parent: InnerNode, label: Label
    ) -> tuple[InnerNode, Label]:
        """Along don't-care edges to the edge behind which an attribute's node belongs.

        Without an attribute: to the edge behind which the leaf belongs.
        """
        rank = self._rank(attribute)
        child = parent.child(label)
        while isinstance(child, InnerNode) and self._ranks[child.attribute] < rank:
            parent, label, child = child, DONT_CARE, child.dont_care
        return parent, label

    def _add(self, key: int, path: _Path) -> None:
        parent, label = self._root, DONT_CARE
        for attribute, wanted in path:
            self._know(attribute)
            parent, label = self._edge_to(attribute, parent, label)
            child = parent.child(label)
            if not isinstance(child, InnerNode) or child.attribute != attribute:
                # A new node goes between the edge and what was behind it.
                child, behind = InnerNode(attribute), child
                child.dont_care = behind
                parent.put(label, child)
                self._nodes += 1
            parent, label = child, wanted
        parent, label = self._edge_to(None, parent, label)
        leaf = parent.child(label)
        if leaf is None:
            leaf = TreeLeaf()
            parent.put(label, leaf)
            self._nodes += 1
        assert isinstance(leaf, TreeLeaf)
        insort(leaf.keys, key)

    def _drop(self, key: int, path: _Path) -> None:
        parent, label = self._root, DONT_CARE
        edges: list[tuple[InnerNode, Label]] = []  # to each node that the path tests, and the leaf
        for attribute, wanted in path:
            parent, label = self._edge_to(attribute, parent, label)
            edges.append((parent, label))
            child = parent.child(label)
            assert isinstance(child, InnerNode)
            parent, label = child, wanted
        parent, label = self._edge_to(None, parent, label)
        edges.append((parent, label))
        leaf = parent.child(label)
        assert isinstance(leaf, TreeLeaf)
        del leaf.keys[bisect_left(leaf.keys, key)]
        if not leaf.keys:
            self._prune(edges)
        for attribute, _ in path:
            self._forget(attribute)

    def _prune(self, edges: list[tuple[InnerNode, Label]]) -> None:
        """Remove the node behind the last edge and, upwards, those left without a label."""
        behind: Node | None = None
        while edges:
            parent, label = edges.pop()
            parent.put(label, behind)
            self._nodes -= 1
            if parent is self._root or parent.has_labels():
                return
            behind = parent.dont_care

    def _check_room(self, subscription: Subscription) -> None:
        needed = sum(self._new_nodes(self._path(clause)) for clause in subscription.clauses)
        if needed and self._nodes + needed > self.max_nodes:
            raise UnsupportedByMatcherError(
                f"the matching tree holds {self._nodes:,} nodes and may hold {self.max_nodes:,} "
                f"(max_nodes); this subscription needs up to {needed:,} more. Raise max_nodes, or "
                "choose another matcher: 'ceem' takes less memory",
                matcher=self.name,
            )

    def _new_nodes(self, path: _Path) -> int:
        """How many nodes a path would add to the tree."""
        parent, label = self._root, DONT_CARE
        for depth, (attribute, wanted) in enumerate(path):
            parent, label = self._edge_to(attribute, parent, label)
            child = parent.child(label)
            if not isinstance(child, InnerNode) or child.attribute != attribute:
                return len(path) - depth + 1  # its remaining tests and a leaf
            parent, label = child, wanted
        parent, label = self._edge_to(None, parent, label)
        return 0 if parent.child(label) else 1

    def _know(self, attribute: str) -> None:
        """Give a new attribute the last place in the order."""
        self._uses[attribute] += 1
        if attribute not in self._ranks:
            self._ranks[attribute] = self._next_rank
            self._next_rank += 1

    def _forget(self, attribute: str) -> None:
        """Free the place of an attribute that no clause asks for any more."""
        self._uses[attribute] -= 1
        if not self._uses[attribute]:
            del self._uses[attribute]
            del self._ranks[attribute]
