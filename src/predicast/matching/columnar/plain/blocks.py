"""Families, as ``kernels/blocks.py`` scans them; laid out in ``layout/blocks.py``.

An event opens partitions, whose blocks are weeded out by their zones, many at a time. What is left
of large blocks is compared block by block with all events that reach it, and of small ones clause
by clause: there may be thousands of those.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, expand, places_of_each
from predicast.matching.columnar.layout.image import SegmentArrays
from predicast.matching.columnar.plain.arrays import entries, pieces
from predicast.matching.columnar.reserved import LANES, UNREACHABLE

Codes = tuple[Array, Array, Array]  # lower and upper codes of events on axes, and which are wide
Found = tuple[Array, Array]  # events, and places in the keys

_MOST: Final = 1 << 18  # pairs of event and block, or of event and clause, held at a time
_TOGETHER: Final = 1 << 10  # events that are compared with a block at a time


class _Family(NamedTuple):
    """The arrays of one family."""

    access: Array  # axes
    radix: Array
    partition_key: Array
    access_lo: Array  # a row per partition
    access_hi: Array
    block_first: Array  # of each partition, from 0
    zones: Array  # by block, column and end
    size: Array  # of each block
    slot: Array  # of each block, from the family's first
    columns: Array  # axes
    codes: Array
    first_slot: int


def scan_families(arrays: SegmentArrays, codes: Codes) -> Iterator[Found]:
    """What events match in all families."""
    for number in range(len(arrays.width)):
        family = _family(arrays, number)
        limit = int(np.iinfo(family.codes.dtype).max)
        low = np.minimum(codes[0][:, family.columns], limit).astype(family.codes.dtype)
        high = np.minimum(codes[1][:, family.columns], limit).astype(family.codes.dtype)
        for partition, event in _visits(family, codes):
            for part in pieces(np.diff(family.block_first)[partition], _MOST):
                yield from _scan(family, partition[part], event[part], low, high)


def _family(a: SegmentArrays, number: int) -> _Family:
    access = slice(*a.access_first[number : number + 2])
    begin, finish = a.partition_first[number : number + 2].tolist()
    span = slice(*a.access_span_first[number : number + 2])
    first, end = a.block_first[[begin, finish]].tolist()
    columns = a.column_axis[slice(*a.column_first[number : number + 2])]
    codes = a.codes[slice(*a.code_first[number : number + 2])]
    first_slot = int(a.slot_first[number])
    by_partition = (finish - begin, access.stop - access.start)
    zones = a.zones[slice(*a.zone_first[number : number + 2])]
    return _Family(
        access=a.access_axis[access],
        radix=a.access_radix[access],
        partition_key=a.partition_key[begin:finish],
        access_lo=a.access_lo[span].reshape(by_partition),
        access_hi=a.access_hi[span].reshape(by_partition),
        block_first=a.block_first[begin : finish + 1] - first,
        zones=zones.reshape(end - first, len(columns), 4),
        size=a.block_size[first:end],
        slot=a.block_slot[first : end + 1] - first_slot,
        columns=columns,
        codes=codes.view(f"u{a.width[number]}"),
        first_slot=first_slot,
    )


# Which events open which partitions.


def _visits(family: _Family, codes: Codes) -> Iterator[tuple[Array, Array]]:
    """Partitions and the events that open them, not too many at a time."""
    low, high, wide = codes
    tested = np.concatenate([family.access, family.columns])
    says_all = (high[:, tested] != UNREACHABLE).all(axis=1)
    is_wide = wide[:, family.access].any(axis=1)
    yield _points(family, low, high, np.flatnonzero(says_all & ~is_wide))
    for event in np.flatnonzero(says_all & is_wide).tolist():
        opened = _opened(family, low[event, family.access], high[event, family.access])
        yield opened, np.full(len(opened), event)


def _points(family: _Family, low: Array, high: Array, event: Array) -> tuple[Array, Array]:
    """The one partition of each event that has a value on every access axis."""
    code = low[event][:, family.access]
    known = (code < family.radix).all(axis=1)
    event, code = event[known], code[known]
    mixed = np.zeros(len(event), np.int64)
    for place, radix in enumerate(family.radix):
        mixed = mixed * radix + code[:, place]
    partition = np.searchsorted(family.partition_key, mixed)
    partition[partition == len(family.partition_key)] = 0
    opens = family.partition_key[partition] == mixed
    opens &= (family.access_hi[partition] >= high[event][:, family.access]).all(axis=1)
    return partition[opens], event[opens]


def _opened(family: _Family, below: Array, above: Array) -> Array:
    """The partitions that an event opens which has more than one value on an access axis."""
    first = np.searchsorted(family.access_hi[:, 0], above[0])
    end = np.searchsorted(family.access_lo[:, 0], below[0], "right")
    lo, hi = family.access_lo[first:end], family.access_hi[first:end]
    opened: Array = first + np.flatnonzero(((lo <= below) & (hi >= above)).all(axis=1))
    return opened


# The blocks in them.


def _scan(
    family: _Family, partition: Array, event: Array, low: Array, high: Array
) -> Iterator[Found]:
    block = expand(family.block_first, partition)
    event = np.repeat(event, np.diff(family.block_first)[partition])
    zones = family.zones[block]
    may_hold = (zones[:, :, 0] <= low[event]) & (zones[:, :, 3] >= high[event])
    left = may_hold.all(axis=1)
    block, event = block[left], event[left]
    is_large = family.size[block] >= LANES
    large, its_events = block[is_large], event[is_large]
    for each, places in places_of_each(large):
        yield from _scan_large(family, each, its_events[places], low, high)
    small, its_events = block[~is_large], event[~is_large]
    for part in pieces(family.size[small], _MOST):
        yield _scan_small(family, small[part], its_events[part], low, high)


def _scan_large(
    family: _Family, block: int, events: Array, low: Array, high: Array
) -> Iterator[Found]:
    """The clauses of one block against events."""
    begin, end = family.slot[block : block + 2].tolist()
    width = 2 * len(family.columns)
    codes = family.codes[begin * width : end * width].reshape(width, end - begin)
    codes = codes[:, : family.size[block]]
    for start in range(0, len(events), _TOGETHER):
        event = events[start : start + _TOGETHER]
        held = np.ones((len(event), codes.shape[1]), bool)
        for column in range(len(family.columns)):
            held &= codes[2 * column] <= low[event, column, None]
            held &= codes[2 * column + 1] >= high[event, column, None]
        which, clause = held.nonzero()
        yield event[which], family.first_slot + begin + clause


def _scan_small(family: _Family, block: Array, event: Array, low: Array, high: Array) -> Found:
    """The clauses of many small blocks, each with its event."""
    size, slot = family.size[block], family.slot[block]
    event = np.repeat(event, size)
    clause = entries(slot, size)
    width = 2 * len(family.columns)
    code = clause + np.repeat(slot * (width - 1), size)
    step = np.repeat(family.slot[block + 1] - slot, size)
    for column in range(len(family.columns)):
        held = family.codes[code] <= low[event, column]
        held &= family.codes[code + step] >= high[event, column]
        event, clause, code, step = event[held], clause[held], code[held], step[held]
        code += 2 * step
    return event, family.first_slot + clause
