"""The compiled loops as the segment calls them; the inner ones are beside.

A segment reaches them as its image (``image.py``), one array of bytes and a directory, which
``opened`` turns into the arrays inside: passing two arrays costs a call a microsecond, passing
forty would cost ten. Matches leave as *runs*, the keys of one event side by side: one number per
match, and the event only once per run.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from predicast.matching.columnar.kernels.blocks import scan_family, visits_of
from predicast.matching.columnar.kernels.compiling import brief_kernel, kernel
from predicast.matching.columnar.kernels.rows import find_rows
from predicast.matching.columnar.layout.image import SegmentArrays

_ROOM: Final = 1 << 12  # matches that there is room for at first


@kernel
def opened(data: Any, directory: Any) -> SegmentArrays:
    """The arrays of an image."""
    d = directory
    return SegmentArrays(
        data[d[0] : d[1]].view(np.int32),
        data[d[2] : d[3]].view(np.int32),
        data[d[4] : d[5]].view(np.int64),
        data[d[6] : d[7]].view(np.int32),
        data[d[8] : d[9]].view(np.int32),
        data[d[10] : d[11]],
        data[d[12] : d[13]].view(np.int32),
        data[d[14] : d[15]].view(np.int64),
        data[d[16] : d[17]].view(np.int32),
        data[d[18] : d[19]],
        data[d[20] : d[21]].view(np.int64),
        data[d[22] : d[23]].view(np.int64),
        data[d[24] : d[25]].view(np.int64),
        data[d[26] : d[27]].view(np.int64),
        data[d[28] : d[29]].view(np.int64),
        data[d[30] : d[31]].view(np.int32),
        data[d[32] : d[33]].view(np.int32),
        data[d[34] : d[35]].view(np.int32),
        data[d[36] : d[37]].view(np.int64),
        data[d[38] : d[39]].view(np.int32),
        data[d[40] : d[41]].view(np.uint32),
        data[d[42] : d[43]],
        data[d[44] : d[45]].view(np.int64),
        data[d[46] : d[47]].view(np.int32),
        data[d[48] : d[49]].view(np.int64),
        data[d[50] : d[51]].view(np.int32),
        data[d[52] : d[53]].view(np.int32),
        data[d[54] : d[55]],
        data[d[56] : d[57]].view(np.int64),
        data[d[58] : d[59]].view(np.int32),
        data[d[60] : d[61]].view(np.int64),
        data[d[62] : d[63]].view(np.int32),
        data[d[64] : d[65]].view(np.int32),
        data[d[66] : d[67]].view(np.int32),
        data[d[68] : d[69]].view(np.int64),
        data[d[70] : d[71]].view(np.int32),
        data[d[72] : d[73]].view(np.int32),
        data[d[74] : d[75]].view(np.int64),
        data[d[76] : d[77]].view(np.int32),
        data[d[78] : d[79]].view(np.int32),
        data[d[80] : d[81]].view(np.int64),
        data[d[82] : d[83]].view(np.int32),
        data[d[84] : d[85]],
        data[d[86] : d[87]].view(np.int32),
        data[d[88] : d[89]].view(np.int32),
        data[d[90] : d[91]].view(np.int32),
    )


@kernel
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
    arrays = opened(data, directory)
    keys, runs = np.empty(_ROOM, np.int32), np.empty((16, 2), np.int64)
    out = (keys, runs, 0, 0)
    codes = (low, high, wide)
    for family in range(len(arrays.width)):
        visits = visits_of(arrays, family, codes)
        if len(visits):
            out = scan_family(arrays, family, codes, visits, out, counting, enough)
    if len(arrays.row_test_first) > 1:
        out = find_rows(arrays, codes, hit_first, hit, out, counting, enough)
    return out[0][: 0 if counting else out[2]], out[1][: out[3]]


# Results.


@kernel
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


@brief_kernel
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
