"""Matching the few clauses that are not compiled yet: each range against each value as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from predicast.matching.columnar.kernels.buffers import with_room, with_run
from predicast.matching.columnar.kernels.compiling import array, entry
from predicast.matching.columnar.reserved import LACKING, NUMBER


@entry(
    (
        array(types.int32),
        array(types.int64),
        array(types.int32),
        array(types.float64),
        array(types.float64),
        array(types.float64, 2),
        array(types.uint8, 2),
        types.boolean,
    ),
    nogil=False,
)
def match_bounds(
    keys: Any,
    first: Any,
    attribute: Any,
    lo: Any,
    hi: Any,
    values: Any,
    states: Any,
    absent_passes: bool,
) -> Any:
    """The matches of events (rows of ``values``) as keys and runs of (event, end)."""
    found, runs = np.empty(64, np.int32), np.empty((16, 2), np.int64)
    count, number = 0, 0
    for event in range(values.shape[0]):
        before = count
        found = with_room(found, count, len(keys))
        for clause in range(len(keys)):
            held = keys[clause] >= 0
            test = first[clause]
            while held and test < first[clause + 1]:
                state = states[event, attribute[test]]
                if state == NUMBER:
                    value = values[event, attribute[test]]
                    held = lo[test] <= value <= hi[test]
                else:
                    held = state == LACKING and absent_passes
                test += 1
            if held:
                found[count] = keys[clause]
                count += 1
        if count > before:
            runs = with_run(runs, number, event, count)
            number += 1
    return found[:count], runs[:number]
