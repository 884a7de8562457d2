"""Clauses of bounds on numbers against events, as ``kernels/recent.py`` does."""

from __future__ import annotations

from typing import Final

import numpy as np

from predicast.arrays import Array
from predicast.matching.columnar.plain.results import as_runs
from predicast.matching.columnar.reserved import LACKING, NUMBER

_MOST: Final = 1 << 16  # outcomes of tests that are held at a time


def match_bounds(
    keys: Array,
    first: Array,
    attribute: Array,
    lo: Array,
    hi: Array,
    values: Array,
    states: Array,
    absent_passes: bool,
) -> tuple[Array, Array]:
    """The matches of events (rows of ``values``) as keys and runs of (event, end)."""
    events, found = [], []
    step = max(_MOST // (len(lo) + 1), 1)
    for start in range(0, len(values), step):
        value = values[start : start + step, attribute]
        state = states[start : start + step, attribute]
        holds = (state == NUMBER) & (lo <= value) & (value <= hi)
        if absent_passes:
            holds |= state == LACKING
        failures = np.zeros((len(value), len(lo) + 1), np.int32)
        np.cumsum(~holds, axis=1, out=failures[:, 1:])
        held = (failures[:, first[:-1]] == failures[:, first[1:]]) & (keys >= 0)
        event, clause = held.nonzero()
        events.append(event + start)
        found.append(keys[clause])
    return as_runs(events, found, counting=False)
