"""``EventGraph``: an event that is an RDF graph (paper 5, section 2.1).

Vertices are numbered, and so are the properties and classes that occur::

    vertices        the term of each vertex; a literal is one vertex, however often it occurs
    values          the value of each vertex that is a literal and has one
    arcs            (subject, property, object): two vertices, and a place in property_names
    types           for each vertex, places in class_names: what the event itself says of it
    home            the vertex that stands for the event as a whole

What follows from the ontology is not in it (``entailment.py``): an event stays as it was stated
while the ontology is extended.

*The home vertex* is ``<urn:predicast:home>`` or the blank node ``_:H``. Parsers may rename blank
nodes, so where there is neither, it is the one vertex that nothing points at, if there is one such.

Cost: linear in the number of statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias
from typing import Literal as Choice

from predicast.errors import (
    GraphTooLargeError,
    InvalidEventGraphError,
    InvalidOptionError,
)
from predicast.graph.names import HOME, HOME_LABEL, TYPE
from predicast.graph.ontology import Ontology
from predicast.graph.rdf_text import rdf_text, read_rdf
from predicast.graph.terms import Blank, Iri, Literal, Term, Triple
from predicast.model import Value

MAX_STATEMENTS: Final = 1_000_000  # of one event
Validation: TypeAlias = Choice["strict", "warn", "off"]
VALIDATIONS: Final = ("strict", "warn", "off")
_HOMES: Final = (Iri(HOME), Blank(HOME_LABEL))
_ROOTS_SHOWN: Final = 5


class Arc(NamedTuple):
    """One statement: vertices by number, and the place of the property among the names."""

    subject: int
    property: int
    object: int


class EventGraph:
    """A graph of vertices, arcs and types, read-only; made by one of its class methods."""

    __slots__ = (
        "arcs",
        "class_names",
        "home",
        "property_names",
        "types",
        "values",
        "vertices",
        "violations",
    )

    def __init__(
        self, triples: Iterable[Triple], ontology: Ontology, home: Iri | Blank | None = None
    ) -> None:
        numbers: dict[Term, int] = {} if home is None else {home: 0}
        properties: dict[str, int] = {}
        classes: dict[str, int] = {}
        arcs: dict[Arc, None] = {}
        types: dict[tuple[int, int], None] = {}
        for subject, property, object in triples:
            vertex = numbers.setdefault(subject, len(numbers))
            if property.value == TYPE and isinstance(object, Iri):
                types[vertex, classes.setdefault(object.value, len(classes))] = None
                continue
            name = properties.setdefault(property.value, len(properties))
            arcs[Arc(vertex, name, numbers.setdefault(object, len(numbers)))] = None
            if len(arcs) > MAX_STATEMENTS:
                raise GraphTooLargeError(
                    f"the event has more than {MAX_STATEMENTS} statements",
                    limit=MAX_STATEMENTS,
                    actual=len(arcs),
                )
        self.vertices: tuple[Term, ...] = tuple(numbers)
        self.property_names: tuple[str, ...] = tuple(properties)
        self.class_names: tuple[str, ...] = tuple(classes)
        self.arcs: tuple[Arc, ...] = tuple(arcs)
        self.types: tuple[tuple[int, ...], ...] = _by_vertex(types, len(numbers))
        self.values: tuple[Value | None, ...] = tuple(
            [ontology.value_of(term) if type(term) is Literal else None for term in numbers]
        )
        self.home: int = self._found_home(numbers) if home is None else 0
        self.violations: tuple[str, ...] = ()

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[Triple],
        ontology: Ontology | None = None,
        *,
        home: Iri | Blank | None = None,
        validate: Validation = "off",
    ) -> EventGraph:
        """From statements in terms of ours; the home vertex is found unless it is given.

        ``validate="strict"`` refuses what no meta-statement of the ontology admits, ``"warn"``
        lists it in ``violations``.
        """
        if validate not in VALIDATIONS:
            raise InvalidOptionError(
                f"validate is one of {', '.join(VALIDATIONS)}, not {validate!r}", option="validate"
            )
        known = ontology or Ontology()
        event = cls(triples, known, home)
        if validate != "off":
            from predicast.graph.validation import check

            event.violations = check(event, known, strict=validate == "strict")
        return event

    @classmethod
    def parse(
        cls,
        text: str | Path,
        ontology: Ontology | None = None,
        *,
        format: str | None = None,
        validate: Validation = "off",
    ) -> EventGraph:
        """From RDF text, or the file at a ``Path``, in any of the formats; or from plain JSON.

        JSON without ``@context`` is read by the names of the ontology (``from_json``).
        """
        source = rdf_text(text, None if format == "json" else format)
        if format == "json" or (
            format is None and source.format == "json-ld" and '"@context"' not in source.text
        ):
            return cls.from_json(source.text, ontology, validate=validate)
        triples = read_rdf(source, max_triples=2 * MAX_STATEMENTS).triples
        return cls.from_triples(triples, ontology, validate=validate)

    @classmethod
    def from_json(
        cls,
        document: str | bytes | Mapping[str, Any],
        ontology: Ontology | None = None,
        *,
        validate: Validation = "off",
    ) -> EventGraph:
        """From a nested JSON object: it is the home vertex, its names are the ontology's."""
        from predicast.graph.json_events import JsonReader

        reader = JsonReader(ontology or Ontology(), strict=validate == "strict")
        triples = reader.triples(document)
        event = cls.from_triples(triples, ontology, home=reader.home, validate=validate)
        if validate == "warn":
            event.violations = (*reader.unknown, *event.violations)
        return event

    def _found_home(self, numbers: dict[Term, int]) -> int:
        found = [numbers[each] for each in _HOMES if each in numbers]
        if len(found) == 1:
            return found[0]
        if found:
            raise InvalidEventGraphError(
                f"the event has two home vertices, {_HOMES[0]} and {_HOMES[1]}; it is one event",
                subject=str(_HOMES[1]),
            )
        pointed_at = {arc.object for arc in self.arcs}
        roots = [
            vertex
            for vertex, term in enumerate(self.vertices)
            if vertex not in pointed_at and not isinstance(term, Literal)
        ]
        if len(roots) == 1:
            return roots[0]
        if roots:
            shown = ", ".join(str(self.vertices[root]) for root in roots[:_ROOTS_SHOWN])
            why = f"nothing points at {len(roots)} of its vertices ({shown})"
        else:
            why = "something points at every vertex" if self.vertices else "it is empty"
        raise InvalidEventGraphError(
            f"which vertex is the event? {why}; call the one that is <{HOME}>, or _:{HOME_LABEL}"
        )

    def triples(self) -> Iterable[Triple]:
        """Its statements, the types among them."""
        for vertex, places in enumerate(self.types):
            for place in places:
                yield self.vertices[vertex], Iri(TYPE), Iri(self.class_names[place])  # type: ignore[misc]
        for arc in self.arcs:
            name = Iri(self.property_names[arc.property])
            yield self.vertices[arc.subject], name, self.vertices[arc.object]  # type: ignore[misc]


def _by_vertex(pairs: Iterable[tuple[int, int]], vertices: int) -> tuple[tuple[int, ...], ...]:
    found: list[tuple[int, ...]] = [()] * vertices
    for vertex, place in pairs:
        found[vertex] = (*found[vertex], place)
    return tuple(found)
