"""The search of ``kernels/search.py`` in plain Python, one event at a time.

Sets of vertices are integers here, of as many bits as an event has vertices; so this is also what
answers for events that are too large for the words of the compiled loops. What each step means is
explained there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from predicast.arrays import Array
from predicast.graph.matching.joins.trie import (
    ALONG,
    APART,
    ARC,
    BY_KIND,
    CHECKED,
    END,
    FAN_END,
    FAN_FIRST,
    FIRST,
    KIND,
    TERMINAL,
)

Step: TypeAlias = list[int]  # a node of the trie
Domains: TypeAlias = list[int]  # a set of vertices per slot
Ways: TypeAlias = dict[int, tuple[int, int]]  # by slot: from which one it was reached, and how


def match_graphs(
    trie: tuple[Array, ...], events: tuple[Array, ...], sizes: tuple[int, ...], budget: int
) -> tuple[Array, Array]:
    """The (event, place) pairs of all matches, and of all that is undecided."""
    found: list[tuple[int, int]] = []
    undecided: list[tuple[int, int]] = []
    row_first = trie[4]
    for event in range(len(events[4]) - 1):
        search = _Search(trie, _Sets.of(events, event), budget)
        for terminal, outcome in search.outcomes():
            if outcome is not False:
                pairs = undecided if outcome is None else found
                places = range(row_first[terminal], row_first[terminal + 1])
                pairs += [(event, place) for place in places]
    return _pairs(found), _pairs(undecided)


def _pairs(pairs: list[tuple[int, int]]) -> Array:
    return np.array(pairs, np.int32).reshape(-1, 2)


class _Sets:
    """An event as sets: what is near a vertex along a link, and what is of a kind."""

    def __init__(self) -> None:
        self.near: dict[int, dict[int, int]] = {}  # by link, by vertex
        self.kinds: dict[int, int] = {}
        self.literals = 0
        self.all = 0

    @classmethod
    def of(cls, events: tuple[Array, ...], event: int) -> _Sets:
        arc_first, arcs, kind_first, kinds, vertex_first, is_literal = events
        sets = cls()
        for link, source, target in arcs[arc_first[event] : arc_first[event + 1]].tolist():
            from_here = sets.near.setdefault(link, {})
            from_here[source] = from_here.get(source, 0) | 1 << target
        for kind, vertex in kinds[kind_first[event] : kind_first[event + 1]].tolist():
            sets.kinds[kind] = sets.kinds.get(kind, 0) | 1 << vertex
        literal = is_literal[vertex_first[event] : vertex_first[event + 1]]
        sets.all = (1 << len(literal)) - 1
        for vertex in np.flatnonzero(literal).tolist():
            sets.literals |= 1 << vertex
        return sets

    def linked(self, link: int, sources: int, targets: int) -> tuple[int, int]:
        """What a link leads from in one set to what in another."""
        kept = reached = 0
        near = self.near.get(link, {})
        for vertex in members(sources):
            found = near.get(vertex, 0) & targets
            if found:
                kept |= 1 << vertex
                reached |= found
        return kept, reached

    def circled(self, link: int, vertices: int) -> int:
        """What a link leads from to itself."""
        near = self.near.get(link, {})
        return sum(1 << each for each in members(vertices) if near.get(each, 0) >> each & 1)


def members(vertices: int) -> Iterator[int]:
    """The numbers in a set."""
    while vertices:
        bit = vertices & -vertices
        yield bit.bit_length() - 1
        vertices ^= bit


class _Search:
    """The walk of one event over the trie."""

    def __init__(self, trie: tuple[Array, ...], sets: _Sets, budget: int) -> None:
        self._nodes, self._fans, self._children, self._constants, _ = trie
        self._sets, self._budget = sets, budget

    def outcomes(self) -> Iterator[tuple[int, bool | None]]:
        """The terminals that are reached, and whether there is a mapping; None: undecided."""
        root = self._nodes[0].tolist()
        if root[TERMINAL] >= 0:
            yield root[TERMINAL], True
        pending: list[tuple[list[Step], Domains, Ways, Iterator[int]]] = [
            ([], [1], {}, self._tried(root))
        ]
        while pending:
            path, domains, ways, children = pending[-1]
            child = next(children, None)
            if child is None:
                pending.pop()
                continue
            step = self._nodes[child].tolist()
            narrowed = self._taken(step, domains, ways)
            if narrowed is None:
                continue
            longer = [*path, step]
            if step[TERMINAL] >= 0:
                held = self._mapped(longer, narrowed[0]) if step[CHECKED] else True
                yield step[TERMINAL], held
            pending.append((longer, *narrowed, self._tried(step)))

    def _tried(self, node: Step) -> Iterator[int]:
        """The children of a node that an event may get to."""
        present = np.fromiter(self._sets.kinds, np.int64, len(self._sets.kinds))
        for fan in self._fans[node[FAN_FIRST] : node[FAN_END]].tolist():
            children = self._children[fan[FIRST] : fan[END]]
            if fan[BY_KIND]:
                children = children[np.isin(self._constants[fan[FIRST] : fan[END]], present)]
            yield from children.tolist()

    def _taken(self, step: Step, before: Domains, ways: Ways) -> tuple[Domains, Ways] | None:
        """The domains after a step, unless one is empty."""
        op, source, link, target, wanted, *_ = step
        sets, domains, narrowed = self._sets, [*before], [source]
        if op == KIND:
            domains[source] &= sets.kinds.get(wanted, 0)
        elif op == ARC and source == target:
            domains[source] = sets.circled(link, domains[source])
        elif op == ARC:
            kept = sets.linked(link, domains[source], domains[target])
            domains[source], domains[target] = kept
            narrowed.append(target)
        else:
            of_kind = sets.all if wanted < 0 else sets.kinds.get(wanted, 0)
            domains[source], reached = sets.linked(link, domains[source], of_kind)
            domains.append(reached)
            ways = {**ways, target: (source, link)}
        held = all(self._narrowed_back(domains, ways, slot) for slot in narrowed)
        return (domains, ways) if held else None

    def _narrowed_back(self, domains: Domains, ways: Ways, slot: int) -> bool:
        """Narrow what lies between a slot and the home vertex; whether anything is left."""
        while domains[slot] and slot:
            before, link = ways[slot]
            domains[before], _ = self._sets.linked(link, domains[before], domains[slot])
            slot = before
        return domains[slot] > 0

    def _mapped(self, path: list[Step], domains: Domains) -> bool | None:
        """Whether there is a mapping within the domains; None if that takes too long to say."""
        needed = _needed(path)
        steps = [step for step in path if step[0] != KIND and step[3] in needed]
        slots: dict[int, int] = {0: 0}
        left: list[int] = []
        tried, used = 0, [1]
        while True:
            if len(left) == len(steps):
                return True
            left.append(self._candidates(steps[len(left)], slots, domains, used[-1]))
            while left and not left[-1]:
                left.pop()
                del used[len(left) + 1 :]
                tried += 1
                if tried > self._budget:
                    return None
            if not left:
                return False
            bit = left[-1] & -left[-1]
            left[-1] ^= bit
            step = steps[len(left) - 1]
            slots[step[3]] = bit.bit_length() - 1
            apart = bit & ~self._sets.literals if step[0] == APART else 0
            used[len(left) :] = [used[len(left) - 1] | apart]
            tried += 1

    def _candidates(self, step: Step, slots: dict[int, int], domains: Domains, used: int) -> int:
        op, source, link, target, *_ = step
        found = self._sets.near.get(link, {}).get(slots[source], 0) & domains[target]
        if op == ARC:
            return found & 1 << slots[target]
        return found & ~used if op == APART else found


def _needed(path: list[Step]) -> set[int]:
    """The slots that must be mapped to be sure: those of cycles, and what leads there."""
    needed: set[int] = set()
    for op, source, _, target, *_ in reversed(path):
        if op == ARC:
            needed |= {source, target}
        elif op == APART:
            needed.add(target)
        if op >= ALONG and target in needed:
            needed.add(source)
    return needed
