"""Rows: clauses one by one, reached through their most selective test.

Used for what blocks do not suit: clauses with rare combinations of axes (wide, sparse schemas),
equalities that hardly any clause shares, sets and patterns. Each row has one *access* test, the
one that the fewest events should pass; an event reaches the rows whose access test it passes, and
the other tests are tried one after the other until one fails::

    points of an axis   lo  3  5  5  9    an equality, or each member of an IN: binary search
                        row 7  2  8  1
    from, of an axis    lo  0  0  4  6    bounded below: from the left as far as the event's code
                        row 4  9  3  5
    up to, of an axis   hi  9  7  7  2    bounded above: likewise, from the highest down
                        row 6  0  11 10
    patterns            row 12, 13        those that hold for the event's string (pattern_index.py)
    anyway              row 14            no test at all

    row 3:  tests 4..7  (axis, spans)   others 0..0  (which)

In a wide schema an event carries few of the attributes, so that most rows are never reached and
most of the rest fail at their first test: it takes neither counters nor bitmaps.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from predicast.arrays import Array, expand, offsets, offsets_of
from predicast.matching.columnar.compile.coded_tests import CodedTests

_PATTERN: Final = 1e-3  # the part of all events that a pattern is taken to hold for


def row_arrays(table: CodedTests, clauses: Array) -> dict[str, Array]:
    """The arrays of some clauses of a table as rows."""
    tests = expand(offsets_of(table.clause, len(table)), clauses)
    spans = expand(table.span_first, tests)
    others = expand(offsets_of(table.other_clause, len(table)), clauses)
    number = np.zeros(len(table), np.int32)
    number[clauses] = np.arange(len(clauses))
    arrays = {
        "row_test_first": offsets_of(number[table.clause[tests]], len(clauses)),
        "test_axis": table.axis[tests],
        "test_span_first": offsets(np.diff(table.span_first)[tests]),
        "span_lo": table.lo[spans],
        "span_hi": table.hi[spans],
        "test_is_point": table.is_point[tests],
        "row_other_first": offsets_of(number[table.other_clause[others]], len(clauses)),
        "row_other": table.other[others],
        "other_inverted": np.array([other.inverted for other in table.others], np.uint8),
        "row_keys": table.keys[clauses],
    }
    return arrays | _access(table, arrays)


class _Choice:
    """For each row, the way of reaching it that the fewest events should take."""

    def __init__(self, rows: int) -> None:
        self.cost = np.full(rows, np.inf)
        self.way = np.full(rows, -1, np.int8)
        self.test = np.zeros(rows, np.int64)

    def offer(self, way: int, row: Array, test: Array, cost: Array) -> None:
        """Ways to reach rows (several for a row, perhaps), with what each would cost."""
        best = np.lexsort((cost, row))
        best = best[np.unique(row[best], return_index=True)[1]]
        best = best[cost[best] < self.cost[row[best]]]
        self.cost[row[best]], self.way[row[best]] = cost[best], way
        self.test[row[best]] = test[best]

    def taken(self, way: int) -> tuple[Array, Array]:
        """The rows that are reached in one way, and their tests."""
        rows = np.flatnonzero(self.way == way)
        return rows, self.test[rows]


_POINT, _FROM, _UP_TO, _PATTERNED = range(4)


def _access(table: CodedTests, arrays: dict[str, Array]) -> dict[str, Array]:
    axis, first = arrays["test_axis"], arrays["test_span_first"]
    lo, hi = arrays["span_lo"][first[:-1]], arrays["span_hi"][first[1:] - 1]
    count = len(arrays["row_keys"])
    row = np.repeat(np.arange(count), np.diff(arrays["row_test_first"]))
    lower = np.array([each.lower_cuts() for each in table.axes], np.float64)[axis]
    upper = np.array([each.upper_cuts() for each in table.axes], np.float64)[axis]
    test = np.arange(len(axis))
    choice = _Choice(count)
    is_point = arrays["test_is_point"].astype(bool)
    share = np.diff(first) / np.maximum(lower, 1)
    choice.offer(_POINT, row[is_point], test[is_point], share[is_point])
    choice.offer(_FROM, row, test, (lower + 1 - lo) / (lower + 1))
    choice.offer(_UP_TO, row, test, (hi + 1) / (upper + 1))
    pattern = np.flatnonzero(arrays["other_inverted"][arrays["row_other"]] == 0)
    pattern_row = np.repeat(np.arange(count), np.diff(arrays["row_other_first"]))[pattern]
    choice.offer(_PATTERNED, pattern_row, pattern, np.full(len(pattern), _PATTERN))
    axes = np.arange(len(table.axes) + 1)
    return (
        _points(choice, arrays, axes)
        | _ends(choice, _FROM, axis, lo, axes, "from", "from_lo")
        | _ends(choice, _UP_TO, axis, hi, axes, "up_to", "up_to_hi")
        | _patterns(choice, arrays, len(table.others))
        | {"anyway": np.flatnonzero(choice.way < 0)}
    )


def _points(choice: _Choice, arrays: dict[str, Array], axes: Array) -> dict[str, Array]:
    rows, tests = choice.taken(_POINT)
    first = arrays["test_span_first"]
    spans = expand(first, tests)
    row = np.repeat(rows, first[tests + 1] - first[tests])
    axis = np.repeat(arrays["test_axis"][tests], first[tests + 1] - first[tests])
    lo, hi = arrays["span_lo"][spans], arrays["span_hi"][spans]
    order = np.lexsort((lo, axis))
    return {
        "point_first": np.searchsorted(axis[order], axes),
        "point_lo": lo[order],
        "point_hi": hi[order],
        "point_row": row[order],
    }


def _ends(
    choice: _Choice, way: int, axis: Array, ends: Array, axes: Array, name: str, codes: str
) -> dict[str, Array]:
    rows, tests = choice.taken(way)
    end, axis = ends[tests], axis[tests]
    order = np.lexsort((end if way == _FROM else -end, axis))
    return {
        f"{name}_first": np.searchsorted(axis[order], axes),
        codes: end[order],
        f"{name}_row": rows[order],
    }


def _patterns(choice: _Choice, arrays: dict[str, Array], others: int) -> dict[str, Array]:
    rows, places = choice.taken(_PATTERNED)
    other = arrays["row_other"][places]
    order = np.argsort(other, kind="stable")
    return {"pattern_first": offsets_of(other[order], others), "pattern_row": rows[order]}
