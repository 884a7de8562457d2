"""A running broker as a source and a sink of Spark's: positions are offsets, repeats are known."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from predicast.errors import HttpError, UnknownIdError
from predicast.spark.broker_http import BrokerAt, HttpBroker
from tests.integration.serving import Serving
from tests.spark import streams
from tests.spark.broker_driver import SUBSCRIPTION, deliver, positions
from tests.spark.conftest import one_more_stream, rarely


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    serving = Serving(tmp_path_factory.mktemp("broker") / "data")
    serving.start()
    try:
        yield serving
    finally:
        serving.close()


def finish(frame: DataFrame, folder: Path, **options: str) -> None:
    """Run a stream of all there is, into files or to a broker."""
    writer = frame.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    kind = "predicast" if options else "parquet"
    if not options:
        options = {"path": str(folder / "out")}
    streams.finish(writer.format(kind).options(**options).trigger(availableNow=True).start)


def test_frames_become_events_and_events_frames(spark: SparkSession, broker: Serving) -> None:
    frame = spark.range(150).select(
        sql.col("id").alias("n"),
        sql.lit("x").alias("kind"),
        sql.lit(None).cast("string").alias("gone"),
    )
    writer = frame.repartition(2).write.format("predicast").option("url", broker.address)
    writer.option("publisher", "here").option("batchSize", 40).mode("append").save()
    rows = spark.read.format("predicast").option("url", broker.address).load().collect()
    mine = [row for row in rows if row.publisher == "here"]
    assert [row.position for row in mine] == sorted(row.position for row in mine)
    bodies = [json.loads(row.body) for row in mine]
    assert sorted(body["n"] for body in bodies) == list(range(150))
    assert bodies[0] == {"n": bodies[0]["n"], "kind": "x"}
    assert len({row.id for row in mine}) == 150
    last = rows[-1].position
    after = spark.read.format("predicast").option("url", broker.address).option("after", last - 1)
    assert [row.position for row in after.load().collect()] == [last]


def test_deliveries_are_read_once_across_restarts(
    spark: SparkSession, broker: Serving, tmp_path: Path
) -> None:
    broker.post("/subscriptions", {"id": "some/thing", "where": "k >= 2"})

    def read() -> list[int]:
        stream = spark.readStream.format("predicast").option("url", broker.address)
        finish(stream.option("subscription", "some/thing").load(), tmp_path)
        rows = spark.read.parquet(str(tmp_path / "out")).collect()
        return sorted(json.loads(row.body)["k"] for row in rows)

    broker.publish([{"k": k} for k in range(5)], "first")
    assert read() == [2, 3, 4]
    broker.publish([{"k": k} for k in range(5, 8)], "second")
    assert read() == [2, 3, 4, 5, 6, 7]
    # As if the query had fallen before the last batch was committed: it is read again, the same.
    newest = max((tmp_path / "checkpoint" / "commits").glob("[0-9]*"), key=lambda p: int(p.name))
    newest.unlink()
    newest.with_name(f".{newest.name}.crc").unlink(missing_ok=True)
    rows_before = read()
    assert sorted(set(rows_before)) == [2, 3, 4, 5, 6, 7]


@one_more_stream
def test_a_batch_that_is_written_again_is_known(
    spark: SparkSession, broker: Serving, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    spark.range(20).select(sql.col("id").alias("m")).write.json(str(source))

    def write() -> None:
        frame = spark.readStream.schema("m bigint").json(str(source))
        finish(frame, tmp_path, url=broker.address, publisher="again")

    def mine() -> list[int]:
        events = [each for each in broker.kept() if each["publisher"] == "again"]
        return sorted(each["body"]["m"] for each in events)

    write()
    assert mine() == list(range(20))
    for commit in (tmp_path / "checkpoint" / "commits").iterdir():
        commit.unlink()
    write()
    assert mine() == list(range(20))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"url": "localhost"}, "say where the broker is"),
        ({"url": "http://localhost:1", "subscriptoin": "x"}, "did you mean 'subscription'"),
        ({"url": "http://localhost:1", "subscription": "x"}, "deliveries are a stream"),
        ({"url": "http://localhost:1", "after": "-1"}, "after is a whole number from 0"),
        ({"url": "http://127.0.0.1:1"}, "cannot be reached"),
    ],
)
def test_options_that_cannot_be_are_refused(
    spark: SparkSession, options: dict[str, str], says: str
) -> None:
    with pytest.raises(Exception, match=says):
        spark.read.format("predicast").options(**options).load().collect()


def test_a_refusal_is_the_error_that_the_broker_raised(broker: Serving) -> None:
    with HttpBroker(BrokerAt(broker.address)) as there:
        with pytest.raises(UnknownIdError, match="nonesuch"):
            there.pull("nonesuch", 1)
        with pytest.raises(HttpError, match="nothing at") as caught:
            there._asked("GET", "/nonesuch")
        assert caught.value.status == 404


def test_what_the_broker_has_dropped_is_told(
    broker: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    few = {"id": "few", "where": "few >= 0", "config": {"max_pending": 2}}
    broker.post("/subscriptions", few)
    broker.publish([{"few": number} for number in range(5)], "few")
    with HttpBroker(BrokerAt(broker.address)) as there:
        assert len(there.pull("few", 10, 5.0)) == 2
    assert "3 deliveries of 'few' were dropped" in caplog.text


class _FallError(Exception):
    """Of a query, where a driver would fall."""


@one_more_stream
def test_each_delivery_is_once_in_a_table_whenever_the_query_falls(
    spark: SparkSession, broker: Serving, tmp_path: Path
) -> None:
    broker.post("/subscriptions", {"id": SUBSCRIPTION, "where": "size >= 10"})
    falls = [("before", 0), ("after", 0), ("before", 1), None]
    wanted = 0
    for life, place in enumerate(falls):
        broker.publish([{"size": size} for size in range(8, 14)], f"sizes-{life}")
        wanted += 4
        # A driver that falls when it has pulled and planned nothing: what comes after that must
        # not pass it by.
        with HttpBroker(BrokerAt(broker.address)) as there:
            assert there.pull(SUBSCRIPTION, 1)

        def fall(now: str, batch: int, here: tuple[str, int] | None = place) -> None:
            if (now, batch) == here:
                raise _FallError

        if place is None:
            deliver(spark, broker.address, tmp_path, 3, fall)
        else:
            with pytest.raises(StreamingQueryException, match="_FallError"):
                deliver(spark, broker.address, tmp_path, 3, fall)
    expected = [each["position"] for each in broker.kept() if each["body"].get("size", 0) >= 10]
    assert len(expected) == wanted
    assert positions(tmp_path) == expected


@rarely
def test_each_delivery_is_once_in_a_table_whenever_the_driver_is_killed(tmp_path: Path) -> None:
    serving = Serving(tmp_path / "data")
    serving.start()
    try:
        serving.post("/subscriptions", {"id": SUBSCRIPTION, "where": "size >= 10"})
        falls = [("before", "0"), ("after", "0"), ("before", "1"), ("after", "2"), ("never", "0")]
        for life, place in enumerate(falls):
            serving.publish([{"size": size} for size in range(8, 14)], f"sizes-{life}")
            command = [sys.executable, "-m", "tests.spark.broker_driver"]
            ended = subprocess.run(
                [*command, serving.address, str(tmp_path / "out"), *place],
                check=False,
                capture_output=True,
                text=True,
            )
            code = 0 if place[0] == "never" else -signal.SIGKILL
            assert ended.returncode == code, ended.stderr
            if life == 2:  # the broker falls, too
                serving.kill()
                serving.start()
        expected = [each["position"] for each in serving.kept() if each["body"]["size"] >= 10]
        assert (len(expected), positions(tmp_path / "out")) == (20, expected)
    finally:
        serving.stop()
