"""Moving regions: how many changes of parameters a second, and what events notice of them.

Each subscription is a box, ``x BETWEEN :x1 AND :x2 AND y BETWEEN :y1 AND :y2 AND kind = :k``. Boxes
move in windows, four parameters each, on the thread that also matches: first windows alone, then
batches of events alone, then both in turn. Windows are made beforehand.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Final

import numpy as np
import pyarrow as pa
from rich.table import Table

from bench.measuring.machine import Machine, this_machine
from bench.measuring.result_files import ResultFile
from bench.measuring.timing import timed_on_the_clock
from predicast import Change, Engine, Subscribe

TEXT: Final = "x BETWEEN :x1 AND :x2 AND y BETWEEN :y1 AND :y2 AND kind = :k"
GOAL_PER_S: Final = 100_000
_SIDE: Final = 1_000.0
_KINDS: Final = 5


class ParametersReport(ResultFile, kw_only=True):
    """What was measured."""

    machine: Machine
    subscriptions: int
    window: int
    windows: int
    events: int
    changes_per_s: float  # windows alone
    quiet_events_per_s: float  # batches alone
    busy_events_per_s: float  # of the time that batches took beside windows
    busy_changes_per_s: float  # of the time that windows took beside batches
    matches_per_event: float


def measure_parameters(
    *,
    subscriptions: int,
    window: int,
    windows: int,
    events: int = 2_000,
    seed: int = 0,
    advance: Callable[[], None] = lambda: None,
) -> ParametersReport:
    """Subscribe, then move and match."""
    chance = np.random.default_rng(seed)
    engine = Engine()
    corners, kinds = _corners(chance, subscriptions), chance.integers(0, _KINDS, subscriptions)
    engine.apply(
        Subscribe(f"box-{n}", TEXT, parameters={**_box(*corner), "k": int(kind)})
        for n, (corner, kind) in enumerate(zip(corners.tolist(), kinds, strict=True))
    )
    batch = pa.table(
        {
            "x": chance.random(events) * _SIDE,
            "y": chance.random(events) * _SIDE,
            "kind": chance.integers(0, _KINDS, events),
        }
    )
    matches = engine.match_arrow(batch).num_rows
    made = [_window(chance, subscriptions, window) for _ in range(2 * windows)]
    gc.collect()
    gc.freeze()
    quiet = [_timed(lambda: engine.match_arrow(batch), advance) for _ in range(windows)]
    alone = [_timed(partial(engine.apply, each), advance) for each in made[:windows]]
    moving, matching = [], []
    for each in made[windows:]:
        moving.append(_timed(partial(engine.apply, each)))
        matching.append(_timed(lambda: engine.match_arrow(batch), advance))
    gc.unfreeze()
    return ParametersReport(
        machine=this_machine(),
        subscriptions=subscriptions,
        window=window,
        windows=windows,
        events=events,
        changes_per_s=window / median(alone),
        quiet_events_per_s=events / median(quiet),
        busy_events_per_s=events / median(matching),
        busy_changes_per_s=window / median(moving),
        matches_per_event=matches / events,
    )


def _timed(work: Callable[[], object], advance: Callable[[], None] = lambda: None) -> float:
    seconds, _ = timed_on_the_clock(work)
    advance()
    return seconds


def _corners(chance: np.random.Generator, count: int) -> np.ndarray:
    return chance.random((count, 2)) * _SIDE


def _box(x: float, y: float) -> dict[str, float]:
    return {"x1": x, "x2": x + 5.5, "y1": y, "y2": y + 5.5}


def _window(chance: np.random.Generator, subscriptions: int, size: int) -> list[Change]:
    ids = chance.integers(0, subscriptions, size).tolist()
    return [
        Change(f"box-{n}", parameters=_box(*corner))
        for n, corner in zip(ids, _corners(chance, size).tolist(), strict=True)
    ]


def parameters_table(report: ParametersReport) -> Table:
    """For people."""
    table = Table(title=f"Moving {report.subscriptions:,} regions in windows of {report.window:,}")
    table.add_column("what")
    table.add_column("a second", justify="right")
    rows = (
        ("changes, windows alone (four parameters each)", report.changes_per_s),
        ("changes, beside batches", report.busy_changes_per_s),
        (f"events, batches of {report.events:,} alone", report.quiet_events_per_s),
        ("events, each batch after a window", report.busy_events_per_s),
    )
    for what, rate in rows:
        table.add_row(what, f"{rate:,.0f}")
    reached = "reached" if report.changes_per_s >= GOAL_PER_S else "missed"
    table.caption = f"the goal of {GOAL_PER_S:,} changes a second is {reached}"
    return table
