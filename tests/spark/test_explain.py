"""``explain``: every constraint of a subscription against every event."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from predicast import spark as ps
from predicast.errors import ColumnClashError, UnknownColumnError, UnknownIdError

ADDED = ["clause", "constraint", "value", "held", "reason", "clause_matched", "matched"]


def test_each_constraint_of_each_clause(spark: SparkSession) -> None:
    events = spark.createDataFrame(
        [(1, 5.0, "IBM"), (2, 50.0, None)], "event int, price double, symbol string"
    )
    subscriptions = {"a": "price < 10 AND symbol LIKE 'I%' OR price > 40", "b": "no_column = 1"}
    result = ps.explain(events, subscriptions, "a")
    assert result.columns == ["event", "price", "symbol", *ADDED]
    assert [tuple(row)[3:] for row in result.orderBy("event", "clause").collect()] == [
        (1, "price < 10", "5.0", True, None, True, True),
        (1, "symbol LIKE 'I%'", "'IBM'", True, None, True, True),
        (2, "price > 40", "5.0", False, None, False, True),
        (1, "price < 10", "50.0", False, None, False, True),
        (1, "symbol LIKE 'I%'", None, False, None, False, True),
        (2, "price > 40", "50.0", True, None, True, True),
    ]


def test_only_the_event_id(spark: SparkSession) -> None:
    events = spark.sql("SELECT 1 AS `event id`, '5' AS price, 9 AS value")
    result = ps.explain(events, {"a": "price = 5"}, "a", event_id="event id")
    reason = "a string, where the constraint is on a number"
    assert [tuple(row) for row in result.collect()] == [
        (1, 1, "price = 5", "'5'", False, reason, False, False)
    ]


def test_regions(spark: SparkSession) -> None:
    events = spark.sql("SELECT 1 AS event, 3 AS lo, 7 AS hi")
    result = ps.explain(
        events, {"a": "x > 6 AND x < 10"}, "a", event_id="event", intervals={"x": ("lo", "hi")}
    )
    assert [(row["value"], row.held) for row in result.collect()] == [("[3, 7]", True)] * 2


def test_subscriptions_without_constraints(spark: SparkSession) -> None:
    events = spark.sql("SELECT 1 AS event")
    subscriptions = ps.compile({"all": "TRUE", "none": "FALSE"})
    for id, text, held in (("all", "TRUE", True), ("none", "FALSE", False)):
        rows = ps.explain(events, subscriptions, id).collect()
        assert list(map(tuple, rows)) == [(1, 1, text, None, held, None, held, held)]


def test_refusals(spark: SparkSession) -> None:
    events = spark.sql("SELECT 1 AS event, 2 AS Value")
    with pytest.raises(UnknownIdError, match="did you mean 'abc'"):
        ps.explain(events, {"abc": "event = 1"}, "abd")
    with pytest.raises(UnknownColumnError, match="did you mean 'event'"):
        ps.explain(events, {"abc": "evnt = 1"}, "abc", event_id="event")
    with pytest.raises(ColumnClashError, match="'Value'"):
        ps.explain(events, {"abc": "event = 1"}, "abc")
