"""A dialect beside the ``where`` subscriptions that mean the same: loading and matching.

A workload is subscriptions in a dialect, each with its ``where`` text, and events of that world as
attributes. Both engines hold as many subscriptions, answer the same events, and have to agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, Final

import pyarrow as pa

from bench.measuring.timing import timed
from bench.real.cesql import cesql_workload
from bench.real.results import DialectResult
from bench.real.workload import Workload
from predicast import Engine

WORKLOADS: Final[dict[str, Callable[[int, int, int], Workload]]] = {"cesql": cesql_workload}


@dataclass(frozen=True, slots=True)
class Spoken:
    """How much is measured."""

    subscriptions: int = 10_000
    events: int = 2_000
    singles: int = 1_000
    rounds: int = 7


def measure_dialect(name: str, effort: Spoken, *, seed: int) -> DialectResult:
    """One dialect, and ``where`` in the same run."""
    workload = WORKLOADS[name](effort.subscriptions, effort.events, seed)
    load_s, engine = _loaded(workload.texts, name)
    where_load_s, plain = _loaded(workload.where, None)
    table = pa.Table.from_pylist(workload.events)
    singles = workload.events[: effort.singles]
    found, wanted = (sorted(_pairs(each, table)) for each in (engine, plain))
    alone = [engine.match(event) == plain.match(event) for event in singles]
    # In turns: whatever else the machine does meets both of them.
    rounds = [
        (_batch_s(engine, table), _batch_s(plain, table), _alone_s(engine, singles),
         _alone_s(plain, singles))
        for _ in range(effort.rounds)
    ]  # fmt: skip
    batch, where_batch, single, where_single = (
        1e6 * median(each) for each in zip(*rounds, strict=True)
    )
    return DialectResult(
        dialect=name,
        subscriptions=len(workload.texts),
        events=len(workload.events),
        matches=len(found),
        load_s=load_s,
        where_load_s=where_load_s,
        batch_us=batch / len(workload.events),
        where_batch_us=where_batch / len(workload.events),
        single_us=single / len(singles),
        where_single_us=where_single / len(singles),
        wrong="" if found == wanted and all(alone) else "it answers otherwise than where",
    )


def _loaded(texts: list[str], dialect: str | None) -> tuple[float, Engine]:
    engine = Engine()
    named = [(f"s{number}", text) for number, text in enumerate(texts)]
    load_s, _ = timed(partial(engine.subscribe_many, named, dialect=dialect))
    engine._store.matcher.settle()  # merging in the background would disturb the first rounds
    return load_s, engine


def _pairs(engine: Engine, table: pa.Table) -> list[tuple[int, str]]:
    found = engine.match_arrow(table)
    return list(zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True))


def _batch_s(engine: Engine, table: pa.Table) -> float:
    return timed(partial(engine.match_arrow, table))[0]


def _alone_s(engine: Engine, events: list[dict[str, Any]]) -> float:
    def match() -> None:
        for event in events:
            engine.match(event)

    return timed(match)[0]
