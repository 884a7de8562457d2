"""The search for the plans that an event satisfies: one walk over the trie of all of them.

Each slot has a *domain*, the set of vertices that may still stand in it, as bits in words. A step
narrows the domains of the slots that it names, and those between them and the home vertex: a vertex
stays only while it has a partner in the domain of each slot that was reached from it. If a domain
is empty, nothing below the node can match, and all of it is passed over. So each node of the trie
is tried at most once per event, however many ways there are to map what leads to it.

For a plan without cycles that is all: from whatever is left in the domains a mapping can be read
off. With a cycle, or where two slots must not meet in one vertex, it is only what a mapping needs;
then a mapping is looked for, one vertex after the other, within the domains. That may take long, so
its steps are counted, and past a budget the plan is *undecided*.

The neighbours of a vertex along a link are bits in words, too: ``near[link, vertex]``. Links and
kinds that an event has are numbered for the event alone (``link_row``, ``kind_row``; -1 for all
others). Domains are kept per depth, and copied when the walk goes deeper. The plain twin of all
this is ``plain.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from predicast.graph.matching.joins.kernels.compiling import entry
from predicast.graph.matching.joins.kernels.domains import add, taken, taken_in_word
from predicast.graph.matching.joins.kernels.mapping import NODE, mapped
from predicast.graph.matching.joins.trie import (
    ARC,
    BY_KIND,
    CHECKED,
    END,
    FAN_END,
    FAN_FIRST,
    FIRST,
    KIND,
    LINK,
    OP,
    SOURCE,
    TARGET,
    TERMINAL,
    WANTED,
)
from predicast.matching.columnar.kernels.buffers import position
from predicast.matching.columnar.kernels.compiling import array, kernel, merged

# A frame: a node whose children are being tried, and how far that has come.
FAN, ENTRY = 1, 2

_ZERO = np.uint64(0)


@merged
def _next_child(
    nodes: Any,
    fans: Any,
    children: Any,
    constants: Any,
    frames: Any,
    depth: int,
    present: Any,
    distinct: int,
) -> int:
    """The next child to be tried, -1 if there is none.

    Of a fan of many kinds only those are looked up that the event has.
    """
    child = -1
    while child < 0 and frames[depth, FAN] < nodes[frames[depth, NODE], FAN_END]:
        fan = frames[depth, FAN]
        first, end = fans[fan, FIRST], fans[fan, END]
        if not fans[fan, BY_KIND] or end - first <= distinct:
            if frames[depth, ENTRY] < end - first:
                child = children[first + frames[depth, ENTRY]]
                frames[depth, ENTRY] += 1
        else:
            while child < 0 and frames[depth, ENTRY] < distinct:
                kind = present[frames[depth, ENTRY]]
                frames[depth, ENTRY] += 1
                place = position(constants, first, end, kind)
                if place < end and constants[place] == kind:
                    child = children[place]
        if child < 0:
            frames[depth, FAN] += 1
            frames[depth, ENTRY] = 0
    return int(child)


@kernel
def _with_pair(pairs: Any, count: int, event: int, place: int) -> Any:
    if count == len(pairs):
        larger = np.empty((2 * len(pairs), 2), np.int32)
        for each in range(count):
            larger[each, 0], larger[each, 1] = pairs[each, 0], pairs[each, 1]
        pairs = larger
    pairs[count, 0], pairs[count, 1] = event, place
    return pairs


@kernel
def _numbered(first: int, end: int, pairs: Any, rows: Any, present: Any, masks: Any) -> int:
    """Number the kinds of an event, and say which vertices are of each; how many there are."""
    distinct = 0
    for place in range(first, end):
        code = pairs[place, 0]
        if rows[code] < 0:
            rows[code] = distinct
            present[distinct] = code
            masks[distinct] = _ZERO
            distinct += 1
        add(masks[rows[code]], pairs[place, 1])
    return distinct


@kernel
def _placed(first: int, end: int, arcs: Any, rows: Any, present: Any, near: Any) -> int:
    """The same of links: what is near each vertex along each of them."""
    distinct = 0
    for place in range(first, end):
        code = arcs[place, 0]
        if rows[code] < 0:
            rows[code] = distinct
            present[distinct] = code
            near[distinct] = _ZERO
            distinct += 1
        add(near[rows[code], arcs[place, 1]], arcs[place, 2])
    return distinct


_tuple: Any = types.Tuple  # it has no type of its own
_I32, _I64 = array(types.int32), array(types.int64)
_PAIRS = array(types.int32, 2)
_TRIE = _tuple((_PAIRS, _PAIRS, _I32, _I32, _I32))
_EVENTS = _tuple((_I64, _PAIRS, _I64, _PAIRS, _I64, array(types.bool_)))
_SIZES = _tuple((types.int64,) * 4)


@kernel
def _noted(pairs: Any, count: int, row_first: Any, terminal: int, event: int) -> Any:
    """The pairs, and one more for each row of a terminal."""
    for place in range(row_first[terminal], row_first[terminal + 1]):
        pairs = _with_pair(pairs, count, event, place)
        count += 1
    return pairs, count


@kernel
def _walked(
    trie: Any, event: Any, room: Any, number: int, words: int, budget: int, results: Any
) -> Any:
    """Walk over the trie with one event."""
    nodes, fans, children, constants, row_first = trie
    near, link_row, masks, kind_row, present, distinct = event
    frames, ways, domains, slots, left = room
    found, found_count, undecided, undecided_count = results
    depth, terminal = 0, nodes[0, TERMINAL]
    frames[0, NODE], frames[0, FAN], frames[0, ENTRY] = 0, nodes[0, FAN_FIRST], 0
    while depth >= 0:
        if terminal >= 0:
            outcome = 1
            if nodes[frames[depth, NODE], CHECKED]:
                outcome = mapped(
                    nodes, link_row, near, domains, frames, depth, slots, left, words, budget
                )
            if outcome == 1:
                found, found_count = _noted(found, found_count, row_first, terminal, number)
            elif outcome == -1:
                undecided, undecided_count = _noted(
                    undecided, undecided_count, row_first, terminal, number
                )
            terminal = -1
        child = _next_child(nodes, fans, children, constants, frames, depth, present, distinct)
        if child < 0:
            depth -= 1
            continue
        wanted, op = nodes[child, WANTED], nodes[child, OP]
        kind = kind_row[wanted] if wanted >= 0 else -1
        row = link_row[nodes[child, LINK]] if op != KIND else -1
        if (wanted >= 0 and kind < 0) or (op != KIND and row < 0):
            continue
        if words == 1 and (op != ARC or nodes[child, SOURCE] != nodes[child, TARGET]):
            held = taken_in_word(nodes, child, near, row, masks, kind, ways, domains, depth + 1)
        else:
            held = taken(nodes, child, near, row, masks, kind, ways, domains, depth + 1, words)
        if held:
            depth += 1
            frames[depth, NODE], frames[depth, FAN] = child, nodes[child, FAN_FIRST]
            frames[depth, ENTRY] = 0
            terminal = nodes[child, TERMINAL]
    return found, found_count, undecided, undecided_count


@kernel
def _most(first: Any) -> int:
    """How much the event has that has most of something, and at least one."""
    most = 1
    for event in range(len(first) - 1):
        most = max(most, first[event + 1] - first[event])
    return most


@entry((_TRIE, _EVENTS, _SIZES, types.int64))
def match_graphs(trie: Any, events: Any, sizes: Any, budget: int) -> Any:
    """The (event, place) pairs of all matches, and of all that is undecided.

    A place is one among the rows of terminals. ``sizes`` are how many links, kinds and slots the
    trie knows, and the depth of its deepest node.
    """
    arc_first, arcs, kind_first, kinds, vertex_first, is_literal = events
    links, all_kinds, slots, deepest = sizes
    width, most_links = (_most(vertex_first) + 63) >> 6, min(_most(arc_first), links)
    link_row, kind_row = np.full(links, -1, np.int64), np.full(all_kinds, -1, np.int64)
    present_links = np.empty(most_links, np.int32)
    present = np.empty(min(_most(kind_first), all_kinds), np.int32)
    near = np.empty((most_links, _most(vertex_first), width), np.uint64)
    masks = np.empty((len(present), width), np.uint64)
    frames, ways = np.zeros((deepest + 1, 3), np.int64), np.zeros((slots, 2), np.int64)
    domains = np.zeros((deepest + 1, slots + 1, width), np.uint64)
    bound, left = np.zeros((2, slots), np.int64), np.zeros((deepest + 3, width), np.uint64)
    room = frames, ways, domains, bound, left
    results = np.empty((64, 2), np.int32), 0, np.empty((16, 2), np.int32), 0
    for event in range(len(vertex_first) - 1):
        begin, end = vertex_first[event], vertex_first[event + 1]
        distinct = _numbered(
            kind_first[event], kind_first[event + 1], kinds, kind_row, present, masks
        )
        distinct_links = _placed(
            arc_first[event], arc_first[event + 1], arcs, link_row, present_links, near
        )
        left[len(left) - 1] = _ZERO
        for vertex in range(end - begin):
            if is_literal[begin + vertex]:
                add(left[len(left) - 1], vertex)
        domains[0, 0] = _ZERO
        add(domains[0, 0], 0)  # the home vertex is the first one
        encoded = near, link_row, masks, kind_row, present, distinct
        results = _walked(trie, encoded, room, event, (end - begin + 63) >> 6, budget, results)
        for place in range(distinct):
            kind_row[present[place]] = -1
        for place in range(distinct_links):
            link_row[present_links[place]] = -1
    found, found_count, undecided, undecided_count = results
    return found[:found_count], undecided[:undecided_count]
