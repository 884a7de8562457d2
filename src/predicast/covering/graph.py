r"""``CoveringGraph``: distinct filters, ordered by covering, with edges between neighbours.

::

    entries        price < 20        kind = 'bond'
                   /        \         /
        price < 10          price < 20 AND kind = 'bond'
                   \         /
          price < 10 AND kind = 'bond'

An edge leads from a *precursor* down to a *successor* that it covers with nothing in between: the
graph is the transitive reduction of covering. A change may overwrite a node's filter and leave the
reduction behind; such a node is *waiting* to be relinked, the others are *settled*.

**Invariants**, at all times:

1. Every edge is a true covering; so a match may prune what a failed node covers.
2. No two nodes cover each other: equal filters are one node, and filters that cover each other are
   equal (``predicast.covering.filter`` says why). A cycle of edges would have no entry, and
   matches would never come to it.
3. From one settled node that covers another there is a path to it.
4. No edge between settled nodes skips a settled node in between.

So, with nobody waiting, the edges are exactly the transitive reduction. *Entries*, the nodes
without a precursor, include all the maxima at all times; once no entry is waiting they are the
maxima: whatever covers an entry is covered by a maximum, that is an entry, both are settled, and
(3) would give the entry a precursor.

**Operations.** All are built from three:

- *relink* asks the index for everything that covers the node and everything that it covers, links
  it to the lowest of those and the highest of these, and drops the edges that now skip it.
- *cut* gives a node another filter, drops those of its edges that are no longer true, and *bridges*
  each pair of neighbours that were connected through a dropped edge. The node waits.
- *remove* is the same for all of its edges.

A bridge is left out where another precursor of the lower node already lies in between. If that one
is waiting, a path to it is not certain: the bridge is built, and the lower node waits too.

**Cost.** Relink: two questions to the index, a covering test for each candidate that no link leads
to from one that passed. Cut: a test for
each neighbour; bridges, where edges drop, for each pair of them. Nothing is recursive.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from predicast.covering.filter import Filter
from predicast.covering.index import SketchIndex
from predicast.covering.sketches import Sketch
from predicast.model import Event, Subscription


class Node:
    """A filter with its subscribers, never none, and its neighbours."""

    __slots__ = (
        "filter",
        "number",
        "precursors",
        "sketch",
        "subscribers",
        "subscription",
        "successors",
    )

    def __init__(self, new: Filter, sketch: Sketch, subscription: Subscription) -> None:
        self.filter = new
        self.sketch = sketch
        self.subscription = subscription  # one of those that the filter stands for
        self.number = -1  # in the index
        self.subscribers: set[int] = set()
        # Dictionaries for their order, which makes the count of covering tests reproducible.
        self.precursors: dict[Node, None] = {}
        self.successors: dict[Node, None] = {}


@dataclass(slots=True)
class Work:
    """Structural work, counted."""

    covering_tests: int = 0
    nodes_created: int = 0
    nodes_removed: int = 0
    edges_added: int = 0
    edges_removed: int = 0
    relinked: int = 0


class CoveringGraph:
    """Nodes, edges, and the queue of nodes that wait to be relinked."""

    def __init__(self) -> None:
        self.work = Work()
        self.nodes: dict[Filter, Node] = {}
        self.entries: dict[Node, None] = {}
        # The longest waiting first; a plain dictionary is slow to find its first entry once many
        # before it are gone.
        self.waiting: OrderedDict[Node, None] = OrderedDict()
        self._index = SketchIndex()
        self._by_number: list[Node | None] = []

    def insert(self, new: Filter, subscription: Subscription) -> Node:
        """A new node, linked; the caller gives it a subscriber."""
        (node,) = self.insert_all([(new, subscription)])
        return node

    def insert_all(self, new: Sequence[tuple[Filter, Subscription]]) -> list[Node]:
        """New nodes of different filters, likewise: the index is asked for all of them at once."""
        nodes = [self._new_node(*each) for each in new]
        sketches = [node.sketch for node in nodes]
        may_cover = self._index.may_cover_each(sketches)
        may_be_covered = self._index.may_be_covered_each(sketches)
        # Until it is their turn they wait: the others find them, and no path to them is certain.
        self.waiting.update(dict.fromkeys(nodes))
        for node, above, below in zip(nodes, may_cover, may_be_covered, strict=True):
            del self.waiting[node]
            self._link(node, above, below)
        return nodes

    def _new_node(self, new: Filter, subscription: Subscription) -> Node:
        assert new not in self.nodes
        node = Node(new, self._index.sketch(new), subscription)
        node.number = self._index.add(node.sketch)
        if node.number == len(self._by_number):
            self._by_number.append(node)
        else:
            self._by_number[node.number] = node
        self.nodes[new] = node
        self.entries[node] = None
        self.work.nodes_created += 1
        return node

    def remove(self, node: Node) -> None:
        """Take a node out and connect its neighbours."""
        precursors, successors = list(node.precursors), list(node.successors)
        for precursor in precursors:
            self._disconnect(precursor, node)
        for successor in successors:
            self._disconnect(node, successor)
        self._bridge(precursors, successors)
        del self.nodes[node.filter]
        del self.entries[node]
        self.waiting.pop(node, None)
        self._index.remove(node.number)
        self._by_number[node.number] = None
        self.work.nodes_removed += 1

    def rewrite(self, node: Node, new: Filter, subscription: Subscription) -> bool:
        """Give a node another filter, which no node has yet; whether all its edges stay true."""
        assert new not in self.nodes
        precursors, successors = node.precursors, node.successors
        self.work.covering_tests += len(precursors) + len(successors)
        above = [each for each in precursors if not each.filter.covers(new)]
        below = [each for each in successors if not new.covers(each.filter)]
        del self.nodes[node.filter]
        self.nodes[new] = node
        sketch = self._index.sketch(new)
        self._index.change(node.number, sketch)
        node.filter, node.sketch, node.subscription = new, sketch, subscription
        self.waiting[node] = None
        if above or below:
            self._cut(node, above, below)
            return False
        return True

    def relink(self, budget: int) -> int:
        """Relink at most so many of the waiting nodes; returns how many were."""
        done = 0
        while self.waiting and done < budget:
            self._relink(next(iter(self.waiting)))
            done += 1
        return done

    def settle_entries(self) -> None:
        """Relink the waiting entries, after which the entries are the maxima."""
        # Relinking gives nodes precursors and never takes the last one, so no entry is new.
        for node in [each for each in self.waiting if each in self.entries]:
            if node in self.entries:
                self._relink(node)

    def may_match(self, event: Event) -> list[Node]:
        """Some nodes, and among them all whose filters the event matches."""
        nodes = (self._by_number[number] for number in self._index.may_match(event))
        return [node for node in nodes if node is not None]

    def edge_count(self) -> int:
        """How many edges there are."""
        return sum(len(node.successors) for node in self.nodes.values())

    def _relink(self, node: Node) -> None:
        del self.waiting[node]
        self.work.relinked += 1
        may_cover = self._index.may_cover(node.sketch)
        self._link(node, may_cover, self._index.may_be_covered(node.sketch))

    def _link(self, node: Node, may_cover: list[int], may_be_covered: list[int]) -> None:
        """Give a node exactly the neighbours that it should have."""
        coverers = self._coverers(node, may_cover)
        covered = self._covered(node, may_be_covered)
        above, below = coverers.keys(), covered.keys()
        assert above.isdisjoint(below), (
            "a filter that covers another and is covered by it equals it"
        )
        lowest = {each for each in coverers if each.successors.keys().isdisjoint(above)}
        highest = {each for each in covered if each.precursors.keys().isdisjoint(below)}
        for each in coverers:  # in their order, and not in that of a set
            if each in lowest:
                self._connect(each, node)
        for each in covered:
            if each in highest:
                self._connect(node, each)
        for each in [one for one in node.precursors if one not in lowest]:
            self._disconnect(each, node)
        for each in [one for one in node.successors if one not in highest]:
            self._disconnect(node, each)
        if covered:
            # An edge that skips a settled node leads from one of the lowest to one of the highest.
            for each in coverers if self.waiting else lowest:
                for skipping in each.successors.keys() & below:
                    self._disconnect(each, skipping)

    def _coverers(self, node: Node, may_cover: list[int]) -> dict[Node, None]:
        """Whatever covers a node; what covers a coverer does too, and is not tested."""
        covered = node.filter
        found: dict[Node, None] = {}
        for each in self._at(may_cover, node):
            if each not in found:
                self.work.covering_tests += 1
                if each.filter.covers(covered):
                    _add_with_all(found, each, lambda one: one.precursors)
        return found

    def _covered(self, node: Node, may_be_covered: list[int]) -> dict[Node, None]:
        """Whatever a node covers, likewise."""
        covers = node.filter.covers
        found: dict[Node, None] = {}
        for each in self._at(may_be_covered, node):
            if each not in found:
                self.work.covering_tests += 1
                if covers(each.filter):
                    _add_with_all(found, each, lambda one: one.successors)
        return found

    def _at(self, numbers: Iterable[int], besides: Node) -> list[Node]:
        nodes = (self._by_number[number] for number in numbers)
        return [node for node in nodes if node is not None and node is not besides]

    def _cut(self, node: Node, above: list[Node], below: list[Node]) -> None:
        """Drop the edges from those above and to those below, which are no longer true."""
        precursors, successors = list(node.precursors), list(node.successors)
        for precursor in above:
            self._disconnect(precursor, node)
        for successor in below:
            self._disconnect(node, successor)
        self._bridge(above, successors)
        if below:
            self._bridge([each for each in precursors if each not in above], below)

    def _bridge(self, precursors: Collection[Node], successors: Collection[Node]) -> None:
        """Connect each with each, as far as no other path does."""
        for successor in successors:
            for precursor in precursors:
                if precursor not in successor.precursors:
                    self._bridge_pair(precursor, successor)

    def _bridge_pair(self, precursor: Node, successor: Node) -> None:
        if not precursor.successors.keys().isdisjoint(successor.precursors.keys()):
            return  # two edges connect them
        certain = True
        waiting = self.waiting
        covers, may_cover = precursor.filter.covers, precursor.sketch.may_cover
        for between in successor.precursors:
            if not may_cover(between.sketch):
                continue
            self.work.covering_tests += 1
            if covers(between.filter):
                if precursor not in waiting and between not in waiting:
                    return
                certain = False
        self._connect(precursor, successor)
        if not certain:
            waiting[successor] = None

    def _connect(self, precursor: Node, successor: Node) -> None:
        if successor in precursor.successors:
            return
        precursor.successors[successor] = None
        successor.precursors[precursor] = None
        self.entries.pop(successor, None)
        self.work.edges_added += 1

    def _disconnect(self, precursor: Node, successor: Node) -> None:
        del precursor.successors[successor]
        del successor.precursors[precursor]
        if not successor.precursors:
            self.entries[successor] = None
        self.work.edges_removed += 1


def _add_with_all(
    found: dict[Node, None], node: Node, neighbours: Callable[[Node], dict[Node, None]]
) -> None:
    """Add a node and all that links lead to from it."""
    left = [node]
    while left:
        each = left.pop()
        if each not in found:
            found[each] = None
            left.extend(neighbours(each))
