"""A backtest in Spark counts as one in this process does."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import SparkSession

import predicast
from predicast import spark as ps
from predicast.errors import ColumnClashError, InvalidOptionError

OLD = {"kept": "price < 10", "moved": "price < 10 AND kind = 'a'", "gone": "kind = 'b'"}
NEW = {"kept": "price < 10", "moved": "price BETWEEN 5 AND 20 AND kind = 'a'", "new": "price > 90"}
ROWS = [{"price": n % 40, "kind": "abc"[n % 3]} for n in range(200)]


def test_it_counts_as_in_this_process(spark: SparkSession) -> None:
    events = spark.createDataFrame(
        [(each["price"], each["kind"]) for each in ROWS], "price int, kind string"
    )
    for against in (None, OLD):
        found = ps.backtest(events, NEW, against=against, samples=2)
        expected = predicast.backtest(ROWS, NEW, against=against)
        assert found.table() == expected.table()
        assert found.events == expected.events == 200
        for each in found.fired:
            assert len(each.samples) == min(each.fired, 2) or each.fired > 2
            for sorts in (each.samples, each.gained_samples, each.lost_samples):
                assert len(sorts) <= 2
                assert all(json.loads(event) in ROWS for event in sorts)
            assert bool(each.lost_samples) is bool(each.lost)
            assert bool(each.gained_samples) is bool(each.gained)


def test_what_is_wrong_is_said(spark: SparkSession) -> None:
    events = spark.range(1)
    with pytest.raises(InvalidOptionError, match="samples"):
        ps.backtest(events, NEW, samples=-1)
    with pytest.raises(ColumnClashError):
        ps.backtest(events.withColumnRenamed("id", "predicast_event"), NEW)
