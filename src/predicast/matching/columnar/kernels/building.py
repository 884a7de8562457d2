"""Compiled loops that build blocks: other threads can match while one of them runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from predicast.matching.columnar.kernels.compiling import kernel
from predicast.matching.columnar.kernels.simd import LANES


@kernel
def _select(values: Any, order: Any, begin: int, end: int, middle: int) -> None:
    """Arrange order[begin:end] so that no value before ``middle`` exceeds one from there on."""
    while end - begin > 1:
        a, b, c = values[order[begin]], values[order[(begin + end) // 2]], values[order[end - 1]]
        pivot = max(min(a, b), min(max(a, b), c))
        less, place, more = begin, begin, end
        while place < more:  # [less | equal | not looked at | more]
            value = values[order[place]]
            if value < pivot:
                order[place], order[less] = order[less], order[place]
                less += 1
                place += 1
            elif value > pivot:
                more -= 1
                order[place], order[more] = order[more], order[place]
            else:
                place += 1
        if middle < less:
            end = less
        elif middle >= more:
            begin = more
        else:
            return


@kernel
def split_blocks(columns: Any, starts: Any, block: int, order: Any) -> Any:
    """Cut partitions into blocks by median splits over one column after the other.

    Partitions are order[starts[0]:starts[1]] and so on. Returns where each block ends, and how many
    blocks each partition has.
    """
    stack = np.empty((64, 3), np.int64)
    ends, blocks = np.empty(len(order), np.int64), np.zeros(len(starts) - 1, np.int64)
    count = 0
    for partition in range(len(starts) - 1):
        before = count
        stack[0, 0], stack[0, 1], stack[0, 2] = starts[partition], starts[partition + 1], 0
        height = 1
        while height:
            height -= 1
            begin, finish, depth = stack[height]
            size = finish - begin
            if size <= block:
                ends[count] = finish
                count += 1
                continue
            half = (size // 2 + LANES - 1) // LANES * LANES  # leaves no slot of the first empty
            if half >= size:
                half = size // 2
            half += begin
            if len(columns):
                _select(columns[depth % len(columns)], order, begin, finish, half)
            stack[height, 0], stack[height, 1], stack[height, 2] = half, finish, depth + 1
            height += 1
            stack[height, 0], stack[height, 1], stack[height, 2] = begin, half, depth + 1
            height += 1
        blocks[partition] = count - before
    return ends[:count], blocks


@kernel
def block_slots(sizes: Any) -> Any:
    """Where each block of a family begins, from 0, and the end of all; drawn in ``blocks.py``."""
    slots = np.zeros(len(sizes) + 1, np.int64)
    place = 0
    for block in range(len(sizes)):
        if sizes[block] >= LANES:
            place = (place + LANES - 1) // LANES * LANES
        slots[block] = place
        place += sizes[block]
    last = slots[len(sizes) - 1] + LANES  # there is something to load behind the smallest block
    slots[len(sizes)] = (max(place, last) + LANES - 1) // LANES * LANES
    return slots


@kernel
def fill_blocks(columns: Any, order: Any, ends: Any, slots: Any, codes: Any, zones: Any) -> None:
    """Write the codes of each block, column after column, and its zones.

    ``columns`` are lower and upper codes in turn; ``slots`` says where each block begins, from 0.
    """
    first = 0
    axes = len(columns) // 2
    for block in range(len(ends)):
        size = ends[block] - first
        padded = slots[block + 1] - slots[block]
        base = slots[block] * len(columns)
        for column in range(len(columns)):
            least, greatest = columns[column, order[first]], columns[column, order[first]]
            for place in range(size):
                code = columns[column, order[first + place]]
                least, greatest = min(least, code), max(greatest, code)
                codes[base + column * padded + place] = code
            zone = (block * axes + column // 2) * 4 + column % 2 * 2
            zones[zone], zones[zone + 1] = least, greatest
        first = ends[block]
