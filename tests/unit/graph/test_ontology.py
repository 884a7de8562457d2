"""Ontologies: hierarchies, what follows from them, and how they are read."""

import pickle
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.errors import InvalidOptionError, InvalidRdfError
from predicast.graph import Iri, Literal, MetaStatement, Ontology
from predicast.graph.hierarchy import Hierarchy
from predicast.graph.names import (
    DECIMAL,
    DOUBLE,
    INTEGER,
    LANG_STRING,
    LITERAL,
    RESOURCE,
    STRING,
    THING,
    XSD,
)
from tests.unit.graph.shop import ONTOLOGY, ONTOLOGY_TEXT, PREFIXES, SHOP

EDGES = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=12)


def reached(edges: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """Who is above whom, by going on until nothing is new."""
    known = {(name, name) for edge in edges for name in edge} | set(edges)
    while new := {(a, d) for (a, b), (c, d) in product(known, known) if b == c} - known:
        known |= new
    return known


@given(EDGES)
def test_ancestors_are_all_that_is_reached(edges: list[tuple[str, str]]) -> None:
    hierarchy = Hierarchy.of((), edges)
    found = {
        (hierarchy.names[code], hierarchy.names[above])
        for code in range(len(hierarchy))
        for above in hierarchy.ancestors[code]
    }
    assert found == reached(edges)
    for code, above in enumerate(hierarchy.ancestors):
        assert hierarchy.bits(code) == sum(1 << each for each in above)
        assert list(above) == sorted(set(above))


@given(EDGES)
def test_names_that_are_above_each_other_have_one_leader(edges: list[tuple[str, str]]) -> None:
    hierarchy, known = Hierarchy.of((), edges), reached(edges)
    for one, other in product(range(len(hierarchy)), repeat=2):
        names = hierarchy.names[one], hierarchy.names[other]
        together = names in known and names[::-1] in known
        assert (hierarchy.leaders[one] == hierarchy.leaders[other]) is together


@given(EDGES, EDGES)
def test_an_extension_keeps_codes_and_is_the_whole(
    edges: list[tuple[str, str]], more: list[tuple[str, str]]
) -> None:
    before = Hierarchy.of((), edges)
    after = before.extended((), more)
    assert after.names[: len(before)] == before.names
    assert after.ancestors == Hierarchy.of(after.names, edges + more).ancestors


def test_a_hierarchy_may_be_deep() -> None:
    chain = [(f"n{number}", f"n{number + 1}") for number in range(3_000)]
    hierarchy = Hierarchy.of((), chain)
    code = hierarchy.code("n0")
    assert code is not None
    assert len(hierarchy.ancestors[code]) == 3_001


def test_what_a_class_is_below() -> None:
    above = ONTOLOGY.superclasses(SHOP + "Laptop")
    assert above == {SHOP + "Laptop", SHOP + "Computer", SHOP + "Product", THING, RESOURCE}
    assert ONTOLOGY.superclasses("urn:unheard-of") == {"urn:unheard-of", THING, RESOURCE}
    assert not ONTOLOGY.is_subclass(SHOP + "Computer", SHOP + "Laptop")
    assert ONTOLOGY.is_subproperty(SHOP + "cellPhoneNumber", SHOP + "telephoneNumber")
    assert not ONTOLOGY.is_subproperty("urn:unheard-of", SHOP + "telephoneNumber")


def test_datatypes_are_literals_and_no_things() -> None:
    above = ONTOLOGY.superclasses(XSD + "byte")
    assert {INTEGER, DECIMAL, DOUBLE, LITERAL, RESOURCE} < above
    assert THING not in above
    assert ONTOLOGY.classes_of(Literal("a", language="en")) == {LANG_STRING, LITERAL, RESOURCE}
    assert ONTOLOGY.classes_of(Literal("a", "urn:own")) == {"urn:own", LITERAL, RESOURCE}


def test_a_datatype_of_ones_own_is_read_as_the_one_it_derives_from() -> None:
    ontology = Ontology.parse(
        f"{PREFIXES} :celsius rdfs:subClassOf xsd:decimal . :code a rdfs:Datatype ."
    )
    assert ontology.value_of(Literal("21.5", SHOP + "celsius")) == 21.5
    assert ontology.value_of(Literal("warm", SHOP + "celsius")) is None
    assert ontology.value_of(Literal("21.5", SHOP + "code")) is None
    assert THING not in ontology.classes_of(Literal("1", SHOP + "celsius"))
    assert XSD + "double" in ontology.classes_of(Literal("1", SHOP + "celsius"))


def test_equivalents_are_each_others() -> None:
    ontology = Ontology.parse(
        f"{PREFIXES} :PC owl:equivalentClass :Computer . :tel owl:equivalentProperty :phone ."
    )
    assert ontology.is_subclass(SHOP + "PC", SHOP + "Computer")
    assert ontology.is_subclass(SHOP + "Computer", SHOP + "PC")
    assert ontology.is_subproperty(SHOP + "phone", SHOP + "tel")


def test_domains_and_ranges_are_inherited() -> None:
    name = SHOP + "cellPhoneNumber"
    assert ONTOLOGY.domains[name] == {SHOP + "Customer"}
    assert ONTOLOGY.ranges[name] == {STRING}


def test_individuals_have_their_classes() -> None:
    dollar = Iri("http://units.example/dollar")
    assert "http://units.example/Currency" in ONTOLOGY.classes_of(dollar)
    assert ONTOLOGY.classes_of(Iri("urn:unheard-of")) == {THING, RESOURCE}


def test_meta_statements_may_be_explicit() -> None:
    ontology = Ontology.parse(
        f"{PREFIXES} [] <urn:predicast:subjectClass> :Selling, :Giving ;"
        " <urn:predicast:property> :target ; <urn:predicast:objectClass> :Product ."
    )
    assert ontology.meta_statements == {
        MetaStatement(SHOP + each, SHOP + "target", SHOP + "Product")
        for each in ("Selling", "Giving")
    }
    assert SHOP + "target" in ontology.properties


def test_an_extension_says_both_and_leaves_what_was() -> None:
    longer = ONTOLOGY.extend(f"{PREFIXES} :Netbook rdfs:subClassOf :Laptop .")
    assert longer.is_subclass(SHOP + "Netbook", SHOP + "Product")
    assert not ONTOLOGY.is_subclass(SHOP + "Netbook", SHOP + "Product")
    assert longer.classes.names[: len(ONTOLOGY.classes)] == ONTOLOGY.classes.names
    assert longer.properties.names == ONTOLOGY.properties.names
    closed = longer.extend(f"{PREFIXES} :Product rdfs:subClassOf :Netbook .")
    assert closed.is_subclass(SHOP + "Product", SHOP + "Netbook")


def test_a_prefix_keeps_its_meaning() -> None:
    longer = ONTOLOGY.extend("@prefix : <urn:other:> . @prefix other: <urn:other:> . :A a :B .")
    assert longer.prefixes[""] == SHOP
    assert longer.prefixes["other"] == "urn:other:"


def test_an_ontology_travels_and_keeps_its_codes() -> None:
    longer = ONTOLOGY.extend(f"{PREFIXES} :Aardvark rdfs:subClassOf :Product .")
    copy = pickle.loads(pickle.dumps(longer))
    assert copy.classes.names == longer.classes.names
    assert copy.classes.ancestors == longer.classes.ancestors
    assert copy.properties.names == longer.properties.names
    assert (copy.domains, copy.ranges) == (longer.domains, longer.ranges)
    assert copy.prefixes == longer.prefixes


def test_an_ontology_as_text_reads_back() -> None:
    again = Ontology.parse(ONTOLOGY.to_turtle(), "turtle")
    assert again.triples == ONTOLOGY.triples
    assert again.prefixes == ONTOLOGY.prefixes


def test_names_get_codes_without_anything_being_said_of_them() -> None:
    longer = ONTOLOGY.with_names(["urn:C", SHOP + "Laptop"], ["urn:p"])
    assert longer.classes.code("urn:C") == len(ONTOLOGY.classes)
    assert longer.properties.code("urn:p") == len(ONTOLOGY.properties)
    assert longer.superclasses("urn:C") == {"urn:C", THING, RESOURCE}
    assert longer.with_names(["urn:C"], ["urn:p"]) is longer


BELOW = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
TEXTS = {
    "turtle": f"@prefix : <urn:> . :A <{BELOW}> :B .",
    "n-triples": f"<urn:A> <{BELOW}> <urn:B> .",
    "json-ld": f'{{"@id": "urn:A", "{BELOW}": {{"@id": "urn:B"}}}}',
    "rdf-xml": """<?xml version="1.0"?>
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
                 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
          <rdfs:Class rdf:about="urn:A"><rdfs:subClassOf rdf:resource="urn:B"/></rdfs:Class>
        </rdf:RDF>""",
}


@pytest.mark.parametrize(("format", "text"), TEXTS.items())
def test_formats(format: str, text: str, tmp_path: Path) -> None:
    for each in (format, None):
        assert Ontology.parse(text, each).is_subclass("urn:A", "urn:B")
    suffix = {"turtle": "ttl", "n-triples": "nt", "rdf-xml": "rdf", "json-ld": "jsonld"}[format]
    path = tmp_path / f"ontology.{suffix}"
    path.write_text(text, encoding="utf-8")
    assert Ontology.parse(path).is_subclass("urn:A", "urn:B")
    assert Ontology.parse(str(path)).is_subclass("urn:A", "urn:B")


def test_malformed_text_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(InvalidRdfError, match="not turtle") as caught:
        Ontology.parse("@prefix : <urn:> .\n:A :B .")
    assert (caught.value.line, caught.value.column) == (2, 7)
    path = tmp_path / "x.ttl"
    path.write_text("not RDF", encoding="utf-8")
    with pytest.raises(InvalidRdfError, match=r"x\.ttl") as caught:
        Ontology.parse(path)
    assert caught.value.path == str(path)
    with pytest.raises(InvalidRdfError, match="cannot be read"):
        Ontology.parse(tmp_path / "missing.ttl")
    with pytest.raises(InvalidOptionError, match="did you mean 'turtle'"):
        Ontology.parse(ONTOLOGY_TEXT, "turtles")
