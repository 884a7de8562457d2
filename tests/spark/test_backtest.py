"""A backtest in Spark counts as one in this process does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from predicast import Engine
from predicast import spark as ps
from predicast.cli import app
from predicast.errors import ColumnClashError, InvalidOptionError, PipelineError
from predicast.spark.backtest import backtest_path

OLD = {"kept": "price < 10", "moved": "price < 10 AND kind = 'a'", "gone": "kind = 'b'"}
NEW = {"kept": "price < 10", "moved": "price BETWEEN 5 AND 20 AND kind = 'a'", "new": "price > 90"}
SCHEMA = "price int, kind string"
ROWS = [{"price": n % 40, "kind": "abc"[n % 3]} for n in range(200)]


def test_it_counts_as_in_this_process(spark: SparkSession) -> None:
    events = spark.createDataFrame([(each["price"], each["kind"]) for each in ROWS], SCHEMA)
    for against in (None, OLD):
        found = ps.backtest(events, NEW, against=against, samples=2)
        engine = Engine()
        engine.subscribe_many(NEW)
        expected = engine.backtest(ROWS, against=against)
        assert found.table() == expected.table()
        assert found.events == expected.events == 200
        for each in found.fired:
            assert len(each.samples) == min(each.fired, 2) or each.fired > 2
            for sorts in (each.samples, each.gained_samples, each.lost_samples):
                assert len(sorts) <= 2
                assert all(event in ROWS for event in sorts)
            assert bool(each.lost_samples) is bool(each.lost)
            assert bool(each.gained_samples) is bool(each.gained)


def test_what_is_wrong_is_said(spark: SparkSession) -> None:
    events = spark.range(1)
    with pytest.raises(InvalidOptionError, match="samples"):
        ps.backtest(events, NEW, samples=-1)
    with pytest.raises(ColumnClashError):
        ps.backtest(events.withColumnRenamed("id", "predicast_event"), NEW)


def test_a_path_is_read_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(each["price"], each["kind"]) for each in ROWS], SCHEMA)
    frame.repartition(2).write.json(str(tmp_path / "history"))
    engine = Engine()
    engine.subscribe_many(NEW)
    path = str(tmp_path / "history" / "*.json")
    found = backtest_path(spark, path, "json", {}, engine, None, samples=1)
    assert found.table() == engine.backtest(ROWS).table()
    with pytest.raises(PipelineError, match="missing"):
        backtest_path(spark, str(tmp_path / "missing"), "json", {}, engine, None)


def test_the_command_has_spark_read_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(each["price"], each["kind"]) for each in ROWS], SCHEMA)
    frame.write.parquet(str(tmp_path / "history"))
    for name, texts in (("new", NEW), ("old", OLD)):
        rows = [json.dumps({"id": id, "expression": text}) for id, text in texts.items()]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    asked = ["--subscriptions", "new.jsonl", "--against", "old.jsonl", "--events", "history"]
    paths = [each if each.startswith("--") else str(tmp_path / each) for each in asked]
    result = CliRunner().invoke(app, ["backtest", *paths, "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    engine = Engine()
    engine.subscribe_many(NEW)
    expected = engine.backtest(ROWS, against=OLD)
    assert document["events"] == 200
    assert [each["lost"] for each in document["subscriptions"]] == [e.lost for e in expected.fired]
    assert document["subscriptions"][0]["samples"][0] in ROWS
