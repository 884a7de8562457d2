"""``explain``: every part of a subscription against every event."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from predicast import Engine
from predicast import spark as ps
from predicast.errors import ColumnClashError, UnknownColumnError, UnknownIdError

ADDED = ["line", "depth", "part", "value", "held", "reason", "matched"]


def test_each_part_of_what_was_written(spark: SparkSession) -> None:
    events = spark.createDataFrame(
        [(1, 5.0, "IBM"), (2, 50.0, None)], "event int, price double, symbol string"
    )
    subscriptions = {"a": "NOT (price >= 10 OR symbol NOT LIKE 'I%')", "b": "no_column = 1"}
    result = ps.explain(events, subscriptions, "a")
    assert result.columns == ["event", "price", "symbol", *ADDED]
    assert [tuple(row)[3:] for row in result.orderBy("event", "line").collect()] == [
        (1, 0, "NOT", None, True, None, True),
        (2, 1, "OR", None, False, None, True),
        (3, 2, "price >= 10", "5.0", False, None, True),
        (4, 2, "symbol NOT LIKE 'I%'", "'IBM'", False, None, True),
        (1, 0, "NOT", None, False, None, False),
        (2, 1, "OR", None, True, None, False),
        (3, 2, "price >= 10", "50.0", True, None, False),
        (4, 2, "symbol NOT LIKE 'I%'", None, None, None, False),
    ]


def test_an_engine_brings_what_was_written(spark: SparkSession) -> None:
    engine = Engine()
    engine.subscribe("NOT (price >= 10 OR symbol = 'IBM')", id="a")
    events = spark.sql("SELECT 1 AS event, 5.0D AS price, 'IBM' AS symbol")
    result = ps.explain(events, engine, "a", event_id="event")
    assert [(row.part, row.held) for row in result.orderBy("line").collect()] == [
        ("NOT", False),
        ("OR", True),
        ("price >= 10", False),
        ("symbol = 'IBM'", True),
    ]


def test_only_the_event_id(spark: SparkSession) -> None:
    events = spark.sql("SELECT 1 AS `event id`, '5' AS price, 9 AS value")
    result = ps.explain(events, {"a": "price = 5"}, "a", event_id="event id")
    reason = "a string, where the constraint is on a number"
    assert [tuple(row) for row in result.collect()] == [
        (1, 1, 0, "price = 5", "'5'", None, reason, False)
    ]


def test_regions(spark: SparkSession) -> None:
    events = spark.sql("SELECT 1 AS event, 3 AS lo, 7 AS hi")
    result = ps.explain(
        events, {"a": "x > 6 AND x < 10"}, "a", event_id="event", intervals={"x": ("lo", "hi")}
    )
    tests = [row for row in result.collect() if row.depth]
    assert [(row["value"], row.held) for row in tests] == [("[3, 7]", True)] * 2


def test_subscriptions_without_constraints(spark: SparkSession) -> None:
    events = spark.sql("SELECT 1 AS event")
    subscriptions = ps.compile({"all": "TRUE", "none": "FALSE"})
    for id, text, held in (("all", "TRUE", True), ("none", "FALSE", False)):
        rows = ps.explain(events, subscriptions, id).collect()
        assert list(map(tuple, rows)) == [(1, 1, 0, text, None, held, None, held)]


def test_refusals(spark: SparkSession) -> None:
    events = spark.sql("SELECT 1 AS event, 2 AS Value")
    with pytest.raises(UnknownIdError, match="did you mean 'abc'"):
        ps.explain(events, {"abc": "event = 1"}, "abd")
    with pytest.raises(UnknownColumnError, match="did you mean 'event'"):
        ps.explain(events, {"abc": "evnt = 1"}, "abc", event_id="event")
    with pytest.raises(ColumnClashError, match="'Value'"):
        ps.explain(events, {"abc": "event = 1"}, "abc")
