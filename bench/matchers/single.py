"""One event at a time: ``Engine.match`` of a dict, from call to sorted list of ids."""

from __future__ import annotations

from statistics import median
from time import perf_counter_ns

import numpy as np

from bench.matchers.ceem import ceem_workload
from bench.matchers.results import OURS, SingleResult
from bench.measuring.timing import collector_off
from predicast import Engine


def measure_single(
    subscriptions: int, events: int, *, rounds: int, seed: int = 0, ours: str = OURS
) -> SingleResult:
    """Median and 99th percentile of a call; wall-clock time, since a call is far too short
    for the clock of processor time.
    """
    workload = ceem_workload("exp1", subscriptions, events, seed)
    engine = Engine(matcher=ours)
    engine.subscribe_arrow(workload.table())
    batch = workload.events.to_pylist()
    found = sum(len(engine.match(event)) for event in batch)
    expected = engine.match_arrow(workload.events).num_rows
    taken = np.array([_times(engine, batch) for _ in range(rounds)]) / 1e3
    return SingleResult(
        subscriptions=subscriptions,
        events=events,
        median_us=median(np.median(taken, axis=1).tolist()),
        p99_us=median(np.percentile(taken, 99, axis=1).tolist()),
        wrong="" if found == expected else f"found {found:,}, a batch {expected:,}",
    )


def _times(engine: Engine, events: list[dict[str, int]]) -> list[int]:
    """Nanoseconds of each call."""
    taken = []
    with collector_off():
        for event in events:
            start = perf_counter_ns()
            engine.match(event)
            taken.append(perf_counter_ns() - start)
    return taken
