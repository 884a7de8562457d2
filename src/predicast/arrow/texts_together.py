"""The texts of many small columns at once.

A batch of a few hundred events may have dozens of columns of text. What ``texts_in_place`` does for
one of them takes NumPy a dozen calls, which cost more than the work; so the columns stand below
one another, as one table of places, and the calls are made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predicast.arrow.values import TEXTS, TextsInPlace

_FEW_ROWS: Final = 1 << 11  # past them a table would leave the near caches
_NO_BYTES: Final = np.zeros(0, np.uint8)


def are_together(arrays: Sequence[pa.Array]) -> bool:
    """Whether arrays may be read together: short ones of texts, side by side in a batch."""
    if len(arrays) < 2 or not 0 < len(arrays[0]) <= _FEW_ROWS:
        return False
    length, offset = len(arrays[0]), arrays[0].offset
    return all(
        len(each) == length and each.offset == offset and each.type.id in TEXTS for each in arrays
    )


def texts_together(arrays: Sequence[pa.Array]) -> list[TextsInPlace | None]:
    """What ``texts_in_place`` says of each of some arrays that are together."""
    columns, length, offset = len(arrays), len(arrays[0]), arrays[0].offset
    here = slice(offset // 8, (offset + length + 7) // 8)
    bits = np.full((columns, here.stop - here.start), 0xFF, np.uint8)
    firsts, raws = list[npt.NDArray[Any]](), list[npt.NDArray[np.uint8]]()
    for column, array in enumerate(arrays):
        valid, first, raw = array.buffers()
        if valid is not None:
            bits[column] = np.frombuffer(valid, np.uint8)[here]
        width = TEXTS[array.type.id]
        firsts.append(np.frombuffer(first, width)[offset : offset + length + 1])
        raws.append(_NO_BYTES if raw is None else np.frombuffer(raw, np.uint8))
    unpacked = np.unpackbits(bits, axis=1, bitorder="little")
    there = np.ascontiguousarray(unpacked[:, offset % 8 : offset % 8 + length])
    every = np.concatenate(firsts).astype(np.int64, copy=False)
    counts = np.count_nonzero(there, axis=1)
    places = np.flatnonzero(there)
    which = np.repeat(np.arange(columns), counts)
    begins, ends = every[places + which], every[places + which + 1]
    rows = places - length * which
    # Where each begins, and where the last of its column ends.
    found = np.empty(len(places) + columns, np.int64)
    found[np.arange(len(places)) + which] = begins
    has_any = counts > 0
    last = np.cumsum(counts)
    found[(last + np.arange(columns))[has_any]] = ends[(last - 1)[has_any]]
    found[(last + np.arange(columns))[~has_any]] = 0
    apart = (begins[1:] != ends[:-1]) & (which[1:] == which[:-1])
    odd = {*which[1:][apart].tolist()}
    texts: list[TextsInPlace | None] = []
    end = 0
    for column, (count, raw) in enumerate(zip(counts.tolist(), raws, strict=True)):
        start, end = end, end + count
        if column in odd:
            texts.append(None)
            continue
        first = found[start + column : end + column + 1]
        texts.append(TextsInPlace(first, raw, None if count == length else rows[start:end]))
    return texts
