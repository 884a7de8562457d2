"""The matcher of paper 5: patterns that wait at meta-statements, and a matching tree for each."""

from predicast.graph.matching.ops.matcher import OntologyMatcher

__all__ = ["OntologyMatcher"]
