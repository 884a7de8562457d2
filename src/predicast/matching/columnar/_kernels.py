"""The inner loops, compiled by numba: free functions over arrays.

Each works on a ``NamedTuple`` of arrays (the layout is drawn in ``blocks.py`` and ``rows.py``),
writes matches to ``out`` and stops when a full one is near, saying where to go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numba as nb
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

# Compiled once per machine and type of code, not once per process; other threads may run meanwhile.
kernel: Callable[[F], F] = nb.njit(cache=True, nogil=True)  # type: ignore[assignment]

_UNREACHABLE: Final = np.iinfo(np.int32).max


@kernel
def _compare(lo: Any, hi: Any, low: Any, high: Any, mask: Any, n: int) -> None:
    """mask &= the spans that hold; LLVM turns the loop into SIMD compares."""
    for i in range(n):
        mask[i] &= (lo[i] <= low) & (hi[i] >= high)


@kernel
def _compare_first(lo: Any, hi: Any, low: Any, high: Any, mask: Any, n: int) -> None:
    for i in range(n):
        mask[i] = (lo[i] <= low) & (hi[i] >= high)


@kernel
def _write(out: Any, count: int, event: int, key: int) -> int:
    """Write one match; how many there are then."""
    out.keys[count] = key
    out.events[count] = event
    return count + 1


@kernel
def scan_blocks(  # noqa: PLR0912  # one loop nest, kept whole for the compiler
    blocks: Any, visits: Any, lower: Any, upper: Any, out: Any, mask: Any, first_visit: int
) -> tuple[int, int]:
    """Test the events of each visit against the blocks of its partition.

    ``visits`` are (partition, first event, end of events) triples over ``visits.events``. Returns
    the number of matches written and the visit to go on with.
    """
    count = 0
    axes = blocks.lo.shape[0]
    for visit in range(first_visit, len(visits.partition)):
        partition = visits.partition[visit]
        first, end = visits.first[visit], visits.first[visit + 1]
        begin = blocks.partition[partition]
        finish = blocks.partition[partition + 1]
        most = (blocks.start[finish] - blocks.start[begin]) * (end - first)
        if count > 0 and count + most > len(out.keys):
            return count, visit
        for block in range(begin, finish):
            start = blocks.start[block]
            n = blocks.start[block + 1] - start
            for place in range(first, end):
                event = visits.events[place]
                possible = True
                for axis in range(axes):
                    if (
                        blocks.zones[block, axis, 0] > lower[axis, event]
                        or blocks.zones[block, axis, 3] < upper[axis, event]
                    ):
                        possible = False
                        break
                if not possible:
                    continue
                fresh = True
                for axis in range(axes):
                    low, high = lower[axis, event], upper[axis, event]
                    if blocks.zones[block, axis, 1] <= low and blocks.zones[block, axis, 2] >= high:
                        continue
                    lo = blocks.lo[axis, start : start + n]
                    hi = blocks.hi[axis, start : start + n]
                    if fresh:
                        _compare_first(lo, hi, low, high, mask, n)
                        fresh = False
                    else:
                        _compare(lo, hi, low, high, mask, n)
                if fresh:
                    for i in range(n):
                        count = _write(out, count, event, blocks.keys[start + i])
                else:
                    mask[n : n + 8] = 0
                    words = mask[: (n + 7) // 8 * 8].view(np.uint64)
                    for word in range(len(words)):
                        if words[word] != 0:
                            for i in range(word * 8, word * 8 + 8):
                                out.keys[count] = blocks.keys[start + i]
                                out.events[count] = event
                                count += int(mask[i])
    return count, len(visits.partition)


@kernel
def open_partitions(access_lo: Any, access_hi: Any, lower: Any, upper: Any) -> Any:
    """All (event, partition) pairs in which each access span meets what the event says of it."""
    pairs = []
    for event in range(lower.shape[1]):
        for partition in range(access_lo.shape[0]):
            held = True
            for axis in range(access_lo.shape[1]):
                if (
                    access_lo[partition, axis] > lower[axis, event]
                    or access_hi[partition, axis] < upper[axis, event]
                ):
                    held = False
                    break
            if held:
                pairs.append((event, partition))
    found = np.empty((len(pairs), 2), np.int64)
    for i in range(len(pairs)):
        found[i, 0], found[i, 1] = pairs[i]
    return found


@kernel
def _holds(rows: Any, sets: Any, row: int, low: Any, high: Any, others: Any) -> bool:
    """Whether all tests of one row hold, the first failure ending it."""
    for test in range(rows.range_first[row], rows.range_first[row + 1]):
        axis = rows.range_axis[test]
        if rows.range_lo[test] > low[axis] or rows.range_hi[test] < high[axis]:
            return False
    for test in range(rows.other_first[row], rows.other_first[row + 1]):
        if not others[rows.other[test]]:
            return False
    for test in range(rows.set_first[row], rows.set_first[row + 1]):
        axis = rows.set_axis[test]
        first, end = sets.first[test], sets.first[test + 1]
        place = first + np.searchsorted(sets.hi[first:end], high[axis])
        if place == end or sets.lo[place] > low[axis]:
            return False
    return True


@kernel
def find_rows(
    rows: Any, sets: Any, access: Any, codes: Any, out: Any, first_event: int
) -> tuple[int, int]:
    """Test every row that an event reaches through its access test.

    Returns the number of matches written and the event to go on with.
    """
    count = 0
    axes = codes.lower.shape[1]
    for event in range(first_event, codes.lower.shape[0]):
        if count > 0 and count + access.most > len(out.keys):
            return count, event
        low, high, others = codes.lower[event], codes.upper[event], codes.others[event]
        for axis in range(axes):
            if high[axis] == _UNREACHABLE:
                continue
            first, end = access.point_first[axis], access.point_first[axis + 1]
            place = first + np.searchsorted(access.point_hi[first:end], high[axis])
            while place < end and access.point_lo[place] <= low[axis]:
                row = access.point_row[place]
                if _holds(rows, sets, row, low, high, others):
                    count = _write(out, count, event, rows.keys[row])
                place += 1
            place, end = access.span_first[axis], access.span_first[axis + 1]
            while place < end and access.span_lo[place] <= low[axis]:
                row = access.span_row[place]
                if _holds(rows, sets, row, low, high, others):
                    count = _write(out, count, event, rows.keys[row])
                place += 1
        for place in range(len(access.anyway)):
            row = access.anyway[place]
            if _holds(rows, sets, row, low, high, others):
                count = _write(out, count, event, rows.keys[row])
    return count, codes.lower.shape[0]
