"""What ``python -m bench spark`` says of its results; the runs are in ``tests/spark``."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from bench.__main__ import app
from bench.measuring.machine import this_machine
from bench.spark.contestants import ALONE, EQUI_JOIN, IDENTITY, ROWS
from bench.spark.curves import Curves
from bench.spark.results import (
    CurvePoint,
    JobResult,
    MicroBatchResult,
    SigmaStreamResult,
    SizeResult,
    SparkReport,
    StatementResult,
    goal_rows,
)


def report(*, clock_s: float = 0.5, wrong: tuple[str, ...] = ()) -> SparkReport:
    def size(subscriptions: int, rows: float) -> SizeResult:
        seconds = {ROWS: rows, ALONE: 1.0, IDENTITY: 1.0, EQUI_JOIN: 2.5}
        jobs = [JobResult(name, taken, taken) for name, taken in seconds.items()]
        return SizeResult("zipf", subscriptions, 1.0, jobs, [])

    return SparkReport(
        machine=this_machine(),
        events=1_000_000,
        rounds=1,
        sizes=[size(1_000, 2.0), size(10_000, 3.2)],
        micro_batches=MicroBatchResult(1_000, 100, 1.5, 0.4, 0.9, clock_s, 0.02, list(wrong)),
        sigma=SigmaStreamResult(
            50, 2_000, 4, 77, 0.25, 1.5, [StatementResult(50, 10, 9.0, 1.0, "too | long", [])], []
        ),
        curves=[CurvePoint("cores", 1, 100, 2.0), CurvePoint("cores", 2, 100, 1.0)],
    )


def test_goals_are_judged_at_every_size() -> None:
    tax, join, *_ = (outcome for _, outcome, _ in goal_rows(report()))
    assert (tax, join) == ("does not hold", "does not hold")
    for clock_s, outcome in ((0.4, "holds"), (0.9, "does not hold")):
        outcomes = {claim: said for claim, said, _ in goal_rows(report(clock_s=clock_s))}
        assert [said for claim, said in outcomes.items() if "micro-batch" in claim] == [outcome]
    assert goal_rows(report())[0][2] == "zipf, 1,000: 1.00 times; zipf, 10,000: 1.60 times"


def test_what_was_measured_is_shown_again_and_drawn(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    report().write(tmp_path / "spark.json")
    arguments = ["spark", "--again", "--out", str(tmp_path), "--docs", str(docs)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "50 Sigma rules as a stream" in result.output
    page = (docs / "measured" / "spark.md").read_text(encoding="utf-8")
    assert "2,000 events/s" in page
    assert r"failed: too \| long; match 1.0 s" in page
    drawn = (docs / "measured" / "spark.svg").read_text(encoding="utf-8")
    assert "events a second, by cores" in drawn
    assert "events a second, by events" not in drawn  # nothing was measured of that


def test_a_change_that_was_not_seen_is_an_error(tmp_path: Path) -> None:
    report(wrong=("a change was not seen by event 3",)).write(tmp_path / "spark.json")
    result = CliRunner().invoke(app, ["spark", "--again", "--out", str(tmp_path)])
    assert result.exit_code != 0
    assert "a change was not seen" in result.output


def test_no_more_cores_are_measured_than_there_are() -> None:
    assert Curves(cores=(1, 1 << 20)).here() == [1]
