"""Matching the few clauses that are not compiled yet: each range against all values as they are."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from predicast.matching.columnar.kernels.buffers import with_room, with_run
from predicast.matching.columnar.kernels.compiling import array, entry, kernel
from predicast.matching.columnar.kernels.simd import lowest_bit, range_mask
from predicast.matching.columnar.reserved import LANES

_FEW: Final = 24  # events that are quicker tried one by one than 64 at a time


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


@kernel
def _one_event(table: Any, epoch: int, values: Any, passes: Any, event: int, hits: Any) -> Any:
    """Try all clauses for one event."""
    keys, since, gone, row, ends, column, lo, hi, clauses = table
    hit_keys, hit_events, count = hits
    block, bit = event // LANES, np.uint64(1) << np.uint64(event % LANES)
    test = 0
    for clause in range(clauses):
        mine, end = row[clause], ends[clause]
        held = (since[mine] <= epoch) & (gone[mine] > epoch)
        while held and test < end:
            value, passed = values[column[test], event], passes[column[test], block] & bit
            held = (passed > 0) | ((lo[test] <= value) & (value <= hi[test]))
            test += 1
        test = end
        if held:
            if count == len(hit_keys):
                hit_keys = with_room(hit_keys, count, 1)
                hit_events = with_room(hit_events, count, 1)
            hit_keys[count], hit_events[count] = keys[mine], event
            count += 1
    return hit_keys, hit_events, count


@kernel
def _many_events(table: Any, epoch: int, values: Any, passes: Any, block: int, hits: Any) -> Any:
    """Try all clauses for 64 events."""
    keys, since, gone, row, ends, column, lo, hi, clauses = table
    hit_keys, hit_events, count, meant = hits
    numbers = values.reshape(values.size)
    end = 0
    for clause in range(clauses):
        test, end = end, ends[clause]
        mine = row[clause]
        held = meant if since[mine] <= epoch and gone[mine] > epoch else np.uint64(0)
        while held and test < end:
            place = column[test] * np.int64(values.shape[1]) + block * LANES
            held &= range_mask(numbers, place, lo[test], hi[test]) | passes[column[test], block]
            test += 1
        if held and count + LANES > len(hit_keys):
            hit_keys = with_room(hit_keys, count, LANES)
            hit_events = with_room(hit_events, count, LANES)
        while held:
            hit_keys[count] = keys[mine]
            hit_events[count] = block * LANES + lowest_bit(held)
            held &= held - np.uint64(1)
            count += 1
    return hit_keys, hit_events, count


@entry(
    (
        array(types.int32),
        array(types.int64),
        array(types.int64),
        array(types.int32),
        array(types.int64),
        array(types.int32),
        array(types.float64),
        array(types.float64),
        types.int64,
        array(types.float64, 2),
        array(types.uint64, 2),
        types.int64,
        types.int64,
    ),
    nogil=False,
)
def match_bounds(  # noqa: PLR0913, PLR0917  # arrays and numbers: a tuple would cost per call
    keys: Any,
    since: Any,
    gone: Any,
    row: Any,
    ends: Any,
    column: Any,
    lo: Any,
    hi: Any,
    clauses: int,
    values: Any,
    passes: Any,
    events: int,
    epoch: int,
) -> Any:
    """The matches of events (columns of ``values``) as keys and runs of (event, end).

    The ranges of a clause end where the next one's begin; what is not held at the epoch is left
    out. A range holds values, and whatever passes: a bit each for events that have no value there,
    which is all right. There are values for a multiple of 64 events, of which ``events`` are meant.
    """
    table = (keys, since, gone, row, ends, column, lo, hi, clauses)
    hit_keys, hit_events, count = np.empty(64, np.int32), np.empty(64, np.int32), 0
    for first in range(0, events, LANES):
        lanes = min(events - first, LANES)
        if lanes > _FEW:
            meant = ~np.uint64(0) >> np.uint64(LANES - lanes)
            hits = (hit_keys, hit_events, count, meant)
            hit_keys, hit_events, count = _many_events(
                table, epoch, values, passes, first // LANES, hits
            )
            continue
        for event in range(first, first + lanes):
            hit_keys, hit_events, count = _one_event(
                table, epoch, values, passes, event, (hit_keys, hit_events, count)
            )
    return _in_order(hit_keys, hit_events, count, events)
