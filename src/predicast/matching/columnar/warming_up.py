"""Compiling all kernels now, for all processes to come.

Without it the first events of the first process on a machine wait for them, some ten seconds. A
little of everything is matched, since kernels are compiled for the types that they meet. What is
compiled is kept beside the modules or in a cache directory (``kernels/compiling.py``).
"""

from __future__ import annotations

import pyarrow as pa

from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.columnar.matcher import Columnar
from predicast.model import Clause, Constraint, Event, Operator, Subscription


def compile_kernels() -> None:
    """Match a few events of all types in all ways."""
    batch = pa.table(
        {
            "a": pa.array([1, None, 3]),
            "b": pa.array([0.5, 1.5, None]),
            "c": pa.array(["x", "xyz", None]),
        }
    )
    regions = pa.table({"lo": pa.array([1, 2]), "hi": pa.array([3, 2])})
    matcher = Columnar()
    for key in range(1_200):
        matcher.subscribe(key, _subscription(key))
    for columns in (
        EventBatch.from_arrow(batch),
        EventBatch.from_arrow(batch.slice(0, 1)),
        EventBatch.from_arrow(regions, ["a"], {"a": ("lo", "hi")}),
    ):
        for _ in range(2):  # before it is compiled, and after
            matcher.match_columns(columns)
            matcher.match_columns(columns, limit=1)
            matcher.count_columns(columns)
            matcher.match(Event({"a": 1, "b": 0.5, "c": "xyz"}))
            matcher.settle()
    for key in range(0, 1_200, 2):
        matcher.unsubscribe(key)
    matcher.settle()
    matcher.match(Event({"a": 1}))


def _subscription(key: int) -> Subscription:
    tests = [
        Constraint("a", Operator.GE, key % 7),
        Constraint("b", Operator.LT, key % 400 + 0.5),  # too many to rank in 8 bits
        Constraint("k", Operator.EQ, key % 3),
    ]
    if key % 100 == 0:
        tests = [Constraint("c", Operator.CONTAINS, "xy"), Constraint("a", Operator.IN, (1, 2))]
    return Subscription((Clause(tuple(tests[: key % 4 or 3])),))
