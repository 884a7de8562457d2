"""``predicast pipeline``: what a file describes, carried out, from every source."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from predicast import spark as ps
from predicast.cli import app
from predicast.spark.pipeline.running import Pipeline
from predicast.spark.pipeline.sources import stream_of
from tests.spark.conftest import one_more_stream

REST = """
[table]
path = "table"
[[sinks]]
format = "delta"
path = "deliveries"
[dead_letters]
format = "parquet"
path = "dead"
[stream]
checkpoint = "checkpoint"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    ps.SubscriptionTable("table").subscribe_many({"low": "price < 3", "high": "price >= 8"})
    (tmp_path / "events").mkdir()
    return tmp_path


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["pipeline", *arguments], prog_name="predicast")
    assert result.exit_code == code, result.output
    return result


def described(source: str) -> None:
    Path("pipeline.toml").write_text(f"[source]\n{source}\n{REST}", encoding="utf-8")


def delivered() -> list[tuple[int, str]]:
    table = DeltaTable("deliveries").to_pyarrow_table()
    return sorted(zip(table["id"].to_pylist(), table["subscription"].to_pylist(), strict=True))


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("json", '{"id": 1, "price": 2}\n{"id": 2, "pr\n{"id": 3, "price": 9}\n'),
        pytest.param("csv", "1,2\nx,y\n3,9\n", marks=one_more_stream),
    ],
)
def test_text_is_delivered_and_what_cannot_be_read_is_set_apart(
    spark: SparkSession, folder: Path, form: str, text: str
) -> None:
    described(f'format = "{form}"\npath = "events"\nschema = "id bigint, price double"')
    Path(f"events/0.{form}").write_text(text, encoding="utf-8")
    result = run("run", "--until-done")
    assert "3 events in 1 batches: 2 matches delivered, 1 dead letters." in result.stdout
    assert delivered() == [(1, "low"), (3, "high")]
    (dead,) = Path("dead").glob("batch=0/*.parquet")
    (reason,) = pq.ParquetFile(dead).read()["reason"].to_pylist()
    assert reason.startswith("the source could not read it")


@one_more_stream
def test_parquet_and_delta(spark: SparkSession, folder: Path) -> None:
    """One after the other into one table: two streams."""
    events = pa.table({"id": [1, 2], "price": [2.0, 5.0], "day": ["a", "b"]})
    pq.write_table(events, "events/0.parquet")
    described('format = "parquet"\npath = "events"')
    run("run", "--until-done", "--quiet")
    assert delivered() == [(1, "low")]
    write_deltalake("log", events, partition_by=["day"])
    described('format = "delta"\npath = "log"')
    text = Path("pipeline.toml").read_text(encoding="utf-8")
    text = text.replace('"deliveries"', '"others"').replace('"checkpoint"', '"other"')
    Path("pipeline.toml").write_text(text.replace('"dead"', '"others-dead"'), encoding="utf-8")
    run("run", "--until-done")
    write_deltalake("log", events.set_column(0, "id", pa.array([3, 4])), mode="append")
    DeltaTable("log").optimize.compact()
    run("run", "--until-done")
    found = DeltaTable("others").to_pyarrow_table().sort_by("id").to_pylist()
    assert [(row["id"], row["day"]) for row in found] == [(1, "a"), (3, "a")]
    DeltaTable("log").delete("id = 1")
    refused = run("run", "--until-done", code=2)
    assert "removes or changes rows" in refused.stderr


def test_rate(spark: SparkSession, folder: Path) -> None:
    described('format = "rate"\nrows_per_second = 5')
    events = stream_of(spark, Pipeline("pipeline.toml").file)
    assert events.isStreaming
    assert events.columns == ["timestamp", "value"]


def test_kafka_is_sparks_own(spark: SparkSession, folder: Path) -> None:
    described('format = "kafka"\nservers = "127.0.0.1:1"\ntopic = "t"\nschema = "id bigint"')
    try:
        columns = stream_of(spark, Pipeline("pipeline.toml").file).columns  # Connect looks now
    except PySparkException as error:
        if "Failed to find data source: kafka" in str(error):
            pytest.skip("this Spark has no connector for Kafka")
        raise
    assert columns == ["id", "_corrupt_record"]


def test_check_says_what_does_not_go_with_the_events(spark: SparkSession, folder: Path) -> None:
    described('format = "json"\npath = "events"\nschema = "id bigint, price double"')
    checked = run("check").stdout
    assert "2 subscriptions of version 1 go with them" in checked
    assert "every event" not in checked
    ps.SubscriptionTable("table").subscribe_many({"typo": "prise < 3", "other": "price != 5"})
    result = run("check", code=1)
    assert "Events have the columns id, price." in result.stdout
    assert "subscription 'typo': a subscription looks at 'prise'" in result.stderr
    assert "1 subscriptions do not go with the events, and stop the stream" in result.stderr
    assert "1 of them are tested with every event: other; the first: it is tested" in result.stdout
    assert "the table is at version 2" in run("check", "--quick").stdout


def test_a_file_to_begin_with(folder: Path) -> None:
    run("init", "mine.toml")
    refused = run("init", "mine.toml", code=2)
    assert "mine.toml is there already" in refused.stderr
    refused = run("check", "--quick", "mine.toml", code=2)
    assert "mine.toml, line 11: there is no" in refused.stderr
    Path("table").rename("subscriptions")
    assert "is in order" in run("check", "--quick", "mine.toml").stdout
    refused = run("run", "none.toml", code=2)
    assert "none.toml: No such file" in refused.stderr
