"""Engines of SPARQL, asked one query per subscription, over all that follows from an event."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

import pyoxigraph
import rdflib
from rdflib.plugins.sparql import prepareQuery

from predicast.graph import EventGraph, Ontology
from predicast.graph.entailment import entailed_classes, entailed_properties
from predicast.graph.names import HOME, TYPE
from predicast.graph.terms import Iri, Literal

_MOST_LOOKS: Final = 5_000  # at the graph, by one query of rdflib: some tenths of a second


class Answered(NamedTuple):
    """Queries by their places."""

    matched: list[int]
    given_up: list[int]


class Rival(Protocol):
    """Answers which of its queries an event satisfies."""

    name: str

    def __init__(self, queries: list[str]) -> None: ...

    def match(self, triples: str) -> Answered:
        """The places of the queries that the event satisfies, given as N-Triples."""


def entailed_text(event: EventGraph, ontology: Ontology) -> str:
    """All that follows from an event, as N-Triples."""
    terms = [
        f"<{HOME}>" if number == event.home else str(term)
        for number, term in enumerate(event.vertices)
    ]
    lines = [
        f"{terms[vertex]} <{TYPE}> {Iri(name)} ."
        for vertex, names in enumerate(entailed_classes(event, ontology))
        if not isinstance(event.vertices[vertex], Literal)
        for name in names
    ]
    properties = entailed_properties(event, ontology)
    lines += [
        f"{terms[arc.subject]} {Iri(name)} {terms[arc.object]} ."
        for arc in event.arcs
        for name in properties[arc.property]
    ]
    return "\n".join(lines)


class Oxigraph:
    """It has no prepared queries: each is parsed each time."""

    name = "pyoxigraph"

    def __init__(self, queries: list[str]) -> None:
        self._queries = queries

    def match(self, triples: str) -> Answered:
        store = pyoxigraph.Store()
        store.load(triples, format=pyoxigraph.RdfFormat.N_TRIPLES)
        queries = enumerate(self._queries)
        return Answered([place for place, query in queries if bool(store.query(query))], [])


class _SpentError(Exception):
    """A query has looked at the graph as often as it may."""


class _CountedGraph(rdflib.Graph):
    """A graph that a query may look at so often and no more: some take hours."""

    looks = 0

    def triples(self, *arguments: Any, **options: Any) -> Any:
        self.looks += 1
        if self.looks > _MOST_LOOKS:
            raise _SpentError
        return super().triples(*arguments, **options)


class Rdflib:
    """Its queries are prepared once; one that takes too long is given up."""

    name = "rdflib"

    def __init__(self, queries: list[str]) -> None:
        self._queries = [prepareQuery(query) for query in queries]

    def match(self, triples: str) -> Answered:
        graph = _CountedGraph()
        graph.parse(data=triples, format="nt")
        answered = Answered([], [])
        for place, query in enumerate(self._queries):
            graph.looks = 0
            try:
                if graph.query(query).askAnswer:
                    answered.matched.append(place)
            except _SpentError:
                answered.given_up.append(place)
        return answered
