"""What follows from an event by its ontology, as RDFS has it.

An arc holds for its property and all above it. A vertex is of the classes that the event says, of
those that the ontology says of the individual, of the domains of what it has and the ranges of what
it is the value of; and of all classes above those. Literals are of their datatype and what that
derives from, or is promoted to.
"""

from __future__ import annotations

from predicast.graph.event_graph import EventGraph
from predicast.graph.ontology import Ontology
from predicast.graph.terms import Literal


def entailed_properties(event: EventGraph, ontology: Ontology) -> list[frozenset[str]]:
    """For each of the event's property names, all properties that hold where that one does."""
    return [ontology.superproperties(name) for name in event.property_names]


def stated_classes(event: EventGraph, ontology: Ontology) -> list[frozenset[str]]:
    """For each vertex, the classes that follow from its types alone."""
    above = [ontology.superclasses(name) for name in event.class_names]
    return [
        ontology.classes_of(term).union(*[above[place] for place in places])
        for term, places in zip(event.vertices, event.types, strict=True)
    ]


def entailed_classes(event: EventGraph, ontology: Ontology) -> list[frozenset[str]]:
    """For each vertex, all classes that it is of."""
    found = [set(each) for each in stated_classes(event, ontology)]
    none: frozenset[str] = frozenset()
    domains = [_above(ontology, ontology.domains.get(n, none)) for n in event.property_names]
    ranges = [_above(ontology, ontology.ranges.get(n, none)) for n in event.property_names]
    for subject, property, object in event.arcs:
        found[subject] |= domains[property]
        if not isinstance(event.vertices[object], Literal):
            found[object] |= ranges[property]
    return [frozenset(each) for each in found]


def _above(ontology: Ontology, classes: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*[ontology.superclasses(name) for name in classes])
