"""Subscription tables whose rows name the classes of an ontology."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from predicast import Change, Subscribe, attr
from predicast import spark as ps
from predicast.errors import InvalidOptionError, InvalidSubscriptionsError, UnknownClassError
from predicast.graph import Ontology

PREFIXES = """
    @prefix : <http://shop.example/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
SHOP = Ontology.parse(f"""{PREFIXES}
    :Laptop rdfs:subClassOf :Computer .
    :cellPhoneNumber rdfs:subPropertyOf :telephoneNumber .
""")
WIDER = SHOP.extend(f"{PREFIXES} :Netbook rdfs:subClassOf :Laptop .")


@pytest.fixture
def table(tmp_path: Path) -> ps.SubscriptionTable:
    return ps.SubscriptionTable(tmp_path / "subscriptions", ontology=SHOP)


def test_rows_name_classes_and_properties(table: ps.SubscriptionTable) -> None:
    table.subscribe("type IS A 'Computer'", id="computers")
    cheap = attr("type").is_a("Computer") & (attr("price") < 10)
    table.subscribe_many({"cheap": cheap})
    table.subscribe_many({"any": "telephoneNumber = 1"})
    table.apply(
        [
            Subscribe("kind", "type IS A :kind", parameters={"kind": "Laptop"}),
            Change("computers", "type IS A 'Computer' AND price > 5"),
        ]
    )
    table.change("kind", parameters={"kind": "Computer"})
    event = {"type": "Laptop", "price": 7, "cellPhoneNumber": 1}
    assert table.engine().match(event) == ["any", "cheap", "computers", "kind"]
    assert table.at().get("cheap").text == "type IS A 'Computer' AND price < 10"
    assert table.at().compiled().given_by.keys() == {"telephoneNumber"}
    again = pickle.loads(pickle.dumps(table))
    assert again.engine().match(event) == ["any", "cheap", "computers", "kind"]
    with pytest.raises(UnknownClassError, match="did you mean 'Computer'"):
        table.subscribe("type IS A 'Comptuer'", id="wrong")
    assert "wrong" not in table.at()


def test_engines_of_another_ontology_are_others(table: ps.SubscriptionTable) -> None:
    table.subscribe("type IS A 'Computer'", id="computers")
    assert table.engine().match({"type": "Netbook"}) == []
    wider = ps.SubscriptionTable(table.path, ontology=WIDER)
    assert wider.engine().match({"type": "Netbook"}) == ["computers"]
    assert table.engine().match({"type": "Netbook"}) == []
    with pytest.raises(InvalidSubscriptionsError, match="about the classes of an ontology"):
        ps.SubscriptionTable(table.path).engine()
    with pytest.raises(InvalidOptionError, match="ontology is an Ontology"):
        ps.SubscriptionTable(table.path, ontology="shop.ttl")  # type: ignore[arg-type]


def test_what_changed_is_compiled_by_the_ontology(table: ps.SubscriptionTable) -> None:
    table.subscribe_many({f"s{n}": f"price = {n} AND type IS A 'Computer'" for n in range(40)})
    first = table.at().compiled()
    table.change("s3", "type IS A 'Laptop'")
    second = table.at().compiled()
    assert second.image.packed_digest == first.image.packed_digest  # with a change on top
    assert second.engine().match({"type": "Laptop", "price": 5}) == ["s3", "s5"]


def test_shards_and_what_changes_in_them_go_by_the_ontology(table: ps.SubscriptionTable) -> None:
    table.subscribe_many({f"s{n}": f"telephoneNumber = {n} AND price < 9" for n in range(60)})
    divided = ps.Partition(shards=3)
    table.at().compiled(strategy=divided)
    table.subscribe("type IS A 'Computer' AND telephoneNumber = 7", id="new")
    compiled = table.at().compiled(strategy=divided)
    assert len(compiled.placement.shards) > 1
    assert compiled.given_by.keys() == {"telephoneNumber"}
    assert compiled.placement.router is not None
    event = {"type": "Laptop", "price": 5, "cellPhoneNumber": 7}
    visited = [int(id) for id in compiled.placement.router.unpacked().match(event) if id != "-1"]
    found = [compiled.placement.shards[n].image.unpacked().match(event) for n in visited]
    assert sorted(id for ids in found for id in ids) == ["new", "s7"]
    assert compiled.engine().match(event) == ["new", "s7"]
