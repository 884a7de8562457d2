"""Streams: the same calls, the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from predicast import spark as ps
from predicast.errors import UnknownColumnError

SUBSCRIPTIONS = {"low": "price < 10", "high": "price >= 30", "some": "price IN (5, 35, 36)"}


@pytest.fixture(scope="module")
def source(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Three files, which a stream takes one at a time."""
    folder = str(tmp_path_factory.mktemp("events"))
    events = spark.range(40).selectExpr(
        "id",
        "CAST(id AS DOUBLE) AS price",
        "timestamp_seconds(1704067200 + id * 60) AS at",
    )
    for part in range(3):
        events.where(f"id DIV 14 = {part}").coalesce(1).write.mode("append").parquet(folder)
    return folder


def stream(spark: SparkSession, source: str) -> DataFrame:
    reader = spark.readStream.schema(spark.read.parquet(source).schema)
    return reader.option("maxFilesPerTrigger", "1").parquet(source)


def drained(results: DataFrame, folder: Path) -> DataFrame:
    """Everything that the stream gives until there is no more input."""
    target, checkpoint = str(folder / "results"), str(folder / "checkpoint")
    query = (
        results.writeStream.format("parquet")
        .option("path", target)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(120)
    return results.sparkSession.read.schema(results.schema).parquet(target)


def test_a_stream_matches_as_a_batch_does(spark: SparkSession, source: str, tmp_path: Path) -> None:
    matches = ps.with_matches(SUBSCRIPTIONS, output="rows", how="left")
    streamed = stream(spark, source).transform(matches)
    assert streamed.isStreaming
    expected = spark.read.parquet(source).transform(matches).collect()
    assert len(expected) == 40 + 3  # three events match two subscriptions
    assert sorted(drained(streamed, tmp_path).collect(), key=repr) == sorted(expected, key=repr)


def test_subscriptions_change_between_runs(spark: SparkSession, tmp_path: Path) -> None:
    """A query that starts again from its checkpoint may have been compiled anew."""
    source = str(tmp_path / "events")
    for run, id in enumerate(("first", "second")):
        spark.range(run, run + 1).write.mode("append").parquet(source)
        results = drained(ps.match(stream(spark, source), {id: "id >= 0"}), tmp_path)
    assert sorted(map(tuple, results.collect())) == [(0, "first"), (1, "second")]


def test_a_watermark_survives(spark: SparkSession, source: str, tmp_path: Path) -> None:
    """Windows over matches close, which needs the watermark of the column that was matched."""
    matched = ps.match(stream(spark, source).withWatermark("at", "1 minute"), SUBSCRIPTIONS)
    counted = matched.groupBy(sf.window("at", "10 minutes"), "subscription").count()
    counts = {
        (row.window.start.minute, row.subscription): row["count"]
        for row in drained(counted, tmp_path).collect()
    }
    # The last window stays open: nothing later has been seen.
    assert counts == {(0, "low"): 10, (0, "some"): 1}


def test_unknown_columns_raise_before_the_query_starts(spark: SparkSession, source: str) -> None:
    with pytest.raises(UnknownColumnError, match="did you mean 'price'"):
        ps.match(stream(spark, source), {"a": "prize < 3"})
