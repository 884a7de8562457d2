"""Graph matchers against the definition, and the definition against another engine of SPARQL.

A round is a small world of its own (``predicast.testing.graphs``): an ontology with several
parents, cycles and equivalences, patterns in SPARQL and in the paper's form, with filters, and
events with several types per vertex and arcs that lead back. Patterns come, change and go, and
half-way the ontology grows. A decision is one event and one subscription, answered by a
contender and by the definition (``graph/brute_force.py``); what the definition says is itself
compared with pyoxigraph over all that follows from the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from time import perf_counter
from typing import Final, NamedTuple

from bench.measuring.machine import this_machine
from predicast.errors import UnsupportedByMatcherError
from predicast.graph import EventGraph, GraphEngine, GraphPattern, Ontology, parse_pattern
from predicast.graph.brute_force import find
from predicast.testing.graphs import GraphWorld
from tests.differential.results import DifferentialReport, FamilyResult
from tests.properties.entailed_twin import EntailedTwin

GRAPHS: Final = "graphs"
CONTENDERS: Final = ("joins", "ops")
REFERENCE: Final = "pyoxigraph"
_PATTERNS: Final = 24
_LATE: Final = 8  # of them come, and as many others change or go, when the ontology grows
_EVENTS: Final = 12
_BUDGET: Final = 10_000_000  # steps: nothing is to be left undecided


class Query(NamedTuple):
    """A subscription as engines are given it, and in the SPARQL of other engines."""

    text: str
    sparql: str


class _Difference(Exception):  # noqa: N818  # what the run is looking for
    """Two answers about one event and one subscription."""


def run_graphs(
    *,
    decisions: int,
    seed: int,
    advance: Callable[[int], None] = lambda _: None,
    contenders: Sequence[str] = CONTENDERS,
) -> DifferentialReport:
    """At least so many decisions of each contender, and of the definition beside pyoxigraph."""
    report = DifferentialReport(this_machine(), ", ".join(contenders), decisions, seed)
    results = {name: FamilyResult(f"{GRAPHS}: {name}") for name in (*contenders, REFERENCE)}
    report.families += results.values()
    while min(each.decisions for each in report.families) < decisions:
        number = report.families[0].rounds
        before = report.families[0].decisions
        try:
            _Round(Random(f"{seed} {GRAPHS} {number}"), results).run()
        except _Difference as found:
            report.difference = f"{GRAPHS}, seed {seed}, round {number}: {found}"
            return report
        for each in report.families:
            each.rounds += 1
        advance(report.families[0].decisions - before)
    return report


class _Round:
    """One world, and what is asked about it."""

    def __init__(self, chance: Random, results: dict[str, FamilyResult]) -> None:
        self._chance = chance
        self._world = GraphWorld(chance)
        self._results = results
        self._text = self._world.ontology_text
        self._ontology = Ontology.parse(self._text)
        self._held: dict[str, Query] = {}
        names = [name for name in results if name != REFERENCE]
        self._engines = {
            name: GraphEngine(self._ontology, matcher=name, budget=_BUDGET) for name in names
        }

    def run(self) -> None:
        for number in range(_PATTERNS - _LATE):
            self._subscribe(f"s{number:02}")
        self._ask()
        self._grow()
        for id in self._chance.sample(sorted(self._held), _LATE):
            if self._chance.random() < 0.5:
                self._unsubscribe(id)
            else:
                self._subscribe(id)
        for number in range(_PATTERNS - _LATE, _PATTERNS):
            self._subscribe(f"s{number:02}")
        self._ask()

    def _subscribe(self, id: str) -> None:
        """A new subscription, or another under an id that is taken."""
        if self._chance.random() < 0.5:
            query = Query(*2 * (self._world.sparql(),))
        else:
            query = Query(*self._world.statements())
        self._held[id] = query
        for name, engine in self._engines.items():
            try:
                engine.subscribe(query.text, id=id, replace=True)
            except UnsupportedByMatcherError:  # what was there before is to be gone, too
                if id in engine:
                    engine.unsubscribe(id)
            self._results[name].changes += 1

    def _unsubscribe(self, id: str) -> None:
        del self._held[id]
        for name, engine in self._engines.items():
            if id in engine:
                engine.unsubscribe(id)
            self._results[name].changes += 1

    def _grow(self) -> None:
        """The ontology says more from now on."""
        more = GraphWorld(self._chance).ontology_text
        self._text += "\n" + more
        self._ontology = self._ontology.extend(more)
        for engine in self._engines.values():
            engine.extend(more)

    def _ask(self) -> None:
        texts = [self._world.event_text() for _ in range(_EVENTS)]
        events = [EventGraph.parse(text, self._ontology) for text in texts]
        patterns = {
            id: parse_pattern(query.text, self._ontology) for id, query in self._held.items()
        }
        expected = [self._defined(event, patterns) for event in events]
        for name, engine in self._engines.items():
            start = perf_counter()
            answers = [set(ids) for ids in engine.match_batch(events)]
            for event, text, here, answer in zip(events, texts, expected, answers, strict=True):
                self._compare(name, text, here & {*engine}, answer)
                alone = engine.decide(event)
                self._compare(name, text, here & {*engine}, set(alone.matched), alone.undecided)
            self._note(name, len(events) * len(engine), answers, start)
        start = perf_counter()
        answers = [self._of_reference(text) for text in texts]
        for text, here, answer in zip(texts, expected, answers, strict=True):
            self._compare(REFERENCE, text, here, answer)
        self._note(REFERENCE, len(events) * len(self._held), answers, start)

    def _defined(self, event: EventGraph, patterns: dict[str, GraphPattern]) -> set[str]:
        return {
            id
            for id, pattern in patterns.items()
            if find(pattern, event, self._ontology, budget=_BUDGET).matched
        }

    def _of_reference(self, text: str) -> set[str]:
        twin = EntailedTwin(self._text, text)
        return {id for id, query in self._held.items() if twin.ask(query.sparql)}

    def _note(self, name: str, decisions: int, answers: Iterable[set[str]], start: float) -> None:
        result = self._results[name]
        result.decisions += decisions
        result.matches += sum(map(len, answers))
        result.seconds += perf_counter() - start

    def _compare(
        self,
        name: str,
        event: str,
        expected: set[str],
        found: set[str],
        undecided: Sequence[str] = (),
    ) -> None:
        for id in sorted((expected ^ found) | {*undecided}):
            self._results[name].differences += 1
            said = "undecided" if id in undecided else "a match" if id in found else "none"
            raise _Difference(
                f"{name} says {said} of {id}\n{self._held[id].text}\n"
                f"the event\n{event}\nthe ontology\n{self._text}"
            )
