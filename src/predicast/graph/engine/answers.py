"""What an engine of graphs answers: matches, what is undecided, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from predicast.graph.brute_force import BudgetSpentError, mappings
from predicast.graph.event_graph import EventGraph
from predicast.graph.ontology import Ontology
from predicast.graph.patterns import (
    HOME_VERTEX,
    Alternative,
    GraphPattern,
    PatternVertex,
    StatementPattern,
)
from predicast.graph.terms import Term, Variable


class Answer(NamedTuple):
    """The ids of the subscriptions that an event matches, and of those left open; both sorted."""

    matched: list[str]
    undecided: list[str]


@dataclass(frozen=True, slots=True)
class GraphExplanation:
    """Why a pattern matches an event, or why not.

    ``mapping`` says to which vertex each variable was mapped: if it matched, that is a match; if
    not, as far as it went in the alternative that went furthest. ``failed`` is then the first part
    of the pattern that nothing satisfied together with those before it. ``matched`` is ``None`` if
    the budget was spent before that could be said.
    """

    id: str
    matched: bool | None
    mapping: Mapping[Variable, Term]
    failed: str | None = None

    def to_document(self) -> dict[str, Any]:
        """The whole, for JSON."""
        return {
            "id": self.id,
            "matched": self.matched,
            "mapping": {str(name): str(term) for name, term in self.mapping.items()},
            "failed": self.failed,
        }

    def __str__(self) -> str:
        word = {True: "matches", False: "does not match", None: "is undecided"}[self.matched]
        lines = [f"{self.id} {word}"]
        lines += [f"  {variable} is {term}" for variable, term in self.mapping.items()]
        lines += [f"  nothing satisfies {self.failed}"] if self.failed else []
        return "\n".join(lines)


def explained(
    id: str, pattern: GraphPattern, event: EventGraph, ontology: Ontology, budget: int
) -> GraphExplanation:
    """Why the pattern matches, or why not; each part of it is tried within the budget."""
    furthest, best = -1, GraphExplanation(id, False, {}, "an alternative: there is none")
    for alternative in pattern.alternatives:
        trial = _Trial(event, ontology, pattern.injective, budget)
        try:
            parts, mapping, failed = trial.run(alternative)
        except BudgetSpentError:
            return GraphExplanation(id, None, {})
        terms = {
            vertex: event.vertices[target]
            for vertex, target in mapping.items()
            if isinstance(vertex, Variable)
        }
        if failed is None:
            return GraphExplanation(id, True, terms)
        if parts > furthest:
            furthest, best = parts, GraphExplanation(id, False, terms, failed)
    return best


class _Trial:
    """An alternative that is made longer part by part, until nothing satisfies it."""

    def __init__(self, event: EventGraph, ontology: Ontology, injective: bool, budget: int) -> None:
        self._event, self._ontology = event, ontology
        self._injective, self._budget = injective, budget

    def run(self, alternative: Alternative) -> tuple[int, Mapping[PatternVertex, int], str | None]:
        """How many parts were satisfied, the mapping that does it, and the part that failed."""
        mapping: Mapping[PatternVertex, int] = {HOME_VERTEX: self._event.home}
        parts = 0
        for shorter, part in _growing(alternative):
            found = self._mapping(shorter)
            if found is None:
                return parts, mapping, part
            mapping, parts = found, parts + 1
        return parts, mapping, None

    def _mapping(self, alternative: Alternative) -> Mapping[PatternVertex, int] | None:
        found = mappings(
            alternative,
            self._event,
            self._ontology,
            injective=self._injective,
            budget=self._budget,
        )
        return next(found, None)


def _growing(alternative: Alternative) -> Iterator[tuple[Alternative, str]]:
    """The alternative's beginnings, each with the part that it ends with."""
    statements: list[StatementPattern] = []
    classes, filters = [*alternative.classes], [*alternative.filters]
    held = Alternative()
    known: set[PatternVertex] = {HOME_VERTEX}
    left = [*alternative.statements]
    while True:
        for each in [each for each in classes if each.vertex in known]:
            classes.remove(each)
            held = Alternative(tuple(statements), (*held.classes, each), held.filters)
            yield held, str(each)
        for test in [test for test in filters if known.issuperset(test.variables)]:
            filters.remove(test)
            held = Alternative(tuple(statements), held.classes, (*held.filters, test))
            yield held, f"FILTER({test})"
        following = next(
            (each for each in left if each.subject in known or each.object in known), None
        )
        if following is None:
            return
        left.remove(following)
        statements.append(following)
        known |= {following.subject, following.object}
        held = Alternative(tuple(statements), held.classes, held.filters)
        yield held, str(following)
