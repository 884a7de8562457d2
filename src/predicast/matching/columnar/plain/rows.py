"""Rows, as ``kernels/rows.py`` tests them; laid out in ``layout/rows.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets_of
from predicast.matching.columnar.layout.image import SegmentArrays
from predicast.matching.columnar.plain.arrays import entries, pieces, positions
from predicast.matching.columnar.plain.blocks import Codes, Found
from predicast.matching.columnar.reserved import HOLDS, UNREACHABLE

_MOST: Final = 1 << 18  # pairs of event and row that are held at a time


class _Reach(NamedTuple):
    """Events, and a range of entries for each that lead to rows."""

    event: Array
    first: Array
    end: Array
    row: Array


class _Marks:
    """Which other tests hold for which events, by the words that they have."""

    def __init__(self, arrays: SegmentArrays, event_word: Array, first: Array, test: Array) -> None:
        self._others = len(arrays.other_inverted)
        self._event_word = event_word
        word = np.repeat(np.arange(len(first) - 1), np.diff(first))
        marks = np.unique(word * self._others + test[: len(word)])  # behind them there is room
        self._marks = np.append(marks, -1)  # ascending, but for the last, which is none
        word, test = np.divmod(marks, max(self._others, 1))
        counts = arrays.pattern_first[test + 1] - arrays.pattern_first[test]
        self._row = arrays.pattern_row[entries(arrays.pattern_first[test], counts)]
        self._row_first = offsets_of(np.repeat(word, counts), len(first) - 1)

    def __call__(self, event: Array, other: Array) -> Array:
        """Whether each of some tests holds for its event."""
        held = np.zeros(len(event), bool)
        for column in range(self._event_word.shape[1]):
            mark = self._event_word[event, column] * self._others + other
            place = np.searchsorted(self._marks[:-1], mark)
            held |= (self._marks[place] == mark) & (self._event_word[event, column] >= 0)
        return held

    def reached(self) -> Iterator[_Reach]:
        """The rows that events reach through tests that hold."""
        for column in range(self._event_word.shape[1]):
            event = np.flatnonzero(self._event_word[:, column] >= 0)
            word = self._event_word[event, column]
            yield _Reach(event, self._row_first[word], self._row_first[word + 1], self._row)


Hits = tuple[Array, Array, Array]  # as patterns/hits.py has them


def find_rows(arrays: SegmentArrays, codes: Codes, hits: Hits) -> Iterator[Found]:
    """What events match among the rows."""
    first_row = int(arrays.block_slot[-1])
    marks = _Marks(arrays, *hits)
    for event, row in _candidates(chain(_reached(arrays, codes), marks.reached())):
        held = _tests_hold(arrays, codes, event, row)
        held = held[_others_hold(arrays, marks, event[held], row[held])]
        held = held[_programs_hold(arrays, codes, marks, event[held], row[held])]
        yield event[held], first_row + row[held]


def _reached(a: SegmentArrays, codes: Codes) -> Iterator[_Reach]:
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


def _all_hold(entry: Array, end: Array, holds: Callable[[Array, Array], Array]) -> Array:
    """The places of rows all of whose entries hold: a first one of each, a second of the rest, …"""
    left = np.arange(len(entry))
    over = []
    while len(left):
        more = entry < end
        over.append(left[~more])
        left, entry, end = left[more], entry[more], end[more]
        held = holds(left, entry)
        left, entry, end = left[held], entry[held] + 1, end[held]
    return np.concatenate(over) if over else left


def _test_holds(a: SegmentArrays, codes: Codes, event: Array, test: Array) -> Array:
    low, high, _ = codes
    axis = a.test_axis[test]
    below, above = low[event, axis], high[event, axis]
    first, end = a.test_span_first[test], a.test_span_first[test + 1]
    place = positions(a.span_hi.__getitem__, first, end, above)
    held: Array = place < end
    held &= a.span_lo[np.where(held, place, first)] <= below
    return held


def _tests_hold(a: SegmentArrays, codes: Codes, event: Array, row: Array) -> Array:
    def holds(pair: Array, test: Array) -> Array:
        return _test_holds(a, codes, event[pair], test)

    first = a.row_test_first[row]
    return _all_hold(first, first + a.row_tried[row], holds)


def _marked_rightly(a: SegmentArrays, marks: _Marks, event: Array, other: Array) -> Array:
    held: Array = marks(event, other) != (a.other_inverted[other] != 0)
    return held


def _others_hold(a: SegmentArrays, marks: _Marks, event: Array, row: Array) -> Array:
    def holds(pair: Array, entry: Array) -> Array:
        return _marked_rightly(a, marks, event[pair], a.row_other[entry])

    return _all_hold(a.row_other_first[row], a.row_other_first[row + 1], holds)


def _programs_hold(
    a: SegmentArrays, codes: Codes, marks: _Marks, event: Array, row: Array
) -> Array:
    """The places of rows whose programs end well: one step of each, another of each, …"""
    first = a.row_step_first[row]
    step = np.where(first < a.row_step_first[row + 1], 0, HOLDS)
    while len(left := np.flatnonzero(step >= 0)):
        here = first[left] + step[left]
        atom = a.step_atom[here]
        held = np.zeros(len(left), bool)
        coded = np.flatnonzero(atom >= 0)
        test = a.row_test_first[row[left[coded]]] + atom[coded]
        held[coded] = _test_holds(a, codes, event[left[coded]], test)
        marked = np.flatnonzero(atom < 0)
        held[marked] = _marked_rightly(a, marks, event[left[marked]], ~atom[marked])
        step[left] = np.where(held, a.step_then[here], a.step_otherwise[here])
    return np.flatnonzero(step == HOLDS)
