"""Coding strings by their bytes: how many cuts lie before each word, compiled by numba.

Words are bytes and where each begins (``arrays/words.py``). A word is told from the cuts of an axis
by a search among their first eight bytes, taken as numbers, and from those that begin alike by all
of their bytes; or, on an axis on which only whole words are asked for, by a hash
(``compile/word_table.py``). Whether a batch or one event is coded, these are the loops.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from predicast.matching.columnar.compile.word_table import (
    FOLD,
    LAST_FOLD,
    LENGTH_FACTOR,
    NUMBER,
    WINDOW_FACTOR,
)
from predicast.matching.columnar.kernels.buffers import position
from predicast.matching.columnar.kernels.compiling import array, entry, kernel
from predicast.matching.columnar.reserved import NO_WORD, UNREACHABLE

_BYTE: Final = np.uint64(8)
WIDTH: Final = 8  # bytes of a window


@kernel
def window(raw: Any, begin: int, end: int) -> Any:
    """What ``windows`` says of one place."""
    found = np.uint64(0)
    size = min(end - begin, WIDTH)
    for place in range(begin, begin + size):
        found = (found << _BYTE) | np.uint64(raw[place])
    if size <= 0:
        return np.uint64(0)
    return found << np.uint64(8 * (WIDTH - size))


@kernel
def is_at_most(left: Any, at: int, end: int, right: Any, place: int, stop: int) -> bool:
    """Whether left[at:end] is not behind right[place:stop]."""
    most = min(end - at, stop - place)
    for step in range(most):
        one, other = left[at + step], right[place + step]
        if one != other:
            return bool(one < other)
    return bool(end - at <= stop - place)


@kernel
def are_same(left: Any, at: int, end: int, right: Any, place: int, stop: int) -> bool:
    """Whether left[at:end] and right[place:stop] are the same bytes."""
    if end - at != stop - place:
        return False
    for step in range(end - at):  # noqa: SIM110  # all() of a generator does not compile
        if left[at + step] != right[place + step]:
            return False
    return True


@kernel
def cuts_before(
    first: Any, cuts: Any, keys: Any, low: int, high: int, raw: Any, begin: int, end: int
) -> int:
    """How many of the sorted cuts low to high are at or before raw[begin:end]."""
    key, base = window(raw, begin, end), low
    low = position(keys, low, high, key)
    if low == high or keys[low] != key:
        return low - base
    if key != ~np.uint64(0):
        high = position(keys, low, high, key + np.uint64(1))
    while low < high:
        middle = (low + high) // 2
        if is_at_most(cuts, first[middle], first[middle + 1], raw, begin, end):
            low = middle + 1
        else:
            high = middle
    return low - base


@kernel
def hash_of(raw: Any, begin: int, end: int) -> Any:
    """What ``hashes`` says of one word."""
    found = np.uint64(end - begin) * LENGTH_FACTOR
    for place in range(begin, end, WIDTH):
        mixed = found ^ window(raw, place, end)
        mixed = (mixed ^ (mixed >> FOLD)) * WINDOW_FACTOR
        found = mixed ^ (mixed >> FOLD)
    found = (found ^ (found >> LAST_FOLD)) * LENGTH_FACTOR
    return found ^ (found >> FOLD)


@kernel
def word_at(
    first: Any, words: Any, base: int, slots: Any, farthest: int, raw: Any, begin: int, end: int
) -> int:
    """Which of the words in a table raw[begin:end] is, or -1; their numbers count from ``base``."""
    hashed = hash_of(raw, begin, end)
    last = np.uint64(len(slots) - 1)
    for step in range(farthest + 1):
        held = slots[(hashed + np.uint64(step)) & last]
        if held == NO_WORD:
            return -1
        if (held ^ hashed) & ~NUMBER == 0:
            number = np.int64(held & NUMBER)
            place = base + number
            if are_same(words, first[place], first[place + 1], raw, begin, end):
                return number  # type: ignore[return-value]
    return -1


_RAW: Final = array(types.uint8)
_FIRST: Final = array(types.int64)
_KEYS: Final = array(types.uint64)
_CODES: Final = array(types.int32, written=True)


@entry((_FIRST, _RAW, _KEYS, _FIRST, _RAW, _CODES))
def code_words(first: Any, cuts: Any, keys: Any, word_first: Any, raw: Any, codes: Any) -> None:
    """How many of the sorted cuts are at or before each word."""
    for word in range(len(word_first) - 1):
        begin, end = word_first[word], word_first[word + 1]
        codes[word] = cuts_before(first, cuts, keys, 0, len(keys), raw, begin, end)


@entry((_FIRST, _RAW, _KEYS, types.int64, array(types.int32), _FIRST, _RAW, _CODES, _CODES))
def code_whole_words(
    first: Any,
    cuts: Any,
    slots: Any,
    farthest: int,
    uppers: Any,
    word_first: Any,
    raw: Any,
    low: Any,
    high: Any,
) -> None:
    """The codes of words on an axis of whole words only, which others say nothing of."""
    for word in range(len(word_first) - 1):
        begin, end = word_first[word], word_first[word + 1]
        found = word_at(first, cuts, 0, slots, farthest, raw, begin, end)
        low[word] = found + 1
        high[word] = uppers[found] if found >= 0 else UNREACHABLE


@entry(
    (
        _FIRST,
        _RAW,
        _KEYS,
        _KEYS,
        array(types.int32),
        array(types.int64, 2),
        _FIRST,
        array(types.uint8, written=True),
        array(types.int32, 2, written=True),
        array(types.int32, 2, written=True),
    ),
    nogil=False,
)
def code_event_words(
    first: Any,
    cuts: Any,
    keys: Any,
    slots: Any,
    uppers: Any,
    axes: Any,
    spots: Any,
    raw: Any,
    low: Any,
    high: Any,
) -> None:
    """Code the strings of one event on the axes of a pool (``text_axes.py``).

    ``spots`` are where the string of each attribute begins and ends, -1 if it has none.
    """
    for row in range(len(axes)):
        axis, attribute = axes[row, 0], axes[row, 1]
        begin, end = spots[2 * attribute], spots[2 * attribute + 1]
        if begin < 0:
            continue
        base, count = axes[row, 2], axes[row, 3]
        if axes[row, 7] > axes[row, 6]:
            table = slots[axes[row, 6] : axes[row, 7]]
            found = word_at(first, cuts, base, table, axes[row, 8], raw, begin, end)
            low[0, axis] = found + 1
            high[0, axis] = uppers[base + found] if found >= 0 else UNREACHABLE
            continue
        low[0, axis] = cuts_before(first, cuts, keys, base, base + count, raw, begin, end)
        base, count = axes[row, 4], axes[row, 5]
        high[0, axis] = cuts_before(first, cuts, keys, base, base + count, raw, begin, end)
