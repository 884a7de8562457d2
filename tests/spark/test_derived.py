"""Derived attributes through Spark: as Spark's own ``WHERE`` with ANSI off, and in the pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from predicast import Event
from predicast import spark as ps
from predicast.derived import compiled
from predicast.language import attr
from tests.spark.conftest import meaning
from tests.sql_expressions import COLUMNS, SqlExpressions, read

pytestmark = meaning

SCHEMA = ", ".join(["event int", *(f"{name} {kind}" for name, kind in COLUMNS.items())])
EVENTS = 60
EXPRESSIONS = 300

# Where Spark's answers at the edges are ours as well.
EDGES = [
    "CAST('.' AS BIGINT)", "CAST('5.' AS BIGINT)", "CAST(' \\t-7.9 ' AS BIGINT)",
    "CAST('1e3' AS BIGINT)", "CAST('+' AS BIGINT)", "CAST('9223372036854775808' AS BIGINT)",
    "CAST('1e3' AS DOUBLE)", "CAST(' .5 ' AS DOUBLE)", "CAST('x' AS DOUBLE)", "CAST('' AS DOUBLE)",
    "CAST(' Yes ' AS BOOLEAN)", "CAST('2' AS BOOLEAN)", "CAST('2026' AS TIMESTAMP)",
    "CAST('2026-1-3 4:5:6.1234567' AS TIMESTAMP)", "CAST('2026-02-30' AS TIMESTAMP)",
    "CAST('2026-01-31T10:00+02:00' AS TIMESTAMP)",
    "CAST('2026-01-31T10:00:00+02:00' AS TIMESTAMP)", "CAST(1e7D AS STRING)",
    "CAST(1e-4D AS STRING)",
    "CAST(123456.789D AS STRING)", "CAST(-0.001D AS STRING)", "CAST(1.5e300D AS STRING)",
    "CAST(TIMESTAMP '2026-01-31 00:00:00.120' AS STRING)", "CAST(-1.9D AS BIGINT)",
    "round(2.675D, 2)", "round(-2.5D)", "round(0.15D, 1)", "round(1234.5D, -2)", "round(15, -1)",
    "round(-25, -1)", "-7 % 3", "7 % -3", "-7.5D % 2D", "1 / 0", "5 % 0", "1D / 0D",
    "substring('abc', 0, 2)", "substring('abc', -5, 4)", "substring('abc', -2)", "trim('\\ta ')",
    "upper('ß')", "lower('İ')", "length('x😀')", "floor(-0.5D)", "ceil(-0.5D)",
    "date_trunc('week', TIMESTAMP '2026-02-01')", "dayofweek(TIMESTAMP '2026-02-01')",
    "TIMESTAMP '2024-01-31' + INTERVAL 1 MONTH", "TIMESTAMP '2024-03-31' - INTERVAL 1 MONTH",
    "greatest(1, 2.5D, 2)", "coalesce(1, 2)", "year(TIMESTAMP '0001-01-01')",
    "CAST(TIMESTAMP '1969-12-31 23:59:59.5' AS BIGINT)", "CAST(1.5D AS TIMESTAMP)",
    "CAST('t' AS BOOLEAN)", "CAST(0D AS BOOLEAN)", "CAST(TRUE AS BIGINT)", "CAST(TRUE AS STRING)",
]  # fmt: skip


@pytest.fixture
def plain(spark: SparkSession) -> Iterator[SparkSession]:
    """Spark in UTC, and lenient: what has no value is null."""
    wanted = {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "false"}
    before = {name: str(spark.conf.get(name)) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


def instant(value: Any) -> Any:
    """Timestamps come back in the machine's own zone."""
    return value.astimezone(UTC) if isinstance(value, datetime) else value


def made(spark: SparkSession, rows: list[dict[str, Any]]) -> DataFrame:
    return spark.createDataFrame([{"event": n, **row} for n, row in enumerate(rows)], SCHEMA)


def test_expressions_have_the_values_that_spark_gives(plain: SparkSession) -> None:
    source = SqlExpressions(20_261, "spark")
    rows = [source.row() for _ in range(EVENTS)]
    drawn = [(text, read(text)) for text in (source.any() for _ in range(EXPRESSIONS))]
    kept = [(text, tree) for text, tree in drawn if tree is not None]
    assert len(kept) > EXPRESSIONS // 2
    columns = [sf.expr(text).alias(f"v{n}") for n, (text, _) in enumerate(kept)]
    found = made(plain, rows).select("event", *columns).collect()
    events = [Event(row) for row in rows]
    for n, (text, tree) in enumerate(kept):
        value_of = compiled(tree)
        theirs = {row.event: instant(row[f"v{n}"]) for row in found}
        assert {e: value_of(event.get) for e, event in enumerate(events)} == theirs, text


def test_the_edges_of_functions_are_sparks(plain: SparkSession) -> None:
    # An absent operand keeps the expression from being computed while it is read.
    texts = [f"CASE WHEN l IS NULL THEN {text} END" for text in EDGES]
    values = []
    for text in texts:
        tree = read(text)
        values.append(None if tree is None else compiled(tree)(Event({}).get))
    columns = [sf.expr(text).alias(f"v{n}") for n, text in enumerate(texts)]
    row = plain.createDataFrame([(None,)], "l bigint").select(*columns).collect()[0]
    theirs = [instant(each) for each in row]
    assert dict(zip(EDGES, values, strict=True)) == dict(zip(EDGES, theirs, strict=True))


def test_conditions_on_expressions_hold_where_spark_says(plain: SparkSession) -> None:
    source = SqlExpressions(20_262, "spark")
    rows = [source.row() for _ in range(EVENTS)]
    texts: list[str] = []
    while len(texts) < 150:
        text = source.truth(3)
        if read(text) is not None:
            texts.append(text if len(texts) % 3 else f"NOT {text}")
    events = made(plain, rows)
    matched = ps.match(
        events, {str(n): text for n, text in enumerate(texts)}, output="array", how="left"
    )
    ours = {row.event: set(map(int, row.subscriptions)) for row in matched.collect()}
    held = sf.array(*(sf.coalesce(sf.expr(f"({text})"), sf.lit(False)) for text in texts))
    theirs = {
        row.event: {n for n, yes in enumerate(row.held) if yes}
        for row in events.select("event", held.alias("held")).collect()
    }
    assert ours == theirs


def test_only_the_columns_that_are_computed_with_are_sent(spark: SparkSession) -> None:
    events = spark.createDataFrame(
        [(1, 10, 3, ["no value"], "Rome"), (2, 5, 2, [], "OSLO")],
        "event int, price int, qty int, other array<string>, city string",
    )
    compiled_ = ps.compile(
        {
            "big": "price * qty > 20",
            "rome": "lower(city) = 'rome'",
            "b": attr("price") > attr("qty"),
        }
    )
    assert compiled_.attributes == ("city", "price", "qty")
    found = ps.match(events, compiled_, columns=["event"], output="array", how="left").collect()
    assert {row.event: sorted(row.subscriptions) for row in found} == {
        1: ["b", "big", "rome"],
        2: ["b"],
    }
    outcomes = ps.explain(events, compiled_, "big", event_id="event").collect()
    assert {(row.event, row.part, row.held) for row in outcomes} == {
        (1, "price * qty > 20", True),
        (2, "price * qty > 20", False),
    }
