"""What the kernels of blocks and of rows share: buffers that grow, and a binary search.

Arrays are copied number by number: the compiler makes the same of it, in a tenth of the time that
assigning slices takes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from predicast.matching.columnar.kernels.compiling import kernel


@kernel
def position(values: Any, first: int, end: int, least: Any) -> int:
    """The first place from ``first`` on whose value is ``least`` or more, in ascending ones."""
    while first < end:
        middle = (first + end) // 2
        if values[middle] < least:
            first = middle + 1
        else:
            end = middle
    return first


@kernel
def with_room(keys: Any, count: int, more: int) -> Any:
    """The same matches, with room for that many more."""
    if count + more <= len(keys):
        return keys
    larger = np.empty(max(2 * len(keys), count + more), np.int32)
    for place in range(count):
        larger[place] = keys[place]
    return larger


@kernel
def with_pair(pairs: Any, count: int, event: int, other: int) -> Any:
    """The pairs of an event and a number, each as one number, and one more."""
    if count == len(pairs):
        larger = np.empty(2 * len(pairs), np.int64)
        for place in range(count):
            larger[place] = pairs[place]
        pairs = larger
    pairs[count] = (np.int64(event) << 32) | other
    return pairs


@kernel
def with_run(runs: Any, number: int, event: int, end: int) -> Any:
    """The runs and one more: an event, and where its keys end."""
    if number == len(runs):
        larger = np.empty((2 * len(runs), 2), np.int64)
        for run in range(number):
            larger[run, 0], larger[run, 1] = runs[run, 0], runs[run, 1]
        runs = larger
    runs[number, 0] = event
    runs[number, 1] = end
    return runs
