"""``GraphMatcher``: what every algorithm that matches event graphs offers.

It is a matcher like any other (``predicast.matching.matcher``): it holds subscriptions under keys,
here patterns, takes the same unit of change, and says which keys an event matches. Two things are
its own. It knows an *ontology*, by which events are read, and which may be another one from some
event on. And it may leave open whether a pattern matches, since that can take very long: past a
*budget* of steps per event and subscription the answer is that it is undecided.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from predicast.graph.event_graph import EventGraph
from predicast.graph.ontology import Ontology
from predicast.graph.patterns import GraphPattern
from predicast.matching.delta import DeltaOf
from predicast.matching.matcher import MatcherOf, OneByOneOf, ViewOf

DEFAULT_BUDGET: Final = 100_000  # steps per event and subscription: some milliseconds


class Found(NamedTuple):
    """What became of the subscriptions for one event; all others do not match."""

    keys: list[int]  # in any order, each once
    undecided: list[int]


@dataclass(slots=True)
class PatternDelta(DeltaOf[GraphPattern, GraphPattern]):
    """Keys that are gone, that are new, and that stand for another pattern than before."""

    def all_added(self) -> Iterator[tuple[int, GraphPattern]]:
        return iter(self.added)

    def all_changed(self) -> Iterator[tuple[int, GraphPattern]]:
        return iter(self.changed)


class GraphView(ViewOf[EventGraph]):
    """What can be asked: which patterns an event matches, and which are undecided."""

    @abstractmethod
    def find(self, event: EventGraph) -> Found:
        """What becomes of the subscriptions for one event."""

    def find_batch(self, events: Sequence[EventGraph]) -> list[Found]:
        """The same for each of many."""
        return [self.find(event) for event in events]

    def match(self, event: EventGraph) -> list[int]:
        return self.find(event).keys


class GraphMatcher(GraphView, MatcherOf[EventGraph, PatternDelta, GraphPattern]):
    """A data structure that holds patterns and finds those that an event matches."""

    def __init__(self, ontology: Ontology, *, budget: int = DEFAULT_BUDGET) -> None:
        self.ontology = ontology
        self.budget = budget

    def view(self) -> GraphView:
        """What is held now, to be asked."""
        return self

    def understand(self, ontology: Ontology) -> None:
        """Read events by another ontology from now on; all subscriptions stay."""
        self.ontology = ontology


class OneByOneGraphMatcher(OneByOneOf[EventGraph, PatternDelta, GraphPattern], GraphMatcher):
    """A graph matcher whose structure takes patterns one by one."""
