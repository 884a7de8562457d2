"""The production matcher of graphs: plans in a trie, searched by a compiled loop."""

from predicast.graph.matching.joins.matcher import Joins

__all__ = ["Joins"]
