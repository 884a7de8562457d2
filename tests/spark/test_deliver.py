"""``deliver``: every match once, in every sink, against the version of the batch.

What needs no stream to be seen is in ``tests/unit/delivery``.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from predicast import Change, Subscribe, Unsubscribe
from predicast import spark as ps
from predicast.engine import Operation
from predicast.errors import (
    ColumnClashError,
    DeliveryStoppedError,
    InvalidOptionError,
    InvalidValueError,
    SinkError,
    UnknownColumnError,
    UnsupportedColumnError,
    UnsupportedTableError,
)
from predicast.spark.delivery.sinks import Batch, Written
from tests.spark.conftest import one_more_stream

SCHEMA = "id bigint, price double, at timestamp"


class Place:
    """A source of files, each of which is a batch; a table; and a checkpoint."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.events = folder / "events"
        self.events.mkdir()
        self.table = ps.SubscriptionTable(folder / "table")

    def put(self, number: int, prices: list[Any]) -> None:
        """A file of events."""
        ids = range(number * 100, number * 100 + len(prices))
        table = pa.table(
            {
                "id": pa.array(ids, pa.int64()),
                "price": pa.array(prices, pa.float64()),
                "at": pa.array(ids, pa.timestamp("us", tz="UTC")),
            }
        )
        draft = self.events / f".{number}"
        pq.write_table(table, draft)
        draft.rename(self.events / f"{number}.parquet")
        os.utime(self.events / f"{number}.parquet", (number + 1, number + 1))  # their order

    def stream(self) -> DataFrame:
        reader = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", "1")
        return reader.parquet(str(self.events))

    def run(self, sink: Any, events: DataFrame | None = None, **options: Any) -> ps.Progress:
        """Deliver all that there is."""
        delivery = ps.deliver(
            self.stream() if events is None else events,
            self.table,
            sink,
            checkpoint=self.folder / "checkpoint",
            trigger={"availableNow": True},
            **options,
        )
        assert delivery.wait(300)
        return delivery.progress()

    def expected(self, version: int, number: int, prices: list[Any]) -> list[tuple[int, str]]:
        engine = self.table.engine(version)
        rows = ((number * 100 + row, price) for row, price in enumerate(prices))
        return [(id, each) for id, price in rows for each in engine.match(event(id, price))]


def event(id: int, price: float | None) -> dict[str, Any]:
    read = {"id": id, "at": pa.scalar(id, pa.timestamp("us", tz="UTC")).as_py()}
    return read if price is None else read | {"price": price}


@pytest.fixture
def place(spark: SparkSession, tmp_path: Path) -> Place:
    return Place(spark, tmp_path)


def pairs(table: pa.Table) -> list[tuple[int, str]]:
    return sorted(zip(table["id"].to_pylist(), table["subscription"].to_pylist(), strict=True))


def parquet(path: Path) -> pa.Table:
    files = sorted(path.glob("**/*.parquet"))
    return pa.concat_tables(pq.ParquetFile(each).read() for each in files)


PRICES = [0.0, 1.0, 2.0, 7.0, 8.0, None]


def test_every_match_once_in_every_sink(place: Place) -> None:
    place.table.subscribe_many(
        {"low": "price < 3 AND at < now()", "some": "price IN (1, 7)"}, owner="ann/b"
    )
    version = place.table.apply([Subscribe("high", "price >= 8")]).version
    place.put(0, PRICES)
    files, delta, owned, received = (place.folder / name for name in "abcd")
    target = str(received)

    def receive(number: int, frame: DataFrame) -> None:
        frame.write.mode("overwrite").parquet(f"{target}/{number}")

    sinks = [receive, files, ps.DeltaSink(delta), ps.ParquetSink(owned, by_owner=True)]
    first = place.run(sinks)
    assert (first.batch, first.version, first.versions_behind, first.batches) == (0, version, 0, 1)
    expected = place.expected(version, 0, PRICES)
    assert (first.events, first.matches, first.dead_letters) == (6, len(expected), 0)
    assert dict(first.most_matched) == {"low": 3, "some": 2, "high": 1}
    assert first.events_per_s is not None
    assert first.lag_s is not None

    # A change is seen by the next batch, and nothing is delivered again.
    changed = place.table.apply([Subscribe("any", "id >= 0"), Unsubscribe("low")]).version
    place.put(1, PRICES)
    second = place.run(sinks)
    assert (second.batch, second.version, second.batches) == (1, changed, 2)
    expected += place.expected(changed, 1, PRICES)
    found = DeltaTable(delta).to_pyarrow_table()
    assert pairs(found) == expected
    assert found.schema.field("at").type == pa.timestamp("us", tz="UTC")
    assert [each.microsecond for each in found["at"].to_pylist()] == found["id"].to_pylist()
    assert pairs(parquet(files)) == pairs(parquet(owned)) == pairs(parquet(received)) == expected
    by_owner = place.spark.read.parquet(str(owned)).where("batch = 1 AND owner = 'ann/b'")
    assert {row.subscription for row in by_owner.collect()} == {"some"}
    assert not list((place.folder / "checkpoint").rglob("*.parquet"))  # no draft is left


def test_what_cannot_be_matched_is_a_dead_letter(place: Place) -> None:
    version = place.table.subscribe_many({"low": "price < 3", "high": "price >= 8"})
    lines = ['{"id": 0, "price": 2}', '{"id": 1, "pri', '{"id": 2, "price": NaN}']
    lines += ['{"id": 3, "price": 9}']
    (place.events / "0.json").write_text("\n".join(lines), encoding="utf-8")
    reader = place.spark.readStream.schema(f"{SCHEMA}, bad string")
    events = reader.option("columnNameOfCorruptRecord", "bad").json(str(place.events))
    target, dead = place.folder / "deliveries", place.folder / "dead"
    progress = place.run(
        target, events, dead_letters=ps.DeltaSink(dead), unreadable="bad", columns=["id"]
    )
    assert parquet(target).column_names == ["id", "subscription"]
    assert pairs(parquet(target)) == [(0, "low"), (3, "high")]
    letters = DeltaTable(dead).to_pyarrow_table().sort_by("reason").to_pylist()
    assert [letter["reason"] for letter in letters] == [
        "attribute 'price': nan is not finite; use null for no value",
        """the source could not read it: '{"id": 1, "pri'""",
    ]
    assert [letter["bad"] for letter in letters] == [None, '{"id": 1, "pri']
    assert (progress.version, progress.events, progress.dead_letters) == (version, 4, 2)


@one_more_stream
def test_a_batch_that_is_repeated_when_its_dead_letters_are_there(place: Place) -> None:
    place.table.subscribe("price < 3", id="low")
    place.put(0, [1.0, math.nan])
    received: list[tuple[int, str]] = []

    def receive(_: int, frame: DataFrame) -> None:
        received.extend((row.id, row.subscription) for row in frame.collect())
        if len(received) == 1:
            raise OSError("the receiver is away")

    dead = place.folder / "dead"
    with pytest.raises(DeliveryStoppedError, match="goes on with the batch that failed"):
        place.run(receive, dead_letters=dead)
    assert parquet(dead)["id"].to_pylist() == [1]
    progress = place.run(receive, dead_letters=dead)
    assert received == [(0, "low")] * 2
    assert parquet(dead)["id"].to_pylist() == [1]
    assert (progress.events, progress.matches, progress.dead_letters) == (2, 1, 1)


def test_a_stream_stops_with_an_error_of_ours_and_goes_on(place: Place) -> None:
    place.table.subscribe_many({"good": "price < 3", "typo": "prise < 3"})
    place.put(0, [1.0, math.nan])
    target = place.folder / "deliveries"
    with pytest.raises(UnknownColumnError, match="subscription 'typo' looks at 'prise'"):
        place.run(target)
    with pytest.raises(InvalidValueError, match="attribute 'price', row 1: nan is not finite"):
        place.run(target, on_invalid_subscription="quarantine")
    assert list(target.glob("batch=*")) == []
    # The version of the batch is the one of its first attempt, wherever it is held now.
    place.table.unsubscribe("good")
    progress = place.run(
        target,
        on_invalid_subscription="quarantine",
        on_invalid="absent",
        strategy=ps.Partition(shards=2),
    )
    assert pairs(parquet(target)) == [(0, "good")]
    assert (progress.left_out, progress.invalid, progress.versions_behind) == (1, 1, 1)


@one_more_stream
def test_in_shards_every_match_once(place: Place) -> None:
    """An event that visits several shards, or none, is one event, and refused in one place."""
    texts = {f"price {n}": f"price BETWEEN {n} AND {n + 2}" for n in range(40)}
    texts |= {f"id {n}": f"id = {n * 50} AND at < now()" for n in range(6)}
    place.table.subscribe_many(texts, owner="ann/b")
    version = place.table.apply([Subscribe("any", "id >= 0")]).version
    batches = [[0.0, math.nan, 1.5, 7.0, 90.0, None], [0.0, 6.5, 2000.0, 2000.0, None]]
    for number, prices in enumerate(batches):
        place.put(number, prices)
    files, delta, owned, dead = (place.folder / name for name in "abcd")
    path = str(place.table.path)

    def change(number: int, frame: DataFrame) -> None:
        """Between the batches: what fits in its shard, in another, in none, and what goes."""
        if number == 0:
            window: list[Operation] = [
                Change("price 1", "price BETWEEN 1 AND 2"),
                Change("price 2", "price BETWEEN 6 AND 7"),
                Subscribe("far", "price > 1000 AND id < 103"),
                Unsubscribe("price 0"),
            ]
            ps.SubscriptionTable(path).apply(window)

    sinks = [files, ps.DeltaSink(delta), ps.ParquetSink(owned, by_owner=True), change]
    progress = place.run(sinks, dead_letters=dead, strategy=ps.Partition(shards=3))
    assert (progress.batches, progress.version) == (2, version + 1)
    assert progress.placement == "partition: as was asked for; 4 shards"
    expected = [
        *place.expected(version, 0, [0.0, None, *batches[0][2:]]),
        *place.expected(version + 1, 1, batches[1]),
    ]
    expected = [pair for pair in expected if pair[0] != 1]
    assert (progress.events, progress.matches, progress.dead_letters) == (11, len(expected), 1)
    assert pairs(DeltaTable(delta).to_pyarrow_table()) == expected
    assert pairs(parquet(files)) == pairs(parquet(owned)) == expected
    assert {each.name for each in owned.glob("owner=*")} == {
        "owner=ann%2Fb",
        "owner=__HIVE_DEFAULT_PARTITION__",
    }
    assert [(letter["id"], letter["reason"]) for letter in parquet(dead).to_pylist()] == [
        (1, "attribute 'price': nan is not finite; use null for no value")
    ]


def test_kafka_takes_records_that_name_their_batch(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(1, "a")], "id int, subscription string")
    sink = ps.KafkaSink("matches", {"kafka.bootstrap.servers": "127.0.0.1:1"})
    written = Written(Batch("stream", 7), 3, tmp_path, (), lambda: frame)
    (row,) = sink.records(written).collect()
    assert (row.key, row.value) == ("a", '{"id":1,"subscription":"a"}')
    assert {each.key: bytes(each.value) for each in row.headers} == {
        "predicast-stream": b"stream",
        "predicast-batch": b"7",
    }
    with pytest.raises(SinkError, match=r"--packages org\.apache\.spark:spark-sql-kafka"):
        sink.commit(written)


def test_what_is_wrong_is_refused_before_the_stream_starts(place: Place) -> None:
    place.put(0, [1.0])
    events = place.stream()

    def refused(error: type[Exception], match: str, **changes: Any) -> None:
        given: dict[str, Any] = {
            "events": events,
            "table": place.table,
            "sink": place.folder / "deliveries",
            "checkpoint": place.folder / "checkpoint",
        }
        with pytest.raises(error, match=match):
            ps.deliver(**given | changes)

    refused(UnsupportedTableError, "takes a stream", events=place.spark.range(1))
    refused(UnsupportedTableError, "events are a Spark DataFrame", events=None)
    refused(InvalidOptionError, "sink is a sink such as", sink=3)
    refused(InvalidOptionError, "only a folder of a file system", checkpoint="s3://bucket/x")
    refused(InvalidOptionError, "trigger is one of 'availableNow'", trigger={"now": True})
    refused(InvalidOptionError, "output is one of", output="pairs")
    refused(InvalidOptionError, "on_invalid is one of", on_invalid="drop")
    refused(InvalidOptionError, "without dead_letters", dead_letters="d", on_invalid="skip")
    owned = ps.ParquetSink(place.folder / "deliveries", by_owner=True)
    refused(InvalidOptionError, "have no owner", dead_letters=owned)
    refused(InvalidOptionError, "takes output='rows'", sink=owned, output="array")
    refused(InvalidOptionError, "strategy is one of", strategy="divide")
    refused(InvalidOptionError, "folder is for compile", strategy=ps.Partition(folder="x"))
    refused(InvalidOptionError, "in one place", strategy="partition", output="array")
    refused(UnknownColumnError, "no column 'prise'", columns=["prise"])
    refused(UnknownColumnError, "no column 'bad'", unreadable="bad")
    renamed = events.withColumnRenamed("price", "subscription")
    refused(ColumnClashError, "a column 'subscription'", events=renamed)
    renamed = events.withColumnRenamed("price", "ID")
    refused(ColumnClashError, "columns 'id' and 'ID' are of one name", events=renamed)
    renamed = events.withColumnRenamed("price", "reason")
    refused(ColumnClashError, "a column 'reason'", events=renamed, dead_letters="d")
    variant = events.selectExpr("id", "parse_json('1') AS v")
    refused(UnsupportedColumnError, "to_json makes a string", events=variant)
    assert not (place.folder / "deliveries").exists()
    assert not (place.folder / "checkpoint").exists()
