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


def _field(item: Any) -> Any:
    """What takes an array of this type out of an image."""
    array_within = within_bytes(item)

    @kernel
    def array_of(image: Any, field: int) -> Any:
        data, directory = image
        return array_within(data, directory[2 * field], directory[2 * field + 1])

    return array_of


bytes_of = _field(types.uint8)
ints_of = _field(types.int32)
longs_of = _field(types.int64)
unsigned_of = _field(types.uint32)
unsigned_longs_of = _field(types.uint64)


@kernel
def of_family(values: Any, first: Any, family: int) -> Any:
    """The part of an array that belongs to a family, whose parts begin at ``first``."""
    return stretch(values, first[family], first[family + 1])
