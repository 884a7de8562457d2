"""Every graph matcher answers as the definition does, while subscriptions change."""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.errors import UnsupportedByMatcherError
from predicast.graph import EventGraph, GraphPattern, Ontology, parse_pattern
from predicast.graph.matching import (
    GraphMatcher,
    PatternDelta,
    graph_matcher_names,
    make_graph_matcher,
)
from predicast.graph.matching.joins import loops, warming_up
from predicast.testing.graphs import GraphWorld

OTHERS = [name for name in graph_matcher_names() if name != "brute-force"]


@pytest.fixture(scope="module", params=["compiled", "plain"])
def each_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    warming_up.wait()
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "plain":
            patch.setattr(loops, "now", loops.PLAIN)
        yield


def some_pattern(world: GraphWorld, random: Random, ontology: Ontology) -> GraphPattern:
    text = world.sparql() if random.random() < 0.6 else world.statements().text
    return parse_pattern(text, ontology)


def some_change(
    held: dict[int, GraphPattern], world: GraphWorld, random: Random, ontology: Ontology
) -> PatternDelta:
    """New patterns, and others in the place of some that are held; some of those go."""
    touched = random.sample(sorted(held), min(len(held), random.randint(0, 6)))
    first = max(held, default=-1) + 1
    changed, removed = touched[: len(touched) // 2], touched[len(touched) // 2 :]
    count = random.choice((1, 3, 30))
    return PatternDelta(
        removed,
        [(first + new, some_pattern(world, random, ontology)) for new in range(count)],
        [(key, some_pattern(world, random, ontology)) for key in changed],
    )


def applied(held: dict[int, GraphPattern], delta: PatternDelta) -> dict[int, GraphPattern]:
    kept = {key: pattern for key, pattern in held.items() if key not in delta.removed}
    return {**kept, **dict(delta.added), **dict(delta.changed)}


def check_alike(matcher: GraphMatcher, oracle: GraphMatcher, events: list[EventGraph]) -> None:
    for found, expected in zip(matcher.find_batch(events), oracle.find_batch(events), strict=True):
        assert sorted(found.keys) == sorted(expected.keys)
        assert found.undecided == expected.undecided == []


@pytest.mark.usefixtures("each_loop")
@given(st.randoms(use_true_random=False))
def test_joins_answers_as_the_definition_does(random: Random) -> None:
    world = GraphWorld(random)
    ontology = Ontology.parse(world.ontology_text, "turtle")
    matcher, oracle = (make_graph_matcher(name, ontology) for name in ("joins", "brute-force"))
    held: dict[int, GraphPattern] = {}
    for _ in range(3):
        delta = some_change(held, world, random, ontology)
        for each in (matcher, oracle):
            each.apply(delta, held.__getitem__)
        held = applied(held, delta)
        if random.random() < 0.3:
            matcher.settle()
        if random.random() < 0.3:
            ontology = ontology.extend(GraphWorld(random).ontology_text, "turtle")
            for each in (matcher, oracle):
                each.understand(ontology)
        texts = [world.event_text() for _ in range(3)]
        check_alike(
            matcher, oracle, [EventGraph.parse(text, ontology, format="turtle") for text in texts]
        )


@pytest.mark.parametrize("name", OTHERS)
@given(st.randoms(use_true_random=False))
def test_a_matcher_answers_as_the_definition_does_or_refuses(name: str, random: Random) -> None:
    world = GraphWorld(random)
    ontology = Ontology.parse(world.ontology_text, "turtle")
    matcher, oracle = (make_graph_matcher(each, ontology) for each in (name, "brute-force"))
    for key in range(20):
        delta = PatternDelta(added=[(key, some_pattern(world, random, ontology))])
        try:
            matcher.apply(delta, dict(delta.added).__getitem__)
        except UnsupportedByMatcherError:
            continue
        oracle.apply(delta, dict(delta.added).__getitem__)
    texts = [world.event_text() for _ in range(3)]
    check_alike(
        matcher, oracle, [EventGraph.parse(text, ontology, format="turtle") for text in texts]
    )


def test_a_view_lasts_while_the_matcher_changes() -> None:
    ontology = Ontology()
    text = "ASK {{ <urn:predicast:home> <urn:p> ?x . ?x <urn:q> {} }}"
    matcher = make_graph_matcher("joins", ontology)
    event = EventGraph.parse(
        "<urn:predicast:home> <urn:p> _:x . _:x <urn:q> 1, 2 .", format="turtle"
    )
    first = [(key, parse_pattern(text.format(key), ontology)) for key in range(4)]
    matcher.apply(PatternDelta(added=first), dict(first).__getitem__)
    before = matcher.view()
    more = [(key, parse_pattern(text.format(key % 4), ontology)) for key in range(4, 400)]
    matcher.apply(PatternDelta(removed=[1], added=more), dict(first).__getitem__)
    assert sorted(before.match(event)) == [1, 2]
    found = matcher.view().match(event)
    assert sorted(found) == [key for key in range(400) if key % 4 in {1, 2} and key != 1]
    assert matcher.statistics()["segments"] == 1


@pytest.mark.usefixtures("each_loop")
@pytest.mark.parametrize("vertices", [63, 64, 65, 200, 1_500])
def test_events_of_any_size(vertices: int) -> None:
    """A chain from the home vertex, with one arc back and one literal at its end."""
    ontology = Ontology()
    said = [f"_:v{number} <urn:next> _:v{number + 1} ." for number in range(vertices - 2)]
    said += ["<urn:predicast:home> <urn:next> _:v0 .", "_:v2 <urn:back> _:v0 ."]
    said += [f"<urn:predicast:home> <urn:to> _:v{vertices - 2} ."]
    said += [f'_:v{vertices - 2} <urn:name> "last" .', '_:v0 <urn:name> "first" .']
    event = EventGraph.parse("\n".join(said), format="turtle")
    texts = (
        'ASK { <urn:predicast:home> <urn:to> ?x . ?x <urn:name> "last" }',
        'ASK { <urn:predicast:home> <urn:to> ?x . ?x <urn:name> "first" }',
        "ASK { _:H <urn:next> ?a . ?a <urn:next>/<urn:next> ?b . ?b <urn:back> ?a }",
        "ASK { <urn:predicast:home> <urn:next> ?a . ?a <urn:next> ?b . ?b <urn:back> ?a }",
        "(_:H, ?a, (<urn:T>, <urn:next>, <urn:T>))",
        "ASK { <urn:predicast:home> <urn:to> ?x . ?y <urn:next> ?x . FILTER(?x != ?y) }",
    )
    matcher = make_graph_matcher("joins", ontology)
    patterns = [*enumerate(parse_pattern(text, ontology) for text in texts)]
    matcher.apply(PatternDelta(added=patterns), dict(patterns).__getitem__)
    assert sorted(matcher.match(event)) == [0, 2, 5]
