"""Visits to the cells of a grid: each publication against the regions in its cells.

The pairs go into buffers that grow. The plain twin of this is ``plain.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from predicast.matching.columnar.kernels.compiling import array, kernel, merged
from predicast.matching.region_join.kernels.compiling import entry

_INTS = array(types.int64)
_CELLS = array(types.int32, 2)
_BOXES = array(types.float64, 2)
_VISITS = (_INTS, _INTS, _BOXES, _BOXES, _CELLS, _CELLS, _BOXES, _BOXES)


@kernel
def _larger(numbers: Any) -> Any:
    """The same numbers, with room for as many again."""
    larger = np.empty(2 * len(numbers), np.int64)
    for place in range(len(numbers)):
        larger[place] = numbers[place]
    return larger


@merged
def _meets(lo: Any, hi: Any, published_lo: Any, published_hi: Any, region: int, mine: int) -> bool:
    for attribute in range(lo.shape[1]):
        if published_lo[mine, attribute] > hi[region, attribute]:
            return False
        if lo[region, attribute] > published_hi[mine, attribute]:
            return False
    return True


@entry((*_VISITS, types.int64, types.int64))
def meet_visits(
    shape: Any,
    first_region: Any,
    lo: Any,
    hi: Any,
    first_cell: Any,
    last_cell: Any,
    published_lo: Any,
    published_hi: Any,
    begin: int,
    most: int,
) -> Any:
    """The pairs of some publications, from one on; and which publication comes after them."""
    mine, others = np.empty(4096, np.int64), np.empty(4096, np.int64)
    count = 0
    for publication in range(begin, len(first_cell)):
        before = count
        for row in range(first_cell[publication, 0], last_cell[publication, 0] + 1):
            for column in range(first_cell[publication, 1], last_cell[publication, 1] + 1):
                cell = (row * shape[1] + column) * shape[2]
                start = first_region[cell + first_cell[publication, 2]]
                end = first_region[cell + last_cell[publication, 2] + 1]
                for region in range(start, end):
                    if _meets(lo, hi, published_lo, published_hi, region, publication):
                        if count == len(mine):
                            mine, others = _larger(mine), _larger(others)
                        mine[count], others[count] = publication, region
                        count += 1
        if count > most and before > 0:
            return mine[:before], others[:before], publication
        if count >= most:
            return mine[:count], others[:count], publication + 1
    return mine[:count], others[:count], len(first_cell)


@entry(_VISITS)
def count_visits(
    shape: Any,
    first_region: Any,
    lo: Any,
    hi: Any,
    first_cell: Any,
    last_cell: Any,
    published_lo: Any,
    published_hi: Any,
) -> int:
    """How many pairs there are."""
    count = 0
    for publication in range(len(first_cell)):
        for row in range(first_cell[publication, 0], last_cell[publication, 0] + 1):
            for column in range(first_cell[publication, 1], last_cell[publication, 1] + 1):
                cell = (row * shape[1] + column) * shape[2]
                start = first_region[cell + first_cell[publication, 2]]
                end = first_region[cell + last_cell[publication, 2] + 1]
                for region in range(start, end):
                    count += _meets(lo, hi, published_lo, published_hi, region, publication)
    return count
