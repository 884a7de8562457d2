"""What several plain loops need: many binary searches at once, and work in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from predicast.arrays import Array, offsets


def positions(value_at: Callable[[Array], Array], first: Array, end: Array, least: Array) -> Array:
    """The first place of each range whose value is ``least`` or more, in ascending values."""
    while (is_open := first < end).any():
        middle = np.where(is_open, (first + end) // 2, 0)
        is_less = is_open & (value_at(middle) < least)
        first = np.where(is_less, middle + 1, first)
        end = np.where(is_open & ~is_less, middle, end)
    return first


def entries(first: Array, counts: Array) -> Array:
    """The numbers of all entries of ranges that begin there and have so many, one by one."""
    starts = offsets(counts)
    numbers: Array = np.repeat(first - starts[:-1], counts) + np.arange(starts[-1])
    return numbers


def pieces(counts: Array, most: int) -> Iterator[slice]:
    """Runs of ranges with at most so many entries together, or of one that has more."""
    ends = offsets(counts)
    begin = 0
    while begin < len(counts):
        end = int(np.searchsorted(ends, ends[begin] + most, "right")) - 1
        end = max(end, begin + 1)
        yield slice(begin, end)
        begin = end
