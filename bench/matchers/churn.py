"""Churn: matching small batches without a break while changes come in, on one thread.

    ── match ── match ── apply 100 ── match ── match ── match ── apply 100 ── match ──
       result   result                result   result   result                result
                   └──── a pause ───────┘

Changes come at a steady rate and are applied in windows of a hundredth of a second: half are
``change``, a quarter ``unsubscribe``, a quarter ``subscribe``. They are made beforehand, as
``Subscription`` objects: parsing is not what is measured (``python -m bench language`` does that).
The rates take turns, in slices of some seconds, so that a slow minute of the machine does not
fall to one of them. Afterwards the matches must be those of brute force over the changed columns.

The garbage collector stays on, as in any service; only what the benchmark itself prepared is
kept out of its sight.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from bench.matchers.catalogue import ChurnSettings
from bench.matchers.ceem import ceem_events, ceem_shape
from bench.matchers.numpy_rival import matching
from bench.matchers.results import OURS, ChurnPoint, ChurnResult
from bench.matchers.workload import Shape, Workload
from bench.papers.workloads.ceem import EXPERIMENTS
from predicast import Change, Engine, Subscribe, Unsubscribe
from predicast.engine.operations import Operation
from predicast.model import Constraint, Operator, Subscription

Clock: TypeAlias = Callable[[], float]

BATCH: Final = 64  # events; a result every millisecond or two at a million subscriptions
WINDOWS_PER_S: Final = 100
CHECKED: Final = 20  # events compared with brute force afterwards


def measure_churn(
    settings: ChurnSettings,
    *,
    seed: int = 0,
    progress: Callable[[str], None] = lambda _: None,
    ours: str = OURS,
    clock: Clock = perf_counter,
) -> ChurnResult:
    """Every rate, in turns."""
    progress(f"churn: loading {settings.subscriptions:,}")
    population = Population(settings, seed)
    engine = Engine(matcher=ours)
    engine.subscribe_arrow(population.workload.table())
    batches = _batches(population.workload.events)
    _slice(engine, batches, [], 0, 0.2, clock)  # warm
    taken: dict[int, list[_Slice]] = {rate: [] for rate in settings.rates}
    for number in range(settings.slices):
        for rate in (settings.rates, settings.rates[::-1])[number % 2]:
            progress(f"churn: {rate:,} changes a second")
            operations = population.operations(round(rate * settings.slice_s))
            gc.collect()
            gc.freeze()
            taken[rate].append(_slice(engine, batches, operations, rate, settings.slice_s, clock))
            gc.unfreeze()
            population.applied(taken[rate][-1].applied)
    return ChurnResult(
        subscriptions=settings.subscriptions,
        batch=BATCH,
        slices=settings.slices,
        slice_s=settings.slice_s,
        points=[_point(rate, slices) for rate, slices in taken.items()],
        wrong=population.difference(engine),
    )


def turns(settings: ChurnSettings) -> int:
    """How often ``measure_churn`` calls ``progress``."""
    return 1 + settings.slices * len(settings.rates)


@dataclass(slots=True)
class _Slice:
    """Some seconds at one rate."""

    seconds: float
    events: int
    applied: int
    pauses: list[float] = field(default_factory=list)


def _slice(
    engine: Engine,
    batches: list[pa.RecordBatch],
    operations: list[Operation],
    rate: int,
    seconds: float,
    clock: Clock,
) -> _Slice:
    window = max(1, rate // WINDOWS_PER_S)
    pauses: list[float] = []
    applied = 0
    start = last = clock()
    while last - start < seconds:
        due = min(int((last - start) * rate), len(operations)) - applied
        if due >= window:  # one window between two batches, also when late
            engine.apply(operations[applied : applied + window])
            applied += window
        engine.match_arrow(batches[len(pauses) % len(batches)])
        now = clock()
        pauses.append(now - last)
        last = now
    return _Slice(last - start, len(pauses) * BATCH, applied, pauses)


def _point(rate: int, slices: list[_Slice]) -> ChurnPoint:
    pauses = np.concatenate([each.pauses for each in slices]) * 1e3
    p50, p99 = np.percentile(pauses, [50, 99])
    return ChurnPoint(
        changes_per_s=rate,
        achieved_per_s=sum(each.applied for each in slices) / sum(each.seconds for each in slices),
        events_per_s=median(each.events / each.seconds for each in slices),
        p50_ms=float(p50),
        p99_ms=float(p99),
        longest_ms=float(pauses.max()),
    )


def _batches(events: pa.RecordBatch) -> list[pa.RecordBatch]:
    starts = range(0, events.num_rows - BATCH + 1, BATCH)
    return [events.slice(start, BATCH) for start in starts]


class Population:
    """The subscriptions as columns, and what the operations do to them.

    The first half of the subscriptions is changed, the second half is unsubscribed one by one, and
    new ones come behind: whatever is chosen is there, without any book of who is.

        0 ............ n/2 ............ n ............
        changed, again   unsubscribed     subscribed →
        and again        one by one →
    """

    def __init__(self, settings: ChurnSettings, seed: int) -> None:
        self._count = settings.subscriptions
        self._chance = np.random.default_rng([seed, 9])
        self._rounds = 0
        attributes = EXPERIMENTS["exp1"]
        shape = ceem_shape(attributes, self._count, seed)
        events = ceem_events(attributes, 32 * BATCH, seed)
        self.workload = Workload("ceem-exp1", self._count, (shape,), events)
        self._clause = shape.clauses[0]
        self._columns = {name: column.copy() for name, column in shape.columns.items()}
        self._alive = np.ones(self._count, bool)
        self._gone = self._count // 2
        self._next = self._count
        self._prepared: list[_Step] = []

    def operations(self, count: int) -> list[Operation]:
        """The next so many operations."""
        self._rounds += 1
        fresh = ceem_shape(EXPERIMENTS["exp1"], max(count, 1), seed=1_000 + self._rounds)
        changed = self._chance.integers(self._count // 2, size=count).tolist()
        self._prepared = list(self._steps(fresh, changed, count))
        return [step.operation for step in self._prepared]

    def _steps(self, fresh: Shape, changed: list[int], count: int) -> Iterator[_Step]:
        gone, new = self._gone, self._next
        rows = np.column_stack([fresh.columns[name] for name in self._columns])[:count].tolist()
        for number, row in enumerate(rows):
            if number % 4 == 0 and gone < self._count:
                yield _Step(Unsubscribe(f"s{gone}"), gone, None)
                gone += 1
            elif number % 4 == 2:
                yield _Step(Subscribe(f"s{new}", self._subscription(row)), new, row)
                new += 1
            else:
                target = changed[number]
                yield _Step(Change(f"s{target}", self._subscription(row)), target, row)

    def _subscription(self, row: list[int]) -> Subscription:
        operands = dict(zip(self._columns, row, strict=True))
        return Subscription.of(
            [
                [
                    Constraint(each.attribute, Operator(each.operator), operands[each.columns[0]])
                    for each in self._clause
                ]
            ]
        )

    def applied(self, count: int) -> None:
        """The first so many of the operations that were made last have been carried out."""
        new_rows = []
        for step in self._prepared[:count]:
            if step.row is None:
                self._alive[step.number] = False
                self._gone += 1
            elif step.number >= self._next:
                new_rows.append(step.row)
                self._next += 1
            else:
                for name, value in zip(self._columns, step.row, strict=True):
                    self._columns[name][step.number] = value
        self._prepared = []
        if new_rows:
            for name, values in zip(self._columns, np.array(new_rows).T, strict=True):
                self._columns[name] = np.concatenate([self._columns[name], values])
            self._alive = np.concatenate([self._alive, np.ones(len(new_rows), bool)])

    def difference(self, engine: Engine) -> str:
        """How the engine's matches differ from brute force's, or nothing."""
        shape = Shape(np.arange(len(self._alive)), (self._clause,), self._columns)
        events = self.workload.events.slice(0, CHECKED)
        table = engine.match_arrow(events)
        found: list[set[str]] = [set() for _ in range(CHECKED)]
        for event, id in zip(
            table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True
        ):
            found[event].add(id)
        for number, event in enumerate(events.to_pylist()):
            rows = np.flatnonzero(matching(shape, event) & self._alive)
            expected = {f"s{row}" for row in rows.tolist()}
            if found[number] != expected:
                return (
                    f"for event {number}, {len(found[number] - expected)} ids too many and "
                    f"{len(expected - found[number])} too few"
                )
        return ""


@dataclass(frozen=True, slots=True)
class _Step:
    """An operation, the subscription it is about, and its new operands."""

    operation: Operation
    number: int
    row: list[int] | None
