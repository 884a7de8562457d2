"""The image of a segment: all of its arrays in one, so that a file can be one and be shared.

::

    data        [ access_first | access_axis | ... | codes | ... ]   bytes, each array aligned
    directory   [ begin, end,    begin, end,   ...              ]   int64, in the fields' order

An image is built in memory or mapped from a file; what reads it cannot tell. Only keys are ever
written to (when a clause is marked as deleted), so a mapped file's pages stay shared but for those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.arrays import Array

_ALIGNMENT: Final = 64


class SegmentArrays(NamedTuple):
    """The arrays of a segment. ``_first`` arrays say where the entries of each thing begin."""

    # Families: clauses that test the same axes. See blocks.py.
    access_first: Array
    access_axis: Array
    access_radix: Array  # one more than the largest code of a partition on the axis
    column_first: Array
    column_axis: Array
    column_is_point: Array
    partition_first: Array
    lookup_first: Array
    lookup: Array  # first partition by code on the first access axis; empty if too sparse
    width: Array  # bytes of a code: 1, 2 or 4
    code_first: Array
    slot_first: Array
    zone_first: Array
    access_span_first: Array
    # Partitions, family after family.
    partition_key: Array  # mixed codes, ascending within a family
    access_lo: Array
    access_hi: Array
    block_first: Array
    # Blocks, partition after partition.
    block_slot: Array  # first slot; how far they reach is drawn in blocks.py
    block_size: Array  # clauses
    zones: Array
    codes: Array
    # Rows: clauses tested one by one. See rows.py.
    row_test_first: Array
    row_tried: Array  # how many of its tests are tried: not those that reaching it has decided
    test_axis: Array
    test_span_first: Array
    span_lo: Array
    span_hi: Array
    test_flags: Array  # IS_POINT, OF_PROGRAM
    row_other_first: Array
    row_other: Array
    row_step_first: Array  # programs: see compile/programs.py
    step_atom: Array
    step_then: Array
    step_otherwise: Array
    sign_row: Array
    sign: Array
    sign_atom: Array
    # How events reach rows.
    point_first: Array
    point_lo: Array
    point_hi: Array
    point_row: Array
    bucket_first: Array  # of the points of each axis, that codes are looked up by: see rows.py
    bucket: Array
    bucket_shift: Array
    from_first: Array
    from_lo: Array
    from_row: Array
    up_to_first: Array
    up_to_hi: Array
    up_to_row: Array
    pattern_first: Array
    pattern_row: Array
    other_inverted: Array
    anyway: Array
    # The keys of all slots, then of all rows; a deleted key is its complement.
    keys: Array
    by_key: Array  # places in keys, ascending by key


# The type of each, in the same order and the same groups.
_CODES: Final = """
    i4 i4 i8 i4 i4 u1 i4 i8 i4 u1 i8 i8 i8 i8
    i8 i4 i4 i4
    i8 i4 u4 u1
    i8 i4 i4 i8 i4 i4 u1 i8 i4 i4 i4 i4 i4 i4 i4 i4
    i8 i4 i4 i4 i8 i4 u1 i8 i4 i4 i8 i4 i4 i8 i4 u1 i4
    i4 i4
"""
DTYPES: Final = SegmentArrays(*map(np.dtype, _CODES.split()))  # type: ignore[arg-type]


class Image(NamedTuple):
    """The bytes of all arrays, and where each begins and ends."""

    data: npt.NDArray[np.uint8]
    directory: npt.NDArray[np.int64]

    def arrays(self) -> SegmentArrays:
        """The arrays inside; kernels take them out by themselves (``kernels/images.py``)."""
        ends = self.directory.reshape(-1, 2)
        views = [self.data[b:e].view(t) for (b, e), t in zip(ends, DTYPES, strict=True)]
        return SegmentArrays(*views)


def packed(arrays: Mapping[str, Array]) -> Image:
    """The image of arrays by name."""
    directory = np.zeros(2 * len(SegmentArrays._fields), np.int64)
    end = 0
    for place, name in enumerate(SegmentArrays._fields):
        begin = -(-end // _ALIGNMENT) * _ALIGNMENT
        end = begin + len(arrays[name]) * getattr(DTYPES, name).itemsize
        directory[2 * place : 2 * place + 2] = begin, end
    data = np.zeros(-(-end // _ALIGNMENT) * _ALIGNMENT, np.uint8)
    for place, (name, dtype) in enumerate(zip(SegmentArrays._fields, DTYPES, strict=True)):
        begin, end = directory[2 * place : 2 * place + 2]
        data[begin:end].view(dtype)[:] = arrays[name]
    return Image(data, directory)
