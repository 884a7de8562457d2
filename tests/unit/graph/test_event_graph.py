"""Event graphs: from RDF, from JSON, from triples; the home vertex; validation."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from predicast.errors import (
    InvalidEventGraphError,
    InvalidOptionError,
    InvalidRdfError,
    JsonFormError,
    NestingTooDeepError,
)
from predicast.graph import Blank, EventGraph, Iri, Literal, Ontology
from predicast.graph import event_graph as limits
from predicast.graph.entailment import entailed_classes
from predicast.graph.names import DECIMAL, HOME, THING, TYPE, XSD
from tests.unit.graph.shop import ONTOLOGY, PREFIXES, SHOP, selling

OBJECT = {
    "type": "Selling",
    "target": {"type": "Laptop"},
    "price": {"currency": "units:dollar", "value": 350},
    "seller": {"name": "Jinling Wang", "telephoneNumber": ["1", "2", None]},
}


def test_vertices_arcs_and_types() -> None:
    event = EventGraph.parse("@prefix : <urn:> . _:H a :A ; :p 5, _:v ; :q 5 . _:v a :A, :B .")
    assert event.vertices[event.home] == Blank("H")
    assert len(event.vertices) == 3
    assert len(event.arcs) == 3
    assert event.values[event.vertices.index(Literal("5", XSD + "integer"))] == 5
    assert [event.class_names[place] for place in event.types[event.home]] == ["urn:A"]
    again = EventGraph.from_triples(event.triples())
    assert set(again.triples()) == set(event.triples())


def test_what_is_said_twice_is_said_once() -> None:
    event = EventGraph.parse("@prefix : <urn:> . _:H a :A ; :p 5 . _:H a :A ; :p 5 .")
    assert len(event.arcs) == 1
    assert len(event.types[event.home]) == 1


@pytest.mark.parametrize("home", [f"<{HOME}>", "_:H", "<urn:event>", "_:e"])
def test_the_home_vertex(home: str) -> None:
    event = EventGraph.parse(f"@prefix : <urn:> . {home} :p _:v . _:v :q 5 .")
    assert str(event.vertices[event.home]) == home


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("_:a :p _:b . _:b :p _:a .", "points at every vertex"),
        ("_:a :p 1 . _:b :p 1 .", "2 of its vertices"),
        ("", "empty"),
        (f"_:H :p 1 . <{HOME}> :p 1 .", "two home vertices"),
    ],
)
def test_which_vertex_is_the_event(text: str, why: str) -> None:
    with pytest.raises(InvalidEventGraphError, match=why):
        EventGraph.parse(f"@prefix : <urn:> . {text}")


def test_an_event_without_statements_but_a_class() -> None:
    assert EventGraph.parse("@prefix : <urn:> . _:H a :A .").arcs == ()


def test_too_many_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_STATEMENTS", 10)
    text = "@prefix : <urn:> . _:H :p " + ", ".join(map(str, range(11))) + " ."
    with pytest.raises(ValueError, match="more than 10 statements"):
        EventGraph.parse(text)


def test_classes_that_follow() -> None:
    event = EventGraph.parse(f"{PREFIXES} _:H :price _:money . _:money :currency units:euro .")
    by_term = dict(zip(event.vertices, entailed_classes(event, ONTOLOGY), strict=True))
    assert SHOP + "Selling" in by_term[Blank("H")]
    assert SHOP + "MoneyValue" in by_term[Blank("money")]
    assert "http://units.example/Currency" in by_term[Iri("http://units.example/euro")]
    assert THING in by_term[Blank("money")]


def test_json_becomes_a_graph_by_the_ontologys_names() -> None:
    event = EventGraph.from_json(OBJECT, ONTOLOGY, validate="strict")
    said = set(event.triples())
    assert (Iri(HOME), Iri(TYPE), Iri(SHOP + "Selling")) in said
    money = next(o for _, p, o in said if p == Iri(SHOP + "price"))
    value = Literal("350", DECIMAL)
    assert (money, Iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#value"), value) in said
    assert (money, Iri(SHOP + "currency"), Iri("http://units.example/dollar")) in said
    assert (money, Iri(TYPE), Iri(SHOP + "MoneyValue")) in said
    numbers = {o for _, p, o in said if p == Iri(SHOP + "telephoneNumber")}
    assert numbers == {Literal("1"), Literal("2")}
    for text in (json.dumps(OBJECT), json.dumps(OBJECT).encode()):
        assert set(EventGraph.from_json(text, ONTOLOGY).triples()) == said
    assert set(EventGraph.parse(json.dumps(OBJECT), ONTOLOGY).triples()) == said


def test_json_values_have_the_datatype_of_the_range() -> None:
    ontology = Ontology.parse(
        f"{PREFIXES} :at rdfs:range xsd:dateTime . :celsius rdfs:range xsd:decimal ."
    )
    given = {"at": "2026-11-16T10:00:00Z", "celsius": 21.5}
    event = EventGraph.from_json(given, ontology)
    values = {value for value in event.values if value is not None}
    assert values == {datetime(2026, 11, 16, 10, tzinfo=UTC), 21.5}
    unreadable = EventGraph.from_json({"at": "soon"}, ontology)
    assert Literal("soon") in unreadable.vertices


def test_the_outermost_object_is_the_home_vertex() -> None:
    event = EventGraph.from_json({"@id": "urn:e", "target": {"seller": {"@id": "urn:e"}}}, ONTOLOGY)
    assert event.vertices[event.home] == Iri("urn:e")
    assert len(event.arcs) == 2
    nothing = EventGraph.from_json({}, ONTOLOGY)
    assert nothing.vertices == (Iri(HOME),)


def test_json_ld_is_told_by_its_context() -> None:
    text = '{"@context": {"p": "urn:p"}, "@id": "urn:event", "p": 5}'
    event = EventGraph.parse(text)
    assert event.vertices[event.home] == Iri("urn:event")


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"prise": 5}, "did you mean 'price'"),
        ({"price": {"worth": 5}}, r"\$\.price\.worth"),
        ({"type": 5}, "named by a string"),
        ({"name": {1, 2}}, "set is none of"),
        ({"value": 10**5000}, "too many digits"),
        ("[1]", "not list"),
        ("{", "not JSON"),
        ({"@type": ["Laptop", None]}, "named by a string"),
    ],
)
def test_json_that_is_no_event(document: Any, why: str) -> None:
    with pytest.raises(JsonFormError, match=why):
        EventGraph.from_json(document, ONTOLOGY, validate="strict")


def test_json_with_names_that_may_be_several() -> None:
    ontology = ONTOLOGY.extend(
        "<urn:other/price> a <http://www.w3.org/2002/07/owl#ObjectProperty> ."
    )
    with pytest.raises(JsonFormError, match="any of"):
        EventGraph.from_json({"price": {}}, ontology)
    assert EventGraph.from_json({SHOP + "price": {}}, ontology).property_names == (SHOP + "price",)


def test_json_that_nests_too_deep() -> None:
    document: dict[str, Any] = {}
    for _ in range(70):
        document = {"price": document}
    with pytest.raises(NestingTooDeepError):
        EventGraph.from_json(document, ONTOLOGY)
    with pytest.raises(NestingTooDeepError):
        EventGraph.from_json('{"price":' * 100_000, ONTOLOGY)


def test_keys_that_nobody_knows_are_left_out_or_told() -> None:
    given = {"type": "Selling", "prise": 5}
    assert EventGraph.from_json(given, ONTOLOGY).arcs == ()
    told = EventGraph.from_json(given, ONTOLOGY, validate="warn").violations
    assert len(told) == 1
    assert "did you mean 'price'" in told[0]


ILLEGAL = [
    ("_:H a :Selling ; :target _:x . _:x a :Company .", "target is legal from Selling → Product"),
    ("_:H a :Product ; :target _:x . _:x a :Product .", "target is legal from Selling → Product"),
    ("_:H a :Selling ; :target 5 .", "target is legal"),
    ("_:H a :Selling ; :prize _:x .", "did you mean <http://shop.example/price>"),
    ("_:H a :Selling ; :target _:x .", "target is legal"),
]


@pytest.mark.parametrize(("text", "why"), ILLEGAL)
def test_what_the_ontology_does_not_admit(text: str, why: str) -> None:
    with pytest.raises(InvalidEventGraphError, match=why) as caught:
        EventGraph.parse(PREFIXES + text, ONTOLOGY, validate="strict")
    assert caught.value.subject == "_:H"
    told = EventGraph.parse(PREFIXES + text, ONTOLOGY, validate="warn").violations
    assert [why in each for each in told] == [True]
    assert EventGraph.parse(PREFIXES + text, ONTOLOGY).violations == ()


def test_what_the_ontology_admits() -> None:
    assert selling().violations == ()
    explicit = ONTOLOGY.extend(
        f"{PREFIXES} [] <urn:predicast:subjectClass> :Giving ;"
        " <urn:predicast:property> :target ; <urn:predicast:objectClass> owl:Thing ."
    )
    text = f"{PREFIXES} _:H a :Giving ; :target _:x ."
    assert EventGraph.parse(text, explicit, validate="strict").violations == ()


def xml_of(body: str, before: str = "") -> str:
    names = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="urn:x:"'
    return f'<?xml version="1.0"?>{before}<rdf:RDF {names}>{body}'


def test_xml_that_does_not_end_or_nests_or_expands_too_much() -> None:
    whole = xml_of('<rdf:Description rdf:nodeID="H"><x:p>5</x:p></rdf:Description>')
    assert len(EventGraph.parse(whole + "</rdf:RDF>").arcs) == 1
    with pytest.raises(InvalidRdfError, match="no element found"):
        EventGraph.parse(whole)
    with pytest.raises(NestingTooDeepError):
        EventGraph.parse(xml_of("<rdf:Description><x:p>" * 2_000))
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    laughs = f'<!DOCTYPE rdf:RDF [<!ENTITY e0 "lol">{entities}]>'
    with pytest.raises(InvalidRdfError, match="amplification"):
        EventGraph.parse(xml_of("<x:A>&e8;</x:A></rdf:RDF>", laughs))


def test_an_event_does_not_say_which_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "event.ttl"
    path.write_text("_:H <urn:p> 5 .", encoding="utf-8")
    assert len(EventGraph.parse(path).arcs) == 1
    with pytest.raises(InvalidRdfError, match="not turtle"):
        EventGraph.parse(str(path))


def test_options_and_malformed_text() -> None:
    with pytest.raises(InvalidOptionError):
        EventGraph.parse("@prefix : <urn:> . _:H :p 5 .", validate="loud")  # type: ignore[arg-type]
    with pytest.raises(InvalidRdfError) as caught:
        EventGraph.parse("_:H <p> 5 .\n<urn:a> b c")
    assert caught.value.line is not None
