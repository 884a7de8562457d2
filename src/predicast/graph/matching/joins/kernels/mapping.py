"""Looking for a mapping where domains alone do not prove that there is one."""

from __future__ import annotations

from typing import Any

import numpy as np

from predicast.graph.matching.joins.trie import ALONG, APART, ARC, KIND, LINK, OP, SOURCE, TARGET
from predicast.matching.columnar.kernels.compiling import inlined, kernel
from predicast.matching.columnar.kernels.simd import lowest_bit

NODE = 0  # of a frame: its node
# What is noted of each slot: the vertex in it, and whether it must have one.
VERTEX, NEEDED = range(2)

_ZERO, _ONE = np.uint64(0), np.uint64(1)


@kernel
def _mark_needed(nodes: Any, frames: Any, depth: int, slots: Any) -> None:
    """Say which slots must be mapped to be sure: those of cycles, and what leads there.

    All others have a partner for whatever is mapped; unless no two may meet.
    """
    for slot in range(slots.shape[1]):
        slots[NEEDED, slot] = 0
    for at in range(depth, 0, -1):
        node = frames[at, NODE]
        op, source, target = nodes[node, OP], nodes[node, SOURCE], nodes[node, TARGET]
        if op == ARC:
            slots[NEEDED, source] = slots[NEEDED, target] = 1
        elif op == APART:
            slots[NEEDED, target] = 1
        if op >= ALONG and slots[NEEDED, target]:
            slots[NEEDED, source] = 1


@inlined
def _candidates(
    op: int,
    near: Any,
    row: int,
    vertex: int,
    mine: int,
    domains: Any,
    level: int,
    target: int,
    room: Any,
    word: int,
) -> Any:
    """The vertices that may be put into a step's target; for an arc, the one in it if that fits."""
    left = near[row, vertex, word] & domains[level, target, word]
    if op == APART:
        left &= ~room[len(room) - 2, word]
    elif op == ARC:
        left &= _ONE << np.uint64(mine & 63) if mine >> 6 == word else _ZERO
    return left


@kernel
def mapped(
    nodes: Any,
    link_row: Any,
    near: Any,
    domains: Any,
    frames: Any,
    depth: int,
    slots: Any,
    room: Any,
    words: int,
    budget: int,
) -> int:
    """Look for a mapping of what leads to a node: 1 if there is one, 0 if not, -1 if undecided.

    The last rows of ``room`` are the vertices in use, and those that may be in several slots; the
    others are the candidates that are left at each depth.
    """
    used, free = len(room) - 2, len(room) - 1
    for word in range(words):
        room[used, word] = _ZERO
    room[used, 0] = _ONE  # the home vertex
    _mark_needed(nodes, frames, depth, slots)
    at, down, steps = 1, True, 0
    while 1 <= at <= depth:
        node = frames[at, NODE]
        op, source, target = nodes[node, OP], nodes[node, SOURCE], nodes[node, TARGET]
        if op == KIND or not slots[NEEDED, target]:
            at += 1 if down else -1
            continue
        if down:
            row = link_row[nodes[node, LINK]]
            vertex, mine = slots[VERTEX, source], slots[VERTEX, target]
            for word in range(words):
                room[at, word] = _candidates(
                    op, near, row, vertex, mine, domains, depth, target, room, word
                )
        elif op == APART:
            vertex = slots[VERTEX, target]
            room[used, vertex >> 6] &= ~(_ONE << np.uint64(vertex & 63))
        down = False
        for word in range(words):
            left = room[at, word]
            if left:
                bit = left & (~left + _ONE)
                room[at, word] = left ^ bit
                slots[VERTEX, target] = (word << 6) + lowest_bit(bit)
                if op == APART:
                    room[used, word] |= bit & ~room[free, word]
                down = True
                break
        steps += 1
        if steps > budget:
            return -1
        at += 1 if down else -1
    return 1 if at else 0
