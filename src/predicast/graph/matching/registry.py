"""Graph matchers by name. A matcher's module is imported when the matcher is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from predicast.errors import UnknownMatcherError, suggest
from predicast.graph.matching.matcher import DEFAULT_BUDGET, GraphMatcher
from predicast.graph.ontology import Ontology

DEFAULT: Final = "joins"

_MATCHERS: Final = {
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
    known = _MATCHERS.get(name)
    if known is None:
        close = suggest(str(name), _MATCHERS)
        hint = f"did you mean {close!r}?" if close else f"known: {', '.join(_MATCHERS)}"
        raise UnknownMatcherError(
            f"there is no matcher of graphs {name!r}; {hint}", name=name, suggestion=close
        )
    module, _, attribute = known.partition(":")
    made = getattr(import_module(module), attribute)(ontology, budget=budget)
    assert isinstance(made, GraphMatcher)
    return made
