"""The visits to cells in NumPy, until they are compiled: candidates first, then what of them meets.

Publications are taken in pieces, so that neither the rows of cells that they visit nor the
candidates in those become more than fit well into memory; of a single one they may be as many as
there are regions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from predicast.arrays import Array, offsets

if TYPE_CHECKING:
    from predicast.matching.region_join.cells import Visits

_AT_A_TIME: Final = 1 << 16  # publications
_MOST: Final = 1 << 19  # rows of cells, or candidates


def meet(visits: Visits, begin: int, most: int) -> tuple[Array, Array, int]:
    """The pairs of some publications, from one on; and which publication comes after them.

    At most so many pairs, or as many as one publication has.
    """
    end = min(begin + _AT_A_TIME, len(visits.first_cell))
    first, last = visits.first_cell[begin:end], visits.last_cell[begin:end]
    spans = np.maximum(last - first + 1, 0).astype(np.int64)
    kept = _fitting(spans[:, 0] * spans[:, 1])
    first, last, spans = first[:kept], last[:kept], spans[:kept]
    _, columns, depth = visits.shape.tolist()
    mine, row = _each(first[:, 0], spans[:, 0])
    again, column = _each(first[mine, 1], spans[mine, 1])
    mine, row = mine[again], (row[again] * columns + column) * depth
    starts = visits.first_region[row + first[mine, 2]]
    counts = np.maximum(visits.first_region[row + last[mine, 2] + 1] - starts, 0)
    kept = _fitting(np.bincount(mine, counts, minlength=kept))
    rows = int(np.searchsorted(mine, kept))
    which, others = _each(starts[:rows], counts[:rows])
    mine = mine[which]
    met = np.ones(len(mine), bool)
    for attribute in range(visits.lo.shape[1]):
        met &= visits.published_lo[begin + mine, attribute] <= visits.hi[others, attribute]
        met &= visits.lo[others, attribute] <= visits.published_hi[begin + mine, attribute]
    mine, others = mine[met], others[met]
    if len(mine) > most:
        kept = max(int(mine[most]), int(mine[0]) + 1)
        pairs = int(np.searchsorted(mine, kept))
        mine, others = mine[:pairs], others[:pairs]
    return mine + begin, others, begin + kept


def count(visits: Visits) -> int:
    """How many pairs there are."""
    found = begin = 0
    while begin < len(visits.first_cell):
        mine, _, begin = meet(visits, begin, 2**62)
        found += len(mine)
    return found


def _fitting(sizes: Array) -> int:
    """How many of the first together are not too large; one at least."""
    return max(1, int(np.searchsorted(np.cumsum(sizes), _MOST, "right")))


def _each(first: Array, counts: Array) -> tuple[Array, Array]:
    """Each number from a first one on, as many as are counted, and whose they are."""
    begins = offsets(counts)
    mine = np.repeat(np.arange(len(counts)), counts)
    return mine, np.arange(begins[-1]) - np.repeat(begins[:-1] - first, counts)
