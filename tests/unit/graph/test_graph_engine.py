"""``GraphEngine``: the verbs of an engine, for events that are graphs."""

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from predicast import Change, Subscribe, Unsubscribe
from predicast.errors import (
    DamagedSnapshotError,
    DuplicateIdError,
    EngineError,
    InvalidOptionError,
    LanguageError,
    ModelError,
    ParseError,
    UnknownColumnError,
    UnknownIdError,
    UnknownMatcherError,
    UnsupportedColumnError,
)
from predicast.graph import (
    HOME_VERTEX,
    EventGraph,
    GraphEngine,
    GraphPattern,
    Ontology,
    StatementPattern,
    Variable,
)
from predicast.graph.matching import graph_matcher_names

SHOP = """
@prefix : <http://shop.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Laptop rdfs:subClassOf :Computer .
:cellPhoneNumber rdfs:subPropertyOf :telephoneNumber .
"""
PREFIX = "PREFIX : <http://shop.example/>\n"
COMPUTERS = PREFIX + "ASK { <urn:predicast:home> :target ?x . ?x a :Computer }"
CHEAP = PREFIX + "ASK { <urn:predicast:home> :price ?p FILTER(?p < 400) }"
PRICES = PREFIX + "SELECT ?p { <urn:predicast:home> :price ?p }"
PHONES = PREFIX + 'ASK { <urn:predicast:home> :telephoneNumber "1" }'


def event(body: str) -> str:
    return f"@prefix : <http://shop.example/> .\n<urn:predicast:home> {body} ."


LAPTOP = event(":target [ a :Laptop ] ; :price 350 ; :price 900")
BOOK = event(":target [ a :Book ] ; :price 12.5")


@pytest.fixture(params=graph_matcher_names())
def engine(request: pytest.FixtureRequest) -> GraphEngine:
    made = GraphEngine(Ontology.parse(SHOP, "turtle"), matcher=request.param)
    made.subscribe_many({"computers": COMPUTERS, "cheap": CHEAP, "prices": PRICES}, owner="ann")
    made.subscribe(PHONES, id="phones", owner="bob")
    return made


def test_events_are_matched_by_meaning(engine: GraphEngine) -> None:
    assert engine.match(LAPTOP) == ["cheap", "computers", "prices"]
    assert engine.match(event(':cellPhoneNumber "1"')) == ["phones"]
    assert engine.match_batch([BOOK, LAPTOP, event(":x :y")]) == [
        ["cheap", "prices"],
        ["cheap", "computers", "prices"],
        [],
    ]


def test_events_come_as_json_and_as_graphs(engine: GraphEngine) -> None:
    assert engine.match({"cellPhoneNumber": "1"}) == ["phones"]
    assert engine.match(EventGraph.parse(LAPTOP, format="turtle")) == [
        "cheap",
        "computers",
        "prices",
    ]


def test_subscriptions_change(engine: GraphEngine) -> None:
    engine.change("cheap", COMPUTERS)
    engine.unsubscribe("computers")
    assert engine.match(LAPTOP) == ["cheap", "prices"]
    assert engine.match(BOOK) == ["prices"]
    assert engine.unsubscribe_all(owner="ann") == 2
    assert [*engine] == ["phones"]
    assert engine.subscribe(CHEAP) in engine
    assert len(engine) == 2


def test_a_window_is_all_or_nothing(engine: GraphEngine) -> None:
    changes = engine.changes()
    with pytest.raises(UnknownIdError):
        engine.apply([Subscribe("new", CHEAP), Unsubscribe("nobody")])
    assert "new" not in engine
    report = engine.apply(
        [Subscribe("new", CHEAP), Change("new", COMPUTERS), Unsubscribe("phones")]
    )
    assert (report.given, report.collapsed) == (3, 1)
    assert engine.match(LAPTOP) == ["cheap", "computers", "new", "prices"]
    copy = GraphEngine(engine.ontology)
    copy.subscribe(PHONES, id="phones")
    copy.apply(changes.take())
    assert [*copy] == ["new"]


def test_refusals_are_reported(engine: GraphEngine) -> None:
    report = engine.apply(
        [Subscribe("bad", "ASK {"), Subscribe("cheap", CHEAP), Subscribe("good", CHEAP)],
        on_refusal="report",
    )
    assert [type(each.error) for each in report.refused] == [ParseError, DuplicateIdError]
    assert "good" in engine


def test_the_ontology_grows_while_the_engine_runs(engine: GraphEngine) -> None:
    tablet = event(":target [ a :Tablet ]")
    assert engine.match(tablet) == []
    engine.extend(
        "<http://shop.example/Tablet> "
        "<http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://shop.example/Laptop> .",
        "turtle",
    )
    assert engine.match(tablet) == ["computers"]


def test_bindings_are_those_of_select(engine: GraphEngine) -> None:
    found = engine.select(LAPTOP)
    assert [*found] == ["prices"]
    assert sorted(str(row[Variable("p")]) for row in found["prices"]) == [
        '"350"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '"900"^^<http://www.w3.org/2001/XMLSchema#integer>',
    ]


def test_an_explanation_shows_the_mapping_or_what_failed(engine: GraphEngine) -> None:
    matched = engine.explain("cheap", LAPTOP)
    assert matched.matched
    assert str(matched.mapping[Variable("p")]).startswith('"350"')
    failed = engine.explain("computers", BOOK)
    assert failed.matched is False
    assert failed.failed == "?x a <http://shop.example/Computer>"
    assert Variable("x") in failed.mapping
    assert "nothing satisfies" in str(failed)
    dear = engine.explain("cheap", event(":price 500"))
    assert dear.failed is not None
    assert dear.failed.startswith("FILTER")


def test_a_column_of_texts(engine: GraphEngine) -> None:
    table = pa.table({"id": [1, 2, 3], "rdf": [LAPTOP, None, BOOK]})
    found = engine.match_arrow(table, column="rdf", format="turtle")
    rows = sorted(
        zip(*(found[name].to_pylist() for name in ("event", "subscription")), strict=True)
    )
    assert rows == [(0, "cheap"), (0, "computers"), (0, "prices"), (2, "cheap"), (2, "prices")]
    with pytest.raises(InvalidOptionError, match="2 columns"):
        engine.match_arrow(table)
    with pytest.raises(UnknownColumnError):
        engine.match_arrow(table, column="rfd")
    with pytest.raises(UnsupportedColumnError, match="int64"):
        engine.match_arrow(table, column="id")
    with pytest.raises(ModelError, match="event 2"):
        engine.match_arrow(pa.table({"rdf": [LAPTOP, None, ""]}))


def test_a_file_holds_the_whole_engine(engine: GraphEngine, tmp_path: Path) -> None:
    engine.unsubscribe("cheap")
    engine.save(tmp_path / "engine")
    loaded = GraphEngine.load(tmp_path / "engine")
    assert loaded.matcher == engine.matcher
    assert loaded.subscriptions() == engine.subscriptions()
    assert loaded.ontology.triples == engine.ontology.triples
    assert loaded.match(LAPTOP) == engine.match(LAPTOP)
    assert loaded.subscribe(CHEAP) not in {"s1", "s2", "s3"}
    assert [*pickle.loads(pickle.dumps(engine))] == [*engine]


def test_a_damaged_file_is_refused(engine: GraphEngine, tmp_path: Path) -> None:
    data = bytearray(engine.to_bytes())
    data[-1] ^= 1
    (tmp_path / "bad").write_bytes(data)
    with pytest.raises(DamagedSnapshotError, match="bad"):
        GraphEngine.load(tmp_path / "bad")


def test_what_was_built_from_objects_is_saved_too(engine: GraphEngine, tmp_path: Path) -> None:
    pattern = GraphPattern.of(
        StatementPattern(HOME_VERTEX, "http://shop.example/target", Variable("x"))
    )
    engine.subscribe(pattern, id="objects")
    engine.save(tmp_path / "engine")
    loaded = GraphEngine.load(tmp_path / "engine")
    assert loaded.subscriptions() == engine.subscriptions()
    assert "objects" in loaded.match(LAPTOP)


def test_patterns_keep_their_meaning_when_the_ontology_gives_names_another(tmp_path: Path) -> None:
    engine = GraphEngine(Ontology.parse(SHOP))
    engine.subscribe("(_:H, ?1, (owl:Thing, :target, Computer))", id="computers")
    assert engine.match(LAPTOP) == ["computers"]
    engine.extend("""
        @prefix : <urn:other:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        :Computer a owl:Class . :target a owl:ObjectProperty .
    """)
    engine.save(tmp_path / "engine")
    assert GraphEngine.load(tmp_path / "engine").match(LAPTOP) == ["computers"]


def test_bad_input_is_refused_and_changes_nothing(engine: GraphEngine) -> None:
    held = [*engine]
    with pytest.raises(ParseError) as caught:
        engine.subscribe("ASK { ?x", id="x")
    assert "in the subscription 'x'" in caught.value.__notes__
    with pytest.raises(LanguageError, match="not int"):
        engine.subscribe(7)  # type: ignore[arg-type]
    with pytest.raises(LanguageError, match="parameters"):
        engine.apply([Subscribe("x", CHEAP, parameters={"a": 1})])
    with pytest.raises(EngineError, match="has no parameters"):
        engine.apply([Change("cheap", parameters={"a": 1})])
    with pytest.raises(ModelError):
        engine.match("no RDF at all", format="turtle")
    assert [*engine] == held


def test_options_are_checked() -> None:
    with pytest.raises(UnknownMatcherError, match="'joins'"):
        GraphEngine(matcher="join")
    with pytest.raises(InvalidOptionError, match="budget"):
        GraphEngine(budget=0)
    with pytest.raises(InvalidOptionError, match="validate"):
        GraphEngine(validate="maybe")  # type: ignore[arg-type]


def test_what_takes_too_long_is_undecided(engine: GraphEngine) -> None:
    """A triangle is looked for in a circle of six: every vertex looks as if it could be in one."""
    triangle = PREFIX + "ASK { <urn:predicast:home> :to ?a . ?a :on ?b . ?b :on ?c . ?c :on ?a }"
    circle = [f"_:n{number} :on _:n{(number + 1) % 6} ." for number in range(6)]
    heads = [f"<urn:predicast:home> :to _:n{number} ." for number in range(6)]
    text = "@prefix : <http://shop.example/> .\n" + "\n".join(heads + circle)
    for budget, undecided in ((3, ["triangle"]), (10_000, [])):
        made = GraphEngine(matcher=engine.matcher, budget=budget)
        made.subscribe(triangle, id="triangle")
        assert made.decide(text) == ([], undecided)
        assert made.match(text) == []
        assert made.statistics()["undecided"] == 2 * len(undecided)
