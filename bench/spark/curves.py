"""How ``match`` grows: with the number of events, and with the cores that Spark is given."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from bench.measuring.timing import timed_on_the_clock
from bench.spark.results import CurvePoint
from bench.spark.session import spark_session
from bench.spark.workload import Workload, make_workload
from predicast import spark as ps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Curves:
    """What is measured at which points."""

    subscriptions: int = 10_000
    events: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    cores: tuple[int, ...] = (1, 2, 4, 8, 16)  # as many of them as this machine has
    rounds: int = 3

    def here(self) -> list[int]:
        """The numbers of cores that this machine has."""
        return [cores for cores in self.cores if cores <= (os.cpu_count() or 1)]

    def steps(self) -> int:
        """What ``measure_curves`` reports on."""
        return len(self.here()) + len(self.events)


def measure_curves(
    effort: Curves, *, seed: int, progress: Callable[[str], None] = lambda _: None
) -> list[CurvePoint]:
    """The clock's time at each point, in sessions that begin and end here."""
    workload = make_workload(
        "zipf", events=max(effort.events), subscriptions=effort.subscriptions, seed=seed
    )
    compiled = ps.compile(workload.texts())
    points = []
    with tempfile.TemporaryDirectory() as scratch:
        folders = {count: _written(workload, count, Path(scratch)) for count in effort.events}
        for cores in effort.here():
            with spark_session(cores) as spark:
                progress(f"curves: {cores} cores")
                most = max(effort.events)
                clock = _best(spark, folders[most], compiled, effort.rounds)
                points.append(CurvePoint("cores", cores, most, clock))
                if cores < max(effort.here()):
                    continue
                for count, folder in folders.items():
                    progress(f"curves: {count:,} events")
                    clock = _best(spark, folder, compiled, effort.rounds)
                    points.append(CurvePoint("events", count, count, clock))
    return points


def _written(workload: Workload, count: int, scratch: Path) -> Path:
    """Events in files, several for each core."""
    folder = scratch / str(count)
    folder.mkdir()
    files = 4 * (os.cpu_count() or 1)
    rows = -(-count // files)
    for number in range(files):
        piece: pa.Table = workload.events.slice(number * rows, min(rows, count - number * rows))
        pq.write_table(piece, folder / f"{number}.parquet")
    return folder


def _best(
    spark: SparkSession, folder: Path, compiled: ps.CompiledSubscriptions, rounds: int
) -> float:
    """The quickest of some rounds, after one that counts for nothing."""
    matched: DataFrame = ps.match(spark.read.parquet(str(folder)), compiled)

    def run() -> None:
        matched.write.mode("overwrite").format("noop").save()

    run()
    return min(timed_on_the_clock(run)[0] for _ in range(rounds))
