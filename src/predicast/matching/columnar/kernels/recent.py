"""Matching the few clauses that are not compiled yet: each range against all values as they are."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from predicast.matching.columnar.kernels.buffers import with_room, with_run
from predicast.matching.columnar.kernels.compiling import array, entry, kernel

_LANES: Final = 64  # events that are tried at a time: as many as fit in a few registers as a mask


@kernel
def _in_order(hit_keys: Any, hit_events: Any, count: int, events: int) -> Any:
    """Matches as keys and runs of (event, end)."""
    ends = np.zeros(events + 1, np.int64)
    for hit in range(count):
        ends[hit_events[hit] + 1] += 1
    for event in range(events):
        ends[event + 1] += ends[event]
    found, runs = np.empty(count, np.int32), np.empty((16, 2), np.int64)
    for hit in range(count):
        event = hit_events[hit]
        found[ends[event]] = hit_keys[hit]
        ends[event] += 1  # from where it begins to where it ends
    number, before = 0, 0
    for event in range(events):
        if ends[event] > before:
            before = ends[event]
            runs = with_run(runs, number, event, before)
            number += 1
    return found, runs[:number]


@entry(
    (
        array(types.int32),
        array(types.int64),
        array(types.int32),
        array(types.int64),
        array(types.int32),
        array(types.float64),
        array(types.float64),
        types.int64,
        array(types.float64, 2),
        array(types.boolean, 2),
        types.int64,
    ),
    nogil=False,
)
def match_bounds(  # noqa: PLR0913, PLR0917  # arrays and numbers: a tuple would cost per call
    keys: Any,
    gone: Any,
    row: Any,
    ends: Any,
    column: Any,
    lo: Any,
    hi: Any,
    clauses: int,
    values: Any,
    passes: Any,
    epoch: int,
) -> Any:
    """The matches of events (columns of ``values``) as keys and runs of (event, end).

    The ranges of a clause end where the next one's begin; what is gone at the epoch is left out.
    A range holds values, and whatever passes: there an event has no value, and that is all right.
    """
    events = values.shape[1]
    hit_keys, hit_events = np.empty(64, np.int32), np.empty(64, np.int32)
    held = np.empty(_LANES, np.uint8)
    count = 0
    for first in range(0, events, _LANES):
        lanes = min(events - first, _LANES)
        begin = 0
        for clause in range(clauses):
            test, begin = begin, ends[clause]
            if gone[row[clause]] <= epoch:
                continue
            for lane in range(lanes):
                held[lane] = 1
            any_held = True
            while any_held and test < begin:
                asked, least, most = column[test], lo[test], hi[test]
                left = np.uint8(0)
                for lane in range(lanes):
                    value = values[asked, first + lane]
                    held[lane] &= passes[asked, first + lane] | ((least <= value) & (value <= most))
                    left |= held[lane]
                any_held = bool(left)
                test += 1
            if not any_held:
                continue
            hit_keys = with_room(hit_keys, count, lanes)
            hit_events = with_room(hit_events, count, lanes)
            for lane in range(lanes):
                if held[lane]:
                    hit_keys[count] = keys[row[clause]]
                    hit_events[count] = first + lane
                    count += 1
    return _in_order(hit_keys, hit_events, count, events)
