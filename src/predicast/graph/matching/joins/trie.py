"""The trie of plans: what plans begin with in common is one path, held in flat arrays.

::

    plan 1    along target to Computer, along price, kind < 400
    plan 2    along target to Computer, along price, kind < 250
    plan 3    along target to Book

    root ─┬─ along target to Computer ── along price ─┬─ kind < 400     1
          └─ along target to Book     3               └─ kind < 250     2

Nodes are numbered in preorder. The children of a node stand in *fans*: those that ask the kind of
one slot are one fan, in the order of the kinds, so that of many the few can be looked up that an
event has; all others are another, tried one by one. Where a plan ends there is a *terminal*, with
the rows of all subscriptions that have this plan.

Plans are sorted and each is compared with the one before, column by column: no Python object is
made per node. Links and kinds have codes of the trie's own, as dense as can be, since loops have
tables of them.

Cost: O(n log n) in the number of steps of all plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets

# The columns of a step, and of a node.
OP, SOURCE, LINK, TARGET, WANTED, FAN_FIRST, FAN_END, TERMINAL = range(8)
CHECKED, FILLED, PARENT = range(8, 11)
STEP: Final = WANTED + 1  # those of a step

# What a step does. Source and target are slots; a link is a property, one way or the other:
KIND, ARC, ALONG, APART, ROOT = range(5)
# KIND   the vertex in the source is of the wanted kind
# ARC    a link leads from the vertex in the source to that in the target
# ALONG  follow a link from the source, and put a vertex of the wanted kind into the target
# APART  the same, with a vertex that stands in no other slot, unless it is a literal
NOTHING: Final = -1  # is wanted, or linked

# Of a node: whether domains alone do not prove a match (CHECKED), and how many slots are FILLED.

# The columns of a fan.
BY_KIND, FIRST, END = range(3)

# How steps are packed into 63 bits, for sorting; what no pattern comes near.
_BITS: Final = {OP: 3, SOURCE: 9, TARGET: 9, LINK: 18, WANTED: 24}


class Trie(NamedTuple):
    """Plans as arrays."""

    nodes: Array  # int32, a row per node
    fans: Array  # int32, a row per fan
    children: Array  # int32: the nodes of all fans
    constants: Array  # int32: the kinds that those ask for
    row_first: Array  # int32: where the rows of each terminal begin
    rows: Array  # int32: those of all terminals
    plans: Array  # int32: the plan that each of these comes from
    links: Array  # the links that occur, ascending; each stands in nodes as its place here
    kinds: Array  # likewise the kinds
    slots: int  # of the plan that has most
    depth: int  # steps of the longest plan


def trie_of(plans: Sequence[Array], rows: Array) -> Trie:
    """The trie of plans, each the steps of the subscription at its row."""
    lengths = np.array([len(plan) for plan in plans], np.int64)
    steps = np.concatenate([*plans, np.zeros((0, STEP), np.int32)]).astype(np.int64)
    links, steps[:, LINK] = _densely_coded(steps[:, LINK])
    kinds, steps[:, WANTED] = _densely_coded(steps[:, WANTED])
    widest = int(lengths.max(initial=0))
    matrix = np.full((len(plans), widest), -1, np.int64)
    matrix[np.arange(widest) < lengths[:, None]] = _packed(steps)
    order = np.lexsort(matrix.T[::-1]) if widest else np.arange(len(plans))
    paths = _Paths.of(matrix[order], lengths[order])
    nodes, terminal_of = paths.nodes()
    fans, children, constants = _fans(nodes)
    return Trie(
        nodes,
        fans,
        children,
        constants,
        offsets(np.bincount(terminal_of)).astype(np.int32),
        rows[order].astype(np.int32),
        order.astype(np.int32),
        links,
        kinds,
        1 + int(nodes[:, TARGET].max()),
        widest,
    )


def _densely_coded(codes: Array) -> tuple[Array, Array]:
    """The distinct codes, and the place of each among them; nothing stays nothing."""
    known, dense = np.unique(codes, return_inverse=True)
    if len(known) and known[0] == NOTHING:
        return known[1:], dense - 1
    return known, dense


def _packed(steps: Array) -> Array:
    """Each step as one number."""
    packed = np.zeros(len(steps), np.int64)
    for column, bits in _BITS.items():
        values = steps[:, column] + (column in {LINK, WANTED})  # nothing becomes 0
        assert not len(values) or int(values.max()) < 1 << bits, "more than a trie can hold"
        packed = packed << bits | values
    return packed


def _unpacked(packed: Array) -> Array:
    """The steps that numbers stand for."""
    steps = np.zeros((len(packed), STEP), np.int64)
    for column, bits in reversed(_BITS.items()):
        steps[:, column] = (packed & ((1 << bits) - 1)) - (column in {LINK, WANTED})
        packed = packed >> bits
    return steps


class _Paths(NamedTuple):
    """Sorted plans, a row each, and what each shares with the one before."""

    matrix: Array
    lengths: Array
    common: Array  # how many steps
    at: Array  # the node of each step
    nodes_in_all: int  # the root included

    @classmethod
    def of(cls, matrix: Array, lengths: Array) -> _Paths:
        common = np.zeros(len(matrix), np.int64)
        if len(matrix) > 1 and matrix.shape[1]:
            differs = matrix[1:] != matrix[:-1]
            common[1:] = np.where(differs.any(axis=1), differs.argmax(axis=1), lengths[1:])
        base = 1 + offsets(lengths - common)
        at = np.zeros(matrix.shape, np.int64)
        for depth in range(matrix.shape[1]):
            is_new = (common <= depth) & (depth < lengths)
            at[:, depth] = np.maximum.accumulate(np.where(is_new, base[:-1] + depth - common, 0))
        return cls(matrix, lengths, common, at, int(base[-1]))

    def nodes(self) -> tuple[Array, Array]:
        """The nodes, and the terminal of each plan."""
        nodes = np.zeros((self.nodes_in_all, PARENT + 1), np.int32)
        nodes[0, OP], nodes[0, PARENT], nodes[0, FILLED] = ROOT, -1, 1
        for depth in range(self.matrix.shape[1]):
            is_new = (self.common <= depth) & (depth < self.lengths)
            here = self.at[is_new, depth]
            nodes[here, :STEP] = _unpacked(self.matrix[is_new, depth])
            parents = self.at[is_new, depth - 1] if depth else 0
            nodes[here, PARENT] = parents
            needs_check = np.isin(nodes[here, OP], (ARC, APART))
            nodes[here, CHECKED] = needs_check | (nodes[parents, CHECKED] > 0)
            nodes[here, FILLED] = nodes[parents, FILLED] + (nodes[here, OP] >= ALONG)
        ends = np.zeros(len(self.lengths), np.int64)
        some = self.lengths > 0
        ends[some] = self.at[some, self.lengths[some] - 1]
        terminals, terminal_of = np.unique(ends, return_inverse=True)
        nodes[:, TERMINAL] = -1
        nodes[terminals, TERMINAL] = np.arange(len(terminals))
        return nodes, terminal_of


def _fans(nodes: Array) -> tuple[Array, Array, Array]:
    """The children of all nodes in fans; which fans a node has is written to it."""
    by_kind = nodes[1:, OP] == KIND
    slot = np.where(by_kind, nodes[1:, SOURCE], -1)
    constant = np.where(by_kind, nodes[1:, WANTED], -1)
    order = np.lexsort((constant, slot, nodes[1:, PARENT]))
    parent, slot = nodes[1:, PARENT][order], slot[order]
    begins = np.append(True, (np.diff(parent) != 0) | (np.diff(slot) != 0))[: len(order)]
    first = np.flatnonzero(begins)
    fans = np.zeros((len(first), END + 1), np.int32)
    fans[:, BY_KIND] = slot[first] >= 0
    fans[:, FIRST], fans[:, END] = first, np.append(first[1:], len(order))[: len(first)]
    nodes[:, FAN_FIRST] = np.searchsorted(parent[first], np.arange(len(nodes)))
    nodes[:, FAN_END] = np.searchsorted(parent[first], np.arange(len(nodes)), side="right")
    return fans, (order + 1).astype(np.int32), constant[order].astype(np.int32)
