"""Runs every contestant in one session on the same events.

Each job runs once before it is measured, on as many events, so that Java has compiled what it runs,
workers are there, and they hold the engine; the matches it finds then are compared with the
engine's. Rounds take turns; the best of them counts, in processor time of the driver, Java and the
workers together. A join that would take too long is given a sample of the events, and a fraction of
that: what the two differ by says what an event takes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from bench.measuring.machine import this_machine
from bench.measuring.processes import Spent, spent_on
from bench.measuring.sizes import Size
from bench.measuring.timing import in_turn
from bench.spark.contestants import ALONE, CONTESTANTS, CROSS_JOIN, EQUI_JOIN, Contestant, Frames
from bench.spark.curves import Curves, measure_curves
from bench.spark.growth import Growth, measure_growth
from bench.spark.micro_batches import MicroBatches, measure_micro_batches
from bench.spark.results import JobResult, SizeResult, SparkReport
from bench.spark.session import spark_session
from bench.spark.sigma import SigmaStream, measure_sigma
from bench.spark.workload import Distribution, Workload, make_workload
from predicast import Engine
from predicast import spark as ps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTS: Final = ("tax", "growth", "batches", "sigma", "curves")
_FILES: Final = 4
_LEAST_SAMPLE: Final = 100  # events of a sample
_FRACTION: Final = ", a fraction of the sample"
_MICRO_BATCHES: Final = MicroBatches(100_000)
_SIGMA: Final = SigmaStream()
_CURVES: Final = Curves()
_GROWTH: Final = Growth()


@dataclass(frozen=True)
class Settings:
    """How large a run is."""

    events: int
    subscriptions: tuple[int, ...]
    rounds: int
    most_pairs: float  # that a join may look at; beyond that it gets a sample of the events
    distributions: tuple[Distribution, ...] = ("uniform", "zipf")
    micro_batches: MicroBatches = _MICRO_BATCHES
    sigma: SigmaStream = _SIGMA
    curves: Curves = _CURVES
    growth: Growth = _GROWTH


SETTINGS: Final = {
    Size.SMALL: Settings(
        100_000,
        (1_000, 10_000),
        2,
        2e7,
        micro_batches=MicroBatches(10_000, batches=5, warm=5),
        sigma=SigmaStream(events=20_000, copies=1, batches=4, statements=(10, 100)),
        curves=Curves(events=(10_000, 100_000), rounds=2),
        growth=Growth((1_000, 10_000, 100_000), events=100_000),
    ),
    Size.FULL: Settings(1_000_000, (1_000, 10_000, 100_000), 3, 1e8),
}


def steps(settings: Settings, parts: Collection[str] = PARTS) -> int:
    """How many steps a run takes."""
    sizes = len(settings.distributions) * len(settings.subscriptions)
    each = {
        "tax": sizes * (settings.rounds + 2),
        "batches": settings.micro_batches.steps(),
        "sigma": settings.sigma.steps(),
        "curves": settings.curves.steps(),
        "growth": settings.growth.steps(),
    }
    return sum(each[part] for part in parts)


def measure_spark(
    settings: Settings,
    *,
    seed: int = 0,
    parts: Collection[str] = PARTS,
    session: SparkSession | None = None,
    progress: Callable[[str], None] = lambda _: None,
    keep: Callable[[SparkReport], None] = lambda _: None,
    tell: Callable[[str], None] = lambda _: None,
) -> SparkReport:
    """Measure the parts, in a session of its own unless one is given.

    What is known is kept, and what takes long is told as it comes.
    """
    report = SparkReport(machine=this_machine(), events=settings.events, rounds=settings.rounds)
    with ExitStack() as stack:
        spark = session or stack.enter_context(spark_session())
        if "tax" in parts:
            for distribution in settings.distributions:
                for subscriptions in settings.subscriptions:
                    size = _measured(spark, settings, distribution, subscriptions, seed, progress)
                    report.sizes.append(size)
                    keep(report)
                    for line in size.lines():
                        tell(line)
        if "growth" in parts:
            for point in measure_growth(spark, settings.growth, seed=seed, progress=progress):
                report.growth.append(point)
                keep(report)
                tell(point.line())
        if "batches" in parts:
            report.micro_batches = measure_micro_batches(
                spark, settings.micro_batches, seed=seed, progress=progress
            )
            keep(report)
        if "sigma" in parts:
            report.sigma = measure_sigma(spark, settings.sigma, seed=seed, progress=progress)
            keep(report)
    if "curves" in parts:  # in sessions with one core and more
        report.curves = measure_curves(settings.curves, seed=seed, progress=progress)
        keep(report)
    return report


class _Job:
    """A contestant with the events that it is given: all, a sample, or a fraction of a sample."""

    def __init__(
        self,
        contestant: Contestant,
        events: DataFrame,
        frames: Frames,
        sample: int | None = None,
        *,
        is_fraction: bool = False,
    ) -> None:
        self.contestant, self.sample, self.is_fraction = contestant, sample, is_fraction
        self.name = contestant.name + (_FRACTION if is_fraction else "")
        self.result = contestant.job(events, frames)

    def run(self, folder: Path) -> None:
        writer = self.result.write.mode("overwrite")
        if self.contestant.to_parquet:
            writer.parquet(str(folder / "out"))
        else:
            writer.format("noop").save()

    def matches(self) -> int | None:
        """How many it finds; ``None`` if it looks for none."""
        from pyspark.sql.functions import col, lit, size
        from pyspark.sql.functions import sum as sum_of

        name = self.contestant.matched
        if name is None:
            return None
        is_array = self.result.schema[name].dataType.typeName() == "array"
        number = size(name) if is_array else lit(1)
        found = self.result.select(col(name)).select(sum_of(number)).head()
        return int(found[0] or 0) if found else 0


def _measured(
    spark: SparkSession,
    settings: Settings,
    distribution: Distribution,
    subscriptions: int,
    seed: int,
    progress: Callable[[str], None],
) -> SizeResult:
    label = f"{distribution}, {subscriptions:,} subscriptions"
    progress(f"{label}: compiling")
    workload = make_workload(
        distribution, events=settings.events, subscriptions=subscriptions, seed=seed
    )
    compiled = ps.compile(workload.texts())
    engine = compiled.engine()
    engine.warm_up()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        jobs = list(_jobs(spark, settings, workload, compiled, folder))
        progress(f"{label}: checking")
        wrong = [each for job in jobs if (each := _checked(job, engine, workload.events))]
        alone = engine.match_arrow(workload.events).num_rows
        best: dict[str, Spent] = {}
        for number in range(settings.rounds):
            progress(f"{label}: round {number + 1}")
            _keep(best, ALONE, lambda: engine.match_arrow(workload.events))
            for job in in_turn(jobs, number):
                _keep(best, job.name, lambda job=job: job.run(folder))  # type: ignore[misc]
    return SizeResult(
        distribution,
        subscriptions,
        alone / settings.events,
        list(_job_results(best, jobs, settings.events)),
        wrong,
    )


def _jobs(
    spark: SparkSession,
    settings: Settings,
    workload: Workload,
    compiled: ps.CompiledSubscriptions,
    folder: Path,
) -> Iterator[_Job]:
    frames = Frames(spark.createDataFrame(workload.subscriptions), compiled)
    looked_at = {
        EQUI_JOIN: workload.pairs_of_a_category(),
        CROSS_JOIN: float(len(workload.subscriptions)),
    }
    for contestant in CONTESTANTS:
        pairs = looked_at.get(contestant.name, 0.0)
        fitting = int(settings.most_pairs / pairs) if pairs else settings.events
        if fitting >= settings.events:
            yield _Job(contestant, _written(spark, workload.events, folder), frames)
            continue
        sample = max(fitting, _LEAST_SAMPLE)
        for count in (sample, fraction_of(sample)):
            events = _written(spark, workload.events.slice(0, count), folder)
            yield _Job(contestant, events, frames, count, is_fraction=count < sample)


def _written(spark: SparkSession, events: pa.Table, folder: Path) -> DataFrame:
    """The events in files, as many as keep both cores at work."""
    place = folder / f"events-{len(events)}"
    if not place.exists():
        place.mkdir()
        rows = -(-len(events) // _FILES)
        for number in range(_FILES):
            pq.write_table(events.slice(number * rows, rows), place / f"{number}.parquet")
    return spark.read.parquet(str(place))


def _checked(job: _Job, engine: Engine, events: pa.Table) -> str | None:
    found = job.matches()
    if found is None:
        return None
    right = engine.match_arrow(events.slice(0, job.sample)).num_rows
    return None if found == right else f"{job.contestant.name} finds {found:,}, not {right:,}"


def _keep(best: dict[str, Spent], name: str, work: Callable[[], object]) -> None:
    """Run it, and keep its times if they are the best so far."""
    spent, _ = spent_on(work)
    best[name] = min(best.get(name, spent), spent)


def _job_results(best: dict[str, Spent], jobs: list[_Job], events: int) -> Iterator[JobResult]:
    """What each took or, where it was given a sample, would have taken of all events."""
    yield JobResult(ALONE, *best[ALONE])
    for job in jobs:
        spent = best[job.name]
        if job.sample is None:
            yield JobResult(job.name, *spent)
        elif not job.is_fraction:
            less = best[job.name + _FRACTION]
            yield JobResult(job.name, *extrapolated(less, spent, job.sample, events), job.sample)


def extrapolated(less: Spent, spent: Spent, sample: int, events: int) -> Spent:
    """What all events would take, by a sample and by a fraction of it.

    Only what they differ by is multiplied: to plan and to start a job, to send it what it joins
    with and to hash that is done once, however many events there are.
    """
    times = (events - sample) / (sample - fraction_of(sample))
    by_both = zip(less, spent, strict=True)
    return Spent(*(large + max(large - small, 0.0) * times for small, large in by_both))


def fraction_of(sample: int) -> int:
    """How many of the events of a sample are given to the same job once more."""
    return max(sample // 4, 1)
