"""``matches``: the same answers as a column, in queries of every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, struct

from predicast import Engine, Interval
from predicast import spark as ps
from predicast.errors import ColumnClashError, InvalidOptionError
from predicast.spark.answers import Asked
from predicast.spark.table_function import MatchingRows
from predicast.spark.workers import MatchingColumns
from tests.spark.expressions import SCHEMA, Generator

SUBSCRIPTIONS = {
    "cheap": "price < 10",
    "ibm": "symbol = 'IBM'",
    "large": "o.total >= 100 AND price > 1",
    "none": "o.note IS NULL",
}


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [(1, 5.0, "IBM", (100.0, "x")), (2, 15.0, "XYZ", None), (3, None, None, (250.0, None))],
        "event int, price double, symbol string, o struct<total: double, note: string>",
    )


RIGHT = {1: ["cheap", "ibm", "large"], 2: ["none"], 3: ["none"]}


# Made when there is a session to make them in.
COLUMNS: dict[str, Callable[[], list[Any]]] = {
    "found": list,
    "names": lambda: ["price", "symbol", "o"],
    "fields": lambda: ["price", "symbol", "o.total", "o.note"],
    "columns": lambda: [col("price"), "symbol", "o"],
    "expressions": lambda: [(col("price") * 1).alias("price"), col("symbol"), "o", "event"],
    "all": lambda: ["*"],
}


@pytest.mark.parametrize("columns", COLUMNS)
def test_in_select(events: DataFrame, columns: str) -> None:
    ids = ps.matches(*COLUMNS[columns](), subscriptions=SUBSCRIPTIONS).alias("ids")
    found = events.select("event", ids)
    assert found.schema["ids"].dataType.simpleString() == "array<string>"
    assert {row.event: row.ids for row in found.collect()} == RIGHT


@pytest.fixture
def registered(spark: SparkSession, events: DataFrame) -> Iterator[SparkSession]:
    events.createOrReplaceTempView("matched_events")
    spark.udf.register("matches", ps.matches_udf(SUBSCRIPTIONS))
    yield spark
    spark.catalog.dropTempView("matched_events")


def test_in_sql(registered: SparkSession) -> None:
    query = "SELECT event, matches(struct(price, symbol, o)) AS ids FROM matched_events"
    assert {row.event: row.ids for row in registered.sql(query).collect()} == RIGHT
    grouped = registered.sql(
        f"SELECT id, count(*) AS n FROM ({query}) LATERAL VIEW explode(ids) AS id GROUP BY id"
    )
    assert {row.id: row.n for row in grouped.collect()} == {
        "cheap": 1,
        "ibm": 1,
        "large": 1,
        "none": 2,
    }


@pytest.mark.parametrize("call", ["matches(price, symbol)", "matches(price)"])
def test_what_is_not_a_struct_is_refused(registered: SparkSession, call: str) -> None:
    with pytest.raises(PythonException, match=r"UnsupportedTableError: matches takes one struct"):
        registered.sql(f"SELECT {call} FROM matched_events").collect()


def test_a_missing_column_is_named_with_one_close_to_it(events: DataFrame) -> None:
    renamed = struct(col("price").alias("prize"), "symbol", "o")
    found = events.select(ps.matches_udf(SUBSCRIPTIONS)(renamed))
    with pytest.raises(
        PythonException, match=r"UnknownColumnError: .*'price', which none .*did you mean 'prize'"
    ):
        found.collect()


def test_it_answers_as_an_engine_does(spark: SparkSession) -> None:
    generator = Generator(5)
    events = generator.events(200)
    engine = Engine()
    engine.subscribe_many((f"s{n}", generator.test()) for n in range(50))
    frame = spark.createDataFrame(events, SCHEMA)
    found = frame.select("event", ps.matches("*", subscriptions=engine).alias("ids")).collect()
    assert {row.event: row.ids for row in found} == {e["event"]: engine.match(e) for e in events}


def test_regions(spark: SparkSession) -> None:
    engine = Engine()
    engine.subscribe_many([("low", "x < 3"), ("high", "x > 6"), ("unused", "y = 1")])
    ends = [(1, 5), (4, 5), (5, 9), (2, 8)]
    frame = spark.createDataFrame([(*each, 0) for each in ends], "lo int, hi int, y int")
    found = frame.withColumn("box", struct("lo", "hi")).select(
        "lo",
        "hi",
        ps.matches(subscriptions=engine, intervals={"x": ("lo", "hi")}).alias("ids"),
        ps.matches(subscriptions=engine, intervals={"x": "box"}).alias("same"),
    )
    right = {each: engine.match({"x": Interval(*each), "y": 0}) for each in ends}
    rows = found.collect()
    assert {(row.lo, row.hi): row.ids for row in rows} == right
    assert {(row.lo, row.hi): row.same for row in rows} == right


def test_subscriptions_that_look_at_nothing(events: DataFrame) -> None:
    found = events.select(ps.matches(subscriptions={"all": "TRUE", "no": "FALSE"}).alias("ids"))
    assert [row.ids for row in found.collect()] == [["all"]] * 3


@pytest.fixture
def table_function(registered: SparkSession) -> SparkSession:
    registered.udtf.register("match", ps.match_udtf(SUBSCRIPTIONS, "price double, event int"))
    return registered


def test_as_a_function_of_a_table(table_function: SparkSession) -> None:
    found = table_function.sql("SELECT * FROM match(TABLE(matched_events))")
    assert found.columns == ["price", "event", "subscription"]
    rows = found.collect()
    assert sorted((row.event, row.subscription) for row in rows) == [
        (event, id) for event, ids in RIGHT.items() for id in ids
    ]
    assert {row.event: row.price for row in rows} == {1: 5.0, 2: 15.0, 3: None}
    whole = table_function.table("matched_events")
    by_frame = ps.match_udtf(SUBSCRIPTIONS, whole)(whole.where("event = 2").asTable())
    assert [(row.symbol, row.subscription) for row in by_frame.collect()] == [("XYZ", "none")]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("SELECT price, event FROM matched_events", "looks at 'o.note', which none of the columns"),
        ("SELECT price, symbol, o FROM matched_events", "the table has no column 'event'"),
    ],
)
def test_a_table_that_lacks_a_column(
    table_function: SparkSession, table: str, message: str
) -> None:
    with pytest.raises(PythonException, match=f"UnknownColumnError: .*{message}"):
        table_function.sql(f"SELECT * FROM match(TABLE({table}))").collect()


def test_functions_of_a_table_that_are_refused(spark: SparkSession) -> None:
    with pytest.raises(ColumnClashError, match="'Subscription'"):
        ps.match_udtf(SUBSCRIPTIONS, "Subscription string")
    with pytest.raises(InvalidOptionError, match="in shards"):
        ps.match_udtf(ps.compile(SUBSCRIPTIONS, strategy="partition"), "event int")


def test_rows_of_a_table_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("predicast.spark.table_function._ROWS", 3)
    compiled = ps.compile({f"s{n}": "x > 0" for n in range(4)})
    matching = MatchingColumns(compiled.image, {"x": ("x",)}, Asked({}))
    batch = pa.record_batch({"x": [1, 0, 2, 3], "y": ["a", "b", "c", "d"]})
    pieces = list(MatchingRows(matching, ("y",))([batch]))
    assert [piece.num_rows for piece in pieces] == [3, 3, 3, 3]
    found = pa.Table.from_batches(pieces).to_pylist()
    assert [(row["y"], row["subscription"]) for row in found] == [
        (y, f"s{n}") for y in "acd" for n in range(4)
    ]
