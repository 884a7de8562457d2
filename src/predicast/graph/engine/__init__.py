"""The engine of event graphs: ``GraphEngine``, on the parts that all engines share."""

from predicast.graph.engine.answers import Answer, GraphExplanation
from predicast.graph.engine.graph_engine import GraphEngine

__all__ = ["Answer", "GraphEngine", "GraphExplanation"]
