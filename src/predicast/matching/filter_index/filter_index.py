"""The Filter Index (``filter-index``): regions ordered by containment, searched from both ends.

Chen, Xu, Ju and Pan, *A fast event routing mechanism for large-scale distributed virtual
environments* (paper 4, about 2008, in Chinese), section 3.

**Structure.** A node for each distinct region, with the keys of all who subscribe to it, links to
the smallest regions that contain it (its *superlinks*, here precursors) and to the largest that it
contains (*sublinks*, successors). A *top* is contained in no other region; a *bottom* contains no
other. (The paper calls these roots, a word that elsewhere in this code means what the paper calls
tops.) A region is any set of values: a box, a set of cells such as ``cell IN (1, 3)``, several
boxes under OR. It is the graph that the poset and routers use, ``predicast.covering.graph``.

**Match.** Upwards: a bottom that the event meets leads to all that contain it, which match without
a test. Downwards: from each top, a node that the event meets leads to what it contains; one that
it does not meet has nothing below that it meets. A node is tested once at most: *matched* and
*missed* are different marks, and a node that carries neither has not been tested.

**Subscribe, unsubscribe.** Neighbours are looked up in an index by position
(``predicast.covering.index``), not searched for along links. A change joins the new node before it
leaves the old.

**Cost.** Match: one question to the index, then a test for each top or bottom that it names and
for each node below a top that matched, unless a bottom has answered for it. Subscribe: two
questions, a covering test for each candidate, a link for each neighbour. Space: the subscriptions,
their links and 64 bytes per attribute and region.

**Where we depart from the paper, and why.**

- Its loop follows one superlink: of ``{1}, {1,2}, {1,3}, {1,2,3}``, event ``{1}`` would never find
  one of the two in the middle. All links are followed here. (The loop's condition is also
  inverted: it would stop after one hop.)
- Its second pass stops at whatever the first has visited: of ``{1}, {2}, {2,3}, {1,2,3}``, event
  ``{1,3}`` marks the last on the way up, and ``{2,3}`` would never be tested. Only what the event
  misses ends a descent here.
- Equal regions are one node. As two they would contain each other: no bottom, and no top.
- It tests all bottoms and all tops, of which there are nearly as many as regions where these are
  of similar size. Here the index names those that are near the event.
- It searches for a region's place along the links, which takes longer the more there are: its own
  figure 4 shows it, and suggests several indexes and a cache.
- Interfaces, their states and times to live are the router's business, not the matcher's.
"""

from __future__ import annotations

from dataclasses import asdict

from predicast.covering.check import check_graph, check_subscribers
from predicast.covering.filter import Filter
from predicast.covering.graph import CoveringGraph, Node
from predicast.matching.matcher import OneByOne
from predicast.matching.memory import deep_bytes
from predicast.model import Absent, Event, Subscription
from predicast.model.normal_form import without_rests


class FilterIndex(OneByOne):
    """Distinct regions ordered by containment."""

    name = "filter-index"

    def __init__(self, *, absent: Absent = "fails") -> None:
        super().__init__(absent=absent)
        self._graph = CoveringGraph()
        self._node_of: dict[int, Node | None] = {}  # None: no event can match
        self._events = 0
        self._tested = 0
        self._untested = 0

    def subscribe(self, key: int, subscription: Subscription) -> None:
        clauses = without_rests(subscription, self.name)
        self._join(key, Filter(clauses, self.absent), clauses)

    def unsubscribe(self, key: int) -> None:
        self._leave(key, self._node_of.pop(key))

    def change(self, key: int, subscription: Subscription) -> None:
        clauses = without_rests(subscription, self.name)
        region, old = Filter(clauses, self.absent), self._node_of[key]
        if old is not None and old.filter == region:
            return
        self._join(key, region, clauses)
        self._leave(key, old)

    def match(self, event: Event) -> list[int]:
        self._events += 1
        near = self._graph.may_match(event)
        matched: dict[Node, None] = {}
        missed: set[Node] = set()
        self._upwards(event, near, matched, missed)
        self._downwards(event, near, matched, missed)
        return [key for node in matched for key in node.subscribers]

    def tops(self) -> list[frozenset[int]]:
        """The regions that no other contains, as the keys of each."""
        return [frozenset(node.subscribers) for node in self._nodes() if not node.precursors]

    def bottoms(self) -> list[frozenset[int]]:
        """The regions that contain no other, as the keys of each; the paper's roots."""
        return [frozenset(node.subscribers) for node in self._nodes() if not node.successors]

    def check(self) -> None:
        """Raise AssertionError, saying what is wrong, unless every invariant holds."""
        assert not self._graph.waiting, "links are always as they should be"
        check_graph(self._graph)
        check_subscribers(self._graph, self._node_of)

    def statistics(self) -> dict[str, int]:
        """What is held, and the work done.

        ``candidates`` counts regions tested against events, ``untested`` those that matched because
        they contain one that did. ``covering_tests`` and the counts of nodes and edges are the work
        of subscribing.
        """
        return {
            "subscriptions": len(self._node_of),
            "nodes": len(self._graph.nodes),
            "edges": self._graph.edge_count(),
            "tops": len(self.tops()),
            "bottoms": len(self.bottoms()),
            "events": self._events,
            "candidates": self._tested,
            "untested": self._untested,
            **asdict(self._graph.work),
            "bytes": deep_bytes(self._graph, self._node_of),
        }

    def _upwards(
        self, event: Event, near: list[Node], matched: dict[Node, None], missed: set[Node]
    ) -> None:
        """Whatever contains a bottom that matches."""
        for bottom in near:
            if bottom.successors:
                continue
            self._tested += 1
            if not bottom.filter.matches(event):
                missed.add(bottom)
                continue
            above = [bottom]
            while above:
                node = above.pop()
                if node not in matched:
                    matched[node] = None
                    self._untested += node is not bottom
                    above.extend(node.precursors)

    def _downwards(
        self, event: Event, near: list[Node], matched: dict[Node, None], missed: set[Node]
    ) -> None:
        """Whatever matches below a top, tested unless it is known."""
        below = [node for node in near if not node.precursors]
        seen = set(below)
        while below:
            node = below.pop()
            if node not in matched:
                if node in missed:
                    continue
                self._tested += 1
                if not node.filter.matches(event):
                    continue
                matched[node] = None
            for successor in node.successors:
                if successor not in seen:
                    seen.add(successor)
                    below.append(successor)

    def _nodes(self) -> list[Node]:
        return list(self._graph.nodes.values())

    def _join(self, key: int, region: Filter, clauses: Subscription) -> None:
        """Make a key one of those of its region's node."""
        if region.is_never():
            self._node_of[key] = None
            return
        node = self._graph.nodes.get(region)
        if node is None:
            node = self._graph.insert(region, clauses)
        node.subscribers.add(key)
        self._node_of[key] = node

    def _leave(self, key: int, node: Node | None) -> None:
        """Take a key out of a node, and the node away with its last one."""
        if node is None:
            return
        node.subscribers.discard(key)
        if not node.subscribers:
            self._graph.remove(node)
