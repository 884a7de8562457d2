"""Clauses of bounds against events, as ``kernels/recent.py`` does."""

from __future__ import annotations

from typing import Final

import numpy as np

from predicast.arrays import Array
from predicast.matching.columnar.plain.results import as_runs

_MOST: Final = 1 << 16  # outcomes of tests that are held at a time


def match_bounds(  # noqa: PLR0913, PLR0917  # as the compiled one
    keys: Array,
    since: Array,
    gone: Array,
    row: Array,
    ends: Array,
    column: Array,
    lo: Array,
    hi: Array,
    clauses: int,
    values: Array,
    passes: Array,
    events: int,
    epoch: int,
) -> tuple[Array, Array]:
    """The matches of events (columns of ``values``) as keys and runs of (event, end)."""
    every, found = [], []
    values = values[:, :events]
    passing = np.unpackbits(passes.view(np.uint8), axis=1, count=events, bitorder="little") > 0
    first = np.append(0, ends[:clauses])
    row = row[:clauses]
    tests = int(first[-1])
    column, lo, hi = column[:tests], lo[:tests, None], hi[:tests, None]
    live = (since[row] <= epoch) & (gone[row] > epoch)
    step = max(_MOST // (tests + 1), 1)
    for start in range(0, values.shape[1], step):
        value = values[column, start : start + step]
        holds = passing[column, start : start + step] | ((lo <= value) & (value <= hi))
        failures = np.zeros((tests + 1, value.shape[1]), np.int32)
        np.cumsum(~holds, axis=0, out=failures[1:])
        held = (failures[first[:-1]] == failures[first[1:]]) & live[:, None]
        clause, event = held.nonzero()
        every.append(event + start)
        found.append(keys[row[clause]])
    return as_runs(every, found, counting=False)
