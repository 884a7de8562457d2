"""Coding strings by their bytes, as ``kernels/words.py`` does."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from predicast.arrays import Array, Words, windows
from predicast.matching.columnar.compile.word_table import NUMBER, hashes
from predicast.matching.columnar.reserved import NO_WORD, UNREACHABLE


def code_words(
    first: Array, cuts: Array, keys: Array, word_first: Array, raw: Array, codes: Array
) -> None:
    """How many of the sorted cuts are at or before each word."""
    own = windows(raw, word_first[:-1], word_first[1:])
    low, high = np.searchsorted(keys, own, "left"), np.searchsorted(keys, own, "right")
    for word in np.flatnonzero(low < high).tolist():
        text = raw[word_first[word] : word_first[word + 1]].tobytes()
        low[word] = bisect_right(
            range(high[word]), text, int(low[word]), key=lambda cut: _cut(first, cuts, cut)
        )
    codes[:] = low


def _cut(first: Array, cuts: Array, number: int) -> bytes:
    return cuts[first[number] : first[number + 1]].tobytes()


def code_whole_words(
    first: Array,
    cuts: Array,
    slots: Array,
    farthest: int,
    uppers: Array,
    word_first: Array,
    raw: Array,
    low: Array,
    high: Array,
) -> None:
    """The codes of words on an axis of whole words only, which others say nothing of."""
    low[:], high[:] = 0, UNREACHABLE
    hashed = hashes(Words(word_first, raw))
    for step in range(farthest + 1):
        held = slots[(hashed + np.uint64(step)) & np.uint64(len(slots) - 1)]
        alike = (held != NO_WORD) & ((held ^ hashed) & ~NUMBER == 0)
        for word in np.flatnonzero(alike & (low == 0)).tolist():
            number = int(held[word] & NUMBER)
            text = raw[word_first[word] : word_first[word + 1]].tobytes()
            if _cut(first, cuts, number) == text:
                low[word], high[word] = number + 1, uppers[number]


def code_event_words(
    first: Array,
    cuts: Array,
    keys: Array,
    slots: Array,
    uppers: Array,
    axes: Array,
    spots: Array,
    raw: Array,
    low: Array,
    high: Array,
) -> None:
    """Code the strings of one event on the axes of a pool (``text_axes.py``)."""
    for row in axes.tolist():
        axis, attribute, *ends, begin, end, farthest = row
        place = spots[2 * attribute : 2 * attribute + 2].tolist()
        if place[0] < 0:
            continue
        word = Words.of_bytes([raw[slice(*place)].tobytes()])
        if end > begin:
            here = slice(ends[0], ends[0] + ends[1])
            own = first[ends[0] : ends[0] + ends[1] + 1]
            found = slots[begin:end], farthest, uppers[here]
            codes = low[0, axis : axis + 1], high[0, axis : axis + 1]
            code_whole_words(own, cuts, *found, word.first, word.raw, *codes)
            continue
        for base, count, codes in ((*ends[:2], low), (*ends[2:], high)):
            own = first[base : base + count + 1]
            into = codes[0, axis : axis + 1]
            code_words(own, cuts, keys[base : base + count], word.first, word.raw, into)
