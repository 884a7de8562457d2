"""``deliver``: every match once, in every sink, against the version of the batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from predicast import spark as ps
from predicast.errors import (
    ColumnClashError,
    InvalidOptionError,
    SinkError,
    UnknownColumnError,
    UnsupportedColumnError,
    UnsupportedTableError,
)
from tests.spark.versioned import VersionedFiles

NOW = {"availableNow": True}
SCHEMA = "id bigint, price double, at timestamp"
SUBSCRIPTIONS = {"ann-low": "price < 3", "ann-some": "price IN (1, 7)", "bob-high": "price >= 8"}


def put(folder: Path, name: str, prices: list[float | None]) -> None:
    """A file of events, which a stream takes as one batch."""
    folder.mkdir(parents=True, exist_ok=True)
    first = int(name) * 100
    table = pa.table(
        {
            "id": pa.array(range(first, first + len(prices)), pa.int64()),
            "price": pa.array(prices, pa.float64()),
            "at": pa.array([first] * len(prices), pa.timestamp("us", tz="UTC")),
        }
    )
    draft = folder / f".{name}"
    pq.write_table(table, draft)
    draft.rename(folder / f"{name}.parquet")


def stream(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", "1").parquet(str(folder))


class Place:
    """A source, a table and a checkpoint of one test."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.events = folder / "events"
        self.table = VersionedFiles(folder / "table")
        self.table.commit(SUBSCRIPTIONS)

    def put(self, name: str, prices: list[Any]) -> None:
        put(self.events, name, prices)

    def run(self, sink: Any, **options: Any) -> ps.Progress:
        """Deliver all that there is."""
        delivery = ps.deliver(
            stream(self.spark, self.events),
            self.table,
            sink,
            checkpoint=self.folder / "checkpoint",
            trigger=NOW,
            **options,
        )
        assert delivery.wait(120)
        return delivery.progress()

    def expected(self, version: int, name: str, prices: list[Any]) -> list[tuple[int, str]]:
        engine = self.table.at(version).engine()
        return [
            (int(name) * 100 + row, id)
            for row, price in enumerate(prices)
            if price is None or math.isfinite(price)
            for id in engine.match({"price": price} if price is not None else {})
        ]


@pytest.fixture
def place(spark: SparkSession, tmp_path: Path) -> Place:
    return Place(spark, tmp_path)


def pairs(table: pa.Table) -> list[tuple[int, str]]:
    return sorted(zip(table["id"].to_pylist(), table["subscription"].to_pylist(), strict=True))


def from_parquet(path: Path) -> pa.Table:
    return pa.concat_tables(
        pq.ParquetFile(each).read() for each in sorted(path.glob("**/*.parquet"))
    )


def from_delta(path: Path) -> pa.Table:
    return DeltaTable(path).to_pyarrow_table()


FIRST = [0.0, 1.0, 2.0, 7.0, 8.0, None]
SECOND = [1.5, 8.5, 9.0]


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (ps.ParquetSink, from_parquet),
        (ps.DeltaSink, from_delta),
        (lambda path: ps.ParquetSink(path, by_owner=True), from_parquet),
    ],
    ids=["parquet", "delta", "by-owner"],
)
def test_every_match_is_delivered_once(
    place: Place, make: Callable[[Path], ps.Sink], read: Callable[[Path], pa.Table]
) -> None:
    place.put("0", FIRST)
    place.put("1", SECOND)
    target = place.folder / "deliveries"
    progress = place.run(make(target))
    expected = place.expected(0, "0", FIRST) + place.expected(0, "1", SECOND)
    found = read(target)
    assert pairs(found) == expected
    assert found["at"].type == pa.timestamp("us", tz="UTC")
    assert found["at"].to_pylist()[0].microsecond in {0, 100}
    assert (progress.batch, progress.version, progress.batches) == (1, 0, 2)
    assert (progress.events, progress.matches) == (9, len(expected))
    assert dict(progress.most_matched) == {"ann-low": 4, "ann-some": 2, "bob-high": 3}
    # Nothing is left of what was drafted.
    assert not [each for each in place.folder.rglob("*.parquet") if "draft" in str(each)]
    again = place.run(make(target))
    assert pairs(read(target)) == expected
    assert again.batches == 2


def test_a_change_is_seen_by_the_next_batch(place: Place) -> None:
    target = place.folder / "deliveries"
    place.put("0", FIRST)
    place.run(target)
    place.table.commit({"carl": "price < 1"})
    place.put("1", FIRST)
    progress = place.run(target)
    expected = place.expected(0, "0", FIRST) + place.expected(1, "1", FIRST)
    assert pairs(from_parquet(target)) == expected
    assert (progress.version, progress.versions_behind) == (1, 0)


def test_by_owner_has_a_folder_for_each(place: Place) -> None:
    place.table.commit({"a/b=c-1": "price < 2", "nobody": "price < 1"})
    place.put("0", [0.0, 1.0])
    target = place.folder / "deliveries"
    place.run(ps.ParquetSink(target, by_owner=True))
    frame = place.spark.read.parquet(str(target))
    rows = sorted((row.id, row.owner or "", row.batch, row.subscription) for row in frame.collect())
    assert rows == [(0, "", 0, "nobody"), (0, "a/b=c", 0, "a/b=c-1"), (1, "a/b=c", 0, "a/b=c-1")]


def test_a_function_gets_the_number_and_a_frame(place: Place) -> None:
    place.put("0", FIRST)
    target = str(place.folder / "received")

    def receive(number: int, frame: DataFrame) -> None:
        frame.write.mode("overwrite").parquet(f"{target}/{number}")

    place.run(receive)
    assert pairs(from_parquet(Path(target))) == place.expected(0, "0", FIRST)
    place.put("1", [5.0])  # which nobody wants
    place.run(receive)
    assert place.spark.read.parquet(f"{target}/1").collect() == []


def test_what_cannot_be_matched_is_a_dead_letter(place: Place) -> None:
    prices = [0.0, math.nan, 1.0, math.inf, 8.0, math.nan]
    place.put("0", prices)
    target, dead = place.folder / "deliveries", place.folder / "dead"
    progress = place.run(target, dead_letters=ps.DeltaSink(dead), columns=["id"])
    assert pairs(from_parquet(target)) == place.expected(0, "0", prices)
    letters = from_delta(dead).to_pylist()
    assert [letter["id"] for letter in letters] == [1, 3, 5]
    assert [letter["reason"] for letter in letters] == [
        "attribute 'price': nan is not finite; use null for no value",
        "attribute 'price': inf is not finite; use null for no value",
        "attribute 'price': nan is not finite; use null for no value",
    ]
    assert (progress.events, progress.dead_letters) == (6, 3)


@pytest.mark.parametrize("on_invalid", ["absent", "skip"])
def test_without_dead_letters_the_policy_decides(place: Place, on_invalid: Any) -> None:
    place.table.commit({"low": "price < 3", "any": "id >= 0"})
    place.put("0", [0.0, math.nan])
    progress = place.run(place.folder / "deliveries", on_invalid=on_invalid)
    found = pairs(from_parquet(place.folder / "deliveries"))
    assert found == [(0, "any"), (0, "low"), *([(1, "any")] if on_invalid == "absent" else [])]
    assert progress.invalid == 1


def test_what_the_source_cannot_read_is_a_dead_letter(place: Place) -> None:
    place.events.mkdir()
    lines = '{"id": 1, "price": 2}\n{"id": 2, "pri\n{"id": 3, "price": 9}\n'
    (place.events / "0.json").write_text(lines, encoding="utf-8")
    reader = place.spark.readStream.schema(f"{SCHEMA}, bad string")
    events = reader.option("columnNameOfCorruptRecord", "bad").json(str(place.events))
    target, dead = place.folder / "deliveries", place.folder / "dead"
    delivery = ps.deliver(
        events,
        place.table,
        target,
        checkpoint=place.folder / "checkpoint",
        dead_letters=dead,
        unreadable="bad",
        trigger=NOW,
    )
    assert delivery.wait(120)
    assert pairs(from_parquet(target)) == [(1, "ann-low"), (3, "bob-high")]
    assert "bad" not in from_parquet(target).column_names
    (letter,) = from_parquet(dead).to_pylist()
    assert letter["bad"] == '{"id": 2, "pri'
    assert letter["reason"] == """the source could not read it: '{"id": 2, "pri'"""


def test_output_as_an_array(place: Place) -> None:
    place.put("0", FIRST)
    place.run(place.folder / "deliveries", output="array", columns=["id"])
    found = from_parquet(place.folder / "deliveries").to_pylist()
    assert found[1] == {"id": 1, "subscriptions": ["ann-low", "ann-some"]}
    assert [each["id"] for each in found] == [0, 1, 2, 3, 4]


def test_several_sinks_get_the_same(place: Place) -> None:
    place.put("0", FIRST)
    first, second = place.folder / "first", place.folder / "second"
    place.run([first, ps.DeltaSink(second)])
    assert pairs(from_parquet(first)) == pairs(from_delta(second)) == place.expected(0, "0", FIRST)


def test_the_event_that_stops_a_stream_is_named(place: Place) -> None:
    place.put("0", [1.0, math.nan])
    with pytest.raises(Exception, match="attribute 'price', row 1: nan is not finite"):
        place.run(place.folder / "deliveries")
    assert list((place.folder / "deliveries").glob("batch=*")) == []


def test_a_subscription_on_an_unknown_column(place: Place) -> None:
    place.table.commit({"good": "price < 3", "typo": "prise < 3"})
    place.put("0", [1.0])
    target = place.folder / "deliveries"
    with pytest.raises(UnknownColumnError, match="subscription 'typo' looks at 'prise'"):
        place.run(target)
    progress = place.run(target, on_invalid_subscription="quarantine")
    assert pairs(from_parquet(target)) == [(0, "good")]
    assert progress.left_out == 1


def test_now_is_when_the_batch_began(place: Place) -> None:
    place.table.commit({"past": "at < now()", "future": "at > now()"})
    place.put("0", [1.0])
    place.run(place.folder / "deliveries")
    assert pairs(from_parquet(place.folder / "deliveries")) == [(0, "past")]


@pytest.mark.parametrize("make", [ps.ParquetSink, ps.DeltaSink])
def test_a_sink_of_another_stream_is_refused(place: Place, make: Callable[[Path], ps.Sink]) -> None:
    place.put("0", FIRST)
    target = place.folder / "deliveries"
    place.run(make(target))
    (place.folder / "checkpoint").rename(place.folder / "lost")
    with pytest.raises(SinkError, match="deliveries of another stream"):
        place.run(make(target))


def test_streams_may_share_a_delta_table(place: Place) -> None:
    place.put("0", FIRST)
    target = ps.DeltaSink(place.folder / "deliveries", shared=True)
    place.run(target)
    (place.folder / "checkpoint").rename(place.folder / "other")
    place.run(target)
    assert pairs(from_delta(place.folder / "deliveries")) == sorted(
        2 * place.expected(0, "0", FIRST)
    )


def test_a_delta_table_with_other_columns_is_refused(place: Place) -> None:
    place.put("0", FIRST)
    target = ps.DeltaSink(place.folder / "deliveries")
    place.run(target, columns=["id"])
    place.put("1", FIRST)
    with pytest.raises(SinkError, match=r"has the columns id .*, and deliveries have"):
        place.run(target)


def test_kafka_needs_a_connector_that_is_not_here(place: Place) -> None:
    place.put("0", FIRST)
    sink = ps.KafkaSink("matches", {"kafka.bootstrap.servers": "127.0.0.1:1"})
    with pytest.raises(SinkError, match=r"--packages org.apache.spark:spark-sql-kafka"):
        place.run(sink)


def test_what_is_wrong_is_refused_before_the_stream_starts(place: Place) -> None:
    place.put("0", [1.0])
    events, checkpoint = stream(place.spark, place.events), place.folder / "checkpoint"

    def refused(error: type[Exception], match: str, **changes: Any) -> None:
        given: dict[str, Any] = {
            "events": events,
            "table": place.table,
            "sink": place.folder / "deliveries",
            "checkpoint": checkpoint,
        }
        with pytest.raises(error, match=match):
            ps.deliver(**given | changes)

    batch = place.spark.range(1)
    refused(UnsupportedTableError, "takes a stream", events=batch)
    refused(InvalidOptionError, "sink is a sink such as", sink=3)
    refused(InvalidOptionError, "names no sink", sink=[])
    refused(InvalidOptionError, "only a folder of a file system", checkpoint="s3://bucket/x")
    refused(InvalidOptionError, "did you mean 'availableNow'", trigger={"available": True})
    refused(InvalidOptionError, "without dead_letters", dead_letters="d", on_invalid="skip")
    owned = ps.ParquetSink(place.folder / "deliveries", by_owner=True)
    refused(InvalidOptionError, "have no owner", dead_letters=owned)
    refused(InvalidOptionError, "takes output='rows'", sink=owned, output="array")
    refused(UnknownColumnError, "no column 'prise'", columns=["prise"])
    renamed = events.withColumnRenamed("price", "subscription")
    refused(ColumnClashError, "a column 'subscription'", events=renamed)
    variant = events.selectExpr("id", "parse_json('1') AS v")
    refused(UnsupportedColumnError, "to_json makes a string", events=variant)
    assert not (place.folder / "deliveries").exists()
