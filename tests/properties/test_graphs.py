"""The definition of a graph match against another engine, on random worlds."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from predicast.graph import EventGraph, GraphPattern, Ontology, parse_pattern
from predicast.graph.brute_force import find
from predicast.graph.matching.ops.matcher import OntologyMatcher
from predicast.testing.graphs import GraphWorld
from tests.properties.entailed_twin import EntailedTwin

EVENTS = 3
PATTERNS = 12


@given(st.integers(0, 2**32))
def test_sparql_is_answered_as_over_all_that_follows(seed: int) -> None:
    world = GraphWorld(Random(seed))
    ontology = Ontology.parse(world.ontology_text)
    events = [world.event_text() for _ in range(EVENTS)]
    queries = [world.sparql() for _ in range(PATTERNS)]
    for event_text in events:
        event = EventGraph.parse(event_text, ontology)
        twin = EntailedTwin(world.ontology_text, event_text)
        for query in queries:
            pattern = parse_pattern(query, ontology)
            outcome = find(pattern, event, ontology, budget=10_000_000)
            expected = twin.ask(query)
            where = f"\n{world.ontology_text}\n{event_text}\n{query}\n{pattern.alternatives}"
            if isinstance(expected, bool):
                assert outcome.matched is expected, where
            else:
                rows = [tuple(t and str(t) for t in row) for row in outcome.bindings]
                assert rows == expected, where
                assert outcome.matched is bool(expected), where


@given(st.integers(0, 2**32))
def test_statement_patterns_give_every_vertex_one_of_its_own(seed: int) -> None:
    world = GraphWorld(Random(seed))
    ontology = Ontology.parse(world.ontology_text)
    patterns = [world.statements() for _ in range(PATTERNS)]
    for event_text in [world.event_text() for _ in range(EVENTS)]:
        event = EventGraph.parse(event_text, ontology)
        twin = EntailedTwin(world.ontology_text, event_text)
        for written in patterns:
            outcome = find(parse_pattern(written.text, ontology), event, ontology, budget=10**7)
            where = f"\n{world.ontology_text}\n{event_text}\n{written.text}\n{written.sparql}"
            assert outcome.matched is twin.ask(written.sparql), where


@given(st.integers(0, 2**32))
def test_the_papers_matcher_answers_as_defined(seed: int) -> None:
    random = Random(seed)
    world = GraphWorld(random)
    ontology = Ontology.parse(world.ontology_text)
    matcher = OntologyMatcher(ontology)
    held: dict[int, GraphPattern] = {}
    for step in range(40):
        key = random.randrange(20)
        text = world.sparql() if random.random() < 0.4 else world.statements().text
        if key in held and step % 3 == 0:
            matcher.unsubscribe(key)
            del held[key]
        elif is_reached(pattern := parse_pattern(text, ontology)):
            (matcher.change if key in held else matcher.subscribe)(key, pattern)
            held[key] = pattern
        if step % 10 == 9:
            event = EventGraph.parse(world.event_text(), ontology)
            expected = [
                key
                for key, each in held.items()
                if find(each, event, ontology, budget=10**7).matched
            ]
            assert sorted(matcher.find(event).keys) == sorted(expected), world.ontology_text
            assert not matcher.find(event).undecided


def is_reached(pattern: GraphPattern) -> bool:
    """Whether the paper's matcher reaches all vertices of a pattern."""
    return all(
        vertex in alternative.reached(along=True)
        for alternative in pattern.alternatives
        for vertex in alternative.vertices()
    )
