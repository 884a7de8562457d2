"""Entries of things that stand side by side, as in CSR matrices: a few words on index arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def firsts(counts: Array | list[int]) -> Array:
    """Where the entries of each begin, and the end of all."""
    first = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=first[1:])
    return first


def firsts_of(things: Array, count: int) -> Array:
    """Where the entries of each of ``count`` things begin, the entries being ascending by thing."""
    return np.searchsorted(things, np.arange(count + 1)).astype(np.int64)


def places_of_each(things: Array) -> Iterator[tuple[int, Array]]:
    """Each thing that occurs, ascending, and the places where it does."""
    order = np.argsort(things, kind="stable")
    edges = np.flatnonzero(np.diff(things[order])) + 1
    for places in np.split(order, edges) if len(order) else ():
        yield int(things[places[0]]), places


def entries(first: Array, things: Array) -> Array:
    """The numbers of all entries of some things, thing after thing."""
    counts = first[things + 1] - first[things]
    start = firsts(counts)
    return np.repeat(first[things] - start[:-1], counts) + np.arange(start[-1])
