"""Rows: clauses one by one, reached through their most selective test.

Used for what blocks do not suit: clauses with rare combinations of axes (wide, sparse schemas),
partitions of a few clauses, sets and patterns. Each row has one *access* test, the one that the
fewest events pass; an event reaches the rows whose access test it passes, and the other tests are
tried one after the other until one fails::

    points of an axis   lo  3  5  5  9      an equality, or each member of an IN: binary search
                        row 7  2  8  1
    spans of an axis    lo  0  0  4  6      a range, if there is no equality: from the left up to lo
                        row 4  9  3  5
    anyway              row 0, 6            neither: tried for every event

    row 3:  ranges 4..7  (axis, lo, hi)   sets 1..2  (axis, which set)   others 0..0  (which)

In a wide schema an event carries few of the attributes, so that most rows are never reached and
most of the rest fail at their first test: it takes neither counters nor bitmaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.matching.columnar import _kernels
from predicast.matching.columnar.coded_tests import CodedTests, SetTest
from predicast.matching.columnar.event_codes import EventCodes
from predicast.matching.columnar.output import Writer

Array = npt.NDArray[Any]


class RowArrays(NamedTuple):
    """The tests of each row."""

    range_first: Array
    range_axis: Array
    range_lo: Array
    range_hi: Array
    set_first: Array
    set_axis: Array
    other_first: Array
    other: Array
    keys: Array


class SetArrays(NamedTuple):
    """Spans of sets, ascending."""

    first: Array
    lo: Array
    hi: Array


class Access(NamedTuple):
    """How events reach rows."""

    point_first: Array
    point_lo: Array
    point_hi: Array
    point_row: Array
    span_first: Array
    span_lo: Array
    span_row: Array
    anyway: Array
    most: int  # rows that one event can reach


class Codes(NamedTuple):
    """What the events say, an event in a row."""

    lower: Array
    upper: Array
    others: Array


class Rows:
    """Clauses that are tested one by one."""

    def __init__(self, table: CodedTests, clauses: Array, keys: Array, others: Array) -> None:
        """The rows of some clauses of a table; ``others`` numbers the table's other tests."""
        number = np.full(len(keys), -1, np.int64)
        number[clauses] = np.arange(len(clauses))
        here = np.flatnonzero(number[table.clause] >= 0)
        row = number[table.clause[here]]
        order = np.lexsort((here, row))
        here, row = here[order], row[order]
        sets = [each._replace(clause=int(number[each.clause])) for each in table.sets]
        sets = sorted((each for each in sets if each.clause >= 0), key=lambda each: each.clause)
        other = [(number[c], o) for (c, _, _), o in zip(table.others, others, strict=True)]
        other = sorted((r, o) for r, o in other if r >= 0)
        count = len(clauses)
        self.arrays = RowArrays(
            _first(row, count),
            table.axis[here],
            table.lo[here],
            table.hi[here],
            _first([each.clause for each in sets], count),
            np.array([each.axis for each in sets], np.int32),
            _first([r for r, _ in other], count),
            np.array([o for _, o in other], np.int32),
            keys[clauses],
        )
        spans = [each.spans for each in sets]
        flat = np.array([code for each in spans for code in each], np.int32).reshape(-1, 2)
        self.sets = SetArrays(
            np.concatenate([[0], np.cumsum([len(each) for each in spans])]).astype(np.int64),
            np.ascontiguousarray(flat[:, 0]),
            np.ascontiguousarray(flat[:, 1]),
        )
        self.access = _access(table, here, row, sets, count)

    def __len__(self) -> int:
        return len(self.arrays.keys)

    def match(self, codes: EventCodes, others: Array, writer: Writer) -> None:
        """Write the matches of a batch."""
        by_event = Codes(
            np.ascontiguousarray(codes.lower.T), np.ascontiguousarray(codes.upper.T), others
        )
        event = 0
        while event < len(by_event.lower):
            out = writer.room(self.access.most)
            count, event = _kernels.find_rows(
                self.arrays, self.sets, self.access, by_event, out, event
            )
            writer.written(count)


def _first(rows: Sequence[int] | Array, count: int) -> Array:
    """Where the entries of each row begin, the entries being ascending by row."""
    return np.searchsorted(np.asarray(rows, np.int64), np.arange(count + 1)).astype(np.int64)


def _access(table: CodedTests, here: Array, row: Array, sets: list[SetTest], count: int) -> Access:
    """For each row the access test that the fewest other rows share."""
    axis, lo, hi = table.axis[here], table.lo[here], table.hi[here]
    point = np.flatnonzero(table.is_point[here])
    _, which, shared = np.unique(
        axis[point].astype(np.int64) << 32 | lo[point], return_inverse=True, return_counts=True
    )
    best = point[np.lexsort((shared[which], row[point]))]
    best = best[np.unique(row[best], return_index=True)[1]]
    reached = np.zeros(count, bool)
    reached[row[best]] = True
    points = [np.stack([axis[best], lo[best], hi[best], row[best]], axis=1)]
    for each in sets:
        if each.are_points and not reached[each.clause]:
            reached[each.clause] = True
            members = [(each.axis, low, high, each.clause) for low, high in each.spans]
            points.append(np.array(members, np.int64))
    span = np.flatnonzero(~reached[row])
    per_axis = np.bincount(axis[span], minlength=len(table.axes))
    best = span[np.lexsort((-lo[span], per_axis[axis[span]], row[span]))]
    best = best[np.unique(row[best], return_index=True)[1]]
    reached[row[best]] = True
    entries = np.concatenate(points).astype(np.int64)
    entries = entries[np.lexsort((entries[:, 1], entries[:, 0]))]
    best = best[np.lexsort((lo[best], axis[best]))]
    axes = np.arange(len(table.axes) + 1)
    return Access(
        np.searchsorted(entries[:, 0], axes).astype(np.int64),
        entries[:, 1].astype(np.int32),
        entries[:, 2].astype(np.int32),
        entries[:, 3].copy(),
        np.searchsorted(axis[best], axes).astype(np.int64),
        lo[best],
        row[best],
        np.flatnonzero(~reached),
        len(entries) + len(best) + int((~reached).sum()) + 8,
    )
