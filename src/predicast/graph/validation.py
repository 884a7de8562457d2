"""Whether an event states only what the ontology's meta-statements admit (paper 5, section 2.2).

A statement is legal if some meta-statement about its property, or one above that, has a subject
class and an object class that the two vertices are *stated* to be of. The domain and range of a
property are one meta-statement together. A property that the ontology knows and says nothing else
about may be stated of anything; one that it does not know is illegal.

Classes are those stated, not those that follow from domains and ranges: by those nothing would ever
be illegal. A vertex without a type is a Thing and no more.
"""

from __future__ import annotations

from typing import NamedTuple

from predicast.errors import InvalidEventGraphError, suggest
from predicast.graph.entailment import stated_classes
from predicast.graph.event_graph import Arc, EventGraph
from predicast.graph.ontology import Ontology
from predicast.model.vocabulary import local_name


class _Legal(NamedTuple):
    """Classes that a subject and an object must all be of."""

    subject: frozenset[str]
    object: frozenset[str]

    def __str__(self) -> str:
        subject, object = (
            " and ".join(sorted(map(local_name, each))) or "anything" for each in self
        )
        return f"{subject} → {object}"


def check(event: EventGraph, ontology: Ontology, *, strict: bool) -> tuple[str, ...]:
    """What is illegal, in words; if strict, the first of it is an error."""
    classes = stated_classes(event, ontology)
    legal = [_legal(name, ontology) for name in event.property_names]
    violations: list[str] = []
    for arc in event.arcs:
        why = _violation(arc, event, ontology, legal[arc.property], classes)
        if why is None:
            continue
        if strict:
            raise InvalidEventGraphError(
                why,
                subject=str(event.vertices[arc.subject]),
                property=event.property_names[arc.property],
                object=str(event.vertices[arc.object]),
            )
        violations.append(why)
    return tuple(violations)


def _legal(name: str, ontology: Ontology) -> list[_Legal]:
    above = ontology.superproperties(name)
    found = [
        _Legal(frozenset({each.subject_class}), frozenset({each.object_class}))
        for each in sorted(ontology.meta_statements)
        if each.property in above
    ]
    if name in ontology.domains or name in ontology.ranges:
        none: frozenset[str] = frozenset()
        found.append(_Legal(ontology.domains.get(name, none), ontology.ranges.get(name, none)))
    return found


def _violation(
    arc: Arc,
    event: EventGraph,
    ontology: Ontology,
    legal: list[_Legal],
    classes: list[frozenset[str]],
) -> str | None:
    name = event.property_names[arc.property]
    subject, object = event.vertices[arc.subject], event.vertices[arc.object]
    if name not in ontology.properties:
        close = suggest(name, ontology.properties.names)
        hint = f"; did you mean <{close}>?" if close else ""
        return f"{subject} <{name}> {object}: the ontology has no such property{hint}"
    if not legal or any(
        each.subject <= classes[arc.subject] and each.object <= classes[arc.object]
        for each in legal
    ):
        return None
    admitted = ", or ".join(str(each) for each in legal)
    return f"{subject} <{name}> {object}: {local_name(name)} is legal from {admitted}"
