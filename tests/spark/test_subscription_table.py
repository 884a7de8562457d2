"""Subscription tables in the pipeline: DataFrames matched with a version of one."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from predicast import spark as ps


def test_events_are_matched_with_a_version(spark: SparkSession, tmp_path: Path) -> None:
    table = ps.SubscriptionTable(tmp_path)
    table.subscribe_many({"cheap": "price < 10", "ibm": "symbol = 'IBM'"})
    table.change("cheap", "price < 5")
    events = spark.createDataFrame([(7.0, "IBM"), (3.0, "SAP")], "price double, symbol string")

    def matched(version: int) -> list[tuple[float, list[str]]]:
        compiled = table.at(version=version).compiled(spark)
        rows = events.transform(ps.with_matches(compiled)).collect()
        return sorted((row.price, list(row.subscriptions)) for row in rows)

    assert matched(1) == [(3.0, ["cheap"]), (7.0, ["cheap", "ibm"])]
    assert matched(2) == [(3.0, ["cheap"]), (7.0, ["ibm"])]
