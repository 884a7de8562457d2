"""The matcher of paper 5: what its tree does that the definition does not show."""

import re

import pytest

from predicast.errors import UnsupportedByMatcherError
from predicast.graph import EventGraph, Ontology, parse_pattern
from predicast.graph.matching.ops.matcher import OntologyMatcher
from tests.unit.graph.shop import ONTOLOGY, PREFIXES, SUBSCRIPTION, selling

BARE = "PREFIX : <urn:x:>\n"
LEAVES = ", ".join(f"_:v{number}" for number in range(30))
STAR = EventGraph.parse(f"@prefix : <urn:x:> . _:H :p {LEAVES} .")
WIDE = "".join(f"(_:H, ?{number}, (owl:Thing, :p, owl:Thing)) " for number in range(12))


def matcher_of(
    *texts: str, ontology: Ontology | None = None, budget: int = 10_000
) -> OntologyMatcher:
    matcher = OntologyMatcher(ontology or Ontology(), budget=budget)
    for key, text in enumerate(texts):
        matcher.subscribe(key, parse_pattern(text, ontology))
    return matcher


def event_of(text: str) -> EventGraph:
    return EventGraph.parse(f"@prefix : <urn:x:> . {text}")


def test_the_auction() -> None:
    matcher = matcher_of(SUBSCRIPTION, SUBSCRIPTION.replace("400", "300"), ontology=ONTOLOGY)
    assert matcher.find(selling()).keys == [0]
    assert matcher.find(selling(price="250")).keys == [0, 1]
    assert matcher.find(selling(product=":Disk")).keys == []


def test_an_arc_that_is_walked_before_the_pattern_that_needs_it() -> None:
    matcher = matcher_of(BARE + "ASK { _:H :b ?2 . ?2 :c ?1 . ?1 :d ?3 }")
    event = event_of("_:H :a _:v1 ; :b _:v2 . _:v2 :c _:v1 . _:v1 :d _:v3 .")
    assert matcher.find(event).keys == [0]


def test_partial_verification_is_not_a_match() -> None:
    matcher = matcher_of(BARE + "ASK { _:H :a ?x . ?x :b ?y . _:H :c ?z . ?z :d ?y }")
    apart = event_of("_:H :a _:x ; :c _:z . _:x :b _:y1 . _:z :d _:y2 .")
    assert matcher.find(apart).keys == []
    assert matcher.statistics()["verified"] == 1
    matcher.find(event_of("_:H :a _:x ."))
    assert matcher.statistics()["verified"] == 1


def test_a_pattern_may_lead_back() -> None:
    matcher = matcher_of(BARE + "ASK { _:H :a ?x . ?x :b ?y . ?y :c ?x . ?y :d _:H }")
    event = "_:H :a _:x . _:x :b _:y . _:y :d _:H . _:y :c {} ."
    assert matcher.find(event_of(event.format("_:x"))).keys == [0]
    assert matcher.find(event_of(event.format("_:z"))).keys == []


def test_meta_statements_are_there_while_somebody_asks_for_them() -> None:
    matcher = matcher_of(BARE + "ASK { _:H :a ?x . ?x :b ?y }", BARE + "ASK { _:H :a ?x }")
    assert matcher.statistics()["meta_statements"] == 2
    matcher.change(0, parse_pattern(BARE + "ASK { _:H :a ?x }"))
    assert matcher.statistics()["meta_statements"] == 1
    assert matcher.find(event_of("_:H :a 5 .")).keys == [1, 0]
    matcher.unsubscribe(0)
    matcher.unsubscribe(1)
    assert matcher.statistics()["meta_statements"] == 0
    assert matcher.find(event_of("_:H :a 5 .")).keys == []


def test_live_subscriptions_see_an_extended_ontology() -> None:
    matcher = matcher_of(SUBSCRIPTION, ontology=ONTOLOGY)
    text = f"{PREFIXES} _:H a :Selling ; :target [ a :Netbook ] ; :price _:money ."
    text += " _:money :currency units:dollar ; rdf:value 100 ."
    event = EventGraph.parse(text, ONTOLOGY)
    assert matcher.find(event).keys == []
    matcher.understand(ONTOLOGY.extend(f"{PREFIXES} :Netbook rdfs:subClassOf :Laptop ."))
    assert matcher.find(event).keys == [0]


def test_a_pattern_without_arcs() -> None:
    matcher = matcher_of(
        BARE + "ASK { _:H a :C }", "ASK { }", BARE + "ASK { _:H :p ?x FILTER(false) }"
    )
    assert matcher.find(event_of("_:H a :C .")).keys == [0, 1]
    assert matcher.find(event_of("_:H a :D .")).keys == [1]


def test_a_star_is_undecided_for_itself_alone() -> None:
    matcher = matcher_of(
        BARE + WIDE + "(?11, ?y, (owl:Thing, :q, owl:Thing))",
        BARE + "(_:H, ?1, (owl:Thing, :p, owl:Thing))",
    )
    assert matcher.find(STAR) == ([1], [])  # the tree fails before there is anything to choose
    leaves = "".join(f"_:v{number} :q _:w ." for number in range(30))
    star = event_of(f"_:H :p {LEAVES} . {leaves}")
    joint = "".join(f"(?{number}, ?y, (owl:Thing, :q, owl:Thing))" for number in range(12))
    no_match = joint + "(?3, ?z, (owl:Thing, :q, owl:Thing))"
    matcher.change(0, parse_pattern(BARE + WIDE + no_match))
    assert matcher.find(star) == ([1], [0])
    assert matcher.statistics()["undecided"] == 1


def test_one_budget_for_all_alternatives_of_a_subscription() -> None:
    arms = " . ".join(f"_:H :p ?x{number}" for number in range(12))
    hopeless = f"{arms} FILTER(?x10 = ?x11 && ?x10 != ?x11)"
    union = " UNION ".join(f"{{ {hopeless} . _:H :p _:{number} }}" for number in range(3))
    matcher = matcher_of(f"{BARE} ASK {{ {union} }}", budget=5_000)
    assert matcher.find(STAR).undecided == [0]
    assert matcher.statistics()["steps"] <= 5_003


def test_a_match_in_one_alternative_is_one() -> None:
    arms = " . ".join(f"_:H :p ?x{number}" for number in range(12))
    hopeless = f"{{ {arms} FILTER(?x10 = ?x11 && ?x10 != ?x11) }}"
    easy = "{ _:H :p ?x }"
    matcher = matcher_of(f"{BARE} ASK {{ {easy} UNION {hopeless} }}", budget=5_000)
    assert matcher.find(STAR) == ([0], [])
    matcher = matcher_of(f"{BARE} ASK {{ {hopeless} UNION {easy} }}", budget=5_000)
    assert matcher.find(STAR) == ([], [0])  # nothing is left of the budget for the other


def test_a_pattern_that_the_tree_unfolds_many_times() -> None:
    arcs = "".join(
        f"v{n} :a x{n} . v{n} :b y{n} . x{n} :c v{n + 1} . y{n} :d v{n + 1} . " for n in range(10)
    )
    wanted = re.sub(r"\b([vxy]\d+)", r"?\1", arcs).replace("?v0 ", "_:H ")
    given = re.sub(r"\b([vxy]\d+)", r"_:\1", arcs).replace("_:v0 ", "_:H ")
    matcher = matcher_of(f"{BARE} ASK {{ {wanted} }}", budget=100_000)
    assert matcher.find(event_of(given)) == ([0], [])
    assert matcher.find(event_of(given.replace("_:y9 :d _:v10", "_:y9 :d _:v11"))) == ([], [])


def test_what_is_not_reached_along_arcs_is_refused() -> None:
    with pytest.raises(UnsupportedByMatcherError, match=r"never comes to \?x") as caught:
        matcher_of(BARE + "ASK { ?x :p _:H }")
    assert (caught.value.matcher, caught.value.constraint) == ("ops", "?x")
    matcher = matcher_of(BARE + "ASK { _:H :p ?x }")
    with pytest.raises(UnsupportedByMatcherError):
        matcher.change(0, parse_pattern(BARE + "ASK { ?x :p _:H }"))
    assert matcher.find(event_of("_:H :p 5 .")).keys == [0]
