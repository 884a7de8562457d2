"""Graph matchers by name. A matcher's module is imported when the matcher is first asked for."""

from __future__ import annotations

from typing import Final

from predicast.graph.matching.matcher import DEFAULT_BUDGET, GraphMatcher
from predicast.graph.ontology import Ontology
from predicast.matching.registry import matcher_class

DEFAULT: Final = "joins"

_MATCHERS: Final[dict[str, str | type[GraphMatcher]]] = {
    "brute-force": "predicast.graph.matching.brute_force:BruteForce",
    "joins": "predicast.graph.matching.joins:Joins",
    "ops": "predicast.graph.matching.ops:OntologyMatcher",
}


def graph_matcher_names() -> list[str]:
    """The names that ``GraphEngine(matcher=...)`` takes."""
    return sorted(_MATCHERS)


def make_graph_matcher(
    name: str, ontology: Ontology, *, budget: int = DEFAULT_BUDGET
) -> GraphMatcher:
    """A new, empty matcher."""
    found = matcher_class(_MATCHERS, name, GraphMatcher, "matcher of graphs")  # type: ignore[type-abstract]
    return found(ontology, budget=budget)
