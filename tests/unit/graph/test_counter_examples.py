"""Where the paper is wrong or silent: each of the repairs, by an example that shows it."""

import pytest

from predicast.graph import EventGraph, GraphPattern, Ontology, parse_pattern
from predicast.graph.brute_force import find
from tests.unit.graph.shop import ONTOLOGY, PREFIXES, SUBSCRIPTION, selling

EMPTY = Ontology()
BARE = "PREFIX : <urn:x:>\n"


def matched(
    pattern: str | GraphPattern, event: str | EventGraph, ontology: Ontology = EMPTY
) -> bool | None:
    if isinstance(pattern, str):
        pattern = parse_pattern(pattern, ontology)
    if isinstance(event, str):
        event = EventGraph.parse(f"@prefix : <urn:x:> .\n{event}", ontology)
    return find(pattern, event, ontology).matched


def test_the_auction_of_the_paper() -> None:
    assert matched(SUBSCRIPTION, selling(), ONTOLOGY)
    assert matched(SUBSCRIPTION, selling(product=":Desktop"), ONTOLOGY)
    assert not matched(SUBSCRIPTION, selling(price="450"), ONTOLOGY)
    assert not matched(SUBSCRIPTION, selling(product=":Disk"), ONTOLOGY)


def test_a_telephone_number_is_met_by_that_of_a_cell_phone() -> None:
    wanted = "ASK { _:H :seller ?who . ?who :telephoneNumber '123456789' }"
    assert matched(wanted, selling(), ONTOLOGY)
    assert not matched(wanted.replace("telephone", "cellPhone", 1), "_:H :a 1 .", ONTOLOGY)


def test_an_arc_that_is_walked_before_the_pattern_that_needs_it() -> None:
    event = "_:H :a _:v1 ; :b _:v2 . _:v2 :c _:v1 . _:v1 :d _:v3 ."
    wanted = "(_:H, ?2, (owl:Thing, :b, owl:Thing)) (?2, ?1, (owl:Thing, :c, owl:Thing))"
    wanted += "(?1, ?3, (owl:Thing, :d, owl:Thing))"
    assert matched(BARE + wanted, event)


def test_two_vertices_of_a_statement_pattern_do_not_meet_and_those_of_sparql_may() -> None:
    event = "_:H :a _:v ; :b _:v ."
    written = "(_:H, ?1, (owl:Thing, :a, owl:Thing)) (_:H, ?2, (owl:Thing, :b, owl:Thing))"
    assert not matched(BARE + written, event)
    assert matched(BARE + "ASK { _:H :a ?1 ; :b ?2 }", event)
    assert not matched(BARE + "ASK { _:H :a ?1 ; :b ?2 FILTER(?1 != ?2) }", event)
    assert matched(BARE + written, "_:H :a _:v ; :b _:w .")


def test_the_home_vertex_is_nobody_elses_in_a_statement_pattern() -> None:
    assert not matched(BARE + "(_:H, ?1, (owl:Thing, :a, owl:Thing))", "_:H :a _:H .")
    assert matched(BARE + "(_:H, _:H, (owl:Thing, :a, owl:Thing))", "_:H :a _:H .")
    assert matched(BARE + "ASK { _:H :a ?1 }", "_:H :a _:H .")


def test_literals_may_meet_in_one_vertex() -> None:
    written = "(_:H, ?1, (owl:Thing, :price, xsd:integer))"
    written += "(_:H, ?2, (owl:Thing, :quantity, xsd:integer))"
    assert matched(BARE + written, "_:H :price 5 ; :quantity 5 .")


def test_parts_that_are_met_one_by_one_are_not_a_match_together() -> None:
    # Bottom up, every pattern has a mapping; but no vertex is at both ends.
    wanted = "ASK { _:H :a ?x . ?x :b ?y . _:H :c ?z . ?z :d ?y }"
    event = "_:H :a _:x ; :c _:z . _:x :b _:y1 . _:z :d _:y2 ."
    assert not matched(BARE + wanted, event)
    assert matched(BARE + wanted, event.replace("_:y2", "_:y1"))


def test_one_vertex_may_be_of_several_classes() -> None:
    event = "_:H a :A, :B ; :p _:v . _:v a :C, :D ."
    for one in (":A", ":B"):
        for other in (":C", ":D"):
            assert matched(BARE + f"(_:H, ?1, ({one}, :p, {other}))", event)
    assert matched(BARE + "ASK { _:H a :A, :B ; :p [ a :C ; a :D ] }", event)
    assert not matched(BARE + "(_:H, ?1, (:A, :p, :A))", event)


def test_classes_in_a_cycle_are_one_class() -> None:
    ontology = Ontology.parse(
        f"{PREFIXES} @prefix : <urn:x:> . :A rdfs:subClassOf :B . :B rdfs:subClassOf :C ."
        " :C rdfs:subClassOf :A . :D rdfs:subClassOf :B ."
    )
    for name in "ABC":
        assert matched(f"ASK {{ _:H a :{name} }}", "_:H a :B .", ontology)
    assert matched("ASK { _:H a :C }", "_:H a :D .", ontology)
    assert not matched("ASK { _:H a :D }", "_:H a :A .", ontology)


@pytest.mark.parametrize("price", ["350", "350.0", "3.5e2", '"350"^^xsd:byte', '"350"^^xsd:float'])
def test_an_integer_is_below_a_decimal(price: str) -> None:
    event = EventGraph.parse(f"{PREFIXES} _:H rdf:value {price} .", ONTOLOGY)
    assert matched("ASK { _:H rdf:value ?x FILTER(?x < 400.00) }", event, ONTOLOGY)
    assert matched("(_:H, ?1, (Thing, rdf:value, xsd:double), ?1 < 400.00)", event, ONTOLOGY)
    assert matched("(_:H, 350, (Thing, rdf:value, rdfs:Literal))", event, ONTOLOGY)
    assert not matched("ASK { _:H rdf:value ?x FILTER(?x < 300.00) }", event, ONTOLOGY)


def test_a_decimal_is_no_integer() -> None:
    event = EventGraph.parse(f"{PREFIXES} _:H rdf:value 350.5 .", ONTOLOGY)
    assert not matched("(_:H, ?1, (Thing, rdf:value, xsd:integer))", event, ONTOLOGY)
    assert matched("(_:H, ?1, (Thing, rdf:value, xsd:decimal))", event, ONTOLOGY)


def test_a_star_is_undecided_and_not_endless() -> None:
    leaves = " ".join(f"_:v{number}" + "," for number in range(30)).rstrip(",")
    event = EventGraph.parse(f"@prefix : <urn:x:> . _:H :p {leaves} .", EMPTY)
    arms = " . ".join(f"_:H :p ?x{number}" for number in range(12))
    pattern = parse_pattern(f"{BARE} ASK {{ {arms} . ?x11 :q ?y }}")
    outcome = find(pattern, event, EMPTY, budget=20_000)
    assert outcome.matched is None
    assert outcome.steps == 20_001


def test_a_match_that_was_found_within_the_budget_is_one() -> None:
    leaves = ", ".join(f"_:v{number}" for number in range(30))
    event = EventGraph.parse(f"@prefix : <urn:x:> . _:H :p {leaves} .", EMPTY)
    pattern = parse_pattern(f"{BARE} SELECT ?a {{ _:H :p ?a, ?b, ?c, ?d }}")
    outcome = find(pattern, event, EMPTY, budget=10_000)
    assert outcome.matched is True
    assert outcome.bindings
