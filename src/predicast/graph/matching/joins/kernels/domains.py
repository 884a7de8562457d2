"""Domains: the sets of vertices that may stand in each slot, and how steps narrow them.

A set is bits in words; ``near[link, vertex]`` is the set of what a link leads to. Most events fit
into one word, for which there are loops of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from predicast.graph.matching.joins.trie import ALONG, ARC, FILLED, KIND, OP, SOURCE, TARGET
from predicast.matching.columnar.kernels.compiling import inlined, kernel, merged
from predicast.matching.columnar.kernels.simd import lowest_bit

# How a slot was reached: from which one, along which link.
BACK, BY = range(2)

_ZERO, _ONE = np.uint64(0), np.uint64(1)


@inlined
def add(words: Any, vertex: int) -> None:
    """Put a vertex into a set."""
    words[vertex >> 6] |= _ONE << np.uint64(vertex & 63)


@kernel
def _narrowed_back(near: Any, ways: Any, domains: Any, level: int, slot: int, words: int) -> bool:
    """Narrow what lies between a slot and the home vertex; whether anything is left."""
    while slot > 0:
        before, link = ways[slot, BACK], ways[slot, BY]
        some, changed = False, False
        for word in range(words):
            left, kept = domains[level, before, word], _ZERO
            while left:
                vertex = (word << 6) + lowest_bit(left)
                for other in range(words):
                    if near[link, vertex, other] & domains[level, slot, other]:
                        kept |= left & (~left + _ONE)
                        break
                left &= left - _ONE
            some |= kept != _ZERO
            changed |= kept != domains[level, before, word]
            domains[level, before, word] = kept
        if not some or not changed:
            return some
        slot = before
    return True


@kernel
def _linked_in_word(near: Any, row: int, sources: Any, targets: Any) -> Any:
    """``_linked`` for sets of one word: what is left of the two."""
    left, kept, reached = sources, _ZERO, _ZERO
    while left:
        found = near[row, lowest_bit(left), 0] & targets
        if found:
            reached |= found
            kept |= left & (~left + _ONE)
        left &= left - _ONE
    return kept, reached


@kernel
def _narrowed_back_in_word(near: Any, ways: Any, domains: Any, level: int, slot: int) -> bool:
    """``_narrowed_back`` for sets of one word."""
    while slot > 0:
        before = ways[slot, BACK]
        known = domains[level, before, 0]
        kept, _ = _linked_in_word(near, ways[slot, BY], known, domains[level, slot, 0])
        if kept == known:
            return True
        if not kept:
            return False
        domains[level, before, 0] = kept
        slot = before
    return True


@merged
def taken_in_word(
    nodes: Any,
    node: int,
    near: Any,
    row: int,
    masks: Any,
    kind: int,
    ways: Any,
    domains: Any,
    level: int,
) -> bool:
    """``taken`` for sets of one word, as most are."""
    op, source, target = nodes[node, OP], nodes[node, SOURCE], nodes[node, TARGET]
    known = domains[level - 1, source, 0]
    targets = reached = _ZERO
    if op == KIND:
        kept = known & masks[kind, 0]
    else:
        if op == ARC:
            targets = domains[level - 1, target, 0]
        else:
            targets = ~_ZERO if kind < 0 else masks[kind, 0]
        kept, reached = _linked_in_word(near, row, known, targets)
    if not kept:
        return False
    for slot in range(nodes[node, FILLED]):
        domains[level, slot, 0] = domains[level - 1, slot, 0]
    domains[level, source, 0] = kept
    if op != KIND:
        domains[level, target, 0] = reached
    if op >= ALONG:
        ways[target, BACK], ways[target, BY] = source, row
    if kept != known and not _narrowed_back_in_word(near, ways, domains, level, source):
        return False
    return (
        op != ARC
        or reached == targets
        or _narrowed_back_in_word(near, ways, domains, level, target)
    )


@kernel
def _linked(
    near: Any, row: int, domains: Any, level: int, source: int, target: int, words: int
) -> Any:
    """Keep what a link leads from in one domain, and what it leads to in another.

    Says whether anything is left, and which of the two domains are smaller.
    """
    fresh = domains.shape[1] - 1
    empty, less_source, less_target = True, False, False
    for word in range(words):
        domains[level, fresh, word] = _ZERO
    for word in range(words):
        left, kept = domains[level, source, word], _ZERO
        while left:
            vertex = (word << 6) + lowest_bit(left)
            some = _ZERO
            for other in range(words):
                reached = near[row, vertex, other] & domains[level, target, other]
                domains[level, fresh, other] |= reached
                some |= reached
            if some:
                kept |= left & (~left + _ONE)
            left &= left - _ONE
        empty &= kept == _ZERO
        less_source |= kept != domains[level, source, word]
        domains[level, source, word] = kept
    for word in range(words):
        less_target |= domains[level, fresh, word] != domains[level, target, word]
        domains[level, target, word] = domains[level, fresh, word]
    return not empty, less_source, less_target


@kernel
def _circled(near: Any, row: int, domains: Any, level: int, slot: int, words: int) -> Any:
    """Keep what a link leads to itself; whether anything is left, and whether that is less."""
    empty, less = True, False
    for word in range(words):
        left, kept = domains[level, slot, word], _ZERO
        while left:
            bit = left & (~left + _ONE)
            kept |= near[row, (word << 6) + lowest_bit(left), word] & bit
            left &= left - _ONE
        empty &= kept == _ZERO
        less |= kept != domains[level, slot, word]
        domains[level, slot, word] = kept
    return not empty, less


@kernel
def _of_kind(masks: Any, kind: int, domains: Any, level: int, slot: int, words: int) -> Any:
    """Keep what is of a kind; whether anything is left, and whether that is less."""
    empty, less = True, False
    for word in range(words):
        kept = domains[level, slot, word] & masks[kind, word]
        empty &= kept == _ZERO
        less |= kept != domains[level, slot, word]
        domains[level, slot, word] = kept
    return not empty, less


@kernel
def taken(
    nodes: Any,
    node: int,
    near: Any,
    row: int,
    masks: Any,
    kind: int,
    ways: Any,
    domains: Any,
    level: int,
    words: int,
) -> bool:
    """Take a step: narrow the domains of the level before by what it asks.

    Says whether anything is left; then the domains of this level are what it is.
    """
    for slot in range(nodes[node, FILLED]):
        for word in range(words):
            domains[level, slot, word] = domains[level - 1, slot, word]
    op, source, target = nodes[node, OP], nodes[node, SOURCE], nodes[node, TARGET]
    less_target = False
    if op == KIND:
        held, less = _of_kind(masks, kind, domains, level, source, words)
    elif op == ARC and source == target:
        held, less = _circled(near, row, domains, level, source, words)
    elif op == ARC:
        held, less, less_target = _linked(near, row, domains, level, source, target, words)
    else:
        for word in range(words):
            domains[level, target, word] = ~_ZERO if kind < 0 else masks[kind, word]
        ways[target, BACK], ways[target, BY] = source, row
        held, less, _ = _linked(near, row, domains, level, source, target, words)
    if held and less:
        held = _narrowed_back(near, ways, domains, level, source, words)
    if held and less_target:
        held = _narrowed_back(near, ways, domains, level, target, words)
    return bool(held)
