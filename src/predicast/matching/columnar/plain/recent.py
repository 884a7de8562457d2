"""Clauses of bounds against events, as ``kernels/recent.py`` does."""

from __future__ import annotations

from typing import Final

import numpy as np

from predicast.arrays import Array
from predicast.matching.columnar.plain.results import as_runs
from predicast.matching.columnar.reserved import LACKING, VALUE

_MOST: Final = 1 << 16  # outcomes of tests that are held at a time


def match_bounds(  # noqa: PLR0913, PLR0917  # as the compiled one
    keys: Array,
    gone: Array,
    ends: Array,
    column: Array,
    lo: Array,
    hi: Array,
    clauses: int,
    values: Array,
    states: Array,
    absent_passes: bool,
    epoch: int,
) -> tuple[Array, Array]:
    """The matches of events (rows of ``values``) as keys and runs of (event, end)."""
    events, found = [], []
    first = np.append(0, ends[:clauses])
    tests = int(first[-1])
    column, lo, hi = column[:tests], lo[:tests], hi[:tests]
    live = gone[:clauses] > epoch
    step = max(_MOST // (tests + 1), 1)
    for start in range(0, len(values), step):
        value = values[start : start + step, column]
        state = states[start : start + step, column]
        holds = (state == VALUE) & (lo <= value) & (value <= hi)
        if absent_passes:
            holds |= state == LACKING
        failures = np.zeros((len(value), tests + 1), np.int32)
        np.cumsum(~holds, axis=1, out=failures[:, 1:])
        held = (failures[:, first[:-1]] == failures[:, first[1:]]) & live
        event, clause = held.nonzero()
        events.append(event + start)
        found.append(keys[clause])
    return as_runs(events, found, counting=False)
