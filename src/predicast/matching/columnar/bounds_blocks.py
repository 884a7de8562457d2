"""``BoundsBlocks``: clauses of bounds that wait, in an order that lets most of them be left out.

Of the clauses in a table of bounds (``bounds_table.py``) those that came first are copied here, so
many at a time. Those of one *shape*, which test the same columns, are ordered by the tests that
tell most events apart, and cut into blocks, whose clauses ask for much the same. A *zone* is what
holds all their ranges in a column, and an event that is outside one of them need not be tried for
any. For the others the ranges of a column stand side by side, and are compared in one go::

    block      0                  1
    row        [ 4    9    2    | 7    1  ]     a clause each
    column     [ symbol  price  | symbol  price ]
    zones      [ S1..S2  10..90 | S4..S7  20..60 ]
    ranges     [ S1 S1 S2  10..20 70..90 30..80 | S4 S7  20..60 20..30 ]

Ordering is for ``FIRST`` clauses at a time. Four *runs* of the same length are ordered again
together, up to ``_RUN`` clauses: that tells blocks apart far better, and each clause is ordered
three times at most. What came since waits in the table alone.

A column comes first in the order if points are asked for on it, of many different values; then
come those of ranges. Where there are ranges only, clauses are cut into slabs by the first column,
and ordered by the second inside each: both zones are narrow then. A block ends where the points
change, if several clauses have each of them: its zone is then a single point, whoever is in it
holds that test of all its clauses, and nobody need look. A zone is a point in no other case.

Nothing changes here: with more clauses it is another one, so that whoever asks has all or nothing
of them. It costs a second copy of the ranges, and about a microsecond per clause.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets, places_of_each
from predicast.matching.columnar.bounds_table import BoundsTable
from predicast.matching.columnar.reserved import LANES
from predicast.model.values import EXACT

FIRST: Final = 512  # clauses that are worth ordering
_TOGETHER: Final = 4  # runs that become one
_RUN: Final = (
    FIRST * _TOGETHER**2
)  # ordering more at a time would stop whoever changes for too long
_SAMPLE: Final = 256  # clauses by which the columns of a shape are told apart
_LEAST: Final = 8  # clauses of a block that is worth its zones, on average
_BITS: Final = (20, 16, 16)  # of the numbers in the columns that clauses are ordered by


class _Blocks(NamedTuple):
    """Some blocks of clauses of one shape."""

    row: Array  # by clause
    clauses: Array  # by block, how many
    tests: Array  # by block, of each clause
    column: Array  # by block and test
    zone_lo: Array
    zone_hi: Array
    lo: Array  # by block, test and clause
    hi: Array


class BoundsBlocks:
    """The first so many clauses of a table, in blocks."""

    __slots__ = ("_leading", "_runs", "arrays", "clauses")

    def __init__(
        self, runs: tuple[_Blocks, ...] = (), leading: dict[int, Array] | None = None
    ) -> None:
        self._runs = runs
        # In which order the columns of each shape tell clauses apart: looked at once.
        self._leading: dict[int, Array] = {} if leading is None else leading
        self.clauses = sum(len(run.row) for run in runs)
        row, clauses, tests, column, zone_lo, zone_hi, lo, hi = _joined([*runs, _NO_BLOCKS])
        # As the loop takes them: rows, where the clauses, tests and ranges of a block begin, …
        self.arrays: tuple[Array, ...] = (
            *(row, offsets(clauses), offsets(tests), offsets(clauses * tests)),
            *(column, zone_lo, zone_hi, lo, hi),
        )

    def with_more(self, table: BoundsTable, clauses: int) -> BoundsBlocks:
        """The same with more of the first so many clauses of a table."""
        runs, done = self._runs, self.clauses
        while clauses - done >= FIRST:
            first, length = done, FIRST
            done += FIRST
            while length < _RUN and _end_in(runs, _TOGETHER - 1, length):
                runs, first = runs[: 1 - _TOGETHER], first - (_TOGETHER - 1) * length
                length *= _TOGETHER
            runs = (*runs, _joined([*self._shapes(table, first, done)]))
        return BoundsBlocks(runs, self._leading)

    def _shapes(self, table: BoundsTable, first: int, end: int) -> Iterator[_Blocks]:
        """Some clauses of a table in blocks, shape by shape."""
        row, ends, shapes, column, lo, hi = table.arrays[3:]
        begin = np.append(ends[first - 1] if first else 0, ends[first : end - 1])
        for shape, here in places_of_each(shapes[first:end]):
            starts = begin[here]
            tests = int(ends[first + here[0]] - starts[0])
            every = starts[:, None] + np.arange(tests)
            columns, los, his = column[starts[0] : starts[0] + tests], lo[every], hi[every]
            leading = self._leading.get(shape)
            if leading is None:
                leading = self._leading[shape] = _leading(los, his)
            yield _blocks(row[first + here], columns[leading], los[:, leading], his[:, leading])


def _end_in(runs: tuple[_Blocks, ...], count: int, length: int) -> bool:
    """Whether the last so many runs are there, and of a length."""
    return len(runs) >= count and all(len(run.row) == length for run in runs[-count:])


# The loop reads whole vectors: behind the last ranges there is something to read.
_NO_BLOCKS: Final = _Blocks(
    *(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32)),
    *(np.zeros(0), np.zeros(0)),
    *(np.zeros(LANES), np.zeros(LANES)),
)


def _joined(blocks: list[_Blocks]) -> _Blocks:
    return _Blocks(*(np.concatenate(each) for each in zip(*blocks, strict=True)))


def _blocks(row: Array, column: Array, lo: Array, hi: Array) -> _Blocks:
    """Clauses of one shape in blocks; a row of ranges each, those of leading columns first."""
    order = _order(lo, hi)
    row, lo, hi = row[order], lo[order], hi[order]
    first = _first_of_blocks(lo, hi)
    size, tests = np.diff(first, append=len(row)), len(column)
    # From clause after clause to test after test in each block.
    step = np.repeat(size, size)[:, None]
    begin = np.repeat(first * (tests - 1), size)[:, None]
    place = begin + np.arange(len(row))[:, None] + step * np.arange(tests)
    los, his = np.empty(lo.size), np.empty(hi.size)
    los[place], his[place] = lo, hi
    zone_lo, zone_hi = np.minimum.reduceat(lo, first), np.maximum.reduceat(hi, first)
    is_open = (zone_lo == zone_hi) & np.logical_or.reduceat(lo != hi, first)
    zone_hi[is_open] = np.nextafter(zone_hi[is_open], np.inf)
    return _Blocks(
        *(row, size, np.full(len(first), tests), np.tile(column, len(first))),
        *(zone_lo.ravel(), zone_hi.ravel(), los, his),
    )


def _first_of_blocks(lo: Array, hi: Array) -> Array:
    """Where blocks begin among clauses in order: where leading points change, if not too often."""
    clauses, tests = lo.shape
    begins = np.arange(clauses) == 0
    for test in range(tests):
        changes = begins.copy()
        changes[1:] |= lo[1:, test] != lo[:-1, test]
        if (lo[:, test] < hi[:, test]).any() or np.count_nonzero(changes) * _LEAST > clauses:
            break
        begins = changes
    first = np.flatnonzero(begins)
    within = np.arange(clauses) - np.repeat(first, np.diff(first, append=clauses))
    return np.flatnonzero(within % LANES == 0)


def _leading(lo: Array, hi: Array) -> Array:
    """Columns of ranges in the order in which they tell clauses apart."""
    lo, hi = lo[:_SAMPLE], hi[:_SAMPLE]
    distinct = [
        len(np.unique(lo[:, test])) if (lo[:, test] == hi[:, test]).all() else 0
        for test in range(lo.shape[1])
    ]
    return np.argsort(-np.array(distinct, np.int64), kind="stable")


def _order(lo: Array, hi: Array) -> Array:
    """Clauses roughly in the order of their leading tests: as numbers that sort in one go."""
    clauses, tests = lo.shape
    bits = list(_BITS)
    if tests > 1 and (lo[:, 0] < hi[:, 0]).any():
        bits = [(clauses // LANES).bit_length() // 2 + 1, _BITS[1]]  # in slabs
    key = np.zeros(clauses, np.int64)
    for test, size in zip(range(tests), bits, strict=False):
        low, high = lo[:, test], hi[:, test]
        end = np.clip(np.where(low > -EXACT, low, high), -EXACT, EXACT)
        least = end.min()
        scale = (2**size - 1) / max(end.max() - least, 1e-300)
        key = key << size | ((end - least) * scale).astype(np.int64)
    return np.argsort(key)
