"""Subscription tables in the pipeline: DataFrames matched with a version of one."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from predicast import Change, Unsubscribe
from predicast import spark as ps
from tests.spark.streams import finish


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


class TestDataSource:
    @pytest.fixture
    def table(self, tmp_path: Path) -> ps.SubscriptionTable:
        table = ps.SubscriptionTable(tmp_path / "table")
        table.subscribe_many({"cheap": "price < 10", "ibm": "symbol = 'IBM'"}, owner="alice")
        table.apply([Change("cheap", "price < 5"), Unsubscribe("ibm")])
        table.subscribe("x < :limit", id="near", parameters={"limit": 5})
        return table

    def test_the_latest_version_is_read_without_registration(
        self, spark: SparkSession, table: ps.SubscriptionTable
    ) -> None:
        rows = spark.read.format("predicast").load(str(table.path)).orderBy("id").collect()
        assert [tuple(row) for row in rows] == [
            ("cheap", "alice", "price < 5", None, None, 3, "subscribed"),
            ("near", None, "x < :limit", '{"limit":5}', None, 3, "subscribed"),
        ]

    def test_other_versions_and_what_changed(
        self, spark: SparkSession, table: ps.SubscriptionTable
    ) -> None:
        reader = spark.read.format("predicast")
        first = reader.option("version", 1).load(str(table.path))
        assert sorted(row.id for row in first.collect()) == ["cheap", "ibm"]
        assert ps.compile(first).engine().match({"price": 7}) == ["cheap"]
        empty = spark.read.format("predicast").option("version", 0).load(str(table.path))
        assert empty.collect() == []
        changes = spark.read.format("predicast").option("since", 1).load(str(table.path))
        assert sorted(
            (row.id, row.expression, row.change, row.version) for row in changes.collect()
        ) == [
            ("cheap", "price < 5", "changed", 3),
            ("ibm", "symbol = 'IBM'", "unsubscribed", 3),
            ("near", "x < :limit", "subscribed", 3),
        ]

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"versoin": "1"}, "did you mean 'version'"),
            ({"version": "first"}, "is the number of a version"),
            ({"version": "9"}, "has no version 9"),
        ],
    )
    def test_mistakes_are_told(
        self,
        spark: SparkSession,
        table: ps.SubscriptionTable,
        options: dict[str, str],
        says: str,
    ) -> None:
        with pytest.raises(Exception, match=says):
            spark.read.format("predicast").options(**options).load(str(table.path)).collect()

    def test_a_stream_is_the_table_and_then_what_changes(
        self, spark: SparkSession, table: ps.SubscriptionTable, tmp_path: Path
    ) -> None:
        def run() -> list[tuple[str, str, int]]:
            changes = spark.readStream.format("predicast").load(str(table.path))
            writer = (
                changes.writeStream.format("parquet")
                .option("path", str(tmp_path / "out"))
                .option("checkpointLocation", str(tmp_path / "checkpoint"))
                .trigger(availableNow=True)
            )
            finish(writer.start)
            rows = spark.read.parquet(str(tmp_path / "out")).collect()
            return sorted((row.id, row.change, row.version) for row in rows)

        first = [("cheap", "subscribed", 3), ("near", "subscribed", 3)]
        assert run() == first
        table.change("cheap", "price < 1")
        table.unsubscribe("near")
        after = [("cheap", "changed", 5), ("near", "unsubscribed", 5)]
        assert run() == sorted(first + after)
