"""``Segment``: subscriptions as a trie of plans, read-only, and how it is asked.

A row is a subscription; it has a plan for each alternative of its pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.graph.matching.joins import loops, plain
from predicast.graph.matching.joins.event_arrays import EventArrays
from predicast.graph.matching.joins.plan import Plan
from predicast.graph.matching.joins.trie import Trie, trie_of

# Vertices of an event that the compiled loops take: what is near each of them is bits for all.
MOST_VERTICES: Final = 1024


class Compiled(NamedTuple):
    """A subscription: its key, and its plans."""

    key: int
    plans: tuple[Plan, ...]


class Matches(NamedTuple):
    """What was found: (event, key) each."""

    found: Array
    undecided: Array
    rough: Array  # what matches if the definition says so, too


class Segment:
    """Subscriptions by row."""

    def __init__(self, compiled: Sequence[Compiled]) -> None:
        self.compiled = compiled
        self.keys: Array = np.array([each.key for each in compiled], np.int64)
        plans = [plan for each in compiled for plan in each.plans]
        rows = np.repeat(np.arange(len(compiled)), [len(each.plans) for each in compiled])
        self._trie = trie_of([plan.steps for plan in plans], rows)
        self._is_rough = np.array([plan.is_rough for plan in plans], bool)[self._trie.plans]

    def __len__(self) -> int:
        return len(self.compiled)

    @property
    def nodes(self) -> int:
        """How many the trie has."""
        return len(self._trie.nodes)

    def match(self, events: EventArrays, is_live: Array, budget: int) -> Matches:
        """The subscriptions that some events match, of those rows that are live."""
        trie = self._trie
        asked = _in_codes_of(trie, events)
        sizes = len(trie.links), len(trie.kinds), trie.slots, trie.depth
        largest = int(np.diff(events.vertex_first).max(initial=0))
        search = loops.now if largest <= MOST_VERTICES else plain.match_graphs
        found, undecided = search(trie[:5], asked, sizes, budget)
        is_rough = self._is_rough[found[:, 1]]
        return Matches(
            self._named(found[~is_rough], is_live),
            self._named(undecided, is_live),
            self._named(found[is_rough], is_live),
        )

    def _named(self, pairs: Array, is_live: Array) -> Array:
        """Pairs of events and places as pairs of events and keys."""
        rows = self._trie.rows[pairs[:, 1]]
        live = is_live[rows]
        return np.stack([pairs[live, 0], self.keys[rows[live]]], axis=1)


def _in_codes_of(trie: Trie, events: EventArrays) -> tuple[Array, ...]:
    """Events in the codes of a trie, without what it does not know."""
    arc_first, arcs = _coded(trie.links, events.arc_first, events.arcs)
    kind_first, kinds = _coded(trie.kinds, events.kind_first, events.kinds)
    return arc_first, arcs, kind_first, kinds, events.vertex_first, events.is_literal


def _coded(known: Array, first: Array, rows: Array) -> tuple[Array, Array]:
    """Rows with their codes as places among those that are known, and where each event begins."""
    places = np.searchsorted(known, rows[:, 0])
    if not len(known):
        return np.zeros_like(first), rows[:0]
    kept = known[np.minimum(places, len(known) - 1)] == rows[:, 0]
    coded = rows[kept]
    coded[:, 0] = places[kept]
    return np.append(0, np.cumsum(kept))[first], coded
