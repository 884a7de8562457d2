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
from predicast.matching.columnar.reserved import FAILS, HOLDS, IN_DOUBT, UNREACHABLE

_MOST: Final = 1 << 18  # pairs of event and row that are held at a time
_LOW: Final = (1 << 32) - 1


class _Reach(NamedTuple):
    """Events, and a range of entries for each that lead to rows."""

    event: Array
    first: Array
    end: Array
    row: Array


class _Marks:
    """Which other tests hold for which events, and which are in doubt, by the words they have."""

    def __init__(self, arrays: SegmentArrays, hits: Hits, answers: Array | None = None) -> None:
        """With ``answers``, of an event and a test each, nothing is in doubt any more."""
        event_word, first, test, column_first, column_test = hits
        self._others = len(arrays.other_inverted)
        self._event_word = event_word
        word = np.repeat(np.arange(len(first) - 1), np.diff(first))
        test = test[: len(word)]  # behind them there is room
        self._column = np.repeat(np.arange(len(column_first) - 1), np.diff(column_first))
        self._of_column = column_test[: len(self._column)]
        self._held = self._marks(word, test, test >= 0)
        self._answers = answers
        self._in_doubt = self._marks(word, ~test, (test < 0) & (answers is None))
        marks = np.unique(np.concatenate([self._held[:-1], self._in_doubt[:-1]]))
        word, test = np.divmod(marks, max(self._others, 1))
        counts = arrays.pattern_first[test + 1] - arrays.pattern_first[test]
        self._row = arrays.pattern_row[entries(arrays.pattern_first[test], counts)]
        self._row_first = offsets_of(np.repeat(word, counts), len(first) - 1)
        self._pattern = arrays.pattern_first, arrays.pattern_row

    def _marks(self, word: Array, test: Array, which: Array) -> Array:
        """Ascending, but for the last, which is none."""
        return np.append(np.unique(word[which] * self._others + test[which]), -1)

    def __call__(self, event: Array, other: Array) -> Array:
        """Whether each of some tests holds for its event."""
        held = self._are_marked(self._held, event, other)
        for column, test in zip(self._column.tolist(), self._of_column.tolist(), strict=True):
            held |= (other == test) & (self._event_word[event, column] >= 0)
        if self._answers is not None:
            held |= np.isin((event << 32) | other, self._answers)
        return held

    def in_doubt(self, event: Array, other: Array) -> Array:
        """Whether it is not known of each of some tests if it holds for its event."""
        doubt = self._are_marked(self._in_doubt, event, other)
        if self._answers is None:
            for column, test in zip(self._column.tolist(), self._of_column.tolist(), strict=True):
                doubt |= (other == ~test) & (self._event_word[event, column] >= 0)
        return doubt & ~self(event, other)

    def _are_marked(self, marks: Array, event: Array, other: Array) -> Array:
        marked = np.zeros(len(event), bool)
        for column in range(self._event_word.shape[1]):
            mark = self._event_word[event, column].astype(np.int64) * self._others + other
            place = np.searchsorted(marks[:-1], mark)
            marked |= (marks[place] == mark) & (self._event_word[event, column] >= 0)
        return marked

    def reached(self) -> Iterator[_Reach]:
        """The rows that events reach through tests that hold, or may."""
        for column in range(self._event_word.shape[1]):
            event = np.flatnonzero(self._event_word[:, column] >= 0)
            word = self._event_word[event, column]
            yield _Reach(event, self._row_first[word], self._row_first[word + 1], self._row)
        first, row = self._pattern
        for column, entry in zip(self._column.tolist(), self._of_column.tolist(), strict=True):
            test = np.array(max(entry, ~entry))
            event = np.flatnonzero(self._event_word[:, column] >= 0)
            known = self._are_marked(self._held, event, test)
            event = event[~(known | self._are_marked(self._in_doubt, event, test))]
            nowhere = np.zeros(len(event), np.int64)
            yield _Reach(event, nowhere + first[test], nowhere + first[test + 1], row)


Hits = tuple[Array, Array, Array, Array, Array]  # as patterns/hits.py has them


class Doubts(NamedTuple):
    """Rows that depend on tests in doubt, and these tests: each with its event as one number."""

    rows: list[Array]
    questions: list[Array]


def find_rows(arrays: SegmentArrays, codes: Codes, hits: Hits, doubts: Doubts) -> Iterator[Found]:
    """What events match among the rows; what is in doubt is added to the doubts."""
    first_row = int(arrays.block_slot[-1])
    marks = _Marks(arrays, hits)
    for event, row in _candidates(chain(_reached(arrays, codes), marks.reached())):
        left = _tests_hold(arrays, codes, event, row)
        left = left[_others_hold(arrays, marks, event[left], row[left])]
        ends = _program_ends(arrays, codes, marks, event[left], row[left])
        left, ends = left[ends != FAILS], ends[ends != FAILS]
        _ask(arrays, marks, event[left], row[left], ends == IN_DOUBT, doubts)
        held = left[~_are_in_doubt(arrays, marks, event[left], row[left], ends == IN_DOUBT)]
        yield event[held], first_row + row[held]


def try_rows(
    arrays: SegmentArrays, codes: Codes, hits: Hits, doubtful: Array, answers: Array
) -> Found:
    """What events match among the rows that were in doubt."""
    marks = _Marks(arrays, hits, answers)
    event, row = doubtful >> 32, doubtful & _LOW
    held = _others_hold(arrays, marks, event, row)
    held = held[_program_ends(arrays, codes, marks, event[held], row[held]) == HOLDS]
    return event[held], int(arrays.block_slot[-1]) + row[held]


def _are_in_doubt(
    a: SegmentArrays, marks: _Marks, event: Array, row: Array, by_program: Array
) -> Array:
    """Which rows have an other test in doubt, or a program that is."""
    counts = a.row_other_first[row + 1] - a.row_other_first[row]
    other = a.row_other[entries(a.row_other_first[row], counts)]
    pair = np.repeat(np.arange(len(row)), counts)
    doubt = by_program.copy()
    doubt[pair[marks.in_doubt(event[pair], other)]] = True
    return doubt


def _ask(
    a: SegmentArrays, marks: _Marks, event: Array, row: Array, by_program: Array, doubts: Doubts
) -> None:
    """Add the rows that are in doubt, and the tests that they look at and that are."""
    doubtful = np.flatnonzero(_are_in_doubt(a, marks, event, row, by_program))
    event, row = event[doubtful].astype(np.int64), row[doubtful]
    doubts.rows.append((event << 32) | row)
    for first, numbers in ((a.row_other_first, a.row_other), (a.row_step_first, ~a.step_atom)):
        counts = first[row + 1] - first[row]
        other = numbers[entries(first[row].astype(np.int64), counts)].astype(np.int64)
        pair = np.repeat(np.arange(len(row)), counts)[other >= 0]
        other = other[other >= 0]
        asked = marks.in_doubt(event[pair], other)
        doubts.questions.append((event[pair[asked]] << 32) | other[asked])


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
    """The places of rows of whose other tests none fails; some may be in doubt."""

    def holds(pair: Array, entry: Array) -> Array:
        other = a.row_other[entry]
        held = _marked_rightly(a, marks, event[pair], other)
        return held | marks.in_doubt(event[pair], other)

    return _all_hold(a.row_other_first[row], a.row_other_first[row + 1], holds)


def _program_ends(a: SegmentArrays, codes: Codes, marks: _Marks, event: Array, row: Array) -> Array:
    """Where the programs of rows end: one step of each, another of each, …"""
    first = a.row_step_first[row]
    step = np.where(first < a.row_step_first[row + 1], 0, HOLDS)
    while len(left := np.flatnonzero(step >= 0)):
        here = first[left] + step[left]
        atom = a.step_atom[here]
        held, doubt = np.zeros(len(left), bool), np.zeros(len(left), bool)
        coded = np.flatnonzero(atom >= 0)
        test = a.row_test_first[row[left[coded]]] + atom[coded]
        held[coded] = _test_holds(a, codes, event[left[coded]], test)
        marked = np.flatnonzero(atom < 0)
        held[marked] = _marked_rightly(a, marks, event[left[marked]], ~atom[marked])
        doubt[marked] = marks.in_doubt(event[left[marked]], ~atom[marked])
        after = np.where(held, a.step_then[here], a.step_otherwise[here])
        step[left] = np.where(doubt, IN_DOUBT, after)
    return step
