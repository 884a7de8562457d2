"""The definition of a graph match against another engine, on random worlds."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.errors import UnsupportedByMatcherError
from predicast.graph import EventGraph, GraphPattern, Ontology, parse_pattern
from predicast.graph.brute_force import find
from predicast.graph.matching import PatternDelta, graph_matcher_names, make_graph_matcher
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


@pytest.mark.parametrize("name", sorted(set(graph_matcher_names()) - {"brute-force"}))
@given(seed=st.integers(0, 2**32))
def test_matchers_answer_as_defined_while_patterns_come_and_go(name: str, seed: int) -> None:
    random = Random(seed)
    world = GraphWorld(random)
    ontology = Ontology.parse(world.ontology_text)
    matcher = make_graph_matcher(name, ontology)
    held: dict[int, GraphPattern] = {}
    for step in range(30):
        key = random.randrange(20)
        text = world.sparql() if random.random() < 0.4 else world.statements().text
        if key in held and step % 3 == 0:
            matcher.apply(PatternDelta(removed=[key]), held.__getitem__)
            del held[key]
        else:
            pattern = parse_pattern(text, ontology)
            one = [(key, pattern)]
            delta = PatternDelta(changed=one) if key in held else PatternDelta(added=one)
            try:
                matcher.apply(delta, held.__getitem__)
            except UnsupportedByMatcherError:
                continue
            held[key] = pattern
        if step % 10 == 9:
            event = EventGraph.parse(world.event_text(), ontology)
            expected = [key for key, each in held.items() if find(each, event, ontology).matched]
            found = matcher.find(event)
            assert sorted(found.keys) == sorted(expected), f"\n{world.ontology_text}"
            assert not found.undecided
        if step == 15:
            ontology = ontology.extend(GraphWorld(random).ontology_text)
            matcher.understand(ontology)
