"""The arrays inside an image (``layout/image.py``), taken out one by one.

A tuple of all of them would be counted and copied wherever it goes, which the compiler spends most
of its time on and then finds to be needless.
"""

from __future__ import annotations

from typing import Any, Final

from numba import types

from predicast.matching.columnar.kernels.compiling import kernel
from predicast.matching.columnar.kernels.raw_arrays import stretch, within_bytes
from predicast.matching.columnar.layout.image import SegmentArrays

# Which is which; the compiler takes them for the numbers that they are.
AT: Final[Any] = SegmentArrays._make(range(len(SegmentArrays._fields)))


_bytes: Final = within_bytes(types.uint8)
_ints: Final = within_bytes(types.int32)
_longs: Final = within_bytes(types.int64)
_unsigned: Final = within_bytes(types.uint32)
_unsigned_longs: Final = within_bytes(types.uint64)


@kernel
def bytes_of(image: Any, field: int) -> Any:
    """An array of uint8."""
    data, directory = image
    return _bytes(data, directory[2 * field], directory[2 * field + 1])


@kernel
def ints_of(image: Any, field: int) -> Any:
    """An array of int32."""
    data, directory = image
    return _ints(data, directory[2 * field], directory[2 * field + 1])


@kernel
def longs_of(image: Any, field: int) -> Any:
    """An array of int64."""
    data, directory = image
    return _longs(data, directory[2 * field], directory[2 * field + 1])


@kernel
def unsigned_of(image: Any, field: int) -> Any:
    """An array of uint32."""
    data, directory = image
    return _unsigned(data, directory[2 * field], directory[2 * field + 1])


@kernel
def unsigned_longs_of(image: Any, field: int) -> Any:
    """An array of uint64."""
    data, directory = image
    return _unsigned_longs(data, directory[2 * field], directory[2 * field + 1])


@kernel
def of_family(values: Any, first: Any, family: int) -> Any:
    """The part of an array that belongs to a family, whose parts begin at ``first``."""
    return stretch(values, first[family], first[family + 1])
