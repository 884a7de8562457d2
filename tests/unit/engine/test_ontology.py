"""Flat events by an ontology: classes in texts, properties as names of attributes."""

import copy
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pytest

from predicast import Change, Engine, Interval, Subscribe, attr
from predicast.engine import readings
from predicast.engine.store import SubscriptionStore
from predicast.errors import (
    InvalidEventError,
    InvalidOptionError,
    InvalidParameterError,
    ParseError,
    UnknownClassError,
)
from predicast.graph import Ontology
from predicast.language import to_where
from predicast.model.vocabulary import Vocabulary

PREFIXES = """
    @prefix : <http://shop.example/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
SHOP = Ontology.parse(f"""{PREFIXES}
    :Laptop rdfs:subClassOf :Computer .  :Computer rdfs:subClassOf :Product .
    :cellPhoneNumber rdfs:subPropertyOf :telephoneNumber .
    :homePhoneNumber rdfs:subPropertyOf :telephoneNumber .
""")
WIDER = SHOP.extend(f"""{PREFIXES}
    :Netbook rdfs:subClassOf :Laptop .  :fax rdfs:subPropertyOf :telephoneNumber .
""")
NARROWER = Ontology.parse(f"{PREFIXES} :Laptop rdfs:subClassOf :Product .")


def engine_of(*texts: str, absent: str = "fails", matcher: str = "columnar") -> Engine:
    engine = Engine(matcher=matcher, absent=absent, ontology=SHOP)  # type: ignore[arg-type]
    for text in texts:
        engine.subscribe(text, id=text)
    return engine


def counts(engine: Engine, table: pa.Table) -> list[int]:
    found: list[int] = engine.count_arrow(table).to_pylist()
    return found


# Classes.


@pytest.mark.parametrize(
    "name",
    ["Laptop", ":Laptop", "http://shop.example/Laptop", "Computer", "http://shop.example/Computer"],
)
def test_a_class_test_is_met_by_every_class_below_however_it_is_spelt(name: str) -> None:
    assert engine_of("type IS A 'Computer'").match({"type": name})


@pytest.mark.parametrize("name", ["Product", "laptop", "urn:predicast:Laptop", 5, True])
def test_and_by_nothing_else(name: object) -> None:
    assert not engine_of("type IS A 'Computer'").match({"type": name})


def test_not_a_class_is_unknown_where_there_is_none() -> None:
    engine = engine_of("type IS NOT A 'Laptop'", "NOT type IS A 'Laptop'")
    assert len(engine.match({"type": "Computer"})) == 2
    assert engine.match({"type": "Laptop"}) == engine.match({}) == []


def test_elements_of_lists_have_classes_too() -> None:
    engine = engine_of("exists(types, t -> t IS A 'Computer')")
    assert engine.match({"types": ["Used", "Laptop"]})
    assert not engine.match({"types": ["Used", "Product"]})


def test_what_a_class_test_states_reads_back_without_an_ontology() -> None:
    engine = engine_of("type IS A 'Computer' AND price < 10")
    [entry] = engine.subscriptions()
    assert entry.text == "type IS A 'Computer' AND price < 10"
    plain = Engine()
    plain.subscribe(to_where(entry.subscription), id="x")
    assert plain.get("x").subscription == entry.subscription


def test_texts_of_one_shape_are_about_their_own_classes() -> None:
    engine = engine_of(
        *(f"type IS A '{name}' AND x < {n}" for n in range(20) for name in ("Laptop", "Product"))
    )
    found = engine.match({"type": "Computer", "x": 17})
    assert found == ["type IS A 'Product' AND x < 18", "type IS A 'Product' AND x < 19"]


def test_a_class_that_is_not_there_is_refused_with_its_place() -> None:
    engine = engine_of()
    with pytest.raises(UnknownClassError, match="did you mean 'Computer'") as caught:
        engine.subscribe("x = 1 AND type IS A 'Comptuer'")
    assert (caught.value.name, caught.value.suggestion) == ("Comptuer", "Computer")
    assert caught.value.column == 21
    assert len(engine) == 0


def test_a_name_of_several_classes_is_refused() -> None:
    two = Ontology.parse(
        "<urn:a:X> a <http://www.w3.org/2000/01/rdf-schema#Class> . "
        "<urn:b:X> a <http://www.w3.org/2000/01/rdf-schema#Class> .",
        "turtle",
    )
    engine = Engine(ontology=two)
    with pytest.raises(UnknownClassError, match="any of <urn:a:X>, <urn:b:X>"):
        engine.subscribe("type IS A 'X'")
    engine.subscribe("type IS A 'urn:a:X'", id="a")
    assert engine.match({"type": "urn:a:X"}) == ["a"]
    assert engine.match({"type": "X"}) == []


def test_without_an_ontology_there_are_no_classes() -> None:
    with pytest.raises(ParseError, match=r"Engine\(ontology=...\)"):
        Engine().subscribe("type IS A 'Computer'")
    engine_of().subscribe("type IS A 'Computer'")
    with pytest.raises(ParseError, match="about the classes"):  # nothing was remembered
        Engine().subscribe("type IS A 'Computer'")


# Classes as parameters, or beside some.


def parametric_engine() -> Engine:
    engine = engine_of()
    engine.subscribe("type IS A 'Computer' AND x < :x", id="beside", parameters={"x": 5})
    engine.subscribe("type IS A :kind", id="kind", parameters={"kind": "Laptop"})
    listed = "exists(types, t -> t IS NOT A :kind) OR type IS A :kind"
    engine.subscribe_many([{"id": "list", "expression": listed, "parameters": {"kind": "Product"}}])
    return engine


def test_a_class_may_be_a_parameter_and_stand_beside_one() -> None:
    engine = parametric_engine()
    assert engine.match({"type": "Laptop", "x": 4}) == ["beside", "kind", "list"]
    assert engine.match({"type": "Computer", "x": 4}) == ["beside", "list"]
    assert engine.match({"type": "Laptop", "x": 5}) == ["kind", "list"]
    assert engine.match({"types": ["Laptop", "Fish"]}) == ["list"]
    engine.change("beside", parameters={"x": 9})
    engine.change("kind", parameters={"kind": "Computer"})
    assert engine.match({"type": "Computer", "x": 8}) == ["beside", "kind", "list"]
    engine.apply([Change("beside", parameters={"x": "a"}), Change("kind", "x IS NULL")])
    assert engine.match({"type": "Computer", "x": "A"}) == ["beside", "list"]


@pytest.mark.parametrize("kept", [lambda engine: engine, copy.deepcopy])
def test_texts_with_parameters_see_an_extended_ontology(kept: Callable[[Engine], Engine]) -> None:
    engine = kept(parametric_engine())
    event = {"type": "Netbook", "x": 4}
    assert engine.match(event) == []
    engine.change_ontology(WIDER)
    assert engine.match(event) == ["beside", "kind", "list"]
    assert engine.get("kind").parameters == {"kind": "Laptop"}
    engine.change("kind", parameters={"kind": "Netbook"})
    assert engine.match({"type": "Laptop", "x": 6}) == ["list"]


def test_a_copy_sets_parameters_by_its_ontology() -> None:
    engine = copy.deepcopy(parametric_engine())
    engine.apply([Change("beside", parameters={"x": 7}), Change("beside", parameters={"x": "z"})])
    engine.change("kind", parameters={"kind": "Product"})
    assert engine.match({"type": "Computer", "x": "y"}) == ["beside", "kind", "list"]
    assert engine.get("beside").parameters == {"x": "z"}


@pytest.mark.parametrize(
    ("text", "kind", "error", "message"),
    [
        ("type IS A :kind", "Comptuer", InvalidParameterError, "did you mean 'Computer'"),
        ("type IS A :kind", 5, InvalidParameterError, "named by a string, not by 5"),
        ("type IS A 'Comptuer' AND x = :kind", 5, UnknownClassError, "column 11: the ontology"),
        ("type IS A :", 5, ParseError, "a parameter's name"),
    ],
)
def test_a_parameter_that_names_no_class_is_refused(
    text: str, kind: object, error: type[Exception], message: str
) -> None:
    engine = parametric_engine()
    with pytest.raises(error, match=message):
        engine.subscribe(text, parameters={"kind": kind})  # type: ignore[dict-item]
    assert len(engine) == 3


def test_a_text_with_parameters_belongs_to_no_ontology() -> None:
    parametric_engine()
    for text in ("type IS A :kind", "type IS A 'Computer' AND x < :kind"):
        with pytest.raises(ParseError, match=r"Engine\(ontology=...\)"):
            Engine().subscribe(text, parameters={"kind": "Laptop"})


# Classes in what is built.


def test_what_is_built_names_classes_as_texts_do() -> None:
    engine = engine_of()
    computers = attr("type").is_a("Computer")
    engine.subscribe(computers & (attr("price") < 400), id="cheap")
    engine.subscribe(~computers | attr("type").is_absent(), id="others")
    engine.subscribe_many({"listed": attr("types").has_some(lambda each: each.is_a("Computer"))})
    engine.subscribe(attr("types").has_only(lambda each: each.is_a("Computer")), id="only")
    assert engine.match({"type": "Laptop", "price": 300}) == ["cheap"]
    assert engine.match({"type": "Product"}) == ["others"]
    assert engine.match({"types": ["Laptop"], "type": "Laptop"}) == ["listed", "only"]
    assert engine.match({"types": ["Laptop", "Fish"], "type": "Laptop"}) == ["listed"]
    assert engine.get("cheap").text == "type IS A 'Computer' AND price < 400"
    assert "type IS A 'Computer'" in str(engine.explain("others", {"type": "Laptop"}))
    engine.change_ontology(WIDER)
    assert engine.match({"type": "Netbook", "price": 300}) == ["cheap"]


def test_what_is_built_is_checked_when_somebody_subscribes() -> None:
    with pytest.raises(UnknownClassError, match="did you mean 'Computer'"):
        engine_of().subscribe(attr("type").is_a("Comptuer"))
    with pytest.raises(ParseError, match=r"Engine\(ontology=...\)"):
        Engine().subscribe(attr("type").is_a("Computer"))
    with pytest.raises(UnknownClassError, match="named by a string, not by 5"):
        attr("type").is_a(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("ontology", ["shop.ttl", 5, Ontology, object()])
def test_what_is_no_ontology_is_refused(ontology: object) -> None:
    with pytest.raises(InvalidOptionError, match="ontology is an Ontology"):
        Engine(ontology=ontology)  # type: ignore[arg-type]


# Properties.


@pytest.mark.parametrize(
    "name",
    [
        "telephoneNumber",
        "cellPhoneNumber",
        ":homePhoneNumber",
        "http://shop.example/cellPhoneNumber",
    ],
)
def test_a_property_is_given_by_those_below_it(name: str) -> None:
    engine = engine_of("telephoneNumber = '1'", "`http://shop.example/telephoneNumber` = '1'")
    assert len(engine.match({name: "1"})) == 2
    assert engine.match({name: "2"}) == []


def test_and_not_by_those_above_it() -> None:
    engine = engine_of("cellPhoneNumber = '1'")
    assert engine.match({"telephoneNumber": "1"}) == engine.match({"homePhoneNumber": "1"}) == []


def test_the_last_part_of_a_dotted_name_may_be_a_property() -> None:
    engine = engine_of("contact.telephoneNumber = '1'")
    assert engine.match({"contact": {"cellPhoneNumber": "1"}})
    assert not engine.match({"cellPhoneNumber": "1"})


def test_all_that_is_said_of_a_property_is_said_of_one_value() -> None:
    engine = engine_of(
        "telephoneNumber > 1 AND telephoneNumber < 4",
        "telephoneNumber = 0",
        "NOT telephoneNumber = 0",
        "telephoneNumber IS NULL",
    )
    both = {"cellPhoneNumber": 0, "homePhoneNumber": 5}
    assert engine.match(both) == ["NOT telephoneNumber = 0", "telephoneNumber = 0"]
    assert engine.match({"cellPhoneNumber": 0}) == ["telephoneNumber = 0"]
    assert engine.match({}) == ["telephoneNumber IS NULL"]


def test_absence_passes_only_if_no_attribute_gives_the_property() -> None:
    engine = engine_of("telephoneNumber = 1", absent="passes")
    assert engine.match({})
    assert not engine.match({"cellPhoneNumber": 2})


def test_derived_attributes_are_computed_from_readings() -> None:
    engine = engine_of("telephoneNumber + cellPhoneNumber = 3")
    assert engine.match({"cellPhoneNumber": 2, "homePhoneNumber": 1})
    assert not engine.match({"cellPhoneNumber": 2})


def test_a_region_may_be_given_by_a_property_below() -> None:
    engine = engine_of("telephoneNumber BETWEEN 3 AND 5")
    assert engine.match({"cellPhoneNumber": Interval(5, 9)})
    assert not engine.match({"cellPhoneNumber": Interval(6, 9), "homePhoneNumber": 2})


def test_lists_under_two_names_are_read_one_by_one() -> None:
    engine = engine_of("array_contains(telephoneNumber, 1)")
    table = pa.table({"cellPhoneNumber": [[1], None, [2]], "homePhoneNumber": [None, [1, 2], [1]]})
    assert counts(engine, table) == [1, 1, 1]
    assert counts(engine, table.slice(2).drop_columns(["homePhoneNumber"])) == [0]


def test_columns_of_several_types_are_one_property() -> None:
    engine = engine_of("telephoneNumber = 1", "telephoneNumber = '1'")
    table = pa.table({"cellPhoneNumber": [1, None, None], "homePhoneNumber": [None, "1", None]})
    assert counts(engine, table) == [1, 1, 0]
    limited = engine.match_arrow(pa.table({"cellPhoneNumber": [1], "fax": ["1"]}), limit=1)
    assert limited.num_rows == 1


def test_an_event_of_too_many_readings_is_refused_or_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readings, "MAX_READINGS", 1)
    engine = engine_of("telephoneNumber = 1")
    both = {"cellPhoneNumber": 1, "homePhoneNumber": 2}
    with pytest.raises(InvalidEventError, match="read in 2 ways, and 1 are the limit") as caught:
        engine.match(both)
    assert caught.value.attribute == "telephoneNumber"
    with pytest.raises(InvalidEventError, match="event 1: the event"):
        engine.match_batch([{}, both])
    table = pa.table({"cellPhoneNumber": [1, 1], "homePhoneNumber": [None, 2]})
    with pytest.raises(InvalidEventError, match="row 1: the event"):
        engine.match_arrow(table)
    assert engine.match(both, on_invalid="skip") == []
    assert (
        engine.match_batch([both, {"fax": 1}, {"cellPhoneNumber": 1}], on_invalid="skip")[0] == []
    )
    assert engine.count_arrow(table, on_invalid="skip").to_pylist() == [1, 0]
    assert engine.invalid.events == 3
    assert engine.match({"cellPhoneNumber": 1, "homePhoneNumber": 1})  # equal values are one


def test_an_explanation_tells_which_attribute_gave_the_value() -> None:
    engine = engine_of("telephoneNumber = 2 AND type IS A 'Computer'")
    [id] = engine
    explained = engine.explain(id, {"cellPhoneNumber": 1, "homePhoneNumber": 2, "type": "Laptop"})
    assert explained.matched
    shown = str(explained)
    assert "from homePhoneNumber = 2" in shown
    assert "type IS A 'Computer'" in shown
    assert not engine.explain(id, {"cellPhoneNumber": 1, "type": "Laptop"}).matched


def test_the_attributes_are_all_that_give_what_is_looked_at() -> None:
    engine = engine_of("telephoneNumber = 1")
    assert {"telephoneNumber", "cellPhoneNumber", ":homePhoneNumber"} <= engine.attributes()


# Changing.


def test_subscriptions_see_an_extended_ontology() -> None:
    engine = engine_of("type IS A 'Computer'", "telephoneNumber = 1", "x IS NULL")
    engine.subscribe_many({"many": "type IS NOT A 'Laptop'"})
    engine.apply([Subscribe("window", "type IS A 'Laptop'")])
    event = {"type": "Netbook", "fax": 1, "x": 1}
    assert engine.match(event) == ["many"]
    changes = engine.changes()
    engine.change_ontology(WIDER)
    assert engine.match(event) == ["telephoneNumber = 1", "type IS A 'Computer'", "window"]
    assert sorted(each.id for each in changes.take()) == ["many", "type IS A 'Computer'", "window"]
    assert engine.vocabulary == WIDER.vocabulary()


def test_an_engine_may_get_its_first_ontology_later() -> None:
    engine = Engine()
    engine.subscribe("telephoneNumber = 1", id="a")
    assert engine.vocabulary is None
    engine.change_ontology(SHOP)
    engine.subscribe(attr("type").isin(SHOP.vocabulary().class_names("Computer")), id="b")
    assert engine.match({"cellPhoneNumber": 1, "type": "Laptop"}) == ["a", "b"]


def test_an_ontology_without_a_class_that_is_named_is_refused_as_a_whole() -> None:
    engine = engine_of("type IS A 'Laptop'", "type IS A 'Computer'", "telephoneNumber = 1")
    with pytest.raises(UnknownClassError, match="no class 'Computer'") as caught:
        engine.change_ontology(NARROWER)
    assert caught.value.__notes__ == ["""in the subscription "type IS A 'Computer'\""""]
    assert engine.vocabulary == SHOP.vocabulary()
    assert len(engine.match({"type": "Laptop", "cellPhoneNumber": 1})) == 3
    engine.change("type IS A 'Computer'", "type IS A 'Product'")
    engine.change_ontology(NARROWER)
    assert engine.match({"type": "Laptop"}) == ["type IS A 'Computer'", "type IS A 'Laptop'"]
    assert engine.match({"cellPhoneNumber": 1}) == []


LAPTOPS = "type IS A 'Laptop'"


@pytest.mark.parametrize(
    "change",
    [
        lambda engine: engine.subscribe(LAPTOPS, id="a", replace=True),
        lambda engine: engine.change("a", LAPTOPS),
        lambda engine: engine.subscribe_many(iter([("a", LAPTOPS)]), replace=True),
        lambda engine: engine.apply([Change("a", LAPTOPS)]),
    ],
)
def test_what_was_read_by_an_ontology_of_the_past_is_read_again(
    change: Callable[[Engine], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_of()
    engine.subscribe("type = 'x'", id="a")
    read = SubscriptionStore.read
    read_by = []

    def slow(store: SubscriptionStore, *given: object) -> object:
        said = read(store, *given)  # type: ignore[arg-type]
        read_by.append(store.vocabulary)
        if len(read_by) == 1:
            engine.change_ontology(WIDER)  # as another thread might
        return said

    monkeypatch.setattr(SubscriptionStore, "read", slow)
    change(engine)
    assert engine.match({"type": "Netbook"}) == ["a"]
    assert read_by == [SHOP.vocabulary(), WIDER.vocabulary()]


def test_so_are_many_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of()
    read_all_new = SubscriptionStore.read_all_new

    def slow(store: SubscriptionStore, operations: Iterable[Subscribe]) -> object:
        bulk = read_all_new(store, operations)
        if store.vocabulary == SHOP.vocabulary():
            engine.change_ontology(WIDER)
        return bulk

    monkeypatch.setattr(SubscriptionStore, "read_all_new", slow)
    engine.subscribe_many(iter([("a", LAPTOPS)]))
    assert engine.match({"type": "Netbook"}) == ["a"]


def test_an_interrupted_change_of_the_ontology_is_finished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = engine_of("type IS A 'Computer'")
    carry_out = SubscriptionStore._carry_out

    def interrupted(store: SubscriptionStore, delta: object) -> None:
        monkeypatch.setattr(SubscriptionStore, "_carry_out", carry_out)
        raise KeyboardInterrupt

    monkeypatch.setattr(SubscriptionStore, "_carry_out", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.change_ontology(WIDER)
    assert engine.match({"type": "Netbook"})
    assert engine.vocabulary == WIDER.vocabulary()


# Keeping.


def test_a_file_holds_the_names_of_the_ontology(tmp_path: Path) -> None:
    engine = engine_of("type IS A 'Computer'", "telephoneNumber = 1")
    engine.save(tmp_path / "engine")
    for kept in (Engine.load(tmp_path / "engine"), copy.deepcopy(engine)):
        assert kept.vocabulary == engine.vocabulary
        assert len(kept.match({"type": "Laptop", "homePhoneNumber": 1})) == 2
        kept.subscribe("type IS A 'Laptop'", id="new")
        assert kept.explain("new", {"type": "Laptop"}).matched
        kept.change_ontology(WIDER)
        assert len(kept.match({"type": "Netbook", "fax": 1})) == 3


def test_a_file_without_an_ontology_says_nothing_of_one() -> None:
    assert b"vocabulary" not in Engine().to_bytes()
    assert b"vocabulary" in engine_of().to_bytes()


@pytest.mark.parametrize("matcher", ["brute-force", "counting", "poset", "ceem"])
def test_matchers_know_nothing_of_ontologies(matcher: str) -> None:
    engine = engine_of("type IS A 'Computer'", "telephoneNumber = 1", matcher=matcher)
    both = {"type": "Laptop", "cellPhoneNumber": 1, "homePhoneNumber": 2}
    assert len(engine.match(both)) == 2
    assert [len(ids) for ids in engine.match_batch([both, {}])] == [2, 0]


# Names.


def test_names_in_a_cycle_mean_the_same() -> None:
    names = Vocabulary({}, {}, {"urn:a": ("urn:b",), "urn:b": ("urn:c",), "urn:c": ("urn:a",)})
    every = {"a", "b", "c", "urn:a", "urn:b", "urn:c"}
    assert names.attribute_names("a") == names.attribute_names("urn:b") == every


def test_a_name_that_several_properties_share_is_a_name_like_any_other() -> None:
    names = Vocabulary({}, {}, {"urn:x:a": (), "urn:y:a": ("urn:x:a",)})
    assert names.attribute_names("a") == {"a"}
    assert names.attribute_names("urn:x:a") == {"urn:x:a", "urn:y:a"}
