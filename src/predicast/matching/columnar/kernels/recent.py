"""Matching clauses that are not compiled yet: their ranges against values as they are.

Most stand in blocks with zones (``bounds_blocks.py``); those that came last are tried one after the
other. Which subscriptions are held is looked at last: most clauses fail before.

Matches are noted in arrays in which room is made beforehand, for as many as a clause or a block can
have. To ask for room at each of them, and hand the arrays on, took half of the time.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from predicast.matching.columnar.kernels.buffers import with_room, with_run
from predicast.matching.columnar.kernels.compiling import array, entry, kernel, merged
from predicast.matching.columnar.kernels.simd import bounds_mask, lowest_bit, range_mask
from predicast.matching.columnar.reserved import LANES

_ROOM: Final = 1 << 10  # matches that there is room for at first
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


@merged
def _noted(rows: Any, mine: int, epoch: int, event: int, hits: Any) -> Any:
    """Note that an event matches the subscription in a row, if that is held: how many there are."""
    keys, since, gone = rows
    hit_keys, hit_events, count = hits
    hit_keys[count], hit_events[count] = keys[mine], event
    return count + ((since[mine] <= epoch) & (gone[mine] > epoch))


@kernel
def _clauses_of_event(rows: Any, table: Any, asked: Any, event: int, hits: Any) -> Any:
    """Try the clauses of the table for one event."""
    row, ends, column, lo, hi, first, end = table
    moved, values, passes, epoch = asked
    hit_keys, hit_events, count = hits
    lanes, bit = event // LANES, np.uint64(1) << np.uint64(event % LANES)
    hit_keys = with_room(hit_keys, count, end - first)
    hit_events = with_room(hit_events, count, end - first)
    test = ends[first - 1] if first else 0
    for clause in range(first, end):
        stop, held = ends[clause], True
        while held and test < stop:
            here = moved[column[test]]
            value, passed = values[here, event], passes[here, lanes] & bit
            held = (passed > 0) | ((lo[test] <= value) & (value <= hi[test]))
            test += 1
        test = stop
        if held:
            count = _noted(rows, row[clause], epoch, event, (hit_keys, hit_events, count))
    return hit_keys, hit_events, count


@kernel
def _clauses_of_events(rows: Any, table: Any, asked: Any, lanes: int, meant: Any, hits: Any) -> Any:
    """Try the clauses of the table for those of 64 events that are meant."""
    row, ends, column, lo, hi, first, end = table
    moved, values, passes, epoch = asked
    hit_keys, hit_events, count = hits
    numbers = values.reshape(values.size)
    stop = ends[first - 1] if first else 0
    for clause in range(first, end):
        test, stop = stop, ends[clause]
        held = meant
        while held and test < stop:
            here = np.int64(moved[column[test]])
            place = here * values.shape[1] + lanes * LANES
            held &= range_mask(numbers, place, lo[test], hi[test]) | passes[here, lanes]
            test += 1
        if held and count + LANES > len(hit_keys):
            hit_keys = with_room(hit_keys, count, LANES)
            hit_events = with_room(hit_events, count, LANES)
        while held:
            event = lanes * LANES + lowest_bit(held)
            count = _noted(rows, row[clause], epoch, event, (hit_keys, hit_events, count))
            held &= held - np.uint64(1)
    return hit_keys, hit_events, count


@merged
def _tried_block(rows: Any, blocks: Any, block: int, asked: Any, event: int, hits: Any) -> Any:
    """Try the clauses of a block for one event, which is in its zones: how many hits there are."""
    row, first_clause, first_test, first_range, column, zone_lo, zone_hi, lo, hi = blocks
    moved, values, passes, epoch = asked
    hit_keys, hit_events, count = hits
    lanes, bit = event // LANES, np.uint64(1) << np.uint64(event % LANES)
    first, place = first_clause[block], first_range[block]
    size = first_clause[block + 1] - first
    held = ~np.uint64(0) >> np.uint64(LANES - size)
    test, end = first_test[block], first_test[block + 1]
    while held and test < end:
        if zone_lo[test] != zone_hi[test]:  # else all clauses ask for what the event has
            here = moved[column[test]]
            if not passes[here, lanes] & bit:
                held &= bounds_mask(lo, hi, place, values[here, event])
        place += size
        test += 1
    while held:
        mine = row[first + lowest_bit(held)]
        count = _noted(rows, mine, epoch, event, (hit_keys, hit_events, count))
        held &= held - np.uint64(1)
    return count


@kernel
def _blocks_of_event(rows: Any, blocks: Any, asked: Any, event: int, hits: Any) -> Any:
    """Try all blocks for one event."""
    row, _, first_test, _, column, zone_lo, zone_hi, _, _ = blocks
    moved, values, passes, _ = asked
    hit_keys, hit_events, count = hits
    lanes, bit = event // LANES, np.uint64(1) << np.uint64(event % LANES)
    hit_keys = with_room(hit_keys, count, len(row))
    hit_events = with_room(hit_events, count, len(row))
    for block in range(len(first_test) - 1):
        inside, test, end = True, first_test[block], first_test[block + 1]
        while inside and test < end:
            here = moved[column[test]]
            value, passed = values[here, event], passes[here, lanes] & bit
            inside = (passed > 0) | ((zone_lo[test] <= value) & (value <= zone_hi[test]))
            test += 1
        if inside:
            count = _tried_block(rows, blocks, block, asked, event, (hit_keys, hit_events, count))
    return hit_keys, hit_events, count


@kernel
def _blocks_of_events(rows: Any, blocks: Any, asked: Any, lanes: int, meant: Any, hits: Any) -> Any:
    """Try all blocks for those of 64 events that are meant."""
    _, _, first_test, _, column, zone_lo, zone_hi, _, _ = blocks
    moved, values, passes, _ = asked
    hit_keys, hit_events, count = hits
    numbers = values.reshape(values.size)
    for block in range(len(first_test) - 1):
        inside, test, end = meant, first_test[block], first_test[block + 1]
        while inside and test < end:
            here = np.int64(moved[column[test]])
            place = here * values.shape[1] + lanes * LANES
            inside &= range_mask(numbers, place, zone_lo[test], zone_hi[test]) | passes[here, lanes]
            test += 1
        if inside and count + LANES * LANES > len(hit_keys):
            hit_keys = with_room(hit_keys, count, LANES * LANES)
            hit_events = with_room(hit_events, count, LANES * LANES)
        while inside:
            event = lanes * LANES + lowest_bit(inside)
            count = _tried_block(rows, blocks, block, asked, event, (hit_keys, hit_events, count))
            inside &= inside - np.uint64(1)
    return hit_keys, hit_events, count


@entry(
    (
        *(array(types.int32), array(types.int64), array(types.int64)),
        *(array(types.int32), array(types.int64), array(types.int32)),
        *(array(types.int32), array(types.float64), array(types.float64)),
        *(types.int64, types.int64),
        *(array(types.int32), array(types.int64), array(types.int64), array(types.int64)),
        *(array(types.int32), array(types.float64), array(types.float64)),
        *(array(types.float64), array(types.float64)),
        *(array(types.int32), array(types.float64, 2), array(types.uint64, 2)),
        *(types.int64, types.int64),
    ),
    nogil=False,
)
def match_bounds(  # noqa: PLR0913, PLR0917  # arrays and numbers: a tuple would cost per call
    keys: Any,
    since: Any,
    gone: Any,
    row: Any,
    ends: Any,
    shape: Any,
    column: Any,
    lo: Any,
    hi: Any,
    first: int,
    end: int,
    block_row: Any,
    first_clause: Any,
    first_test: Any,
    first_range: Any,
    block_column: Any,
    zone_lo: Any,
    zone_hi: Any,
    block_lo: Any,
    block_hi: Any,
    moved: Any,
    values: Any,
    passes: Any,
    events: int,
    epoch: int,
) -> Any:
    """The matches of events as keys and runs of (event, end).

    Asked are the clauses of a table from ``first`` to ``end``, and those in blocks. The ranges of a
    clause end where the next one's begin; what is not held at the epoch is left out. The values
    of a column are in the row of ``values`` that ``moved`` says, an event after the other. A range
    holds values, and whatever passes: a bit each for events that have no value there, which is all
    right. There are values for a multiple of 64 events, of which ``events`` are meant; or for one.
    """
    rows, table = (keys, since, gone), (row, ends, column, lo, hi, first, end)
    blocks = (
        *(block_row, first_clause, first_test, first_range),
        *(block_column, zone_lo, zone_hi, block_lo, block_hi),
    )
    asked = (moved, values, passes, epoch)
    hits: Any = (np.empty(_ROOM, np.int32), np.empty(_ROOM, np.int32), np.int64(0))
    for start in range(0, events, LANES):
        count, lanes = min(events - start, LANES), start // LANES
        if count > _FEW:
            meant = ~np.uint64(0) >> np.uint64(LANES - count)
            hits = _clauses_of_events(rows, table, asked, lanes, meant, hits)
            hits = _blocks_of_events(rows, blocks, asked, lanes, meant, hits)
            continue
        for event in range(start, start + count):
            hits = _clauses_of_event(rows, table, asked, event, hits)
            hits = _blocks_of_event(rows, blocks, asked, event, hits)
    hit_keys, hit_events, number = hits
    return _in_order(hit_keys, hit_events, number, events)
