"""What was measured of the pipeline, and whether its goals are reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from rich.table import Table

from bench.measuring.machine import Machine
from bench.measuring.result_files import ResultFile
from bench.measuring.verdict import Finding, Verdict, verdict_table
from bench.spark.contestants import ALONE, CROSS_JOIN, EQUI_JOIN, IDENTITY, ROWS

TAX: Final = 1.5  # times match_arrow and an identity mapInArrow together
TIMES_EQUI_JOIN: Final = 50
TIMES_CROSS_JOIN: Final = 1_000
LARGE: Final = 100_000  # subscriptions from which on the last two are judged


class JobResult(msgspec.Struct, frozen=True):
    """One contestant at one size, as if it had been given all events."""

    name: str
    processor_s: float  # of all processes together; the clock's where nobody counts them
    clock_s: float
    sample: int | None = None  # events that it was given, if not all


class SizeResult(msgspec.Struct, frozen=True):
    """All contestants at one size."""

    distribution: str
    subscriptions: int
    matches_per_event: float
    jobs: list[JobResult]
    wrong: list[str]

    def seconds(self, name: str) -> float | None:
        """A contestant's processor time, if it ran."""
        return next((job.processor_s for job in self.jobs if job.name == name), None)

    def label(self) -> str:
        """What people call it."""
        return f"{self.distribution}, {self.subscriptions:,}"


class SparkReport(ResultFile, kw_only=True):
    """One run."""

    machine: Machine
    events: int
    rounds: int
    sizes: list[SizeResult]

    def wrong(self) -> list[str]:
        """Contestants that found other matches than the engine."""
        return [f"{size.label()}: {each}" for size in self.sizes for each in size.wrong]


def verdicts(report: SparkReport) -> list[Verdict]:
    """One per goal."""
    large = [size for size in report.sizes if size.subscriptions >= LARGE]
    skewed = [size for size in large if size.distribution == "zipf"]
    return [
        Verdict(
            f"The whole job takes at most {TAX} times match_arrow and an identity mapInArrow",
            "processor time to rows, at every size",
            Finding.joined(_taxes(report.sizes)),
            None,
        ),
        Verdict(
            "It is never slower than the broadcast equi-join",
            "processor time to rows, at every size",
            Finding.joined(_times(report.sizes, EQUI_JOIN, 1)),
            None,
        ),
        Verdict(
            f"It is at least {TIMES_EQUI_JOIN} times as fast as the equi-join, on Zipf's law",
            f"processor time to rows, from {LARGE:,} subscriptions on",
            Finding.joined(_times(skewed, EQUI_JOIN, TIMES_EQUI_JOIN)),
            None,
        ),
        Verdict(
            f"It is at least {TIMES_CROSS_JOIN:,} times as fast as the cross join, on Zipf's law",
            f"processor time to rows, from {LARGE:,} subscriptions on",
            Finding.joined(_times(skewed, CROSS_JOIN, TIMES_CROSS_JOIN)),
            None,
        ),
    ]


def _taxes(sizes: Iterable[SizeResult]) -> Iterator[Finding]:
    for size in sizes:
        rows, alone, identity = map(size.seconds, (ROWS, ALONE, IDENTITY))
        if rows is not None and alone is not None and identity is not None:
            tax = rows / (alone + identity)
            yield Finding(tax <= TAX, f"{size.label()}: {tax:.2f} times")


def _times(sizes: Iterable[SizeResult], rival: str, least: float) -> Iterator[Finding]:
    for size in sizes:
        rows, other = size.seconds(ROWS), size.seconds(rival)
        if rows is not None and other is not None:
            times = other / rows
            yield Finding(times >= least, f"{size.label()}: {times:.3g} times as fast")


def goals_table(report: SparkReport) -> Table:
    """The verdicts, for the terminal."""
    rows = [
        (each, each.outcome, each.measured.evidence if each.measured else "")
        for each in verdicts(report)
    ]
    return verdict_table("Goals of the pipeline", rows)


def measured_table(report: SparkReport) -> Table:
    """The times, for the terminal."""
    table = Table(title=f"{report.events:,} events, local[2], best of {report.rounds}")
    for heading in ("categories, subscriptions", "matches per event", "job"):
        table.add_column(heading)
    table.add_column("processor s", justify="right")
    table.add_column("clock s", justify="right")
    table.add_column("note", style="dim")
    for size in report.sizes:
        for number, job in enumerate(size.jobs):
            first = (size.label(), f"{size.matches_per_event:.2f}") if number == 0 else ("", "")
            note = "" if job.sample is None else f"extrapolated from {job.sample:,} events"
            times = f"{job.processor_s:.2f}", f"{job.clock_s:.2f}"
            table.add_row(*first, job.name, *times, note)
    table.caption = str(report.machine)
    return table
