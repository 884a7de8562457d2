"""Groups that stand side by side in one array, as the rows of a sparse matrix do (CSR).

::

    groups     a a b d d d
    entries    0 1 2 3 4 5
    offsets    [0 2 3 3 6]     where the entries of each of a, b, c, d begin, and the end of all
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


def offsets(counts: Array | list[int]) -> Array:
    """Where the entries of each group begin, and the end of all, given how many each has."""
    first = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=first[1:])
    return first


def offsets_of(groups: Array, count: int) -> Array:
    """The same for ``count`` groups, given the group of each entry, ascending."""
    return np.searchsorted(groups, np.arange(count + 1)).astype(np.int64)


def expand(first: Array, groups: Array) -> Array:
    """The numbers of all entries of some groups, group after group."""
    counts = first[groups + 1] - first[groups]
    start = offsets(counts)
    return np.repeat(first[groups] - start[:-1], counts) + np.arange(start[-1])


def places_of_each(groups: Array) -> Iterator[tuple[int, Array]]:
    """Each group that occurs, ascending, and the places where it does."""
    order = np.argsort(groups, kind="stable")
    edges = np.flatnonzero(np.diff(groups[order])) + 1
    for places in np.split(order, edges) if len(order) else ():
        yield int(groups[places[0]]), places
