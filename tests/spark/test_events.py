"""Events of every type in DataFrames, values that cannot be compared, and when events arrive."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from predicast import Engine
from predicast import spark as ps
from predicast.errors import InvalidOptionError

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def matched(events: DataFrame, subscriptions: dict[str, str], **options: Any) -> dict[int, Any]:
    found = ps.match(events, subscriptions, output="array", how="left", **options).collect()
    return {row["n"]: row["subscriptions"] for row in found}


def test_decimals_are_compared_exactly(spark: SparkSession) -> None:
    long = Decimal("12345678901234567890.1234567891")
    rows = [(0, Decimal("9.99")), (1, long), (2, Decimal(5)), (3, None)]
    events = spark.createDataFrame(rows, "n int, x decimal(38, 10)")
    tests = [
        "x = 9.99", "x = 12345678901234567890.1234567891", "x < 12345678901234567890.1234567892",
        "x > 12345678901234567890.1234567890", "x = 5", "x >= 9.99",
    ]  # fmt: skip
    engine = Engine()
    engine.subscribe_many((test, test) for test in tests)
    found = matched(events, {test: test for test in tests})
    assert found == {n: engine.match({"x": x}) for n, x in rows}
    for test in tests:
        by_spark = {row["n"] for row in events.where(test).collect()}
        assert by_spark == {n for n, ids in found.items() if test in ids}


def test_floats_of_32_bits(spark: SparkSession) -> None:
    """0.1F is what a column of type float holds for 0.1, and no 64-bit float that prints so is."""
    events = spark.sql("SELECT 0 AS n, float(0.1) AS x, 0.1D AS y")
    tests = ["x = 0.1F", "x <= 0.1", "y = 0.1F", "y = 0.1D", "x IN (-0.1F, 0.1F)", "y < 0.1F"]
    found = matched(events, {test: test for test in tests})
    assert found == {0: sorted(test for test in tests if events.where(test).count())}
    assert found == {0: ["x = 0.1F", "x IN (-0.1F, 0.1F)", "y < 0.1F", "y = 0.1D"]}


def test_dates(spark: SparkSession) -> None:
    rows = [(0, date(2026, 1, 31)), (1, date(2026, 2, 1))]
    events = spark.createDataFrame(rows, "n int, d date")
    tests = {"date": "d = DATE '2026-01-31'", "time": "d > TIMESTAMP '2026-01-31 12:00:00'"}
    assert matched(events, tests) == {0: ["date"], 1: ["time"]}


def test_values_that_cannot_be_compared(spark: SparkSession) -> None:
    rows = [(0, 1.0, 1), (1, float("nan"), 1), (2, None, 1)]
    events = spark.createDataFrame(rows, "n int, price double, qty int")
    tests = {"cheap": "price < 10", "one": "qty = 1", "free": "price IS NULL"}
    with pytest.raises(Exception, match="is not finite"):
        matched(events, tests)
    assert matched(events, tests, on_invalid="absent") == {
        0: ["cheap", "one"], 1: ["free", "one"], 2: ["free", "one"],
    }  # fmt: skip
    assert matched(events, tests, on_invalid="skip")[1] == []
    skipping = ps.with_matches(tests, on_invalid="skip")
    [row] = events.transform(skipping).where("n = 1").collect()
    assert row["subscriptions"] == []
    with pytest.raises(InvalidOptionError, match="on_invalid"):
        ps.match(events, tests, on_invalid="drop")  # type: ignore[arg-type]


def test_arrival(spark: SparkSession) -> None:
    rows = [(0, NOON, NOON), (1, NOON, NOON + timedelta(minutes=10)), (2, NOON, None)]
    events = spark.createDataFrame(rows, "n int, at timestamp, arrived timestamp")
    tests = {"recent": "at > now() - INTERVAL 5 MINUTES", "old": "at < now() - INTERVAL 1 YEAR"}
    assert matched(events, tests, now=NOON) == {0: ["recent"], 1: ["recent"], 2: ["recent"]}
    assert matched(events, tests, now="arrived") == {0: ["recent"], 1: [], 2: []}
    with pytest.raises(InvalidOptionError, match="of type int"):
        ps.match(events, tests, now="n")
    explained = ps.explain(events, tests, "recent", event_id="n", now=NOON).collect()
    assert all(row["matched"] for row in explained)


def test_the_arrival_is_that_of_the_query(spark: SparkSession) -> None:
    events = spark.range(1).selectExpr("CAST(id AS INT) AS n", "current_timestamp() AS at")
    same = {"same": "at = now()"}
    assert matched(events, same) == {0: ["same"]}  # as Spark's own, which is one per query
    later = events.selectExpr("n", "at + INTERVAL 1 HOUR AS at")
    assert matched(later, same) == {0: []}
