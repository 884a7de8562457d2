"""Subscriptions in a dialect on Spark: compiled, explained, delivered, read as a DataFrame."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from predicast import spark as ps
from predicast.errors import InvalidOptionError, InvalidSubscriptionsError, UnknownDialectError
from tests import wish_list  # noqa: F401  # registers
from tests.spark.conftest import MODE

RED = "# title: red and heavy\ncolour is red\nweight over 5"
ROWS = [
    ("any", RED, "wishes:any"),
    ("heavy", "weight > 5", "where"),
    ("nobody", RED, "wish"),
    ("red", RED, None),
    ("wrong", "nonsense", None),
]


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    rows = [(1, "red", 7), (2, "red", 3), (3, "blue", 3)]
    return spark.createDataFrame(rows, "event int, colour string, weight int").coalesce(1)


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, "id string, expression string, dialect string").coalesce(1)


def matches(events: DataFrame, compiled: ps.CompiledSubscriptions) -> list[tuple[int, str]]:
    found = ps.match(events, compiled, event_id="event").collect()
    return sorted((row["event"], row["subscription"]) for row in found)


def test_a_column_of_dialects(events: DataFrame, frame: DataFrame) -> None:
    options = {"dialect": "wishes", "dialect_column": "dialect"}
    compiled = ps.compile(frame, on_invalid="quarantine", events=events, **options)  # type: ignore[call-overload]
    assert matches(events, compiled) == [
        *((1, "any"), (1, "heavy"), (1, "red")),
        (2, "any"),
    ]
    wrong = {row["id"]: row["error"] for row in compiled.invalid.collect()}
    assert "did you mean 'wishes'" in wrong.pop("nobody")
    assert "line 1, column 1: a wish is as in" in wrong.pop("wrong")
    assert not wrong
    entry = compiled.entry("red")
    assert (entry.text, entry.dialect) == (RED, "wishes")
    assert entry.about == {"title": "red and heavy"}
    assert compiled.engine().get("any").dialect == "wishes:any"
    with pytest.raises(InvalidSubscriptionsError, match="2 of 5 subscriptions"):
        ps.compile(frame, **options)  # type: ignore[call-overload]


def test_one_dialect_for_all(events: DataFrame) -> None:
    compiled = ps.compile({"red": RED, "built": "colour is blue"}, dialect="wishes")
    assert matches(events, compiled) == [(1, "red"), (3, "built")]
    part = ps.explain(events, compiled, "red", event_id="event").filter("event = 2")
    assert [(row.part, row.held) for row in part.orderBy("line").collect()] == [
        ("AND", False),
        ("colour is red", True),
        ("weight over 5", False),
    ]


def test_in_shards_texts_stay_what_they_are() -> None:
    compiled = ps.compile(
        {f"s{number}": f"weight over {number}" for number in range(20)},
        dialect="wishes",
        strategy=ps.Partition(shards=2),
    )
    assert len(compiled.placement.shards) == 2
    entry = compiled.entry("s7")
    assert (entry.text, entry.dialect) == ("weight over 7", "wishes")


def test_options_that_are_refused(frame: DataFrame) -> None:
    with pytest.raises(UnknownDialectError, match="did you mean 'wishes'"):
        ps.compile(frame, dialect="wish")
    with pytest.raises(InvalidOptionError, match="names a column of a DataFrame"):
        ps.compile({"a": "x = 1"}, dialect_column="dialect")
    with pytest.raises(InvalidOptionError, match="graph"):
        ps.compile({"a": "x = 1"}, graphs=True, dialect="wishes")  # type: ignore[call-overload]


def test_a_table_is_read_with_its_dialects(spark: SparkSession, tmp_path: Path) -> None:
    table = ps.SubscriptionTable(tmp_path)
    table.subscribe("weight > 5", id="heavy")
    table.subscribe(RED, id="red", dialect="wishes")
    rows = spark.read.format("predicast").load(str(tmp_path)).orderBy("id").collect()
    assert [(row["id"], row["dialect"]) for row in rows] == [("heavy", None), ("red", "wishes")]
    since = spark.read.format("predicast").option("since", 1).load(str(tmp_path)).collect()
    assert [(row["id"], row["dialect"], row["change"]) for row in since] == [
        ("red", "wishes", "subscribed")
    ]


@pytest.mark.skipif(
    MODE == "connect", reason="the server's Python does not know the tests' dialect"
)
def test_a_stream_is_delivered_to_subscriptions_in_a_dialect(
    spark: SparkSession, events: DataFrame, tmp_path: Path
) -> None:
    table = ps.SubscriptionTable(tmp_path / "table")
    table.subscribe(RED, id="red", dialect="wishes")
    events.write.parquet(str(tmp_path / "events"))
    stream = spark.readStream.schema(events.schema).parquet(str(tmp_path / "events"))
    delivery = ps.deliver(
        stream,
        table,
        ps.ParquetSink(tmp_path / "out"),
        checkpoint=tmp_path / "checkpoint",
        trigger={"availableNow": True},
    )
    assert delivery.wait(300)
    delivered = spark.read.parquet(str(tmp_path / "out")).collect()
    assert [(row["event"], row["subscription"]) for row in delivered] == [(1, "red")]
