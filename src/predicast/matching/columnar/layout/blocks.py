"""Blocks: clauses with the same axes, side by side, scanned 64 at a time.

Used for *families* of clauses that test the same axes, one span each. The point tests of a family
(equalities) that divide it are its *access* axes: clauses are partitioned by them, and an event
opens the one partition that it can match, be it of a thousand clauses or of one. Inside a partition
the other axes are columns of codes, in the narrowest unsigned type, cut into blocks by median
splits over one column after the other, and each block has a *zone map*::

    lookup      [ 0 | 0 | 1 | 3 ]     by code on the first access axis: where its partitions begin
    partition   [ 0          | 1    | 2               ]
    block       [ 0  | 1  | 2 | 3   | 4  | 5 | 6 | 7  ]
    codes       lo 0 | hi 0 | lo 1 | hi 1 | ...           of each block, column after column
    zones       least lo, greatest lo, least hi, greatest hi, for each axis of each block
    keys        one per slot

A block has a slot for each clause. One of 64 clauses or more begins at a multiple of 64, so that
its vectors are aligned; a smaller one begins where the one before it ends, so that thousands of
partitions of a few clauses take no more memory than their clauses would as rows. What is loaded
beyond a small block belongs to the next and is masked out; the last of a family has 64 slots.

A block whose zones exclude the event is skipped; a column that its zones prove is not read; the
rest is compared branch-free, 64 clauses to an integer of bits. Within a batch, all events of a
partition visit a few blocks while those are in the cache.

What is a family is decided by what an event would do otherwise, and not by how many clauses share
a value on average: an event is taken to be drawn like the subscriptions, so that it meets a value
as often as clauses do, and would have to test the *sum of the squares* of the values' clauses over
all clauses. A few values that many share are reason enough for blocks, however many rare ones there
are besides.

Cost: two codes per axis and two numbers (key, place by key) per clause; some 50 bytes and a zone
map per partition. Rejected: a tree per partition (pointers cost more than the compares they save),
bitmaps per threshold (they grow with thresholds times clauses), rows for the rare values of a
family and blocks for the others (two look-ups, for no less memory).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets, offsets_of
from predicast.matching.columnar.compile.axes import Axis
from predicast.matching.columnar.compile.coded_tests import CodedTests
from predicast.matching.columnar.layout.building import block_slots, fill_blocks, split_blocks
from predicast.matching.columnar.layout.image import DTYPES
from predicast.matching.columnar.reserved import LANES

_LOOKUP_ROOM: Final = 1 << 10  # places of a table by codes that are always worth it
_MOST_MIXED: Final = 2.0**62  # what the mixed codes of all access axes must stay below


class Layout(NamedTuple):
    """When clauses are worth blocks, and how large those are."""

    block: int = 512  # clauses; a block of three axes then fits in the first-level cache
    reached: float = 2  # rows that an event would test instead; one takes as long as a partition
    family: int = 512  # clauses that are worth a look whether or not events carry all their axes
    partition: int = LANES  # clauses that no further equality need divide: one comparison


class Members(NamedTuple):
    """The clauses of a family, with a row of codes each; the access axes come first."""

    clauses: Array
    access: int
    axes: Array
    is_point: Array
    lo: Array
    hi: Array


def family_arrays(table: CodedTests, layout: Layout) -> tuple[dict[str, Array], Array]:
    """The arrays of all families, and the clauses that are in none."""
    left = np.ones(len(table), bool)
    families = _Families(table)
    for members in _families(table, layout):
        families.add(members, layout)
        left[members.clauses] = False
    return families.arrays(), np.flatnonzero(left)


class _Families:
    """The arrays of families, gathered one family after the other."""

    _LISTS: Final = (
        *("access_axis", "access_radix", "column_axis", "column_is_point", "lookup"),
        *("partition_key", "access_lo", "access_hi", "block_size", "zones", "codes", "keys"),
    )

    def __init__(self, table: CodedTests) -> None:
        self._table = table
        self._gathered: dict[str, list[Array]] = {name: [] for name in self._LISTS}
        self._counts: dict[str, list[int]] = {name: [] for name in self._LISTS}
        self._partitions: list[int] = []
        self._blocks: list[Array] = []  # blocks of each partition
        self._slots: list[Array] = []  # slots of each block
        self._width: list[int] = []

    def add(self, members: Members, layout: Layout) -> None:
        """Lay out one more family."""
        k = members.access
        radix = members.lo[:, :k].max(axis=0, initial=0).astype(np.int64) + 1
        mixed = _mixed(members.lo[:, :k], radix)
        order = np.argsort(mixed, kind="stable")
        starts = np.flatnonzero(np.concatenate([[True], np.diff(mixed[order]) != 0]))
        self._partitions.append(len(starts))
        first = order[starts]
        self._put("access_axis", members.axes[:k])
        self._put("access_radix", radix)
        self._put("column_axis", members.axes[k:])
        self._put("column_is_point", members.is_point[k:])
        self._put("partition_key", mixed[first])
        self._put("access_lo", members.lo[first, :k].ravel())
        self._put("access_hi", members.hi[first, :k].ravel())
        self._put("lookup", _lookup(members.lo[first, : min(k, 1)].ravel()))
        self._add_blocks(members, order, np.append(starts, len(order)), layout)

    def _add_blocks(self, members: Members, order: Array, starts: Array, layout: Layout) -> None:
        k, axes = members.access, len(members.axes) - members.access
        columns = np.empty((2 * axes, len(order)), np.int32)
        columns[0::2], columns[1::2] = members.lo[:, k:].T, members.hi[:, k:].T
        ends, blocks = split_blocks(columns, starts, layout.block, order)
        sizes = np.diff(ends, prepend=0)
        slot = block_slots(sizes)
        largest = max((self._table.axes[a].largest_code() for a in members.axes[k:]), default=0)
        code = _narrowest(largest)
        codes = np.zeros(int(slot[-1]) * 2 * axes, code)
        zones = np.zeros(len(sizes) * axes * 4, np.uint32)
        fill_blocks(columns, order, ends, slot, codes, zones)
        keys = np.full(int(slot[-1]), -1, np.int32)
        slots = np.arange(len(order)) + np.repeat(slot[:-1] - (ends - sizes), sizes)
        keys[slots] = self._table.keys[members.clauses[order]]
        self._blocks.append(blocks)
        self._slots.append(np.diff(slot))
        self._width.append(codes.itemsize)
        self._put("block_size", sizes)
        self._put("zones", zones)
        self._put("codes", codes.view(np.uint8))
        self._put("keys", keys)

    def _put(self, name: str, values: Array) -> None:
        self._gathered[name].append(values)
        self._counts[name].append(len(values))

    def arrays(self) -> dict[str, Array]:
        """All of it, family after family."""
        arrays = {
            name: np.concatenate([np.zeros(0, getattr(DTYPES, name)), *values])
            for name, values in self._gathered.items()
        }
        arrays["width"] = np.array(self._width, np.uint8)
        arrays["partition_first"] = offsets(self._partitions)
        arrays["block_first"] = offsets(np.concatenate([np.zeros(0, np.int64), *self._blocks]))
        arrays["block_slot"] = offsets(np.concatenate([np.zeros(0, np.int64), *self._slots]))
        for first, name in (
            ("access_first", "access_axis"),
            ("column_first", "column_axis"),
            ("lookup_first", "lookup"),
            ("code_first", "codes"),
            ("slot_first", "keys"),
            ("zone_first", "zones"),
            ("access_span_first", "access_lo"),
        ):
            arrays[first] = offsets(self._counts[name])
        return arrays


def _mixed(codes: Array, radix: Array) -> Array:
    """One integer for the codes on all access axes."""
    mixed = np.zeros(len(codes), np.int64)
    for column, base in enumerate(radix):
        mixed = mixed * base + codes[:, column]
    return mixed


def _lookup(codes: Array) -> Array:
    """Where the partitions of each code on the first access axis begin, if that is no waste."""
    size = int(codes[-1]) + 2 if len(codes) else 0
    if size > 8 * len(codes) + _LOOKUP_ROOM:
        return np.zeros(0, np.int32)
    return np.searchsorted(codes, np.arange(size)).astype(np.int32)


def _narrowest(largest: int) -> type[np.unsignedinteger[Any]]:
    for code in (np.uint8, np.uint16):
        if largest <= np.iinfo(code).max:
            return code
    return np.uint32


# Which clauses are families.


def _families(table: CodedTests, layout: Layout) -> Iterator[Members]:
    """The families that are worth blocks."""
    if not len(table.clause):
        return
    plain = table.is_plain()
    first = offsets_of(table.clause, len(table))
    tested = np.bincount(table.axis, minlength=len(table.axes)) / len(table)
    for alike in _alike(table, first):
        clauses = alike[plain[alike]]
        if not len(clauses):
            continue
        share = 1.0
        if len(clauses) < layout.family:
            # Each family is a look for every event. Where there may be thousands of small ones,
            # an event is taken to carry an axis as often as clauses test it.
            share = tested[table.axis[first[clauses[0]] : first[clauses[0] + 1]]].min()
        if len(clauses) * share < layout.reached:
            continue
        members = _members(table, first, clauses, layout)
        if members is not None and _rows_reached(members, table.axes) * share >= layout.reached:
            yield members


def _alike(table: CodedTests, first: Array) -> list[Array]:
    """Clauses by the axes that they test, and which of those for a point."""
    random = np.random.default_rng(0).integers(1, 2**62, 2 * len(table.axes), np.int64)
    marks = random[table.axis * 2 + table.is_point]
    total = np.concatenate([[0], np.cumsum(marks)])  # wraps around, and differences are right
    signature = total[first[1:]] - total[first[:-1]]
    signature[first[1:] == first[:-1]] = 0
    order = np.argsort(signature, kind="stable")
    edges = np.flatnonzero(np.diff(signature[order])) + 1
    return [group for group in np.split(order, edges) if first[group[0] + 1] > first[group[0]]]


def _members(table: CodedTests, first: Array, clauses: Array, layout: Layout) -> Members | None:
    """The codes of a family, or ``None`` if its clauses are not alike after all."""
    tests = slice(first[clauses[0]], first[clauses[0] + 1])
    axes, is_point = table.axis[tests], table.is_point[tests]
    if not (first[clauses + 1] - first[clauses] == len(axes)).all():
        return None  # signatures are sums of random numbers: equal ones are all but surely alike
    test = first[clauses][:, None] + np.arange(len(axes))
    if not ((table.axis[test] == axes) & (table.is_point[test] == is_point)).all():
        return None
    span = table.span_first[test]
    lo, hi = table.lo[span], table.hi[span]
    access = _access(lo, is_point, layout)
    order = np.array([*access, *(a for a in range(len(axes)) if a not in access)], np.int64)
    return Members(clauses, len(access), axes[order], is_point[order], lo[:, order], hi[:, order])


def _access(lo: Array, is_point: Array, layout: Layout) -> list[int]:
    """The point axes to partition by, the one with the most values first.

    There are as many as it takes to make an event's partition small enough: further ones would
    take memory and save nothing.
    """
    counts = {int(axis): _counts(lo[:, axis]) for axis in np.flatnonzero(is_point)}
    chosen: list[int] = []
    size, places = float(len(lo)), 1.0
    for axis in sorted(counts, key=lambda axis: (-len(counts[axis]), axis)):
        places *= float(lo[:, axis].max()) + 1
        if size <= layout.partition or places > _MOST_MIXED:
            break
        chosen.append(axis)
        if len(chosen) == 1:
            size = _met(counts[axis])
        else:
            radix = lo[:, chosen].max(axis=0).astype(np.int64) + 1
            size = _met(_counts(_mixed(lo[:, chosen], radix)))
    return chosen


def _rows_reached(members: Members, axes: Sequence[Axis]) -> float:
    """How many of the clauses an event would test if they were rows, each by its best test."""
    best = float(len(members.clauses))
    for column, axis in enumerate(members.axes.tolist()):
        lo, hi = members.lo[:, column], members.hi[:, column]
        if members.is_point[column]:
            best = min(best, _met(_counts(lo)))
        lower, upper = axes[axis].lower_cuts() + 1, axes[axis].upper_cuts() + 1
        best = min(best, float(np.minimum((lower - lo) / lower, (hi + 1) / upper).sum()))
    return best


def _counts(codes: Array) -> Array:
    """How many clauses have each code that there is."""
    if codes.max() < 8 * len(codes):  # sorting takes far longer, but no more than there are codes
        counts = np.bincount(codes)
        return counts[counts > 0]
    return np.unique(codes, return_counts=True)[1]


def _met(counts: Array) -> float:
    """How many clauses share the value of an event that is drawn like the clauses."""
    return float(np.square(counts, dtype=np.float64).sum() / counts.sum())
