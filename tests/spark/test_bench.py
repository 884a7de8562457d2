"""The benchmark of the pipeline: a tiny run, and what it says."""

from __future__ import annotations

from io import StringIO

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from bench.spark.contestants import ALONE, CONTESTANTS, CROSS_JOIN
from bench.spark.results import goals_table, measured_table
from bench.spark.run import Settings, measure_spark, steps
from tests.spark.conftest import MODE


@pytest.mark.skipif(MODE == "connect", reason="the benchmark measures classic Spark")
def test_a_tiny_run(spark: SparkSession) -> None:
    settings = Settings(400, (200,), 1, most_pairs=2e4, distributions=("zipf",))
    done: list[str] = []
    report = measure_spark(settings, session=spark, progress=done.append)
    assert len(done) == steps(settings)
    assert report.wrong() == []
    (size,) = report.sizes
    assert {job.name for job in size.jobs} == {ALONE, *(each.name for each in CONTESTANTS)}
    assert {job.name: job.sample for job in size.jobs if job.sample} == {CROSS_JOIN: 100}
    shown = StringIO()
    for table in (measured_table(report), goals_table(report)):
        Console(file=shown, width=160).print(table)
    assert "extrapolated from 100 events" in shown.getvalue()
    assert "never slower than the broadcast equi-join" in shown.getvalue()
