"""``EventArrays``: what subscriptions mention of some events, closed under the ontology, as arrays.

An arc stands here once for each property that follows from its own, and each of them both ways. A
vertex has the kinds of all classes that follow, of its term, and of the conditions that it passes.
What no arc leads to or from that somebody mentions is left out, but for the home vertex, which is
the first one.

What follows from a name is worked out once and kept, until something is mentioned for the first
time or the ontology is another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.graph.event_graph import EventGraph
from predicast.graph.filters import Bound
from predicast.graph.matching.joins.conditions import AskedConditions
from predicast.graph.matching.joins.vocabulary import Vocabulary
from predicast.graph.names import THING
from predicast.graph.ontology import Ontology
from predicast.graph.terms import Iri, Literal, Term

_MOST_NAMES: Final = 1 << 17  # that are remembered; events may name anything


class EventArrays(NamedTuple):
    """Events side by side, their arcs and kinds in codes of the vocabulary."""

    arc_first: Array  # where the arcs of each event begin
    arcs: Array  # (link, from, to)
    kind_first: Array  # where the kinds of each event begin
    kinds: Array  # (kind, vertex)
    vertex_first: Array  # where the vertices of each event begin
    is_literal: Array  # by vertex


class Closure:
    """What follows from names, in the codes of a vocabulary."""

    def __init__(self, ontology: Ontology, vocabulary: Vocabulary) -> None:
        self.ontology = ontology
        self.size = vocabulary.size
        self._vocabulary = vocabulary
        self._properties: dict[str, tuple[int, ...]] = {}
        self._classes: dict[str, frozenset[int]] = {}
        self._datatypes: dict[str, frozenset[int]] = {}
        self._sides: dict[str, tuple[frozenset[int], frozenset[int]]] = {}
        self.of_thing: frozenset[int] = self._coded(ontology.superclasses(THING))

    @property
    def is_full(self) -> bool:
        """Whether events have named so much that it is time to begin anew."""
        return len(self._properties) + len(self._classes) + len(self._datatypes) > _MOST_NAMES

    def _coded(self, names: Iterable[str]) -> frozenset[int]:
        codes = self._vocabulary.classes
        return frozenset([codes[name] for name in names if name in codes])

    def properties(self, name: str) -> tuple[int, ...]:
        """The codes of what holds wherever a property does."""
        found = self._properties.get(name)
        if found is None:
            codes, above = self._vocabulary.properties, self.ontology.superproperties(name)
            found = self._properties[name] = tuple([codes[each] for each in above if each in codes])
        return found

    def classes(self, name: str) -> frozenset[int]:
        """The kinds of whatever is of a class."""
        found = self._classes.get(name)
        if found is None:
            found = self._classes[name] = self._coded(self.ontology.superclasses(name))
        return found

    def sides(self, name: str) -> tuple[frozenset[int], frozenset[int]]:
        """The kinds of what has a property, and of what is its value."""
        found = self._sides.get(name)
        if found is None:
            ontology = self.ontology
            domain, range_ = ontology.domains.get(name, ()), ontology.ranges.get(name, ())
            found = self._sides[name] = self._above(domain), self._above(range_)
        return found

    def _above(self, names: Iterable[str]) -> frozenset[int]:
        return frozenset().union(*[self.classes(name) for name in names])

    def literal(self, term: Literal) -> frozenset[int]:
        """The kinds that a literal has by its datatype."""
        found = self._datatypes.get(term.datatype)
        if found is None:
            found = self._datatypes[term.datatype] = self._coded(self.ontology.classes_of(term))
        return found

    def individual(self, term: Iri) -> frozenset[int]:
        """The kinds that a resource has by its name, besides being a thing."""
        return self._above(self.ontology.individuals.get(term.value, ()))

    def terms(self) -> dict[Term, int]:
        """The terms that somebody mentions, with their kinds."""
        return self._vocabulary.terms


class _Encoder:
    """Events on their way to arrays."""

    def __init__(self, closure: Closure, conditions: AskedConditions | None) -> None:
        self._closure, self._conditions = closure, conditions
        self._arcs: list[int] = []
        self._kinds: list[int] = []
        self._literals: list[bool] = []
        self._ends: list[tuple[int, int, int]] = [(0, 0, 0)]
        # Vertices with the links that lead to them, and where their kinds belong.
        self._asked: list[tuple[Bound, set[int]]] = []
        self._asked_at: list[tuple[int, int]] = []

    def add(self, event: EventGraph) -> None:
        """Encode one more event."""
        names = [self._closure.properties(name) for name in event.property_names]
        number = {event.home: 0}
        arcs = self._arcs
        for subject, name, object in event.arcs:
            codes = names[name]
            if codes:
                source = number.setdefault(subject, len(number))
                target = number.setdefault(object, len(number))
                for code in codes:
                    arcs += (2 * code, source, target, 2 * code + 1, target, source)
        self._add_kinds(event, number)
        if self._conditions is not None:
            self._ask(event, number, self._conditions)
        self._literals += [type(event.vertices[vertex]) is Literal for vertex in number]
        self._ends.append((len(arcs) // 3, len(self._kinds) // 2, len(self._literals)))

    def _add_kinds(self, event: EventGraph, number: dict[int, int]) -> None:
        closure, terms = self._closure, self._closure.terms()
        of_class = [closure.classes(name) for name in event.class_names]
        sides = self._by_sides(event)
        of_thing, individuals = closure.of_thing, closure.ontology.individuals
        kinds = self._kinds
        for vertex, mine in number.items():
            term = event.vertices[vertex]
            if type(term) is Literal:
                found = closure.literal(term)
            else:
                found = of_thing
                if individuals and type(term) is Iri:
                    found |= closure.individual(term)
            for place in event.types[vertex]:
                found |= of_class[place]
            if sides:
                found |= sides.get(vertex, frozenset())
            if terms and term in terms:
                found |= {terms[term]}
            for kind in found:
                kinds += (kind, mine)

    def _by_sides(self, event: EventGraph) -> dict[int, frozenset[int]]:
        """The kinds that vertices have by the properties that lead from and to them."""
        names = [self._closure.sides(name) for name in event.property_names]
        found: dict[int, frozenset[int]] = {}
        if not any(domain or range_ for domain, range_ in names):
            return found
        for subject, name, object in event.arcs:
            domain, range_ = names[name]
            if domain:
                found[subject] = found.get(subject, frozenset()) | domain
            if range_ and type(event.vertices[object]) is not Literal:
                found[object] = found.get(object, frozenset()) | range_
        return found

    def _ask(self, event: EventGraph, number: dict[int, int], asked: AskedConditions) -> None:
        """Note what conditions must be asked of."""
        begin = 3 * self._ends[-1][0]
        links: dict[int, set[int]] = {}
        arcs = self._arcs
        for at in range(begin, len(arcs), 3):
            if arcs[at] in asked.facets:
                links.setdefault(arcs[at + 2], set()).add(arcs[at])
        if links:
            for vertex, mine in number.items():
                if mine in links:
                    bound = Bound(event.vertices[vertex], event.values[vertex])
                    self._asked.append((bound, links[mine]))
                    self._asked_at.append((len(self._ends) - 1, mine))

    def arrays(self) -> EventArrays:
        """All of them."""
        ends = np.array(self._ends, np.int64)
        kind_first = ends[:, 1]
        kinds = np.array(self._kinds, np.int32).reshape(-1, 2)
        if self._asked:
            kinds, kind_first = self._with_conditions(kinds, kind_first)
        return EventArrays(
            ends[:, 0].copy(),
            np.array(self._arcs, np.int32).reshape(-1, 3),
            kind_first.copy(),
            kinds,
            ends[:, 2].copy(),
            np.array(self._literals, bool),
        )

    def _with_conditions(self, kinds: Array, kind_first: Array) -> tuple[Array, Array]:
        assert self._conditions is not None
        passed = self._conditions.passed(self._asked)
        at = np.array(self._asked_at, np.int32)[passed.events]
        added = np.stack([passed.keys.astype(np.int32), at[:, 1]], axis=1)
        events = np.repeat(np.arange(len(kind_first) - 1), np.diff(kind_first))
        events = np.concatenate([events, at[:, 0]])
        order = np.argsort(events, kind="stable")
        first = np.searchsorted(events[order], np.arange(len(kind_first))).astype(np.int64)
        return np.concatenate([kinds, added])[order], first


def encoded(
    events: Sequence[EventGraph], closure: Closure, conditions: AskedConditions | None
) -> EventArrays:
    """What is mentioned of some events."""
    encoder = _Encoder(closure, conditions)
    for event in events:
        encoder.add(event)
    return encoder.arrays()
