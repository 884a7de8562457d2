"""Rows: clauses one by one, reached through the condition that the fewest events should meet.

Used for what blocks do not suit: clauses with rare combinations of axes (wide, sparse schemas),
equalities that hardly any clause shares, sets, patterns and programs. Each row is reached in one
way: through a test or an other test that must hold, or through a sign of its program, of which any
atom leads to it. An event reaches the rows whose condition it meets, and what else they ask for is
tried until something fails::

    points of an axis   lo  3  5  5  9    an equality, or each member of an IN: looked up
                        row 7  2  8  1
    from, of an axis    lo  0  0  4  6    bounded below: from the left as far as the event's code
                        row 4  9  3  5
    up to, of an axis   hi  9  7  7  2    bounded above: likewise, from the highest down
                        row 6  0  11 10
    patterns            row 12, 13        those that hold for the event's words (patterns/hits.py)
    anyway              row 14            nothing to go by

    row 3:  tests 4..7  (axis, spans)   others 0..0  (which)   steps 9..12 (compile/programs.py)

A row's tests are tried in the order of how few events should pass them. One that was decided by
reaching the row stands behind those that are tried, and the tests of its program behind that.

Points are looked up by buckets, of 1, 2, 4 … codes each so that there are about as many as points::

    buckets of an axis  0  0  1  3  4     where the points from code 0, 2, 4, 6 and 8 on begin

In a wide schema an event carries few of the attributes, so that most rows are never reached and
most of the rest fail at their first test: it takes neither counters nor bitmaps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from predicast.arrays import Array, expand, offsets, offsets_of
from predicast.matching.columnar.compile.axes import Axis
from predicast.matching.columnar.compile.coded_tests import CodedTests, Other
from predicast.matching.columnar.compile.frequency import pattern_share
from predicast.matching.columnar.compile.programs import Programs
from predicast.matching.columnar.reserved import IS_POINT, OF_PROGRAM
from predicast.model import Constraint

_POINT, _FROM, _UP_TO = range(3)


class _Tests(NamedTuple):
    """The tests of rows, and what reaching a row by each would cost."""

    row: Array
    axis: Array
    span_first: Array
    span_lo: Array
    span_hi: Array
    is_point: Array
    of_program: Array
    lo: Array  # the least and the greatest code of all spans
    hi: Array
    way: Array  # how best to reach a row by it
    cost: Array  # the part of all events that would
    is_decided: Array  # whether no event that does fails it


class _Conditions(NamedTuple):
    """Ways to reach rows: atoms, any of which leads to the row."""

    row: Array
    first: Array
    atom: Array  # the number of a test, or ~ of an other test
    is_test: Array  # of each condition: whether it is a single test that must hold


def row_arrays(table: CodedTests, clauses: Array) -> dict[str, Array]:
    """The arrays of some clauses of a table as rows."""
    tests = expand(offsets_of(table.clause, len(table)), clauses)
    others = expand(offsets_of(table.other_clause, len(table)), clauses)
    number = np.zeros(len(table), np.int32)
    number[clauses] = np.arange(len(clauses))
    programs = table.programs.taken(clauses, tests, len(table), len(table.axis))
    rows = len(clauses)
    arrays = {
        "row_keys": table.keys[clauses],
        "row_other_first": offsets_of(number[table.other_clause[others]], rows),
        "row_other": table.other[others],
        "other_inverted": np.array([other.inverted for other in table.others], np.uint8),
        "row_step_first": offsets_of(programs.clause, rows),
        "step_atom": programs.atom,
        "step_then": programs.then,
        "step_otherwise": programs.otherwise,
        "sign_row": programs.sign_clause,
        "sign": programs.sign,
        "sign_atom": programs.sign_atom,
    }
    measured = _measured(table, tests, number[table.clause[tests]], programs)
    conditions = _conditions(measured, arrays, programs, rows)
    costs = _other_costs(table.others, arrays["row_other"], programs, rows)
    chosen = _chosen(conditions, measured, costs)
    return (
        arrays
        | _row_tests(measured, conditions, chosen, rows)
        | _access(measured, conditions, chosen, len(table.axes), len(table.others), rows)
    )


# What there is to choose from.


def _measured(table: CodedTests, tests: Array, row: Array, programs: Programs) -> _Tests:
    spans = expand(table.span_first, tests)
    axis = table.axis[tests]
    first = offsets(np.diff(table.span_first)[tests])
    span_lo, span_hi = table.lo[spans], table.hi[spans]
    lo, hi = span_lo[first[:-1]], span_hi[first[1:] - 1]
    of_program = np.zeros(len(tests), bool)
    of_program[programs.test] = True
    is_point = table.is_point[tests]
    lower, upper = _cuts(table.axes, axis)
    several = np.diff(first)
    costs = np.stack(
        [
            np.where(is_point, several / np.maximum(lower, 1), np.inf),
            (lower + 1 - lo) / (lower + 1),
            (hi + 1) / (upper + 1),
        ]
    )
    way = np.argmin(costs, axis=0)
    is_decided = (way == _POINT) | ((several == 1) & np.where(way == _FROM, hi == upper, lo == 0))
    cost = costs[way, np.arange(len(tests))]
    return _Tests(
        *(row, axis, first, span_lo, span_hi, is_point, of_program),
        *(lo, hi, way, cost, is_decided),
    )


def _cuts(axes: Sequence[Axis], axis: Array) -> tuple[Array, Array]:
    """How many lower and upper cuts there are on the axis of each test."""
    lower = np.array([each.lower_cuts() for each in axes], np.float64)
    upper = np.array([each.upper_cuts() for each in axes], np.float64)
    return lower[axis], upper[axis]


def _conditions(
    tests: _Tests, arrays: dict[str, Array], programs: Programs, rows: int
) -> _Conditions:
    musts = np.flatnonzero(~tests.of_program)
    straight = np.flatnonzero(arrays["other_inverted"][arrays["row_other"]] == 0)
    other_row = np.repeat(np.arange(rows), np.diff(arrays["row_other_first"]))
    row, sign = programs.sign_clause, programs.sign
    starts = np.ones(len(row), bool)
    starts[1:] = (row[1:] != row[:-1]) | (sign[1:] != sign[:-1])
    begins = np.flatnonzero(starts)
    atom = programs.sign_atom.astype(np.int64)
    of_test = np.flatnonzero(atom >= 0)
    atom[of_test] += offsets_of(tests.row, rows)[row[of_test]]
    sizes = np.concatenate(
        [np.ones(len(musts) + len(straight), np.int64), np.diff(begins, append=len(row))]
    )
    return _Conditions(
        np.concatenate([tests.row[musts], other_row[straight], row[begins]]),
        offsets(sizes),
        np.concatenate([musts, ~arrays["row_other"][straight].astype(np.int64), atom]),
        np.arange(len(sizes)) < len(musts),
    )


def _other_costs(others: Sequence[Other], row_other: Array, programs: Programs, rows: int) -> Array:
    """The part of all events that each other test should hold for.

    What many rows look for is taken to be common in events as well, as an event is taken to be
    drawn like subscriptions wherever one is planned for (``blocks.py``).
    """
    used = np.bincount(np.concatenate([row_other, programs.others()]), minlength=len(others))
    looked_for: Counter[Constraint] = Counter()
    for other, times in zip(others, used.tolist(), strict=True):
        for pattern in other.patterns():
            looked_for[pattern] += times
    costs = [
        sum(max(pattern_share(each), looked_for[each] / rows) for each in other.patterns())
        for other in others
    ]
    # One that is no pattern may hold for any event.
    return np.array([min(cost, 1.0) or 1.0 for cost in costs], np.float64)


def _chosen(conditions: _Conditions, tests: _Tests, other_costs: Array) -> Array:
    """The condition that the fewest events should meet, for each row that has any."""
    atom = conditions.atom
    cost = np.empty(len(atom))
    is_test = atom >= 0
    cost[is_test] = tests.cost[atom[is_test]]
    cost[~is_test] = other_costs[~atom[~is_test]]
    if not len(atom):
        return np.zeros(0, np.int64)
    total = np.add.reduceat(cost, conditions.first[:-1])
    best = np.lexsort((total, conditions.row))
    return best[np.unique(conditions.row[best], return_index=True)[1]]


# What is laid out.


def _row_tests(
    tests: _Tests, conditions: _Conditions, chosen: Array, rows: int
) -> dict[str, Array]:
    reached_by = conditions.atom[conditions.first[chosen[conditions.is_test[chosen]]]]
    is_decided = np.zeros(len(tests.row), bool)
    is_decided[reached_by] = tests.is_decided[reached_by]
    place = np.where(tests.of_program, 2, is_decided)
    within = np.where(tests.of_program, np.arange(len(tests.row)), tests.cost)
    order = np.lexsort((within, place, tests.row))
    spans = expand(tests.span_first, order)
    flags = IS_POINT * tests.is_point + OF_PROGRAM * tests.of_program
    return {
        "row_test_first": offsets_of(tests.row, rows),
        "row_tried": np.bincount(tests.row[place == 0], minlength=rows),
        "test_axis": tests.axis[order],
        "test_span_first": offsets(np.diff(tests.span_first)[order]),
        "span_lo": tests.span_lo[spans],
        "span_hi": tests.span_hi[spans],
        "test_flags": flags[order],
    }


def _access(
    tests: _Tests, conditions: _Conditions, chosen: Array, axes: int, others: int, rows: int
) -> dict[str, Array]:
    atom = conditions.atom[expand(conditions.first, chosen)]
    sizes = conditions.first[chosen + 1] - conditions.first[chosen]
    row = np.repeat(conditions.row[chosen], sizes)
    is_test = atom >= 0
    test, test_row = atom[is_test], row[is_test]
    way = tests.way[test]
    return (
        _points(tests, test[way == _POINT], test_row[way == _POINT], axes)
        | _ends(tests, test[way == _FROM], test_row[way == _FROM], axes, "from", "from_lo")
        | _ends(tests, test[way == _UP_TO], test_row[way == _UP_TO], axes, "up_to", "up_to_hi")
        | _patterns(~atom[~is_test], row[~is_test], others)
        | {"anyway": np.setdiff1d(np.arange(rows), row)}
    )


def _points(tests: _Tests, test: Array, row: Array, axes: int) -> dict[str, Array]:
    spans = expand(tests.span_first, test)
    sizes = tests.span_first[test + 1] - tests.span_first[test]
    axis = np.repeat(tests.axis[test], sizes)
    lo, hi = tests.span_lo[spans], tests.span_hi[spans]
    order = np.lexsort((lo, axis))
    first = offsets_of(axis[order], axes)
    return {
        "point_first": first,
        "point_lo": lo[order],
        "point_hi": hi[order],
        "point_row": np.repeat(row, sizes)[order],
    } | _buckets(hi[order], first)


def _buckets(hi: Array, first: Array) -> dict[str, Array]:
    """Where the points begin that are not below each multiple of a power of two."""
    starts = [first[:0]]
    counts, shifts = np.zeros((2, len(first) - 1), np.int64)
    for axis in np.flatnonzero(np.diff(first)).tolist():
        begin, end = first[axis : axis + 2].tolist()
        largest = int(hi[end - 1])
        shifts[axis] = max((largest + 1) // (end - begin), 1).bit_length() - 1
        bounds = np.arange((largest >> shifts[axis]) + 2) << shifts[axis]
        starts.append(begin + np.searchsorted(hi[begin:end], bounds))
        counts[axis] = len(bounds)
    return {
        "bucket_first": offsets(counts),
        "bucket": np.concatenate(starts),
        "bucket_shift": shifts,
    }


def _ends(
    tests: _Tests, test: Array, row: Array, axes: int, name: str, codes: str
) -> dict[str, Array]:
    axis = tests.axis[test]
    end = tests.lo[test] if name == "from" else tests.hi[test]
    order = np.lexsort((end if name == "from" else -end, axis))
    return {
        f"{name}_first": offsets_of(axis[order], axes),
        codes: end[order],
        f"{name}_row": row[order],
    }


def _patterns(other: Array, row: Array, others: int) -> dict[str, Array]:
    order = np.argsort(other, kind="stable")
    return {"pattern_first": offsets_of(other[order], others), "pattern_row": row[order]}
