"""Micro-batches of a few events through ``deliver``, one by one: from file to file.

A file of events is put into the folder that a stream reads, and the clock runs until the batch is
delivered and committed. Before every other batch a subscription is made for one of its events; the
delivery of that event shows that the change was seen.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc

from bench.spark.file_stream import FileStream
from bench.spark.results import MicroBatchResult
from bench.spark.workload import make_workload

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WATCHER: Final = "watcher"  # the subscription that changes; others are called by numbers


@dataclass(frozen=True)
class MicroBatches:
    """How large they are, and how many."""

    subscriptions: int
    events: int = 1_000
    batches: int = 10  # of each kind that are measured
    warm: int = 10  # that are not: Java compiles what it runs often

    def steps(self) -> int:
        """What ``measure_micro_batches`` reports on."""
        return 2 + 2 * self.batches


def measure_micro_batches(
    spark: SparkSession,
    effort: MicroBatches,
    *,
    seed: int,
    progress: Callable[[str], None] = lambda _: None,
) -> MicroBatchResult:
    """The times of batches, with and without a change before them."""
    progress(f"micro-batches: a table of {effort.subscriptions:,} subscriptions")
    count = effort.warm + 2 * effort.batches
    workload = make_workload(
        "zipf", events=effort.events * count, subscriptions=effort.subscriptions, seed=seed
    )
    pieces = [workload.events.slice(n * effort.events, effort.events) for n in range(count)]
    with tempfile.TemporaryDirectory() as scratch, FileStream(spark, Path(scratch)) as stream:
        stream.table.subscribe_many(workload.texts())
        stream.table.subscribe("FALSE", id=_WATCHER)
        progress("micro-batches: warming up")
        for piece in pieces[: effort.warm]:
            stream.deliver(piece)
        times: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
        changes, watched = [], []
        for number, piece in enumerate(pieces[effort.warm :]):
            progress(f"micro-batches: {number + 1} of {2 * effort.batches}")
            is_changed = number % 2 == 1
            if is_changed:
                watched.append(int(piece["id"][0].as_py()))
                start = perf_counter()
                stream.table.change(_WATCHER, f"id = {watched[-1]}")
                changes.append(perf_counter() - start)
            times[is_changed].append(stream.deliver(piece))
        delivered = stream.deliveries()
    seen = set(delivered.filter(pc.equal(delivered["subscription"], _WATCHER))["id"].to_pylist())
    unseen = [number for number in watched if number not in seen]
    return MicroBatchResult(
        subscriptions=effort.subscriptions,
        events=effort.events,
        matches_per_event=delivered.num_rows / (effort.events * count),
        clock_s=median(clock for clock, _ in times[False]),
        processor_s=median(processor for _, processor in times[False]),
        changed_clock_s=median(clock for clock, _ in times[True]),
        change_s=median(changes),
        wrong=[f"a change was not seen by event {number}" for number in unseen],
    )
