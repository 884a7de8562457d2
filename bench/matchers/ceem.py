"""The CEEM paper's workload at any size: areas of interest, all uniform.

The parameters are those of ``bench.papers.workloads.ceem`` (6 equality values, ranges in 0..65535
with distinct, strict ends); the generator draws whole columns at once. Columns are drawn one by one
from a stream of their own each, so that a smaller workload is the beginning of a larger one.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bench.matchers.workload import Comparison, Shape, Workload
from bench.papers.workloads.ceem import EQUAL, EXPERIMENTS, TOP, Attributes


def ceem_workload(name: str, subscriptions: int, events: int, seed: int = 0) -> Workload:
    """Experiment ``exp1`` or ``exp2``."""
    attributes = EXPERIMENTS[name]
    return Workload(
        family=f"ceem-{name}",
        subscriptions=subscriptions,
        shapes=(ceem_shape(attributes, subscriptions, seed),),
        events=ceem_events(attributes, events, seed),
    )


def ceem_shape(attributes: Attributes, subscriptions: int, seed: int) -> Shape:
    """Equalities on e0, e1, ..., open ranges on r0, r1, ..."""
    columns: dict[str, np.ndarray] = {}
    clause: list[Comparison] = []
    for number in range(attributes.equality):
        name = f"e{number}"
        columns[name] = _stream(attributes, seed, name).integers(EQUAL, size=subscriptions)
        clause.append(Comparison(name, "=", (name,)))
    for number in range(attributes.range):
        low, high = f"low{number}", f"high{number}"
        columns[low], columns[high] = _ranges(_stream(attributes, seed, low), subscriptions)
        clause.append(Comparison(f"r{number}", ">", (low,)))
        clause.append(Comparison(f"r{number}", "<", (high,)))
    columns = {name: column.astype(np.int32) for name, column in columns.items()}
    return Shape(np.arange(subscriptions), (tuple(clause),), columns)


def ceem_events(attributes: Attributes, events: int, seed: int) -> pa.RecordBatch:
    """Points."""
    columns = {
        f"e{number}": _stream(attributes, seed, f"event e{number}").integers(EQUAL, size=events)
        for number in range(attributes.equality)
    } | {
        f"r{number}": _stream(attributes, seed, f"event r{number}").integers(TOP + 1, size=events)
        for number in range(attributes.range)
    }
    return pa.RecordBatch.from_pydict(columns)


def _ranges(chance: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Two different ends each: the second is one of the others, all equally likely."""
    ends = chance.random((count, 2))
    first = (ends[:, 0] * (TOP + 1)).astype(np.int64)
    second = (ends[:, 1] * TOP).astype(np.int64)
    second += second >= first
    return np.minimum(first, second), np.maximum(first, second)


def _stream(attributes: Attributes, seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([attributes.seed, seed, *name.encode()])
