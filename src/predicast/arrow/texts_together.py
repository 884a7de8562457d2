"""The texts of many small columns at once.

A batch of a few hundred events may have dozens of columns of text. What ``texts_in_place`` does for
one of them takes NumPy a dozen calls, which cost more than the work; so Arrow puts the columns
below one another, which copies their bytes, and the calls are made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predicast.arrow.values import TextsInPlace, are_unicode, texts_in_place

MOST_ROWS_TOGETHER: Final = 1 << 11  # past them a copy would leave the near caches


class TextsTogether(NamedTuple):
    """The texts of columns of one length, one column after the other."""

    texts: TextsInPlace  # whose places are in all columns, below one another
    starts: list[int]  # where the texts of each column begin, and those of the last end
    rows: npt.NDArray[np.int64] | None  # of each text in its column; None: every column is full
    is_ascii: bool


def texts_together(arrays: Sequence[pa.Array]) -> TextsTogether | None:
    """The texts of arrays of one length, all strings or all large strings.

    ``None`` if some array has to be looked at alone: what is null has bytes, a text is not Unicode.
    """
    try:
        below = pa.concat_arrays(arrays)
    except pa.ArrowInvalid:  # more bytes than the layout can count
        return None
    texts = texts_in_place(below)
    if texts is None:
        return None
    is_ascii = int(texts.raw.max(initial=0)) < 0x80
    if not is_ascii and not are_unicode(below):
        return None
    length = len(arrays[0])
    ends = length * np.arange(len(arrays) + 1)
    if texts.places is None:
        return TextsTogether(texts, ends.tolist(), None, is_ascii)
    starts = np.searchsorted(texts.places, ends)
    rows = texts.places - np.repeat(ends[:-1], np.diff(starts))
    return TextsTogether(texts, starts.tolist(), rows, is_ascii)
