"""The definition of a match: one pattern and one event, by naive backtracking.

It maps the vertices of a pattern one statement after the other, tries every arc of the vertex that
is mapped already, and tests classes and filters as soon as their vertices are mapped. No plan, and
names instead of codes: this is what the matchers are held to. It also finds bindings, once it is
known that there are some.

Cost: up to a vertex's arcs to the power of statements. So it counts its steps, an arc that is tried
being one, and past a budget the answer is that it is undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from predicast.graph.entailment import entailed_classes, entailed_properties
from predicast.graph.event_graph import Arc, EventGraph
from predicast.graph.filters import Bound, Filter
from predicast.graph.ontology import Ontology
from predicast.graph.patterns import (
    HOME_VERTEX,
    Alternative,
    GraphPattern,
    PatternVertex,
    StatementPattern,
)
from predicast.graph.terms import Literal, Term, Variable

DEFAULT_BUDGET: Final = 1_000_000  # steps: some seconds


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a pattern matches: yes, no, or, with ``None``, undecided within the budget.

    ``bindings`` are the terms of the selected variables, each combination once, in an order of
    their own; those found so far if it is undecided. A variable of another alternative has none.
    """

    matched: bool | None
    bindings: tuple[tuple[Term | None, ...], ...] = ()
    steps: int = 0


class BudgetSpentError(Exception):
    """The search has taken all the steps that it may."""


def find(
    pattern: GraphPattern,
    event: EventGraph,
    ontology: Ontology,
    *,
    budget: int = DEFAULT_BUDGET,
) -> Outcome:
    """Whether a pattern matches an event, and the bindings if it selects some."""
    search = _Search(event, ontology, injective=pattern.injective, budget=budget)
    found: dict[tuple[Term | None, ...], None] = {}
    matched: bool | None = False
    try:
        for alternative in pattern.alternatives:
            for mapping in search.mappings(alternative):
                matched = True
                if pattern.selected is None:
                    return Outcome(True, (), search.steps)
                row = [mapping.get(name) for name in pattern.selected]
                terms = [None if each is None else event.vertices[each] for each in row]
                found[tuple(terms)] = None
    except BudgetSpentError:
        # A match that was found is one; more bindings may be missing.
        return Outcome(True if matched else None, _sorted(found), search.steps)
    return Outcome(matched, _sorted(found), search.steps)


def mappings(
    alternative: Alternative,
    event: EventGraph,
    ontology: Ontology,
    *,
    injective: bool,
    budget: int = DEFAULT_BUDGET,
) -> Iterator[dict[PatternVertex, int]]:
    """Every mapping of an alternative's vertices to vertices of the event that is a match."""
    return _Search(event, ontology, injective=injective, budget=budget).mappings(alternative)


class _Search:
    def __init__(
        self, event: EventGraph, ontology: Ontology, *, injective: bool, budget: int
    ) -> None:
        self._event = event
        self._classes = entailed_classes(event, ontology)
        self._properties = entailed_properties(event, ontology)
        self._injective = injective
        self._budget = budget
        self.steps = 0
        self._from: dict[int, list[Arc]] = {}
        self._to: dict[int, list[Arc]] = {}
        for arc in event.arcs:
            self._from.setdefault(arc.subject, []).append(arc)
            self._to.setdefault(arc.object, []).append(arc)

    def mappings(self, alternative: Alternative) -> Iterator[dict[PatternVertex, int]]:
        mapping: dict[PatternVertex, int] = {HOME_VERTEX: self._event.home}
        if self._accepts(alternative, mapping, HOME_VERTEX):
            yield from self._extended(_in_order(alternative), alternative, mapping)

    def _extended(
        self,
        statements: list[StatementPattern],
        alternative: Alternative,
        mapping: dict[PatternVertex, int],
    ) -> Iterator[dict[PatternVertex, int]]:
        if not statements:
            yield dict(mapping)
            return
        wanted, later = statements[0], statements[1:]
        for subject, property, object in self._arcs(wanted, mapping):
            self._step()
            if wanted.property not in self._properties[property]:
                continue
            added = self._mapped(alternative, mapping, wanted, (subject, object))
            if added is None:
                continue
            yield from self._extended(later, alternative, mapping)
            for vertex in added:
                del mapping[vertex]

    def _arcs(self, wanted: StatementPattern, mapping: dict[PatternVertex, int]) -> list[Arc]:
        """The arcs at an end of the statement that is mapped; statements come in such an order."""
        if wanted.subject in mapping:
            return self._from.get(mapping[wanted.subject], [])
        return self._to.get(mapping[wanted.object], [])

    def _mapped(
        self,
        alternative: Alternative,
        mapping: dict[PatternVertex, int],
        wanted: StatementPattern,
        ends: tuple[int, int],
    ) -> list[PatternVertex] | None:
        """Map the ends of a statement to those of an arc; which of them are new, or none fits."""
        added: list[PatternVertex] = []
        for vertex, target in zip((wanted.subject, wanted.object), ends, strict=True):
            if vertex in mapping:
                fits = mapping[vertex] == target
            else:
                fits = self._may_be(vertex, target, mapping)
                if fits:
                    mapping[vertex] = target
                    added.append(vertex)
                    fits = self._accepts(alternative, mapping, vertex)
            if not fits:
                for each in added:
                    del mapping[each]
                return None
        return added

    def _may_be(
        self, vertex: PatternVertex, target: int, mapping: dict[PatternVertex, int]
    ) -> bool:
        term = self._event.vertices[target]
        if not isinstance(vertex, Variable) and vertex != term:
            return False
        taken = self._injective and not isinstance(term, Literal)
        return not (taken and target in mapping.values())

    def _accepts(
        self, alternative: Alternative, mapping: dict[PatternVertex, int], new: PatternVertex
    ) -> bool:
        """Whether classes and filters are met that can be tested now that a vertex is mapped."""
        classes = self._classes[mapping[new]]
        if any(each.vertex == new and each.name not in classes for each in alternative.classes):
            return False
        return all(
            each.holds(self._bound(mapping))
            for each in alternative.filters
            if _is_ready(each, mapping, new)
        )

    def _bound(self, mapping: dict[PatternVertex, int]) -> Callable[[Variable], Bound | None]:
        def get(variable: Variable) -> Bound | None:
            target = mapping[variable]
            return Bound(self._event.vertices[target], self._event.values[target])

        return get

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self._budget:
            raise BudgetSpentError


def _is_ready(each: Filter, mapping: dict[PatternVertex, int], new: PatternVertex) -> bool:
    variables = each.variables
    if not variables:
        return new == HOME_VERTEX  # true or false whatever the event: asked once, at the start
    return new in variables and all(variable in mapping for variable in variables)


def _in_order(alternative: Alternative) -> list[StatementPattern]:
    """The statements in an order in which each touches what is mapped before it."""
    mapped: set[PatternVertex] = {HOME_VERTEX}
    left = list(alternative.statements)
    ordered: list[StatementPattern] = []
    while left:
        at = next(
            place
            for place, each in enumerate(left)
            if each.subject in mapped or each.object in mapped
        )
        ordered.append(left.pop(at))
        mapped |= {ordered[-1].subject, ordered[-1].object}
    return ordered


def _sorted(
    found: dict[tuple[Term | None, ...], None],
) -> tuple[tuple[Term | None, ...], ...]:
    return tuple(sorted(found, key=lambda row: [str(each) for each in row]))
