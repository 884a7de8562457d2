"""Blocks: clauses with the same axes, side by side, scanned a few hundred at a time.

Used for families of many clauses that test the same axes. The point tests of a family
(equalities) are its *access* axes: clauses are partitioned by them, and an event opens the one
partition that it can match. Inside a partition the other axes are columns of codes, in the
narrowest unsigned type, cut into blocks by median splits over one column after the other, and
each block has a *zone map*::

    partition   [ 0          | 1    | 2               ]
    block       [ 0  | 1  | 2 | 3   | 4  | 5 | 6 | 7  ]   start[b] .. start[b + 1]
    lo[axis]    [ code per clause                     ]   hi[axis] alike; keys alike
    zones[b, axis] = least lo, greatest lo, least hi, greatest hi

A block whose zones exclude the event is skipped; a column that its zones prove is not read; the
rest is compared branch-free. Within a batch, all events of a partition visit a block while it is
in the cache.

Cost: space is 2 codes per axis and a key per clause. Rejected: a tree per partition (pointers
cost more than the compares they save), bitmaps per threshold (they grow with thresholds times
clauses).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.matching.columnar import _kernels
from predicast.matching.columnar.axes import UNREACHABLE
from predicast.matching.columnar.event_codes import EventCodes
from predicast.matching.columnar.output import Writer

Array = npt.NDArray[Any]

_MOST_MATCHES: Final = 1 << 22  # that one visit may have
_PADDING: Final = 8  # the kernel reads masks and keys eight at a time


class Blocks(NamedTuple):
    """The arrays that the kernel reads."""

    partition: Array  # first block of each partition, and the end
    start: Array  # first clause of each block, and the end
    zones: Array
    lo: Array
    hi: Array
    keys: Array


class Visits(NamedTuple):
    """Which events visit which partition."""

    partition: Array
    first: Array
    events: Array


class Family:
    """Clauses that test the same axes, and the same ones of those for a point."""

    def __init__(
        self,
        access: Array,
        axes: Array,
        lo: Array,
        hi: Array,
        keys: Array,
        largest: int,
        block: int,
    ) -> None:
        """``lo`` and ``hi`` have a row per clause and a column per axis, the access axes first."""
        k = len(access)
        self.access, self.axes = access, axes
        order = np.lexsort(lo[:, :k].T[::-1]) if k else np.arange(len(lo))
        lo, hi = lo[order], hi[order]
        is_new = np.ones(len(lo), bool)
        is_new[1:] = (lo[1:, :k] != lo[:-1, :k]).any(axis=1) if k else False
        starts = np.flatnonzero(is_new)
        self.access_lo = np.ascontiguousarray(lo[starts, :k])
        self.access_hi = np.ascontiguousarray(hi[starts, :k])
        self._radix = self.access_lo.max(axis=0, initial=0).astype(np.int64) + 1
        self._partition_keys = self._mixed(self.access_lo.T)
        columns = np.hstack([lo[:, k:], hi[:, k:]]).T
        blocks, first_blocks = [], [0]
        for begin, end in zip(starts, [*starts[1:], len(lo)], strict=True):
            blocks += list(_split(columns, np.arange(begin, end), block))
            first_blocks.append(len(blocks))
        place = np.concatenate(blocks)
        start = np.concatenate([[0], np.cumsum([len(block) for block in blocks])])
        code = _narrowest(largest)
        column_lo = np.ascontiguousarray(lo[place, k:].T.astype(code))
        column_hi = np.ascontiguousarray(hi[place, k:].T.astype(code))
        padded = np.full(len(place) + _PADDING, -1, np.int64)  # no key at all behind the last
        padded[: len(place)] = keys[order][place]
        self.blocks = Blocks(
            np.array(first_blocks, np.int64),
            start.astype(np.int64),
            _zones(column_lo, column_hi, start[:-1]),
            column_lo,
            column_hi,
            padded,
        )
        self._mask = np.zeros(block + _PADDING, np.uint8)

    def __len__(self) -> int:
        return len(self.blocks.keys) - _PADDING

    def match(self, codes: EventCodes, writer: Writer) -> None:
        """Write the matches of a batch."""
        every = np.concatenate([self.access, self.axes])
        fits = np.flatnonzero((codes.upper[every] != UNREACHABLE).all(axis=0))
        if not len(fits):
            return
        visits = self._visits(codes, fits)
        if not len(visits.partition):
            return
        code = self.blocks.lo.dtype
        top = np.iinfo(code).max
        lower = np.minimum(codes.lower[self.axes], top).astype(code)
        upper = codes.upper[self.axes].clip(max=top).astype(code)
        visit = 0
        while visit < len(visits.partition):
            out = writer.room(self._most(visits, visit))
            count, visit = _kernels.scan_blocks(
                self.blocks, visits, lower, upper, out, self._mask, visit
            )
            writer.written(count)

    def _most(self, visits: Visits, visit: int) -> int:
        """The most matches that one visit can have."""
        partition = visits.partition[visit]
        first, end = self.blocks.partition[partition], self.blocks.partition[partition + 1]
        clauses = self.blocks.start[end] - self.blocks.start[first]
        return int(clauses * (visits.first[visit + 1] - visits.first[visit])) + _PADDING

    def _visits(self, codes: EventCodes, fits: Array) -> Visits:
        """Events by the partition that they open."""
        lower, upper = codes.lower[self.access][:, fits], codes.upper[self.access][:, fits]
        if not len(self.access):
            return self._bounded(np.zeros(1, np.int64), np.array([0, len(fits)]), fits)
        wide = codes.is_wide[self.access][:, fits].any(axis=0)
        found = np.searchsorted(self._partition_keys, self._mixed(lower))
        found = np.minimum(found, len(self._partition_keys) - 1)
        opened = ~wide & (self.access_lo[found] == lower.T).all(axis=1)
        opened &= (self.access_hi[found] >= upper.T).all(axis=1)
        events, partitions = fits[opened], found[opened]
        if wide.any():
            pairs = _kernels.open_partitions(
                self.access_lo, self.access_hi, lower[:, wide], upper[:, wide]
            )
            events = np.concatenate([events, fits[wide][pairs[:, 0]]])
            partitions = np.concatenate([partitions, pairs[:, 1]])
        order = np.argsort(partitions, kind="stable")
        opened_partitions, first = np.unique(partitions[order], return_index=True)
        return self._bounded(opened_partitions, np.append(first, len(order)), events[order])

    def _bounded(self, partitions: Array, first: Array, events: Array) -> Visits:
        """Visits of so few events each that the most matches they can have fit in memory."""
        blocks = self.blocks.partition
        clauses = self.blocks.start[blocks[partitions + 1]] - self.blocks.start[blocks[partitions]]
        fit = np.maximum(_MOST_MATCHES // np.maximum(clauses, 1), 1)
        pieces = -(-np.diff(first) // fit)
        if (pieces == 1).all():
            return Visits(partitions, first, events)
        starts = [np.arange(b, e, f) for b, e, f in zip(first, first[1:], fit, strict=False)]
        return Visits(
            np.repeat(partitions, pieces), np.append(np.concatenate(starts), first[-1]), events
        )

    def _mixed(self, codes: Array) -> Array:
        """One integer for the codes on all access axes; larger codes of events fall outside."""
        mixed = np.zeros(codes.shape[1] if len(codes) else 1, np.int64)
        for axis, radix in zip(codes, self._radix, strict=True):
            mixed = mixed * (radix + 1) + np.minimum(axis, radix)
        return mixed


def access_fits(largest_codes: Array) -> bool:
    """Whether the codes on all access axes fit into one 64-bit integer."""
    return float(np.prod(largest_codes.astype(np.float64) + 2)) < 2.0**62


def _split(columns: Array, places: Array, block: int, depth: int = 0) -> Iterator[Array]:
    """Median splits over one column after the other, down to blocks."""
    if len(places) <= block:
        yield places
        return
    column = columns[depth % len(columns)][places] if len(columns) else places
    half = len(places) // 2
    order = np.argpartition(column, half)
    yield from _split(columns, places[order[:half]], block, depth + 1)
    yield from _split(columns, places[order[half:]], block, depth + 1)


def _narrowest(largest: int) -> type[np.unsignedinteger[Any]]:
    for code in (np.uint8, np.uint16):
        if largest <= np.iinfo(code).max:
            return code
    return np.uint32


def _zones(lo: Array, hi: Array, starts: Array) -> Array:
    zones = np.empty((len(starts), len(lo), 4), lo.dtype)
    for place, reduce in enumerate((np.minimum, np.maximum)):
        zones[:, :, place] = reduce.reduceat(lo, starts, axis=1).T if lo.size else 0
        zones[:, :, place + 2] = reduce.reduceat(hi, starts, axis=1).T if hi.size else 0
    return zones
