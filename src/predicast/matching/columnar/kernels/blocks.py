"""Families: which partition an event opens, and the blocks in it. Laid out in ``blocks.py``."""

# ruff: noqa: SIM110  # any() and all() over generators are not compiled

from __future__ import annotations

from typing import Any, Final

import numpy as np

from predicast.matching.columnar.kernels.buffers import position, with_room, with_run
from predicast.matching.columnar.kernels.compiling import kernel
from predicast.matching.columnar.kernels.images import (
    AT,
    bytes_of,
    ints_of,
    longs_of,
    of_family,
    unsigned_of,
)
from predicast.matching.columnar.kernels.simd import (
    count_bits,
    put_keys,
    span_mask_8,
    span_mask_16,
    span_mask_32,
)
from predicast.matching.columnar.reserved import LANES, UNREACHABLE

_GROUP: Final = 1 << 18  # bytes of codes that many events visit before the next ones: half a cache
_ALL: Final = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_ONE: Final = np.uint64(1)


@kernel
def _says_all(axes: Any, column: Any, codes: Any, event: int) -> bool:
    """Whether the event says something that can hold of every one of the axes."""
    for place in range(len(axes)):
        if codes[event, column[axes[place]]] == UNREACHABLE:
            return False
    return True


@kernel
def _is_wide(axes: Any, column: Any, wide: Any, event: int) -> bool:
    """Whether the event may open several partitions: an interval, or an absence that passes."""
    for place in range(len(axes)):
        if wide[event, column[axes[place]]]:
            return True
    return False


@kernel
def _opens(axes: Any, access_lo: Any, access_hi: Any, span: int, codes: Any, event: int) -> bool:
    """Whether the event meets the access spans of a partition, which begin at ``span``."""
    low, high, _, column = codes
    for place in range(len(axes)):
        here = column[axes[place]]
        if access_lo[span + place] > low[event, here]:
            return False
        if access_hi[span + place] < high[event, here]:
            return False
    return True


@kernel
def _mixed(axes: Any, radix: Any, column: Any, low: Any, event: int) -> int:
    """One integer for the event's codes on the access axes; -1 if no partition has one of them."""
    mixed = 0
    for place in range(len(axes)):
        code = low[event, column[axes[place]]]
        if code >= radix[place]:
            return -1
        mixed = mixed * radix[place] + code
    return mixed


@kernel
def _partition_at(spans: Any, first: int, stride: int, count: int, least: int) -> int:
    """The first partition with that code or more on the first access axis.

    Equalities ascend in both of their codes, so ``spans`` may be lower or upper ones.
    """
    begin, end = 0, count
    while begin < end:
        middle = (begin + end) // 2
        if spans[first + middle * stride] < least:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def visits_of(image: Any, family: int, codes: Any) -> Any:
    """Which events open which partitions of a family: (partition, event), about by partition."""
    low, high, wide, column = codes
    access_first, column_first = ints_of(image, AT.access_first), ints_of(image, AT.column_first)
    axes = of_family(ints_of(image, AT.access_axis), access_first, family)
    radix = of_family(longs_of(image, AT.access_radix), access_first, family)
    columns = of_family(ints_of(image, AT.column_axis), column_first, family)
    lookup = of_family(ints_of(image, AT.lookup), longs_of(image, AT.lookup_first), family)
    partition_first = ints_of(image, AT.partition_first)
    begin, finish = partition_first[family], partition_first[family + 1]
    partition_key, partitions = longs_of(image, AT.partition_key), finish - begin
    access_lo, access_hi = ints_of(image, AT.access_lo), ints_of(image, AT.access_hi)
    span, stride = longs_of(image, AT.access_span_first)[family], len(axes)
    found = np.empty((low.shape[0], 2), np.int64)
    number = 0
    for event in range(low.shape[0]):
        if not _says_all(axes, column, high, event):
            continue
        if not _says_all(columns, column, high, event):
            continue
        candidate, stop = 0, partitions
        if _is_wide(axes, column, wide, event):
            first = column[axes[0]]
            above, below = int(high[event, first]), int(low[event, first])
            candidate = _partition_at(access_hi, span, stride, partitions, above)
            stop = _partition_at(access_lo, span, stride, partitions, below + 1)
        else:
            mixed = _mixed(axes, radix, column, low, event)
            if mixed < 0:
                continue
            if len(lookup):
                code = low[event, column[axes[0]]]
                candidate, stop = lookup[code], lookup[code + 1]
            candidate = position(partition_key, begin + candidate, begin + stop, mixed) - begin
            if candidate == partitions or partition_key[begin + candidate] != mixed:
                continue
            stop = candidate + 1
        for partition in range(candidate, stop):
            place = span + partition * stride
            if _opens(axes, access_lo, access_hi, place, codes, event):
                if number == len(found):
                    found = _doubled(found)
                found[number, 0], found[number, 1] = partition, event
                number += 1
    if partitions > 1 and number > 1:
        found = _by_partition(found, number, partitions)
    return found[:number]


@kernel
def _by_partition(visits: Any, number: int, partitions: int) -> Any:
    """The same visits, ascending by partition and, within one, as they were.

    Where partitions outnumber visits by far, neighbouring ones are taken for one: a few events
    must not pay for going through all partitions, and neighbours are in the cache together.
    """
    shift = 0
    while partitions >> shift > 2 * number:
        shift += 1
    starts = np.zeros((partitions >> shift) + 2, np.int64)
    for visit in range(number):
        starts[(visits[visit, 0] >> shift) + 1] += 1
    for partition in range(len(starts) - 1):
        starts[partition + 1] += starts[partition]
    ordered = np.empty((number, 2), np.int64)
    for visit in range(number):
        partition = visits[visit, 0]
        place = starts[partition >> shift]
        ordered[place, 0], ordered[place, 1] = partition, visits[visit, 1]
        starts[partition >> shift] += 1
    return ordered


@kernel
def _doubled(visits: Any) -> Any:
    larger = np.empty((2 * len(visits), 2), np.int64)
    for visit in range(len(visits)):
        larger[visit, 0], larger[visit, 1] = visits[visit, 0], visits[visit, 1]
    return larger


@kernel
def _active_columns(zones: Any, zone: int, low: Any, high: Any, active: Any) -> int:
    """The columns in which a block's clauses may differ for the event; -1 if none can hold."""
    actives = 0
    for column in range(len(low)):
        if zones[zone] > low[column] or zones[zone + 3] < high[column]:
            return -1
        if zones[zone + 1] > low[column] or zones[zone + 2] < high[column]:
            active[actives] = column
            actives += 1
        zone += 4
    return actives


@kernel
def _scan_block(  # noqa: PLR0913, PLR0917  # arrays and numbers: a tuple would cost per call
    codes: Any,
    base: int,
    width: int,
    padded: int,
    size: int,
    low: Any,
    high: Any,
    active: Any,
    actives: int,
    held: Any,
    slot: int,
    keys: Any,
    count: int,
    counting: bool,
) -> int:
    """Write the keys of a block's clauses that hold in all active columns; how many there are."""
    for start in range(0, size, LANES):
        mask = _ALL
        if size - start < LANES:
            mask = (_ONE << np.uint64(size - start)) - _ONE
        for place in range(actives):
            column = active[place]
            lo = base + (2 * column * padded + start) * width
            hi = lo + padded * width
            if width == 2:
                mask &= span_mask_16(codes, lo, hi, low[column], high[column])
            elif width == 1:
                mask &= span_mask_8(codes, lo, hi, low[column], high[column])
            else:
                mask &= span_mask_32(codes, lo, hi, low[column], high[column])
        if counting:
            count += count_bits(mask)
            continue
        if mask != 0:
            count = put_keys(held, slot + start, mask, keys, count)
    return count


@kernel
def _event_columns(codes: Any, column: Any, event: int, axes: Any, limit: int, out: Any) -> None:
    """An event's codes on a family's columns, as large as its width can hold: more is the same."""
    for place in range(len(axes)):
        out[place] = min(int(codes[event, column[axes[place]]]), limit)


@kernel
def scan_family(
    image: Any, family: int, codes: Any, visits: Any, out: Any, counting: bool, enough: int
) -> Any:
    """Scan the partitions that events open: ``visits`` as ``visits_of`` gives them."""
    keys, runs, count, number = out
    axes = of_family(ints_of(image, AT.column_axis), ints_of(image, AT.column_first), family)
    columns = len(axes)
    low, high = np.empty(columns, np.int64), np.empty(columns, np.int64)
    active = np.empty(columns, np.int64)
    width = int(bytes_of(image, AT.width)[family])
    limit = (1 << (8 * width)) - 1
    partition_first = ints_of(image, AT.partition_first)
    begin, finish = partition_first[family], partition_first[family + 1]
    block_first = ints_of(image, AT.block_first)[begin : finish + 1]
    first_block = block_first[0]
    zones = of_family(unsigned_of(image, AT.zones), longs_of(image, AT.zone_first), family)
    block_slot, block_size = longs_of(image, AT.block_slot), ints_of(image, AT.block_size)
    column_codes, held = bytes_of(image, AT.codes), ints_of(image, AT.keys)
    slot_bytes = columns * 2 * width
    first_code, first_slot = longs_of(image, AT.code_first), longs_of(image, AT.slot_first)
    origin = first_code[family] - first_slot[family] * slot_bytes
    visit = 0
    while visit < len(visits):
        partition = visits[visit, 0]
        end = visit
        while end < len(visits) and visits[end, 0] == partition:
            end += 1
        block, last = block_first[partition], block_first[partition + 1]
        while block < last:
            stop = block + 1
            while stop < last and (block_slot[stop] - block_slot[block]) * slot_bytes < _GROUP:
                stop += 1
            slots = block_slot[stop] - block_slot[block]
            for place in range(visit, end):
                event = visits[place, 1]
                _event_columns(codes[0], codes[3], event, axes, limit, low)
                _event_columns(codes[1], codes[3], event, axes, limit, high)
                if not counting:
                    keys = with_room(keys, count, slots + LANES)  # put_keys writes vectors
                before = count
                for each in range(block, stop):
                    zone = (each - first_block) * columns * 4
                    actives = _active_columns(zones, zone, low, high, active)
                    if actives < 0:
                        continue
                    slot = block_slot[each]
                    count = _scan_block(
                        column_codes,
                        origin + slot * slot_bytes,
                        width,
                        block_slot[each + 1] - slot,
                        block_size[each],
                        low,
                        high,
                        active,
                        actives,
                        held,
                        slot,
                        keys,
                        count,
                        counting,
                    )
                    if count - before >= enough:
                        break
                if count > before:
                    runs = with_run(runs, number, event, count)
                    number += 1
            block = stop
        visit = end
    return keys, runs, count, number
