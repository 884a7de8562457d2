"""The compiled loops as the segment calls them; the inner ones are beside.

A segment reaches them as its image (``image.py``), one array of bytes and a directory: passing two
arrays costs a call a microsecond, passing forty would cost ten, and the compiler some seconds. Each
loop takes out what it needs (``images.py``). Matches leave as *runs*, the keys of one event side by
side: one number per match, and the event only once per run.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from predicast.matching.columnar.kernels.blocks import scan_family, visits_of
from predicast.matching.columnar.kernels.compiling import array, entry
from predicast.matching.columnar.kernels.images import AT, bytes_of, longs_of
from predicast.matching.columnar.kernels.rows import find_rows

_ROOM: Final = 1 << 12  # matches that there is room for at first


@entry(
    (
        array(types.uint8),
        array(types.int64),
        array(types.int32, 2),
        array(types.int32, 2),
        array(types.boolean, 2),
        array(types.int64),
        array(types.int32),
        types.boolean,
        types.int64,
    )
)
def match_events(
    data: Any,
    directory: Any,
    low: Any,
    high: Any,
    wide: Any,
    hit_first: Any,
    hit: Any,
    counting: bool,
    enough: int,
) -> Any:
    """The matches of events: keys, and runs of (event, where its keys end).

    ``counting`` leaves the keys out; ``enough`` ends an event's run when it has that many.
    """
    image, codes = (data, directory), (low, high, wide)
    out = (np.empty(_ROOM, np.int32), np.empty((16, 2), np.int64), np.int64(0), np.int64(0))
    for family in range(len(bytes_of(image, AT.width))):
        visits = visits_of(image, family, codes)
        if len(visits):
            out = scan_family(image, family, codes, visits, out, counting, enough)
    if len(longs_of(image, AT.row_test_first)) > 1:
        out = find_rows(image, codes, hit_first, hit, out, counting, enough)
    keys, runs, count, number = out
    return keys[: 0 if counting else count], runs[:number]


# Results.


@entry(
    (
        array(types.int32),
        array(types.int64, 2),
        types.int64,
        types.boolean,
        types.int64,
        types.int64,
    )
)
def gather(keys: Any, runs: Any, events: int, is_plain: bool, limit: int, largest: int) -> Any:
    """All matches as (event, key) pairs, ascending by event.

    Runs are (event, first, end). Keys below 0 are deleted. At most ``limit`` per event are kept;
    with ``largest`` at 0 or above (the largest key), each key at most once per event. Where
    none of that can matter (``is_plain``), keys are copied as they stand.
    """
    starts = np.zeros(events + 1, np.int64)
    room = 0
    for run in range(len(runs)):
        starts[runs[run, 0] + 1] += 1
        room += runs[run, 2] - runs[run, 1]
    for event in range(events):
        starts[event + 1] += starts[event]
    order = np.empty(len(runs), np.int64)
    for run in range(len(runs)):
        event = runs[run, 0]
        order[starts[event]] = run
        starts[event] += 1
    out_events, out_keys = np.empty(room, np.int64), np.empty(room, np.int32)
    seen = np.zeros(largest + 1, np.int32)
    count, before, last = 0, 0, -1
    for place in range(len(order)):
        run = order[place]
        event, first, end = runs[run, 0], runs[run, 1], runs[run, 2]
        if event != last:
            before, last = count, event
        if is_plain:
            for match in range(first, end):
                out_events[count] = event
                out_keys[count] = keys[match]
                count += 1
            continue
        for match in range(first, end):
            key = keys[match]
            if key < 0 or count - before >= limit:
                continue
            if largest >= 0:
                if seen[key] == event + 1:
                    continue
                seen[key] = event + 1
            out_events[count] = event
            out_keys[count] = key
            count += 1
    return out_events[:count], out_keys[:count]


@entry(
    (
        array(types.int32, written=True),
        array(types.int32),
        array(types.int64),
        array(types.boolean, written=True),
    ),
    nogil=False,
)
def mark_deleted(keys: Any, by_key: Any, deleted: Any, found: Any) -> int:
    """Strike out all clauses of some keys; mark those there were, and say how many clauses.

    A deleted key is its complement: below 0, and still in its place in the order.
    """
    clauses = 0
    for place in range(len(deleted)):
        wanted = deleted[place]
        low, high = 0, len(by_key)
        while low < high:
            middle = (low + high) // 2
            held = keys[by_key[middle]]
            if (held if held >= 0 else ~held) < wanted:
                low = middle + 1
            else:
                high = middle
        while low < len(by_key):
            held = keys[by_key[low]]
            if (held if held >= 0 else ~held) != wanted:
                break
            if held >= 0:
                keys[by_key[low]] = ~held
                found[place] = True
                clauses += 1
            low += 1
    return clauses
