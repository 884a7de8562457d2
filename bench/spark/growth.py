"""How ``compile`` and ``match`` grow with subscriptions, if an event matches as many of them.

Ranges of prices are the narrower, the more there are of them: what grows is only what there is to
look for. Subscriptions are compiled from a DataFrame of texts, as a team would keep them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from bench.measuring.processes import spent_on
from bench.measuring.timing import timed
from bench.spark.results import GrowthPoint
from bench.spark.workload import Workload, make_workload
from predicast import spark as ps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Growth:
    """What is measured at which points."""

    subscriptions: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    alike_at: int = 100_000  # subscriptions that have as many matches in the workload
    events: int = 500_000
    rounds: int = 2

    def steps(self) -> int:
        """What ``measure_growth`` reports on."""
        return 2 * len(self.subscriptions)


def measure_growth(
    spark: SparkSession,
    effort: Growth,
    *,
    seed: int,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[GrowthPoint]:
    """One point after the other; the quickest of some rounds, after one that counts for nothing."""
    for number in effort.subscriptions:
        workload = make_workload(
            "zipf",
            events=effort.events,
            subscriptions=number,
            seed=seed,
            alike_at=effort.alike_at,
        )
        with tempfile.TemporaryDirectory() as scratch:
            yield _point(spark, workload, effort.rounds, Path(scratch), progress)


def _point(
    spark: SparkSession,
    workload: Workload,
    rounds: int,
    folder: Path,
    progress: Callable[[str], None],
) -> GrowthPoint:
    number, count = len(workload.subscriptions), len(workload.events)
    progress(f"growth: compiling {number:,} texts")
    ids, texts = zip(*workload.texts(), strict=True)
    written = pa.table({"id": ids, "expression": texts})
    table = _written(spark, written, folder / "subscriptions")
    compiling, compiled = spent_on(lambda: ps.compile(table))
    progress(f"growth: matching {number:,}")
    job = ps.match(_written(spark, workload.events, folder / "events"), compiled)
    found = job.count()
    writer = job.write.mode("overwrite").format("noop")
    times = [spent_on(writer.save)[0].processor_s for _ in range(rounds)]
    engine = compiled.engine()
    engine.warm_up()
    right = engine.match_arrow(workload.events).num_rows
    alone = [timed(lambda: engine.match_arrow(workload.events))[0] for _ in range(rounds)]
    return GrowthPoint(
        number,
        count,
        right / count,
        compiling.clock_s,
        compiling.processor_s,
        min(times),
        min(alone),
        [] if found == right else [f"match finds {found:,}, not {right:,}"],
    )


def _written(spark: SparkSession, table: pa.Table, folder: Path) -> DataFrame:
    """A table in files, several for each core."""
    folder.mkdir()
    files = 2 * (os.cpu_count() or 1)
    rows = -(-len(table) // files)
    for number in range(files):
        pq.write_table(table.slice(number * rows, rows), folder / f"{number}.parquet")
    return spark.read.parquet(str(folder))
