"""Sharing within a window: one subscriber takes the place that another gives up (paper 3, VSS).

An operation *loses* a node (unsubscribe), *gains* a filter (subscribe), or both (change). A gain of
a filter pairs with a loss of that filter's node by somebody else: the subscribers are exchanged
and the structure stays as it is. Pairs make chains, here of A's change a→b, B's change b→c and C's
subscription to a::

    C gains a   A loses a, gains b   B loses b, gains c
           └──────┘           └─────────┘

What is left of a chain is what its ends have: here the gain of c, which B runs as a subscription;
with a loss at its beginning, one change from that to the gain at its end; with neither, as in a
ring, nothing at all. The paper's four cases are the chains of two, and each half of a change is
accounted for whatever the length, which is where the paper's pseudo-code loses operations. Losses
are kept in a multimap: several subscribers may leave one node, and each place is taken once.

Cost: O(operations), with one look-up for each gain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from predicast.covering.filter import Filter
from predicast.covering.graph import Node
from predicast.model import Subscription


class Gain(NamedTuple):
    """What a subscriber is to have from now on."""

    filter: Filter
    subscription: Subscription

    def is_of(self, node: Node | None) -> bool:
        """Whether the node has that filter; no node stands for the filters that never match."""
        return self.filter.is_never() if node is None else node.filter == self.filter


class Step:
    """One key of a window: the node that it leaves, the filter that it wants, and its pairs."""

    __slots__ = ("gain", "giver", "key", "loss", "taker")

    def __init__(self, key: int, loss: Node | None, gain: Gain | None) -> None:
        self.key = key
        self.loss = loss
        self.gain = gain
        self.taker: Step | None = None  # who takes the place that this gives up
        self.giver: Step | None = None  # who gives up the place that this takes


class Chain(NamedTuple):
    """The ends of a chain of pairs, and how many operations it has."""

    first: Step
    last: Step
    length: int

    def is_settled(self) -> bool:
        """Whether exchanging subscribers was all there was to do."""
        return self.length > 1 and self.first.loss is None and self.last.gain is None


def pair(steps: Sequence[Step], nodes: Mapping[Filter, Node]) -> None:
    """Find for each gain somebody's loss of the same filter."""
    losses: dict[Node, list[Step]] = {}
    for step in steps:
        if step.loss is not None:
            losses.setdefault(step.loss, []).append(step)
    for step in steps:
        node = None if step.gain is None else nodes.get(step.gain.filter)
        available = None if node is None else losses.get(node)
        if available:
            giver = available.pop()
            assert giver is not step, "a change to the same filter is no operation"
            step.giver, giver.taker = giver, step


def exchange(steps: Sequence[Step]) -> None:
    """Put each taker into its giver's node."""
    for step in steps:
        if step.giver is not None:
            node = step.giver.loss
            assert node is not None
            node.subscribers.discard(step.giver.key)
            node.subscribers.add(step.key)


def chains(steps: Sequence[Step]) -> Iterator[Chain]:
    """The chains with a beginning and an end; operations of a ring are in none."""
    for first in steps:
        if first.taker is not None:
            continue
        last, length = first, 1
        while last.giver is not None:
            last = last.giver
            length += 1
        yield Chain(first, last, length)
