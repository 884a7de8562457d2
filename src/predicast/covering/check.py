"""The invariants of the poset, checked the slow way, for tests and for doubt.

Every covering is tested anew, pair by pair, and compared with what the edges say: O(nodes²)
covering tests, and as much memory.
"""

from __future__ import annotations

from collections.abc import Mapping

from predicast.covering.graph import CoveringGraph, Node


def check_graph(graph: CoveringGraph) -> None:
    """Raise AssertionError, saying what is wrong, unless nodes and edges are as they should be."""
    nodes = list(graph.nodes.values())
    _check_nodes(graph, nodes)
    covered = {
        node: {each for each in nodes if each is not node and node.filter.covers(each.filter)}
        for node in nodes
    }
    _check_edges(nodes, covered)
    below = _reachable(nodes)
    settled = {node for node in nodes if node not in graph.waiting}
    for node in settled:
        missing = (covered[node] & settled) - below[node]
        assert not missing, f"no path from {node.filter} to {_first(missing)}, which it covers"
        for successor in node.successors.keys() & settled:
            between = {each for each in covered[node] & settled if successor in covered[each]}
            assert not between, (
                f"the edge from {node.filter} to {successor.filter} skips {_first(between)}"
            )
    maxima = set(nodes).difference(*covered.values())
    hidden = maxima - graph.entries.keys()
    assert not hidden, f"{_first(hidden)} is a maximum, but no entry"
    if not graph.waiting.keys() & graph.entries.keys():
        surplus = graph.entries.keys() - maxima
        assert not surplus, f"{_first(surplus)} is a settled entry, but covered"


def check_subscribers(graph: CoveringGraph, node_of: Mapping[int, Node | None]) -> None:
    """Raise AssertionError unless subscribers and nodes know each other, one to one."""
    for node in graph.nodes.values():
        assert node.subscribers, f"{node.filter} has no subscriber"
        for key in node.subscribers:
            assert node_of.get(key) is node, f"subscriber {key} of {node.filter} is elsewhere"
    for key, held in node_of.items():
        if held is not None:
            assert key in held.subscribers, f"{held.filter} does not know subscriber {key}"
            assert graph.nodes.get(held.filter) is held, f"{held.filter} is in no node"


def _check_nodes(graph: CoveringGraph, nodes: list[Node]) -> None:
    for new, node in graph.nodes.items():
        assert node.filter == new, f"{node.filter} is kept under {new}"
        assert not new.is_never(), "a filter that matches nothing is no node"
    entries = {node for node in nodes if not node.precursors}
    assert graph.entries.keys() == entries, "entries are the nodes without precursors"
    assert graph.waiting.keys() <= set(nodes), "a node waits that is no more"
    numbers = [node.number for node in nodes]
    assert len(set(numbers)) == len(numbers), "two nodes share a number in the index"


def _check_edges(nodes: list[Node], covered: dict[Node, set[Node]]) -> None:
    for node in nodes:
        for successor in node.successors:
            assert node in successor.precursors, f"{successor.filter} does not know its precursor"
            assert successor in covered[node], (
                f"an edge says that {node.filter} covers {successor.filter}"
            )
        for precursor in node.precursors:
            assert node in precursor.successors, f"{precursor.filter} does not know its successor"
        for other in covered[node]:
            assert node not in covered[other], (
                f"{node.filter} and {other.filter} cover each other, and are two nodes"
            )


def _reachable(nodes: list[Node]) -> dict[Node, set[Node]]:
    """For each node all those that edges lead to, and so also that there is no cycle."""
    left = {node: len(node.successors) for node in nodes}
    ready = [node for node in nodes if not node.successors]
    below: dict[Node, set[Node]] = {}
    while ready:
        node = ready.pop()
        below[node] = set(node.successors).union(*(below[each] for each in node.successors))
        for precursor in node.precursors:
            left[precursor] -= 1
            if not left[precursor]:
                ready.append(precursor)
    assert len(below) == len(nodes), "there is a cycle"
    return below


def _first(nodes: set[Node]) -> str:
    return str(min((node.filter for node in nodes), key=str))
