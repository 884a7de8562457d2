"""Coding strings by their bytes, as ``kernels/words.py`` does."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from predicast.arrays import Array, Words, windows
from predicast.matching.columnar.compile.word_table import NUMBER, hashes
from predicast.matching.columnar.reserved import (
    LIKELY_DIFFERENT,
    NO_WORD,
    OFTEN_DIFFERENT,
    UNREACHABLE,
)


def code_words(
    first: Array, cuts: Array, keys: Array, shared: int, word_first: Array, raw: Array, codes: Array
) -> None:
    """How many of the sorted cuts, which begin with as many shared bytes, are at or before each."""
    own = windows(raw, word_first[:-1] + shared, word_first[1:])
    low, high = np.searchsorted(keys, own, "left"), np.searchsorted(keys, own, "right")
    if shared:  # what begins otherwise is before or behind them all
        begins = [each[:shared] for each in Words(word_first, raw).encoded()]
        common = cuts[first[0] : first[0] + shared].tobytes()
        before = np.array([each < common for each in begins], bool)
        behind = np.array([each > common for each in begins], bool)
        low[before] = high[before] = 0
        low[behind] = high[behind] = len(keys)
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


def number_words(
    raw: Array,
    first: Array,
    columns: Array,
    rows: Array,
    values: Array,
    numbers: Array,
    spots: Array,
    event_word: Array,
) -> Array:
    """Number the words of all columns of strings (``batch_texts.py``): where those of each begin.

    The same word has one number, where the compiled loop may come to give it two.
    """
    word_first = np.zeros(len(columns) + 1, np.int64)
    count = begin = string = 0
    for column, (base, words, strings, numbered) in enumerate(columns.tolist()):
        own = first[begin : begin + words + 1] + base
        places = _numbered(Words(own, raw).encoded(), count, is_numbered=bool(numbered))
        which = np.unique(places, return_index=True)[1]
        count += len(which)
        here = slice(word_first[column], count)
        spots[0::2][here], spots[1::2][here] = own[which], own[which + 1]
        of_strings = slice(string, string + strings)
        numbers[of_strings] = places[values[of_strings]]
        if column < event_word.shape[1]:
            event_word[rows[of_strings], column] = numbers[of_strings]
        word_first[column + 1] = count
        begin, string = begin + words + 1, string + strings
    return word_first


def _numbered(words: list[bytes], count: int, *, is_numbered: bool) -> Array:
    """The numbers of words from ``count`` on; each has its own where they hardly repeat."""
    if is_numbered or len(set(words[:LIKELY_DIFFERENT])) > OFTEN_DIFFERENT:
        return np.arange(count, count + len(words), dtype=np.int32)
    known: dict[bytes, int] = {}
    numbers = (count + known.setdefault(word, len(known)) for word in words)
    return np.fromiter(numbers, np.int32, len(words))


def _codes(pool: Sequence[Array], row: int, words: Words) -> tuple[Array, Array]:
    """The codes of words on an axis of a pool (``text_axes.py``)."""
    first, cuts, keys, slots, uppers, axes = pool
    _, _, *ends, begin, end, farthest, of_lower, of_upper = axes[row].tolist()
    low, high = np.empty(len(words), np.int32), np.empty(len(words), np.int32)
    if end > begin:
        here = slice(ends[0], ends[0] + ends[1])
        own = first[ends[0] : ends[0] + ends[1] + 1]
        found = slots[begin:end], farthest, uppers[here]
        code_whole_words(own, cuts, *found, words.first, words.raw, low, high)
        return low, high
    for base, count, shared, codes in ((*ends[:2], of_lower, low), (*ends[2:], of_upper, high)):
        own = first[base : base + count + 1]
        code_words(own, cuts, keys[base : base + count], shared, words.first, words.raw, codes)
    return low, high


def code_strings(
    pool: tuple[Array, ...],
    said: Array,
    spots: Array,
    raw: Array,
    low: Array,
    high: Array,
    wide: Array,
) -> None:
    """Code the strings of one event on all axes of their attributes."""
    for attribute, axis, row, lower, upper, is_narrow in said.tolist():
        begin, end = spots[2 * attribute : 2 * attribute + 2].tolist()
        if begin < 0:
            continue
        low[0, axis], high[0, axis] = lower, upper
        if row >= 0:
            word = Words.of_bytes([raw[begin:end].tobytes()])
            low[0, axis : axis + 1], high[0, axis : axis + 1] = _codes(pool, row, word)
        if is_narrow:
            wide[0, axis] = False


def code_texts(  # noqa: PLR0913, PLR0917  # as the compiled one
    first: Array,
    cuts: Array,
    keys: Array,
    slots: Array,
    uppers: Array,
    axes: Array,
    said: Array,
    column_of: Array,
    word_first: Array,
    spots: Array,
    raw: Array,
    string_first: Array,
    rows: Array,
    numbers: Array,
    columns: Array,
    low: Array,
    high: Array,
    wide: Array,
) -> None:
    """The same of columns of strings, whose words are numbered (``batch_texts.py``)."""
    pool = first, cuts, keys, slots, uppers, axes
    for attribute, axis, row, lower, upper, is_narrow in said.tolist():
        column = int(column_of[attribute])
        if column < 0:
            continue
        of_strings = slice(*string_first[column : column + 2])
        here, at = rows[of_strings], columns[axis]
        if row < 0:
            low[here, at], high[here, at] = lower, upper
        else:
            begin, end = word_first[column : column + 2].tolist()
            both = spots[2 * begin : 2 * end].reshape(-1, 2).tolist()
            words = Words.of_bytes([raw[a:b].tobytes() for a, b in both])
            which = numbers[of_strings] - begin
            for codes, found in zip((low, high), _codes(pool, row, words), strict=True):
                codes[here, at] = found[which]
        if is_narrow:
            wide[here, at] = False
