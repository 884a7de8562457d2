"""Rows, as ``kernels/rows.py`` tests them; laid out in ``layout/rows.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.matching.columnar.layout.image import SegmentArrays
from predicast.matching.columnar.plain.arrays import entries, pieces, positions
from predicast.matching.columnar.plain.blocks import Codes, Found
from predicast.matching.columnar.reserved import UNREACHABLE

_MOST: Final = 1 << 18  # pairs of event and row that are held at a time


class _Reach(NamedTuple):
    """Events, and a range of entries for each that lead to rows."""

    event: Array
    first: Array
    end: Array
    row: Array


def find_rows(arrays: SegmentArrays, codes: Codes, hit_first: Array, hit: Array) -> Iterator[Found]:
    """What events match among the rows."""
    first_row = int(arrays.block_slot[-1])
    others = len(arrays.other_inverted)
    hit_event = np.repeat(np.arange(len(hit_first) - 1), np.diff(hit_first))
    marks = np.append(hit_event * others + hit, -1)  # ascending, but for the last, which is none
    for event, row in _candidates(_reached(arrays, codes, hit_event, hit)):
        held = _ranges_hold(arrays, codes, event, row)
        held = held[_others_hold(arrays, marks, event[held], row[held])]
        yield event[held], first_row + row[held]


def _reached(a: SegmentArrays, codes: Codes, hit_event: Array, hit: Array) -> Iterator[_Reach]:
    """The rows that events reach, by the way in which they do."""
    low, high, _ = codes
    is_there = high != UNREACHABLE
    for axis in np.flatnonzero(is_there.any(axis=0)).tolist():
        event = np.flatnonzero(is_there[:, axis])
        below, above = low[event, axis], high[event, axis]
        points = slice(*a.point_first[axis : axis + 2])
        if points.stop > points.start:
            first = points.start + np.searchsorted(a.point_hi[points], above)
            end = points.start + np.searchsorted(a.point_lo[points], below, "right")
            yield _Reach(event, first, np.maximum(first, end), a.point_row)
        begin, stop = a.from_first[axis : axis + 2].tolist()
        if stop > begin:
            end = begin + np.searchsorted(a.from_lo[begin:stop], below, "right")
            yield _Reach(event, np.full(len(event), begin), end, a.from_row)
        begin, stop = a.up_to_first[axis : axis + 2].tolist()
        if stop > begin:
            end = stop - np.searchsorted(a.up_to_hi[begin:stop][::-1], above)
            yield _Reach(event, np.full(len(event), begin), end, a.up_to_row)
    if len(a.pattern_row):
        yield _Reach(hit_event, a.pattern_first[hit], a.pattern_first[hit + 1], a.pattern_row)
    if len(a.anyway):
        everywhere = np.arange(len(low))
        nowhere = np.zeros(len(low), np.int64)
        yield _Reach(everywhere, nowhere, nowhere + len(a.anyway), a.anyway)


def _candidates(reached: Iterator[_Reach]) -> Iterator[Found]:
    """Pairs of event and row, about as many at a time as fit: few calls, and bounded memory."""
    events: list[Array] = []
    rows: list[Array] = []
    count = 0
    for event, first, end, row in reached:
        counts = end - first
        for part in pieces(counts, _MOST):
            events.append(np.repeat(event[part], counts[part]))
            rows.append(row[entries(first[part], counts[part])])
            count += len(rows[-1])
            if count >= _MOST:
                yield np.concatenate(events), np.concatenate(rows)
                events, rows, count = [], [], 0
    if count:
        yield np.concatenate(events), np.concatenate(rows)


def _all_hold(first: Array, row: Array, holds: Callable[[Array, Array], Array]) -> Array:
    """The places of rows all of whose entries hold: a first one of each, a second of the rest, …"""
    left = np.arange(len(row))
    entry, end = first[row], first[row + 1]
    over = []
    while len(left):
        more = entry < end
        over.append(left[~more])
        left, entry, end = left[more], entry[more], end[more]
        held = holds(left, entry)
        left, entry, end = left[held], entry[held] + 1, end[held]
    return np.concatenate(over) if over else left


def _ranges_hold(a: SegmentArrays, codes: Codes, event: Array, row: Array) -> Array:
    low, high, _ = codes

    def holds(pair: Array, test: Array) -> Array:
        axis = a.test_axis[test]
        below, above = low[event[pair], axis], high[event[pair], axis]
        first, end = a.test_span_first[test], a.test_span_first[test + 1]
        place = positions(a.span_hi.__getitem__, first, end, above)
        held: Array = place < end
        held &= a.span_lo[np.where(held, place, first)] <= below
        return held

    return _all_hold(a.row_test_first, row, holds)


def _others_hold(a: SegmentArrays, marks: Array, event: Array, row: Array) -> Array:
    others = len(a.other_inverted)

    def holds(pair: Array, entry: Array) -> Array:
        other = a.row_other[entry]
        mark = event[pair] * others + other
        is_marked = marks[np.searchsorted(marks[:-1], mark)] == mark
        held: Array = is_marked != (a.other_inverted[other] != 0)
        return held

    return _all_hold(a.row_other_first, row, holds)
