"""Events that are graphs: ontologies, event graphs and the patterns that subscriptions are."""

from predicast.graph.engine import Answer, GraphEngine, GraphExplanation
from predicast.graph.event_graph import EventGraph
from predicast.graph.filters import Filter
from predicast.graph.language.json_form import pattern_from_json, pattern_to_json
from predicast.graph.language.statements import parse_pattern
from predicast.graph.ontology import MetaStatement, Ontology
from predicast.graph.patterns import (
    HOME_VERTEX,
    Alternative,
    ClassPattern,
    GraphPattern,
    StatementPattern,
    statement_pattern,
)
from predicast.graph.terms import Blank, Iri, Literal, Variable

__all__ = [
    "HOME_VERTEX",
    "Alternative",
    "Answer",
    "Blank",
    "ClassPattern",
    "EventGraph",
    "Filter",
    "GraphEngine",
    "GraphExplanation",
    "GraphPattern",
    "Iri",
    "Literal",
    "MetaStatement",
    "Ontology",
    "StatementPattern",
    "Variable",
    "parse_pattern",
    "pattern_from_json",
    "pattern_to_json",
    "statement_pattern",
]
