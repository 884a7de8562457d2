"""Events, patterns and ontologies that are hard: an answer, or an error that says why not."""

from typing import Any

import pyarrow as pa
import pytest

from predicast.errors import (
    GraphTooLargeError,
    InvalidEventGraphError,
    InvalidOptionError,
    InvalidRdfError,
    JsonFormError,
    NestingTooDeepError,
    ParseError,
    PredicastError,
)
from predicast.graph import EventGraph, GraphEngine, Ontology, event_graph
from predicast.graph.matching import graph_matcher_names

MATCHERS = graph_matcher_names()
PREFIXES = """
@prefix : <urn:x:> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def engine_of(matcher: str, *queries: str, ontology: str = "", budget: int = 20_000) -> GraphEngine:
    made = GraphEngine(Ontology.parse(PREFIXES + ontology), matcher=matcher, budget=budget)
    made.subscribe_many({f"q{number}": query for number, query in enumerate(queries)})
    return made


@pytest.fixture(scope="module")
def large() -> EventGraph:
    """A hundred thousand statements: a chain from the home vertex, with numbers along it."""
    links = (f"<urn:x:{n}> <urn:x:to> <urn:x:{n + 1}> ." for n in range(50_000))
    values = (f'<urn:x:{n}> <urn:x:value> "{n % 97}" .' for n in range(49_999))
    text = "\n".join(["<urn:predicast:home> <urn:x:to> <urn:x:0> .", *links, *values])
    return EventGraph.parse(text, format="n-triples")


@pytest.mark.parametrize("matcher", MATCHERS)
def test_an_event_of_a_hundred_thousand_statements_is_answered(
    matcher: str, large: EventGraph
) -> None:
    assert len(large.arcs) == 100_000
    engine = engine_of(
        matcher,
        'ASK { _:H :to ?a . ?a :to ?b . ?b :value "1" }',
        'ASK { _:H :to ?a . ?a :to ?b . ?b :value "2" }',
        "ASK { _:H :to/:to/:to ?a . ?a :value ?v FILTER(?v = '2') }",
    )
    assert engine.decide(large) == (["q0", "q2"], [])


@pytest.mark.parametrize("matcher", MATCHERS)
def test_a_star_is_answered_or_undecided_and_the_others_are_answered(matcher: str) -> None:
    leaves = ", ".join(f"_:v{number}" for number in range(40))
    arms = " . ".join(f"_:H :p ?x{number} . ?x{number} :q ?y" for number in range(12))
    engine = engine_of(
        matcher, f"ASK {{ {arms} }}", "ASK { _:H :p ?x }", "ASK { _:H :p ?x . ?x :q ?y }"
    )
    matched, undecided = engine.decide(f"{PREFIXES} _:H :p {leaves} .")
    assert matched == ["q1"]
    assert set(undecided) <= {"q0"}


@pytest.mark.parametrize("matcher", MATCHERS)
def test_classes_and_properties_in_long_cycles_are_one_each(matcher: str) -> None:
    cycle = "".join(
        f":C{n} rdfs:subClassOf :C{(n + 1) % 500} . :p{n} rdfs:subPropertyOf :p{(n + 1) % 500} .\n"
        for n in range(500)
    )
    engine = engine_of(matcher, "ASK { _:H :p7 ?x . ?x a :C499 }", ontology=cycle)
    assert engine.match(f"{PREFIXES} _:H :p250 [ a :C3 ] .") == ["q0"]
    assert engine.match(f"{PREFIXES} _:H :p250 [ a :D ] .") == []


@pytest.mark.parametrize("matcher", MATCHERS)
def test_regular_expressions_take_time_that_is_linear_in_the_text(matcher: str) -> None:
    """One that goes back over what it has read would take longer than there is time."""
    engine = engine_of(
        matcher,
        "ASK { _:H :p ?x FILTER REGEX(?x, '^(a+)+$') }",
        "ASK { _:H :p ?x FILTER REGEX(?x, '(a|aa)+b') }",
        "ASK { _:H :p ?x FILTER REGEX(?x, '!$') }",
    )
    assert engine.match(f'{PREFIXES} _:H :p "{"a" * 20_000}!" .') == ["q2"]


def test_a_regular_expression_that_would_take_too_much_room_is_refused() -> None:
    with pytest.raises(ParseError, match=r"column 24: .*invalid repetition size"):
        engine_of("joins", "ASK { _:H :p ?x FILTER REGEX(?x, '((a{100}){100}){100}') }")


@pytest.mark.parametrize(
    ("event", "error"),
    [
        ("_:H :p ?x .", InvalidRdfError),
        ("@prefix : <urn:x:> . _:a :p _:b . _:b :p _:a .", InvalidEventGraphError),
        ('{"type": 5}', JsonFormError),
        ({"type": object()}, JsonFormError),
        ("[" * 3_000, PredicastError),
        ('{"a":' * 3_000, NestingTooDeepError),
    ],
)
def test_an_error_in_a_batch_says_which_event_it_is_about(
    event: Any, error: type[PredicastError]
) -> None:
    engine = engine_of("joins", "ASK { _:H :p ?x }")
    good = f"{PREFIXES} _:H :p 1 ."
    with pytest.raises(error) as alone:
        engine.match(event)
    with pytest.raises(error, match=r"^event 2: ") as caught:
        engine.match_batch([good, good, event, good])
    assert caught.value.message == f"event 2: {alone.value.message}"
    assert type(caught.value) is type(alone.value)
    if isinstance(event, str):
        with pytest.raises(error, match=r"^event 1: "):
            engine.match_arrow(pa.table({"text": [None, event]}))


def test_so_does_one_about_an_event_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_graph, "MAX_STATEMENTS", 3)
    engine = engine_of("joins", "ASK { _:H :p ?x }")
    with pytest.raises(GraphTooLargeError, match=r"^event 1: .*more than 3 statements"):
        engine.match_batch([f"{PREFIXES} _:H :p 1 .", f"{PREFIXES} _:H :p 1, 2, 3, 4 ."])


def test_a_format_that_there_is_not_is_no_events_fault() -> None:
    with pytest.raises(InvalidOptionError, match=r"^there is no format 'turtel'"):
        engine_of("joins", "ASK { _:H :p ?x }").match_batch(["_:H"], format="turtel")
