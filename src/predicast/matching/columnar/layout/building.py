"""Cutting partitions into blocks, and writing those; laid out in ``blocks.py``.

Whole columns at a time, in NumPy: other threads can match meanwhile, and nothing is compiled.
"""

from __future__ import annotations

import numpy as np

from predicast.arrays import Array, offsets
from predicast.matching.columnar.layout.image import SegmentArrays
from predicast.matching.columnar.reserved import LANES


def split_blocks(columns: Array, starts: Array, block: int, order: Array) -> tuple[Array, Array]:
    """Cut partitions into blocks by median splits over one column after the other.

    Partitions are order[starts[0]:starts[1]] and so on, and are arranged anew. Returns where each
    block ends, and how many blocks each partition has.
    """
    blocks = np.ones(len(starts) - 1, np.int64)
    cuts: list[int] = []
    for partition in np.flatnonzero(np.diff(starts) > block).tolist():
        inside = _split(columns, order, int(starts[partition]), int(starts[partition + 1]), block)
        blocks[partition] += len(inside)
        cuts += inside
    ends = starts[1:]
    return (np.sort(np.append(ends, cuts)) if cuts else ends), blocks


def _split(columns: Array, order: Array, begin: int, end: int, block: int) -> list[int]:
    """Arrange one partition; where it is cut, in no order."""
    cuts = []
    parts = [(begin, end, 0)]
    while parts:
        begin, end, depth = parts.pop()
        size = end - begin
        if size <= block:
            continue
        half = _padded(size // 2)  # leaves no slot of the first empty
        if half >= size:
            half = size // 2
        if len(columns):
            here = order[begin:end]
            here[:] = here[np.argpartition(columns[depth % len(columns)][here], half)]
        middle = begin + half
        cuts.append(middle)
        parts += [(begin, middle, depth + 1), (middle, end, depth + 1)]
    return cuts


def _padded(slots: int) -> int:
    """So many slots, up to the next multiple of the lanes."""
    return -(-slots // LANES) * LANES


def block_slots(sizes: Array) -> Array:
    """Where each block of a family begins, from 0, and the end of all.

    A large block begins at a multiple of the lanes. What follows it, up to the next large one,
    stands side by side, so its room depends on nothing before it.
    """
    group = np.cumsum(sizes >= LANES)
    starts = offsets(np.bincount(group, sizes).astype(np.int64))
    padded = offsets(-(np.diff(starts) // -LANES) * LANES)
    slots = np.empty(len(sizes) + 1, np.int64)
    slots[:-1] = (padded - starts)[group] + offsets(sizes)[:-1]
    # There is something to load behind the smallest block.
    slots[-1] = _padded(int(slots[-2]) + max(int(sizes[-1]), LANES))
    return slots


def fill_blocks(
    columns: Array, order: Array, ends: Array, slots: Array, codes: Array, zones: Array
) -> None:
    """Write the codes of each block, column after column, and its zones.

    ``columns`` are lower and upper codes in turn; ``slots`` says where each block begins, from 0.
    """
    if not len(columns):
        return
    starts = np.append(0, ends[:-1])
    sizes = ends - starts
    place = np.arange(len(order)) + np.repeat(slots[:-1] * len(columns) - starts, sizes)
    padded = np.repeat(np.diff(slots), sizes)
    by_column = zones.reshape(len(ends), len(columns), 2)
    for column, all_codes in enumerate(columns):
        here = all_codes[order]
        codes[place] = here
        place += padded
        by_column[:, column, 0] = np.minimum.reduceat(here, starts)
        by_column[:, column, 1] = np.maximum.reduceat(here, starts)


def read_blocks(arrays: SegmentArrays, family: int, lo: Array, hi: Array) -> None:
    """The codes of a family, a row per slot and a column per axis."""
    columns, width = 2 * lo.shape[1], int(arrays.width[family])
    begin, end = arrays.block_first[arrays.partition_first[family : family + 2]]
    slots = arrays.block_slot[begin : end + 1] - arrays.slot_first[family]
    codes = arrays.codes[arrays.code_first[family] : arrays.code_first[family + 1]]
    codes = codes.view(f"u{width}")
    padded = np.diff(slots)
    place = np.arange(slots[-1]) + np.repeat(slots[:-1] * (columns - 1), padded)
    step = np.repeat(padded, padded)
    for column in range(columns):
        (hi if column % 2 else lo)[:, column // 2] = codes[place]
        place += step
