"""Brute force: the definition of a match, asked for each subscription. The oracle of the others."""

from __future__ import annotations

from typing import ClassVar

from predicast.graph.brute_force import find
from predicast.graph.event_graph import EventGraph
from predicast.graph.matching.matcher import DEFAULT_BUDGET, Found, OneByOneGraphMatcher
from predicast.graph.ontology import Ontology
from predicast.graph.patterns import GraphPattern


class BruteForce(OneByOneGraphMatcher):
    """Patterns by key, and no structure at all."""

    name: ClassVar[str] = "brute-force"

    def __init__(self, ontology: Ontology, *, budget: int = DEFAULT_BUDGET) -> None:
        super().__init__(ontology, budget=budget)
        self._patterns: dict[int, GraphPattern] = {}
        self._steps = self._undecided = 0

    def subscribe(self, key: int, subscription: GraphPattern) -> None:
        self._patterns[key] = subscription

    def unsubscribe(self, key: int) -> None:
        del self._patterns[key]

    def change(self, key: int, subscription: GraphPattern) -> None:
        self._patterns[key] = subscription

    def find(self, event: EventGraph) -> Found:
        found = Found([], [])
        for key, pattern in self._patterns.items():
            outcome = find(pattern, event, self.ontology, budget=self.budget)
            self._steps += outcome.steps
            if outcome.matched is None:
                found.undecided.append(key)
                self._undecided += 1
            elif outcome.matched:
                found.keys.append(key)
        return found

    def statistics(self) -> dict[str, int]:
        return {
            "subscriptions": len(self._patterns),
            "steps": self._steps,
            "undecided": self._undecided,
        }
