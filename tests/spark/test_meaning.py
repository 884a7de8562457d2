"""Events of attributes that are read by an ontology, in DataFrames: the answers of ``Engine``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from predicast import Engine, attr
from predicast import spark as ps
from predicast.errors import (
    InvalidOptionError,
    InvalidSubscriptionsError,
    UnknownColumnError,
)
from predicast.graph import Ontology
from tests.spark.conftest import one_more_stream

SHOP = Ontology.parse("""
    @prefix : <http://shop.example/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Laptop rdfs:subClassOf :Computer .  :Computer rdfs:subClassOf :Product .
    :cellPhoneNumber rdfs:subPropertyOf :telephoneNumber .
    :homePhoneNumber rdfs:subPropertyOf :telephoneNumber .
    :width rdfs:subPropertyOf :extent .
""")
SUBSCRIPTIONS: dict[str, Any] = {
    "computers": "type IS A 'Computer'",
    "cheap computers": attr("type").is_a("Computer") & (attr("price") < 400),
    "others": "type IS NOT A 'Laptop'",
    "one": "telephoneNumber = '1'",
    "another": "telephoneNumber <> '1'",
    "none": "telephoneNumber IS NULL",
    "length": "length(telephoneNumber) > 1 AND price > 100",
    "fax": "contact.telephoneNumber = '7'",
}
COLUMNS = "event int, type string, price double, cellPhoneNumber string, homePhoneNumber string, "
SCHEMA = COLUMNS + "contact struct<homePhoneNumber: string>"
EVENTS = [
    (0, "Laptop", 350.0, "1", None, None),
    (1, "Computer", 900.0, None, "23", ("7",)),
    (2, ":Laptop", 350.0, "1", "2", (None,)),
    (3, "Book", 9.0, None, None, ("8",)),
    (4, None, 101.0, "44", "1", ("7",)),
]


def engine_of(subscriptions: dict[str, Any], **options: Any) -> Engine:
    engine = Engine(ontology=SHOP, **options)
    engine.subscribe_many(subscriptions)
    return engine


def dictionary(row: tuple[Any, ...]) -> dict[str, Any]:
    names = ("event", "type", "price", "cellPhoneNumber", "homePhoneNumber")
    flat = dict(zip(names, row, strict=False))
    contact = row[5]
    return flat | ({} if contact is None else {"contact": {"homePhoneNumber": contact[0]}})


def expected(engine: Engine) -> list[list[str]]:
    return [engine.match(dictionary(row)) for row in EVENTS]


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(EVENTS, SCHEMA).repartition(2)


def lists(frame: DataFrame) -> list[list[str]]:
    return [row["subscriptions"] for row in sorted(frame.collect(), key=lambda row: row["event"])]


@pytest.mark.parametrize("absent", ["fails", "passes"])
def test_the_answers_are_those_of_the_engine(events: DataFrame, absent: Any) -> None:
    engine = engine_of(SUBSCRIPTIONS, absent=absent)
    wanted = expected(engine)
    assert len({tuple(each) for each in wanted}) == len(wanted)
    assert lists(ps.match(events, engine, output="array", how="left")) == wanted
    compiled = ps.compile(SUBSCRIPTIONS, ontology=SHOP, absent=absent)
    assert compiled.vocabulary == SHOP.vocabulary()
    assert lists(ps.match(events, compiled, output="array", how="left")) == wanted
    assert compiled.engine().match(dictionary(EVENTS[0])) == wanted[0]


def test_shards_are_routed_to_by_the_ontology(events: DataFrame) -> None:
    subscriptions = SUBSCRIPTIONS | {
        f"{name} {n}": f"type IS A '{name}' AND telephoneNumber = '{n}'"
        for name in ("Laptop", "Computer")
        for n in range(20)
    }
    engine = engine_of(subscriptions)
    compiled = ps.compile(engine, strategy=ps.Partition(shards=3))
    assert len(compiled.placement.shards) == 3
    assert lists(ps.match(events, compiled, output="array", how="left")) == expected(engine)
    assert expected(compiled.engine()) == expected(engine)


def test_a_table_of_subscriptions_and_one_column_of_its_own(
    spark: SparkSession, events: DataFrame
) -> None:
    texts = {id: text for id, text in SUBSCRIPTIONS.items() if isinstance(text, str)}
    table = spark.createDataFrame(
        [*texts.items(), ("bad", "type IS A 'Boat'")], "id string, expression string"
    )
    with pytest.raises(InvalidSubscriptionsError, match="the ontology has no class 'Boat'"):
        ps.compile(table, ontology=SHOP)
    compiled = ps.compile(table, ontology=SHOP, on_invalid="drop")
    wanted = expected(engine_of(texts))
    looked_at = ["type", "price", "cellPhoneNumber", "homePhoneNumber", "contact"]
    with_column = events.withColumn("subscriptions", ps.matches(*looked_at, subscriptions=compiled))
    assert lists(with_column) == wanted
    with pytest.raises(InvalidOptionError, match="several columns may give"):
        ps.matches(subscriptions=compiled)
    only_classes = ps.compile({"computers": "type IS A 'Computer'"}, ontology=SHOP)
    found = events.withColumn("subscriptions", ps.matches(subscriptions=only_classes))
    assert [bool(each) for each in lists(found)] == [True, True, True, False, False]


def test_explain(events: DataFrame) -> None:
    compiled = ps.compile(SUBSCRIPTIONS, ontology=SHOP)
    rows = ps.explain(events.where("event = 2"), compiled, "another", event_id="event").collect()
    assert [(row["part"], row["matched"]) for row in rows] == [("telephoneNumber <> '1'", True)]
    assert "from homePhoneNumber = '2'" in rows[0]["value"]
    rows = ps.explain(
        events.where("event = 0"), compiled, "cheap computers", event_id="event"
    ).collect()
    assert "type IS A 'Computer'" in [row["part"] for row in rows]


def test_intervals_give_properties_too(spark: SparkSession) -> None:
    frame = spark.createDataFrame(
        [(0, 1, 3, (5, 9)), (1, 7, 8, None)],
        "event int, lo int, hi int, width struct<lo: int, hi: int>",
    )
    compiled = ps.compile({"a": "extent BETWEEN 2 AND 6"}, ontology=SHOP)
    assert lists(ps.match(frame, compiled, output="array", how="left")) == [["a"], []]
    ends = {"width": ("lo", "hi")}
    narrow = frame.select("event", "lo", "hi")
    assert lists(ps.match(narrow, compiled, intervals=ends, output="array", how="left")) == [
        ["a"],
        [],
    ]


def test_columns_that_are_not_there(spark: SparkSession, events: DataFrame) -> None:
    compiled = ps.compile({"one": "telephoneNumber = '1'"}, ontology=SHOP)
    narrow = events.select("event", "homePhoneNumber")
    assert [row["event"] for row in ps.match(narrow, compiled).collect()] == [4]
    with pytest.raises(UnknownColumnError, match="'one' looks at 'telephoneNumber', which no"):
        ps.match(events.select("event"), compiled)
    checked = ps.compile(
        {"one": "telephoneNumber = '1'", "number": "telephoneNumber = 1", "x": "cell = 1"},
        ontology=SHOP,
        events=events,
        on_invalid="quarantine",
    )
    assert [each.id for each in checked.invalid_rows] == ["number", "x"]


def test_which_subscriptions_are_patterns_is_said(events: DataFrame) -> None:
    pattern = {"a": "ASK { _:H :target ?x }"}
    assert isinstance(ps.compile(pattern, ontology=SHOP, graphs=True), ps.CompiledPatterns)
    assert isinstance(ps.compile({"a": "ASK { _:H <urn:p> ?x }"}, graphs=True), ps.CompiledPatterns)
    with pytest.raises(InvalidSubscriptionsError, match=r"say graphs=True"):
        ps.compile(pattern, ontology=SHOP)
    with pytest.raises(InvalidSubscriptionsError):
        ps.compile({"a": "x = 1"}, ontology=SHOP, graphs=True)
    with pytest.raises(InvalidOptionError, match="by its own ontology"):
        ps.compile(engine_of({}), ontology=SHOP)
    with pytest.raises(InvalidOptionError, match="ontology is an Ontology"):
        ps.compile({}, ontology=5)  # type: ignore[call-overload]


def test_times_are_those_of_the_engine(spark: SparkSession) -> None:
    frame = spark.createDataFrame(
        [(0, "Laptop", datetime(2026, 1, 1, tzinfo=UTC))], "event int, type string, at timestamp"
    ).withColumn("at", sf.col("at"))
    text = "type IS A 'Computer' AND at < TIMESTAMP '2026-01-01 00:00:01'"
    assert ps.match(frame, ps.compile({"a": text}, ontology=SHOP)).count() == 1
    ahead = ps.compile({"a": text}, ontology=SHOP, time_zone="Asia/Kolkata")
    assert ps.match(frame, ahead).count() == 0


@one_more_stream
def test_a_table_is_delivered_by_its_ontology(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    table = ps.SubscriptionTable(tmp_path / "table", ontology=SHOP)
    texts = {id: text for id, text in SUBSCRIPTIONS.items() if "contact" not in str(text)}
    table.subscribe_many(texts)
    rows = pa.table(
        {
            name: [dictionary(row)[name] for row in EVENTS]
            for name in ("event", "type", "price", "cellPhoneNumber", "homePhoneNumber")
        }
    )
    pq.write_table(rows, tmp_path / "events" / "0.parquet")
    schema = COLUMNS.rstrip(", ").replace("event int", "event bigint")
    stream = spark.readStream.schema(schema).parquet(str(tmp_path / "events"))
    delivery = ps.deliver(
        stream,
        table,
        tmp_path / "out",
        checkpoint=tmp_path / "checkpoint",
        columns=["event"],
        output="array",
        trigger={"availableNow": True},
    )
    assert delivery.wait(300)
    rows_out = spark.read.parquet(str(tmp_path / "out")).select("event", "subscriptions").collect()
    found = sorted(tuple(row) for row in rows_out)
    wanted = enumerate(expected(engine_of(texts)))
    assert found == [(event, ids) for event, ids in wanted if ids]
