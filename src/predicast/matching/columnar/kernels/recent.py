"""Matching the few clauses that are not compiled yet: each range against each value as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from predicast.matching.columnar.kernels.buffers import with_room, with_run
from predicast.matching.columnar.kernels.compiling import array, entry
from predicast.matching.columnar.reserved import LACKING, VALUE


@entry(
    (
        array(types.int32),
        array(types.int64),
        array(types.int64),
        array(types.int32),
        array(types.float64),
        array(types.float64),
        types.int64,
        array(types.float64, 2),
        array(types.uint8, 2),
        types.boolean,
        types.int64,
    ),
    nogil=False,
)
def match_bounds(  # noqa: PLR0913, PLR0917  # arrays and numbers: a tuple would cost per call
    keys: Any,
    gone: Any,
    ends: Any,
    column: Any,
    lo: Any,
    hi: Any,
    clauses: int,
    values: Any,
    states: Any,
    absent_passes: bool,
    epoch: int,
) -> Any:
    """The matches of events (rows of ``values``) as keys and runs of (event, end).

    The tests of a clause end where the next one's begin; what is gone at the epoch is left out.
    """
    found, runs = np.empty(64, np.int32), np.empty((16, 2), np.int64)
    count, number = 0, 0
    for event in range(values.shape[0]):
        before = count
        found = with_room(found, count, clauses)
        test = 0
        for clause in range(clauses):
            held, end = gone[clause] > epoch, ends[clause]
            while held and test < end:
                state = states[event, column[test]]
                if state == VALUE:
                    value = values[event, column[test]]
                    held = lo[test] <= value <= hi[test]
                else:
                    held = state == LACKING and absent_passes
                test += 1
            test = end
            if held:
                found[count] = keys[clause]
                count += 1
        if count > before:
            runs = with_run(runs, number, event, count)
            number += 1
    return found[:count], runs[:number]
