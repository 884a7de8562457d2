"""Clauses of bounds against events, as ``kernels/recent.py`` does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets
from predicast.matching.columnar.plain.results import as_runs

_MOST: Final = 1 << 16  # outcomes of tests that are held at a time


def match_bounds(  # noqa: PLR0913, PLR0917  # as the compiled one
    keys: Array,
    since: Array,
    gone: Array,
    row: Array,
    ends: Array,
    shape: Array,  # what is alike stands in blocks
    column: Array,
    lo: Array,
    hi: Array,
    first: int,
    end: int,
    block_row: Array,
    first_clause: Array,
    first_test: Array,
    first_range: Array,
    block_column: Array,
    zone_lo: Array,  # zones only spare the time to look
    zone_hi: Array,
    block_lo: Array,
    block_hi: Array,
    moved: Array,
    values: Array,
    passes: Array,
    events: int,
    epoch: int,
) -> tuple[Array, Array]:
    """The matches of events (columns of ``values``) as keys and runs of (event, end)."""
    begin = int(ends[first - 1]) if first else 0
    starts = np.append(begin, ends[first:end]) - begin
    tests = slice(begin, begin + int(starts[-1]))
    of_table = _Ranges(starts, moved[column[tests]], lo[tests], hi[tests])
    sizes, counts = np.diff(first_clause), np.diff(first_test)
    # Ranges stand test after test in each block, from where clause after clause is picked.
    clauses, blocks = np.arange(len(block_row)), np.repeat(np.arange(len(sizes)), sizes)
    starts = offsets(counts[blocks])
    clause = np.repeat(clauses, counts[blocks])
    block, test = blocks[clause], np.arange(len(clause)) - starts[clause]
    place = first_range[block] + test * sizes[block] + clause - first_clause[block]
    here = moved[block_column[first_test[block] + test]]
    of_blocks = _Ranges(starts, here, block_lo[place], block_hi[place])
    passing = np.unpackbits(passes.view(np.uint8), axis=1, count=events, bitorder="little") > 0
    every, found = [], []
    for rows, ranges in ((row[first:end], of_table), (block_row, of_blocks)):
        live = (since[rows] <= epoch) & (gone[rows] > epoch)
        for event, clause in _holding(ranges, values[:, :events], passing):
            held = live[clause]
            every.append(event[held])
            found.append(keys[rows[clause[held]]])
    return as_runs(every, found, counting=False)


class _Ranges(NamedTuple):
    """The ranges of clauses, one clause after the other."""

    starts: Array  # by clause, and the end of all
    here: Array  # whose values they are compared with
    lo: Array
    hi: Array


def _holding(ranges: _Ranges, values: Array, passing: Array) -> Iterator[tuple[Array, Array]]:
    """Events and the clauses that they match, some events at a time."""
    starts, here, lo, hi = ranges
    tests = len(here)
    step = max(_MOST // (tests + 1), 1)
    for start in range(0, values.shape[1], step):
        value = values[here, start : start + step]
        in_range = (lo[:, None] <= value) & (value <= hi[:, None])
        holds = passing[here, start : start + step] | in_range
        failures = np.zeros((tests + 1, value.shape[1]), np.int32)
        np.cumsum(~holds, axis=0, out=failures[1:])
        clause, event = (failures[starts[:-1]] == failures[starts[1:]]).nonzero()
        yield event + start, clause
