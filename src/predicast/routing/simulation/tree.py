"""The tree of brokers: a core, and for each other broker those that it may hang from.

A tree is drawn by chance: each broker in turn hangs from one of those before it that has room. Who
loses its parent may go to another broker nearer to the core; the core itself has nobody above it.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

_OTHERS = 3  # how many brokers each may turn to, besides its parent


class Tree(NamedTuple):
    """Brokers by their number; the core is 0."""

    parents: tuple[int | None, ...]
    candidates: tuple[tuple[int, ...], ...]  # the parent first

    def depths(self) -> list[int]:
        """How far each is from the core."""
        found: list[int] = []
        for parent in self.parents:
            found.append(0 if parent is None else found[parent] + 1)
        return found

    def children(self) -> list[list[int]]:
        """Who hangs from each."""
        found: list[list[int]] = [[] for _ in self.parents]
        for broker, parent in enumerate(self.parents):
            if parent is not None:
                found[parent].append(broker)
        return found


def drawn_tree(brokers: int, fan_out: int, random: Random) -> Tree:
    """A tree of so many brokers, none with more than ``fan_out`` children."""
    parents: list[int | None] = [None]
    depths = [0]
    room = {0: fan_out}
    for broker in range(1, brokers):
        drawn = [random.choice(list(room)) for _ in range(2)]
        parent = min(drawn, key=lambda other: depths[other])  # trees grow wide, not deep
        parents.append(parent)
        depths.append(depths[parent] + 1)
        room[parent] -= 1
        if not room[parent]:
            del room[parent]
        room[broker] = fan_out
    candidates = [_candidates(broker, parents, depths, random) for broker in range(brokers)]
    return Tree(tuple(parents), tuple(candidates))


def _candidates(
    broker: int, parents: list[int | None], depths: list[int], random: Random
) -> tuple[int, ...]:
    parent = parents[broker]
    if parent is None:
        return ()
    nearer = [other for other in range(broker) if depths[other] < depths[broker]]
    others = random.sample(nearer, min(_OTHERS, len(nearer)))
    return (parent, *(other for other in others if other != parent))
