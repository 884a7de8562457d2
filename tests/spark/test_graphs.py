"""Events that are graphs in DataFrames: the answers of ``GraphEngine``, and what is refused."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from predicast import Engine
from predicast import spark as ps
from predicast.errors import (
    InvalidOptionError,
    InvalidSubscriptionsError,
    UnknownColumnError,
    UnknownIdError,
    UnsupportedColumnError,
)
from predicast.graph import EventGraph, GraphEngine
from predicast.spark.answers import Bounds
from predicast.spark.graph_answers import AskedOfGraphs
from predicast.spark.graph_workers import MatchingGraphs
from tests.unit.graph.shop import ONTOLOGY, ONTOLOGY_TEXT, PREFIXES, SUBSCRIPTION, selling

PATTERNS = {
    "paper": SUBSCRIPTION,
    "computers": "ASK { _:H :target ?x . ?x a :Computer }",
    "cheap": "ASK { _:H :price/rdf:value ?x FILTER(?x < 100) }",
    "by telephone": 'SELECT ?n { _:H :seller ?who . ?who :telephoneNumber "123456789" ; :name ?n }',
    "anything": "ASK { _:H a :Selling }",
}


def n_triples(event: EventGraph) -> str:
    return "\n".join(f"{subject} {name} {object} ." for subject, name, object in event.triples())


PLAIN = {"type": "Selling", "target": {"type": "Desktop"}, "price": {"value": 20}}
XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns="http://shop.example/">
  <rdf:Description rdf:about="urn:predicast:home"><target><Laptop/></target></rdf:Description>
</rdf:RDF>"""
TEXTS = [
    n_triples(selling()),
    n_triples(selling("99.5", ":Disk")),
    n_triples(selling("5000", ":Desktop")),
    f"{PREFIXES} _:H a :Selling ; :target [ a :Laptop ] ; :price [ rdf:value 3 ] .",
    json.dumps(PLAIN),
    XML,
    f"{PREFIXES} _:H :manufacture [ a :Company ] .",
    None,
]
EVENTS = list(enumerate(TEXTS))


def expected(texts: Sequence[str | None] = TEXTS) -> list[list[str]]:
    engine = GraphEngine(ONTOLOGY, matcher="brute-force")
    engine.subscribe_many(PATTERNS)
    return [[] if text is None else engine.match(text) for text in texts]


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(EVENTS, "event int, graph string").repartition(2)


@pytest.fixture(scope="module")
def compiled() -> ps.CompiledPatterns:
    return ps.compile(PATTERNS, ontology=ONTOLOGY, graphs=True)


def lists(frame: DataFrame) -> list[list[str]]:
    """The lists of an answer, event by event."""
    return [row["subscriptions"] for row in sorted(frame.collect(), key=lambda row: row["event"])]


def test_the_answers_are_those_of_the_engine(
    events: DataFrame, compiled: ps.CompiledPatterns
) -> None:
    wanted = expected()
    assert wanted[0] == ["anything", "by telephone", "computers", "paper"]
    assert len({tuple(each) for each in wanted}) >= 5
    assert lists(ps.match(events, compiled, output="array", how="left")) == wanted
    rows = ps.match(events, compiled, columns=["event"]).collect()
    pairs = [(event, id) for event, ids in enumerate(wanted) for id in ids]
    assert sorted((row["event"], row["subscription"]) for row in rows) == pairs
    unmatched = ps.match(events, compiled, how="anti", columns=["event"]).collect()
    assert sorted(row["event"] for row in unmatched) == [6, 7]


def test_an_engine_and_a_table_of_patterns(spark: SparkSession, events: DataFrame) -> None:
    engine = GraphEngine(ONTOLOGY, matcher="ops")
    engine.subscribe_many(PATTERNS)
    assert ps.compile(engine).matcher == "ops"
    assert lists(events.transform(ps.with_matches(engine))) == expected()
    table = spark.createDataFrame(
        [*PATTERNS.items(), ("bad", "ASK { _:H :no"), ("none", None)], "name string, query string"
    )
    compile_table = partial(ps.compile, table, id="name", expression="query")
    compiled = compile_table(graphs=True, ontology=ONTOLOGY_TEXT, on_invalid="quarantine")
    assert (len(compiled), compiled.left_out) == (len(PATTERNS), 2)
    reasons = {row["id"]: row["error"] for row in compiled.invalid.collect()}
    assert reasons["none"] == "the expression is null"
    assert reasons["bad"].startswith("line 1, column 14: ")
    pairs = ps.match(events, compiled, event_id="event", output="pairs")
    found = sorted(tuple(row) for row in pairs.collect())
    assert found == [(event, id) for event, ids in enumerate(expected()) for id in ids]
    with pytest.raises(InvalidSubscriptionsError, match="2 of 7 subscriptions cannot be compiled"):
        compile_table(graphs=True, ontology=ONTOLOGY)


def test_invalid_events(spark: SparkSession, compiled: ps.CompiledPatterns) -> None:
    texts = [TEXTS[0], "_:H <urn:p> ?x .", '{"target": {"type": 5}}', None]
    frame = spark.createDataFrame(list(enumerate(texts)), "event int, text string")
    skipped = ps.match(
        frame, compiled, column="text", on_invalid="skip", output="array", how="left"
    )
    assert lists(skipped) == [expected()[0], [], [], []]
    dead = sorted(ps.dead_letters(frame, compiled, column="text").collect())
    assert [row["event"] for row in dead] == [1, 2]
    assert dead[0]["text"] == texts[1]
    assert "line 1 between columns" in dead[0]["reason"]
    assert dead[1]["reason"].startswith("$.target.type: a class is named by a string")
    with pytest.raises(Exception, match="an event cannot be read: this is not turtle: line 1"):
        ps.match(frame.where("event < 2"), compiled, column="text").collect()


def test_validation_and_formats(spark: SparkSession) -> None:
    strict = ps.compile(PATTERNS, ontology=ONTOLOGY, graphs=True, validate="strict")
    illegal = f"{PREFIXES} _:H a :Selling ; :target [ a :Company ] ."
    frame = spark.createDataFrame([(0, illegal), (1, json.dumps(PLAIN))], "event int, graph string")
    assert [row["event"] for row in ps.dead_letters(frame, strict).collect()] == [0]
    off = ps.compile(PATTERNS, ontology=ONTOLOGY, graphs=True)
    assert ps.dead_letters(frame, off).collect() == []
    as_json = ps.match(frame.where("event = 1"), off, format="json", output="array")
    assert lists(as_json) == expected(TEXTS[4:5])
    assert ps.dead_letters(frame, off, format="json").count() == 1


def test_in_a_stream(spark: SparkSession, compiled: ps.CompiledPatterns, tmp_path: Any) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    lines = [json.dumps({"event": event, "graph": text}) for event, text in EVENTS]
    (folder / "a.json").write_text("\n".join(lines), encoding="utf-8")
    stream = spark.readStream.schema("event int, graph string").json(str(folder))
    query = (
        ps.match(stream, compiled, output="array", how="left")
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    query.awaitTermination()
    assert lists(spark.read.parquet(str(tmp_path / "out"))) == expected()


# Without a session's work.


def test_compiled_patterns_are_equal_if_packed_alike(compiled: ps.CompiledPatterns) -> None:
    turned = ps.compile(dict(reversed(PATTERNS.items())), ontology=ONTOLOGY, graphs=True)
    assert turned == compiled
    assert pickle.loads(pickle.dumps(compiled)) == compiled
    assert compiled != ps.compile({}, ontology=ONTOLOGY, graphs=True)
    assert len(ps.compile({}, ontology=ONTOLOGY, graphs=True)) == 0
    assert compiled.engine().match(selling()) == expected()[0]
    assert repr(compiled).startswith("<CompiledPatterns: 5 subscriptions, matcher 'joins', ")
    assert ps.compile(compiled) is compiled


@pytest.mark.parametrize("bounds", [Bounds(), Bounds(unasked=10), Bounds(id_bytes=1)])
@pytest.mark.parametrize("how", ["left", "inner", "anti"])
def test_answers_are_the_same_in_pieces(
    compiled: ps.CompiledPatterns, bounds: Bounds, how: str
) -> None:
    schema = pa.schema([("event", pa.int32()), ("graph", pa.string())])
    rows = [{"event": event, "graph": text} for event, text in EVENTS]
    batch = pa.RecordBatch.from_pylist(rows, schema=schema)
    matching = MatchingGraphs(compiled.image, 1, (0,), how, AskedOfGraphs(), bounds)
    pieces = list(matching([batch]))
    assert (len(pieces) > 1) == (bounds != Bounds())
    found = [row for piece in pieces for row in piece.to_pylist()]
    wanted = enumerate(expected())
    if how == "anti":
        assert found == [{"event": event} for event, ids in wanted if not ids]
    else:
        everyone = how == "left"
        assert found == [{"event": e, "matched": ids} for e, ids in wanted if everyone or ids]


def test_matches_as_a_column(
    spark: SparkSession, events: DataFrame, compiled: ps.CompiledPatterns
) -> None:
    assert (
        lists(events.withColumn("subscriptions", ps.matches(subscriptions=compiled))) == expected()
    )
    skipping = ps.matches_udf(compiled, on_invalid="skip", format="turtle")
    texts = spark.createDataFrame([(0, TEXTS[3]), (1, "no")], "event int, text string")
    assert lists(texts.withColumn("subscriptions", skipping("text"))) == [expected()[3], []]
    with pytest.raises(Exception, match="takes one text of a graph, not one of type int32"):
        events.select(ps.matches("event", subscriptions=compiled)).collect()


def test_explain(events: DataFrame, compiled: ps.CompiledPatterns) -> None:
    found = ps.explain(events, compiled, "computers", event_id="event").orderBy("event", "line")
    rows: dict[int, list[Any]] = {}
    for row in found.collect():
        rows.setdefault(row["event"], []).append(row)
    engine = compiled.engine()
    for event, text in EVENTS:
        first, *others = rows[event]
        assert (first["line"], first["depth"], first["part"]) == (1, 0, "the pattern")
        assert first["held"] is first["matched"] is ("computers" in expected()[event])
        if text is None:
            assert (first["reason"], others) == ("there is no text", [])
            continue
        explained = engine.explain("computers", text)
        mapped = {row["part"]: row["value"][:2] for row in others if row["held"]}
        # Blank nodes are called anew each time.
        assert mapped == {str(name): str(term)[:2] for name, term in explained.mapping.items()}
        assert [row["part"] for row in others if not row["held"]] == [
            each for each in [explained.failed] if each
        ]


def test_wrong_options(events: DataFrame, compiled: ps.CompiledPatterns) -> None:
    flat = {"a": "event = 1"}
    calls: list[tuple[Any, Any, dict[str, Any], str]] = [
        (ps.match, InvalidOptionError, {"intervals": {"x": ("a", "b")}}, "events are graphs"),
        (ps.match, InvalidOptionError, {"now": "event"}, "now does not apply"),
        (ps.match, InvalidOptionError, {"on_invalid": "absent"}, "'raise' or 'skip'"),
        (ps.match, InvalidOptionError, {"format": "turtel"}, "did you mean 'turtle'?"),
        (ps.match, UnknownColumnError, {"column": "grap"}, "did you mean 'graph'?"),
        (ps.match, UnsupportedColumnError, {"column": "event"}, "is of type int; events"),
    ]
    for call, error, options, said in calls:
        with pytest.raises(error) as raised:
            call(events, compiled, **options)
        assert said in str(raised.value)
    with pytest.raises(InvalidOptionError, match="these are not graph patterns"):
        ps.match(events, flat, column="graph")
    with pytest.raises(InvalidOptionError, match="now does not apply"):
        ps.explain(events, compiled, "paper", now=datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(UnknownIdError, match="papre"):
        ps.explain(events, compiled, "papre")
    with pytest.raises(InvalidOptionError, match="column does not apply"):
        ps.explain(events, flat, "a", column="graph")
    with pytest.raises(InvalidOptionError, match="texts of one column, and 2 are given"):
        ps.matches("graph", "event", subscriptions=compiled)
    with pytest.raises(InvalidOptionError, match="intervals does not apply"):
        ps.matches("graph", subscriptions=compiled, intervals={"x": ("a", "b")})
    with pytest.raises(InvalidOptionError, match="'raise' or 'skip'"):
        ps.matches("graph", subscriptions=compiled, on_invalid="absent")
    with pytest.raises(InvalidOptionError, match="format does not apply"):
        ps.matches("event", subscriptions=flat, format="turtle")
    with pytest.raises(InvalidOptionError, match="strategy does not apply"):
        ps.compile(PATTERNS, ontology=ONTOLOGY, graphs=True, strategy="partition")  # type: ignore[call-overload]
    with pytest.raises(InvalidOptionError, match="validate is for graphs"):
        ps.compile(flat, validate="strict")  # type: ignore[call-overload]
    with pytest.raises(InvalidOptionError, match="the engine has ontology of its own"):
        ps.compile(GraphEngine(ONTOLOGY), ontology=ONTOLOGY, graphs=True)  # type: ignore[call-overload]
    assert isinstance(ps.compile(Engine()), ps.CompiledSubscriptions)
