"""Single calls, and threads side by side: what a call takes with so many subscriptions held.

Each subscription is an alert, ``symbol = 'S7' AND price BETWEEN 10 AND 20 AND volume > 5``, and
each event a dict of six attributes. A call is timed on the clock, from Python to Python: it is far
too short for the clock of processor time. Then one thread and two match batches of the first
paper's first experiment without a break, in turns; what counts is the events of all threads
together.
"""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from time import perf_counter, perf_counter_ns
from typing import Any, Final

import numpy as np
import pyarrow as pa
from rich.table import Table

from bench.matchers.ceem import ceem_workload
from bench.measuring.machine import Machine, this_machine
from bench.measuring.result_files import ResultFile
from predicast import Engine

BATCH: Final = 4_000
_PER_SYMBOL: Final = 20
_PRICES: Final = 100_000


class CallTimes(ResultFile, kw_only=True):
    """Of one kind of call, in microseconds."""

    call: str
    median_us: float
    p99_us: float
    longest_us: float


class CallsReport(ResultFile, kw_only=True):
    """What was measured."""

    machine: Machine
    subscriptions: int
    calls: list[CallTimes]
    one_thread_per_s: float  # events
    two_threads_per_s: float


def measure_calls(
    *,
    subscriptions: int,
    calls: int,
    rounds: int,
    seed: int = 0,
    progress: Callable[[str], None] = lambda _: None,
) -> CallsReport:
    """Load, then call."""
    chance = random.Random(seed)
    symbols = max(subscriptions // _PER_SYMBOL, 1)
    engine = Engine()
    engine.warm_up()
    progress("loading")
    engine.subscribe_many((f"s{n}", _text(chance, symbols)) for n in range(subscriptions))
    engine.match({"symbol": "S1"})
    gc.collect()
    gc.freeze()
    events = [_event(chance, symbols) for _ in range(calls)]
    texts = [_text(chance, symbols) for _ in range(2 * calls)]
    changed = [f"s{chance.randrange(subscriptions)}" for _ in range(calls)]
    work: dict[str, Iterator[Callable[[], object]]] = {
        "match": (lambda e=event: engine.match(e) for event in events),  # type: ignore[misc]
        "subscribe": (
            lambda n=n: engine.subscribe(texts[n], id=f"n{n}")  # type: ignore[misc]
            for n in range(calls)
        ),
        "change": (
            lambda n=n: engine.change(changed[n], texts[calls + n])  # type: ignore[misc]
            for n in range(calls)
        ),
        "match, after changes": (lambda e=event: engine.match(e) for event in events),  # type: ignore[misc]
        "unsubscribe": (lambda n=n: engine.unsubscribe(f"n{n}") for n in range(calls)),  # type: ignore[misc]
    }
    taken = []
    for name, made in work.items():
        progress(name)
        taken.append(_times(name, list(made)))
    gc.unfreeze()
    del engine
    workload = ceem_workload("exp1", subscriptions, BATCH, seed)
    engine = Engine()
    engine.subscribe_arrow(workload.table())
    engine.match_arrow(workload.events)
    rates: dict[int, list[float]] = {1: [], 2: []}
    for number in range(rounds):
        for threads in (1, 2) if number % 2 else (2, 1):
            progress(f"{threads} threads")
            rates[threads].append(_rate(engine, workload.events, threads))
    return CallsReport(
        machine=this_machine(),
        subscriptions=subscriptions,
        calls=taken,
        one_thread_per_s=median(rates[1]),
        two_threads_per_s=median(rates[2]),
    )


def turns(rounds: int) -> int:
    """How often ``measure_calls`` calls ``progress``."""
    return 6 + 2 * rounds


def _times(name: str, made: Sequence[Callable[[], object]]) -> CallTimes:
    taken = np.empty(len(made))
    for number, call in enumerate(made):
        start = perf_counter_ns()
        call()
        taken[number] = (perf_counter_ns() - start) / 1e3
    p50, p99 = np.percentile(taken, [50, 99])
    return CallTimes(
        call=name, median_us=float(p50), p99_us=float(p99), longest_us=float(taken.max())
    )


def _rate(engine: Engine, batch: pa.RecordBatch, threads: int, seconds: float = 1.0) -> float:
    """Events a second of so many threads together."""
    counts = [0] * threads
    start = threading.Barrier(threads + 1)
    stop = threading.Event()

    def match(number: int) -> None:
        start.wait()
        while not stop.is_set():
            engine.match_arrow(batch)
            counts[number] += batch.num_rows

    crowd = [threading.Thread(target=match, args=(number,)) for number in range(threads)]
    for each in crowd:
        each.start()
    start.wait()
    begun = perf_counter()
    stop.wait(seconds)
    stop.set()
    for each in crowd:
        each.join()
    return sum(counts) / (perf_counter() - begun)


def _text(chance: random.Random, symbols: int) -> str:
    symbol, low = chance.randrange(symbols), chance.randrange(_PRICES)
    return (
        f"symbol = 'S{symbol}' AND price BETWEEN {low} AND {low + _PRICES // 10} "
        f"AND volume > {chance.randrange(_PRICES)}"
    )


def _event(chance: random.Random, symbols: int) -> dict[str, Any]:
    numbers = {name: chance.randrange(_PRICES) for name in ("price", "volume", "bid", "ask", "n")}
    return {"symbol": f"S{chance.randrange(symbols)}", **numbers}


def calls_table(report: CallsReport) -> Table:
    """What people look at."""
    table = Table(title=f"Single calls with {report.subscriptions:,} subscriptions")
    table.add_column("call")
    for column in ("median", "99 of 100 within", "longest"):
        table.add_column(column, justify="right")
    for each in report.calls:
        times = (each.median_us, each.p99_us, each.longest_us)
        table.add_row(each.call, *(f"{time:,.1f} µs" for time in times))
    ratio = report.two_threads_per_s / report.one_thread_per_s
    table.caption = (
        f"batches of {BATCH:,}: {report.one_thread_per_s:,.0f} events a second in one thread, "
        f"{report.two_threads_per_s:,.0f} in two ({ratio:.2f} times)"
    )
    return table
