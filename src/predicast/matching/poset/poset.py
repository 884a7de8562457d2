"""The covering poset with in-place changes and shared windows (``poset``).

You, Wu, Wang and Zhong, *Vector subscriptions and sharing* (paper 3, 2015), on the poset of SIENA
(Carzaniga, Rosenblum and Wolf, 2001): changes are section 4 (VS), windows section 5 (VSS).

**Structure.** A node for each distinct filter with its subscribers, and edges from filters to those
that they cover with nothing in between; drawn, with its invariants, in
``predicast.covering.graph``. Filters that no event can match are in no node.

**Match.** From the entries down. A node that fails prunes what only it leads to; each node is
tested at most once.

**Change.** If the node has other subscribers, or another node already has the new filter, the
subscriber moves: it joins the new node before it leaves the old, so that there is no moment in
which it hears of nothing. Otherwise the node's filter is overwritten. Edges that are still true
stay (all of them: a change *in place*); the others are cut, their ends bridged.

**Relinking.** A node that was overwritten may cover, or be covered by, nodes that it has no edge
to. Matches are right all the same, only less is pruned. It waits in a queue; every few operations
the longest waiting node is linked as it should be, so that no single operation pays for more than
one, and a node that changes often is relinked once for many changes. ``relink`` does more of it
when there is time, ``roots`` as much as it takes for its answer to be exact.

**Windows.** Collapsed by key, then paired across subscribers into chains
(``predicast.matching.poset.sharing``), then the ends of the chains are run: new filters first, old
ones last.

**Cost.** Match: the nodes that match and their successors. Subscribe: two questions to the index
of ``predicast.covering.index`` and a covering test for each candidate. Unsubscribe: covering
tests for each pair of neighbours. Change in place: one for each neighbour.

**Where we depart from the paper, and why.**

- Algorithm 1 asks for *all* edges to stay true and otherwise unsubscribes and subscribes, which
  restructures twice and opens a gap in which the subscriber hears of nothing. Here edges are kept
  or cut one by one. What the paper calls a change of structure costs the cut edges, and the search
  for new ones is put off.
- It never relinks, so that roots pile up: more to test for each event, more to announce.
- It overwrites a filter even if another node has it already. Here equal filters are one node.
- Algorithm 2 as written loses operations: see ``poset_sharing`` and ``predicast.matching.window``.
- To exchange subscribers is free for the structure. Whether the neighbours must hear of it is the
  broker's business, which compares ``roots``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Final, NamedTuple

from predicast.covering.check import check_graph, check_subscribers
from predicast.covering.filter import Filter
from predicast.covering.graph import CoveringGraph, Node
from predicast.matching.delta import Before, Delta, Effect
from predicast.matching.matcher import Matcher
from predicast.matching.memory import deep_bytes
from predicast.matching.poset.sharing import Chain, Gain, Step, chains, exchange, pair
from predicast.model import Absent, Event, Subscription
from predicast.model.normal_form import without_rests

# To relink costs about as much as to subscribe; spread over this many operations it costs little.
OPERATIONS_PER_RELINK: Final = 16


class Root(NamedTuple):
    """A filter that no other covers, and who asked for it."""

    subscription: Subscription
    subscribers: frozenset[int]


class Poset(Matcher):
    """Distinct filters ordered by covering; changes are made in place."""

    name = "poset"

    def __init__(self, *, absent: Absent = "fails") -> None:
        super().__init__(absent=absent)
        self._graph = CoveringGraph()
        self._node_of: dict[int, Node | None] = {}  # None: no event can match
        self._until_relink = OPERATIONS_PER_RELINK
        self._events = 0
        self._tested = 0
        self._in_place = 0
        self._restructured = 0
        self._merged = 0
        self._shared = 0

    def apply(self, delta: Delta, before: Before) -> Effect:
        """Run a window, shared; afterwards all is as if run one by one."""
        steps = [
            *(Step(key, self._node_of[key], None) for key in delta.removed),
            *(Step(key, None, self._gain(subscription)) for key, subscription in delta.all_added()),
            *self._changes(delta),
        ]
        pair(steps, self._graph.nodes)
        exchange(steps)
        for step in steps:
            if step.giver is not None:
                self._node_of[step.key] = step.giver.loss
            elif step.gain is None:
                del self._node_of[step.key]
        restructured = in_place = 0
        for chain in sorted(chains(steps), key=_new_filters_first):
            if chain.is_settled():
                continue
            if self._run(chain):
                restructured += 1
            else:
                in_place += 1
            self._relink_now_and_then()
        shared = len(steps) - restructured - in_place
        self._shared += shared
        return Effect(shared, in_place, restructured)

    def match(self, event: Event) -> list[int]:
        self._events += 1
        matched: list[int] = []
        to_test = list(self._graph.entries)
        seen: set[Node] = set()
        tested = 0
        while to_test:
            node = to_test.pop()
            tested += 1
            if not node.filter.matches(event):
                continue
            matched.extend(node.subscribers)
            for successor in node.successors:
                if successor not in seen:
                    seen.add(successor)
                    to_test.append(successor)
        self._tested += tested
        return matched

    def roots(self) -> list[Root]:
        """The filters that no other covers: the least that a neighbour has to be told."""
        self._graph.settle_entries()
        return [
            Root(node.subscription, frozenset(node.subscribers)) for node in self._graph.entries
        ]

    def relink(self, budget: int) -> int:
        """Link at most so many waiting nodes as they should be; returns how many there were."""
        return self._graph.relink(budget)

    def check(self) -> None:
        """Raise AssertionError, saying what is wrong, unless every invariant holds."""
        check_graph(self._graph)
        check_subscribers(self._graph, self._node_of)

    def statistics(self) -> dict[str, int]:
        """What is held, and the work done.

        ``candidates`` counts filters tested against events. ``covering_tests`` and the counts of
        nodes and edges are the structural work. ``in_place`` and ``restructured`` count changes,
        ``merged`` those who joined a node that there was already, ``shared`` the operations that
        windows settled by exchanging subscribers. ``waiting`` is how many nodes are not yet linked
        as they should be, ``entries`` where matches begin: the roots, and some of the waiting.
        """
        return {
            "subscriptions": len(self._node_of),
            "nodes": len(self._graph.nodes),
            "edges": self._graph.edge_count(),
            "entries": len(self._graph.entries),
            "waiting": len(self._graph.waiting),
            "events": self._events,
            "candidates": self._tested,
            **asdict(self._graph.work),
            "in_place": self._in_place,
            "restructured": self._restructured,
            "merged": self._merged,
            "shared": self._shared,
            "bytes": deep_bytes(self._graph, self._node_of),
        }

    def _gain(self, subscription: Subscription) -> Gain:
        clauses = without_rests(subscription, self.name)
        return Gain(Filter(clauses, self.absent), clauses)

    def _changes(self, delta: Delta) -> Iterator[Step]:
        """What changes to another filter than it has."""
        for key, subscription in delta.all_changed():
            node, gain = self._node_of[key], self._gain(subscription)
            if not gain.is_of(node):
                yield Step(key, node, gain)

    def _run(self, chain: Chain) -> bool:
        """Run what is left of a chain; whether the structure changed."""
        loss, gain = chain.first.loss, chain.last.gain
        if gain is None:
            return self._leave(chain.first.key, loss)
        if loss is None:
            return self._join(chain.last.key, gain)
        return self._replace(chain.first.key, loss, chain.last.key, gain)

    def _join(self, key: int, gain: Gain) -> bool:
        """Make a subscriber one of its filter's; whether the structure changed."""
        if gain.filter.is_never():
            self._node_of[key] = None
            return False
        node = self._graph.nodes.get(gain.filter)
        is_new = node is None
        if node is None:
            node = self._graph.insert(gain.filter, gain.subscription)
        else:
            self._merged += 1
        node.subscribers.add(key)
        self._node_of[key] = node
        return is_new

    def _leave(self, key: int, node: Node | None) -> bool:
        """Take a subscriber out of a node; whether the structure changed."""
        if node is None:
            return False
        node.subscribers.discard(key)
        if node.subscribers:
            return False
        self._graph.remove(node)
        return True

    def _replace(self, leaving: int, node: Node | None, arriving: int, gain: Gain) -> bool:
        """One subscriber leaves a node, one gains a filter; whether the structure changed."""
        may_overwrite = (
            node is not None
            and len(node.subscribers) == 1
            and not gain.filter.is_never()
            and gain.filter not in self._graph.nodes
        )
        if may_overwrite:
            assert node is not None
            changed = not self._graph.rewrite(node, *gain)
            node.subscribers = {arriving}
            self._node_of[arriving] = node
        else:  # make before break
            changed = self._join(arriving, gain)
            changed |= self._leave(leaving, node)
        if changed:
            self._restructured += 1
        else:
            self._in_place += 1
        return changed

    def _relink_now_and_then(self) -> None:
        self._until_relink -= 1
        if self._until_relink <= 0:
            self._until_relink = OPERATIONS_PER_RELINK
            self._graph.relink(1)


def _new_filters_first(chain: Chain) -> int:
    if chain.first.loss is None:
        return 0
    return 2 if chain.last.gain is None else 1
