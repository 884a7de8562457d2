"""What was measured of the pipeline, and whether its goals are reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
TIMES_LARGER: Final = 3  # as long for an event, with 100 times the subscriptions
COMPILED: Final = 1_000_000  # texts
COMPILE_S: Final = 60  # on the clock, of so many
GROWTH_HEADINGS: Final = (
    "subscriptions",
    "matches per event",
    "match to rows, µs per event",
    "match_arrow, µs per event",
    "compile, s",
    "of processors, s",
)
BATCH_S: Final = 0.8  # on the clock, of a micro-batch from file to file: well under a second


class JobResult(msgspec.Struct, frozen=True):
    """One contestant at one size, as if it had been given all events."""

    name: str
    processor_s: float  # of all processes together; the clock's where nobody counts them
    clock_s: float
    sample: int | None = None  # events that it was given, if not all

    def note(self) -> str:
        """How it was come by, if it was not measured as it is."""
        return "" if self.sample is None else f"extrapolated from {self.sample:,} events"


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

    def lines(self) -> list[str]:
        """What was measured, a line for each contestant."""
        return [
            f"{self.label()}, {job.name}: {job.processor_s:.2f} s of processors, "
            f"{job.clock_s:.2f} s on the clock" + (note and f" ({note})")
            for job in self.jobs
            for note in [job.note()]
        ]


class MicroBatchResult(msgspec.Struct, frozen=True):
    """Batches of a few events, delivered one by one; medians."""

    subscriptions: int
    events: int  # of a batch
    matches_per_event: float
    clock_s: float  # from the file of events to the delivery
    processor_s: float  # of all processes together
    changed_clock_s: float  # of a batch before which a subscription has changed
    change_s: float  # of that change, on the clock
    wrong: list[str]


class StatementResult(msgspec.Struct, frozen=True):
    """Rules as one SQL statement, which looks at all of them for each event."""

    rules: int
    events: int
    clock_s: float  # planning and compiling included
    ours_clock_s: float  # of match, for the same rules and events, compiling included
    failure: str | None  # what Spark said
    wrong: list[str]


class SigmaStreamResult(msgspec.Struct, frozen=True):
    """Detection rules over a stream of log events; half of them come in the middle."""

    rules: int
    events: int
    batches: int
    matches: int
    clock_s: float  # of a batch, the median of all but the first
    changed_clock_s: float  # of the batch before which the rules have changed
    statements: list[StatementResult]
    wrong: list[str]


class CurvePoint(msgspec.Struct, frozen=True):
    """``match`` at one point of a curve."""

    over: str  # what grows: "events" or "cores"
    at: int
    events: int
    clock_s: float


class GrowthPoint(msgspec.Struct, frozen=True):
    """``compile`` and ``match`` at one number of subscriptions, with as many matches as at any."""

    subscriptions: int
    events: int
    matches_per_event: float
    compile_clock_s: float  # of a DataFrame of texts
    compile_processor_s: float
    processor_s: float  # of the whole job
    alone_s: float  # of match_arrow in one thread
    wrong: list[str]

    def micros(self) -> float:
        """Processor time of the job per event."""
        return 1e6 * self.processor_s / self.events

    def line(self) -> str:
        """What was measured."""
        return (
            f"{self.subscriptions:,} subscriptions: compiled in {self.compile_clock_s:.1f} s, "
            f"{self.micros():.2f} µs of processors per event with "
            f"{self.matches_per_event:.1f} matches"
        )


class SparkReport(ResultFile, kw_only=True):
    """One run."""

    machine: Machine
    events: int
    rounds: int
    sizes: list[SizeResult] = msgspec.field(default_factory=list)
    micro_batches: MicroBatchResult | None = None
    sigma: SigmaStreamResult | None = None
    curves: list[CurvePoint] = msgspec.field(default_factory=list)
    growth: list[GrowthPoint] = msgspec.field(default_factory=list)

    def wrong(self) -> list[str]:
        """Contestants that found other matches than the engine, and changes that went unseen."""
        found = [f"{size.label()}: {each}" for size in self.sizes for each in size.wrong]
        if self.micro_batches is not None:
            found += [f"micro-batches: {each}" for each in self.micro_batches.wrong]
        for point in self.growth:
            found += [f"{point.subscriptions:,} subscriptions: {each}" for each in point.wrong]
        if self.sigma is not None:
            found += [f"Sigma: {each}" for each in self.sigma.wrong]
            found += [each for one in self.sigma.statements for each in one.wrong]
        return found


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
        Verdict(
            "A warm micro-batch is delivered well under a second after its events are there",
            f"at most {BATCH_S} s on the clock, with and without a change before it",
            _batch_times(report.micro_batches),
            None,
        ),
        Verdict(
            f"An event takes at most {TIMES_LARGER} times as long with 100 times the subscriptions",
            "processor time to rows, with as many matches per event",
            _growth(report.growth),
            None,
        ),
        Verdict(
            f"A million texts are compiled in at most {COMPILE_S} s",
            "on the clock, two cores, from a DataFrame",
            _compiled(report.growth),
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


def _batch_times(measured: MicroBatchResult | None) -> Finding | None:
    if measured is None:
        return None
    longest = max(measured.clock_s, measured.changed_clock_s)
    return Finding(
        longest <= BATCH_S,
        f"{measured.events:,} events, {measured.subscriptions:,} subscriptions: "
        f"{measured.clock_s:.2f} s, after a change {measured.changed_clock_s:.2f} s",
    )


def _growth(points: Sequence[GrowthPoint]) -> Finding | None:
    by_size = {point.subscriptions: point for point in points}
    pairs = [(by_size[size], by_size[100 * size]) for size in by_size if 100 * size in by_size]
    if not pairs:
        return None
    few, many = pairs[-1]
    times = many.micros() / few.micros()
    return Finding(
        times <= TIMES_LARGER,
        f"{few.subscriptions:,}: {few.micros():.2f} µs with {few.matches_per_event:.1f} matches, "
        f"{many.subscriptions:,}: {many.micros():.2f} µs with {many.matches_per_event:.1f}, "
        f"{times:.2f} times",
    )


def _compiled(points: Sequence[GrowthPoint]) -> Finding | None:
    large = [point for point in points if point.subscriptions >= COMPILED]
    if not large:
        return None
    clock, processor = large[-1].compile_clock_s, large[-1].compile_processor_s
    evidence = f"{large[-1].subscriptions:,} in {clock:.1f} s ({processor:.1f} s of processors)"
    return Finding(clock <= COMPILE_S, evidence)


def growth_table(report: SparkReport) -> Table:
    """How things grow with subscriptions, for the terminal."""
    table = Table(title="Subscriptions, with as many matches per event")
    for heading in GROWTH_HEADINGS:
        table.add_column(heading, justify="right")
    for row in growth_rows(report):
        table.add_row(*row)
    table.caption = str(report.machine)
    return table


def growth_rows(report: SparkReport) -> list[tuple[str, ...]]:
    """A row per number of subscriptions."""
    return [
        (
            f"{each.subscriptions:,}",
            f"{each.matches_per_event:.1f}",
            f"{each.micros():.2f}",
            f"{1e6 * each.alone_s / each.events:.2f}",
            f"{each.compile_clock_s:.1f}",
            f"{each.compile_processor_s:.1f}",
        )
        for each in report.growth
    ]


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
            times = f"{job.processor_s:.2f}", f"{job.clock_s:.2f}"
            table.add_row(*first, job.name, *times, job.note())
    table.caption = str(report.machine)
    return table


def goal_rows(report: SparkReport) -> list[tuple[str, str, str]]:
    """The verdicts, for a page."""
    return [
        (each.claim, each.outcome, each.measured.evidence if each.measured else "")
        for each in verdicts(report)
    ]


def stream_rows(report: SparkReport) -> list[tuple[str, str]]:
    """What was measured of streams, and the figures."""
    return [*_of_micro_batches(report.micro_batches), *_of_sigma(report.sigma)]


def streams_table(report: SparkReport) -> Table:
    """What was measured of streams, for the terminal."""
    table = Table(title="Streams")
    table.add_column("what")
    table.add_column("figure", justify="right")
    for what, figure in stream_rows(report):
        table.add_row(what, figure)
    table.caption = str(report.machine)
    return table


def _of_micro_batches(measured: MicroBatchResult | None) -> Iterator[tuple[str, str]]:
    if measured is None:
        return
    size = f"{measured.events:,} events, {measured.subscriptions:,} subscriptions"
    yield f"a batch of {size}, from file to file", f"{measured.clock_s:.2f} s"
    yield "  processor time, Spark's included", f"{measured.processor_s:.2f} s"
    yield "  right after a change", f"{measured.changed_clock_s:.2f} s"
    yield "  the change itself", f"{1_000 * measured.change_s:.0f} ms"


def _of_sigma(measured: SigmaStreamResult | None) -> Iterator[tuple[str, str]]:
    if measured is None:
        return
    batch = measured.events / measured.batches
    rate = batch / measured.clock_s
    yield f"{measured.rules:,} Sigma rules as a stream", f"{rate:,.0f} events/s"
    yield f"  a batch of {batch:,.0f} events", f"{measured.clock_s:.2f} s"
    yield "  with half of the rules new", f"{measured.changed_clock_s:.2f} s"
    for one in measured.statements:
        outcome = f"{one.clock_s:.1f} s" if one.failure is None else f"failed: {one.failure}"
        what = f"  {one.rules:,} rules, {one.events:,} events as one SQL statement"
        yield what, f"{outcome}; match {one.ours_clock_s:.1f} s"
