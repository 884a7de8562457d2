"""Matchers of event graphs: the interface and the registry; a folder or file per algorithm."""

from predicast.graph.matching.matcher import (
    DEFAULT_BUDGET,
    Found,
    GraphMatcher,
    GraphView,
    OneByOneGraphMatcher,
    PatternDelta,
)
from predicast.graph.matching.registry import graph_matcher_names, make_graph_matcher

__all__ = [
    "DEFAULT_BUDGET",
    "Found",
    "GraphMatcher",
    "GraphView",
    "OneByOneGraphMatcher",
    "PatternDelta",
    "graph_matcher_names",
    "make_graph_matcher",
]
