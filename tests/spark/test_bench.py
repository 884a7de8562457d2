"""The benchmark of the pipeline: a tiny run, and what it says."""

from __future__ import annotations

from io import StringIO

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from bench.measuring.processes import Spent
from bench.real.corpus import Corpus, Firing, Rule
from bench.spark.contestants import ALONE, CONTESTANTS, CROSS_JOIN
from bench.spark.growth import Growth
from bench.spark.micro_batches import MicroBatches
from bench.spark.results import goals_table, growth_table, measured_table, streams_table
from bench.spark.run import Settings, extrapolated, measure_spark, steps
from bench.spark.sigma import SigmaStream, measure_sigma
from tests.spark.conftest import MODE


@pytest.mark.skipif(MODE == "connect", reason="the benchmark measures classic Spark")
def test_a_tiny_run(spark: SparkSession) -> None:
    settings = Settings(400, (200,), 1, most_pairs=2e4, distributions=("zipf",))
    done: list[str] = []
    told: list[str] = []
    report = measure_spark(
        settings, session=spark, parts=["tax"], progress=done.append, tell=told.append
    )
    assert len(done) == steps(settings, ["tax"])
    assert report.wrong() == []
    assert len(told) == 1 + len(CONTESTANTS)
    (size,) = report.sizes
    assert {job.name for job in size.jobs} == {ALONE, *(each.name for each in CONTESTANTS)}
    assert {job.name: job.sample for job in size.jobs if job.sample} == {CROSS_JOIN: 100}
    shown = StringIO()
    for table in (measured_table(report), goals_table(report)):
        Console(file=shown, width=160).print(table)
    assert "extrapolated from 100 events" in shown.getvalue()
    assert "never slower than the broadcast equi-join" in shown.getvalue()


def test_only_what_an_event_takes_is_multiplied() -> None:
    # Two seconds to begin with, and one for every hundred events.
    found = extrapolated(Spent(3.0, 2.0), Spent(6.0, 2.0), sample=400, events=10_000)
    assert found == Spent(102.0, 2.0)
    assert extrapolated(Spent(3.0, 3.0), Spent(2.0, 2.0), 400, 10_000) == Spent(2.0, 2.0)


@pytest.mark.skipif(MODE == "connect", reason="the benchmark measures classic Spark")
def test_tiny_growth(spark: SparkSession) -> None:
    growth = Growth((50, 5_000), alike_at=500, events=500, rounds=1)
    settings = Settings(500, (), 1, 1.0, growth=growth)
    done: list[str] = []
    report = measure_spark(settings, session=spark, parts=["growth"], progress=done.append)
    assert len(done) == steps(settings, ["growth"])
    assert report.wrong() == []
    few, many = report.growth
    assert 0.3 < few.matches_per_event / many.matches_per_event < 3
    shown = StringIO()
    for table in (growth_table(report), goals_table(report)):
        Console(file=shown, width=200).print(table)
    assert "An event takes at most 3 times as long" in shown.getvalue()
    assert "5,000" in shown.getvalue()


@pytest.mark.skipif(MODE == "connect", reason="the benchmark measures classic Spark")
def test_tiny_streams(spark: SparkSession) -> None:
    batches = MicroBatches(300, events=50, batches=2, warm=1)
    settings = Settings(50, (), 1, 1.0, micro_batches=batches)
    done: list[str] = []
    report = measure_spark(settings, session=spark, parts=["batches"], progress=done.append)
    assert len(done) == steps(settings, ["batches"])
    assert report.wrong() == []
    assert report.micro_batches is not None
    assert report.micro_batches.matches_per_event > 0
    effort = SigmaStream(events=8, copies=2, batches=4, statements=(2, 3), sample=8)
    done.clear()
    report.sigma = measure_sigma(spark, effort, seed=0, corpus=corpus(), progress=done.append)
    assert len(done) == effort.steps()
    assert report.wrong() == []
    # Four events run an archiver, which two early rules look for; one of them goes in the middle.
    assert report.sigma.rules == 4
    assert report.sigma.matches == 4 * (2 + 1) + 4 * 2
    assert [each.failure for each in report.sigma.statements] == [None, None]
    shown = StringIO()
    Console(file=shown, width=160).print(streams_table(report))
    assert "4 Sigma rules as a stream" in shown.getvalue()


def corpus() -> Corpus:
    """A few rules in the form of Sigma's, written for this test, and events for them."""
    wanted = [
        {"Image|endswith": "\\zip.exe"},
        {"CommandLine|contains": " -secret"},
        {"CommandLine|contains": " -list"},
        {"Image|endswith": "\\copy.exe"},
        {"Port": 99},  # of which these logs know nothing
    ]
    rules = [
        Rule(
            id=_id(number),
            title=f"Rule {number}",
            author="us",
            logsource={"product": "windows"},
            detection={"selection": each, "condition": "selection"},
        )
        for number, each in enumerate(wanted)
    ]
    archived = {"Image": "C:\\tools\\zip.exe", "CommandLine": "zip.exe -secret all"}
    copied = {"Image": "C:\\tools\\copy.exe", "CommandLine": "copy.exe -list"}
    return Corpus(rules, [Firing(_id(0), archived), Firing(_id(3), copied)])


def _id(number: int) -> str:
    return f"8b3c1f0e-4a57-4c6e-9d28-{number:012}"
