"""The arrays inside an image (``layout/image.py``), taken out one by one.

A tuple of all of them would be counted and copied wherever it goes, which the compiler spends most
of its time on and then finds to be needless.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from predicast.matching.columnar.kernels.compiling import kernel
from predicast.matching.columnar.layout.image import SegmentArrays

# Which is which; the compiler takes them for the numbers that they are.
AT: Final[Any] = SegmentArrays._make(range(len(SegmentArrays._fields)))


@kernel
def bytes_of(image: Any, field: int) -> Any:
    """An array of uint8."""
    data, directory = image
    return data[directory[2 * field] : directory[2 * field + 1]]


@kernel
def ints_of(image: Any, field: int) -> Any:
    """An array of int32."""
    return bytes_of(image, field).view(np.int32)


@kernel
def longs_of(image: Any, field: int) -> Any:
    """An array of int64."""
    return bytes_of(image, field).view(np.int64)


@kernel
def zones_of(image: Any) -> Any:
    """The one array of uint32."""
    return bytes_of(image, AT.zones).view(np.uint32)


@kernel
def of_family(values: Any, first: Any, family: int) -> Any:
    """The part of an array that belongs to a family, whose parts begin at ``first``."""
    return values[first[family] : first[family + 1]]
