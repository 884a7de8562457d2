"""Coding strings by their bytes: how many cuts lie before each word, compiled by numba.

Words are bytes and where each begins (``arrays/words.py``). A word is told from the cuts of an axis
by a search among eight bytes of each, taken as numbers: those behind what all of them begin with,
such as ``/srv/``. From those that are alike so far it is told by all of their bytes. On an axis on
which only whole words are asked for it is found by a hash (``compile/word_table.py``). Whether a
batch or one event is coded, these are the loops.
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
from predicast.matching.columnar.kernels.simd import eight_at, reversed_bytes
from predicast.matching.columnar.reserved import (
    LIKELY_DIFFERENT,
    NO_WORD,
    OFTEN_DIFFERENT,
    UNREACHABLE,
)

_BYTE: Final = np.uint64(8)
WIDTH: Final = 8  # bytes of a window
_NEAR: Final = 8  # slots behind its own in which a word is looked for among those of a batch


@kernel
def window(raw: Any, begin: int, end: int) -> Any:
    """What ``windows`` says of one place."""
    size = min(end - begin, WIDTH)
    if size <= 0:
        return np.uint64(0)
    behind = np.uint64(8 * (WIDTH - size))  # bits that are those of what comes after the word
    if begin + WIDTH <= len(raw):
        return (reversed_bytes(eight_at(raw, begin)) >> behind) << behind
    found = np.uint64(0)
    for place in range(begin, begin + size):
        found = (found << _BYTE) | np.uint64(raw[place])
    return found << behind


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
    first: Any, cuts: Any, keys: Any, shared: int, low: int, high: int, raw: Any, spot: Any
) -> int:
    """How many of the sorted cuts low to high are at or before raw[begin:end], which is the spot.

    All of them begin with as many bytes as are shared, and the keys are of what comes behind.
    """
    begin, end = spot
    for step in range(shared):
        if begin + step == end or raw[begin + step] < cuts[first[low] + step]:
            return 0
        if raw[begin + step] > cuts[first[low] + step]:
            return high - low
    key, base = window(raw, begin + shared, end), low
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


@entry((_FIRST, _RAW, _KEYS, types.int64, _FIRST, _RAW, _CODES))
def code_words(
    first: Any, cuts: Any, keys: Any, shared: int, word_first: Any, raw: Any, codes: Any
) -> None:
    """How many of the sorted cuts, which begin with as many shared bytes, are at or before each."""
    for word in range(len(word_first) - 1):
        spot = word_first[word], word_first[word + 1]
        codes[word] = cuts_before(first, cuts, keys, shared, 0, len(keys), raw, spot)


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


@kernel
def _number_column(
    raw: Any, first: Any, base: int, numbered: bool, count: int, slots: Any, spots: Any
) -> Any:
    """Number the words of a column from ``count`` on, the same where they are: how many then.

    Not where they hardly repeat, nor if they are ``numbered`` already. A word that would stand
    far from its slot is one of its own, though it may have occurred before.
    """
    places = np.empty(len(first) - 1, np.int32)
    before, looks = count, not numbered
    last = np.uint64(len(slots) - 1)
    for word in range(len(places)):
        begin, end = base + first[word], base + first[word + 1]
        found = np.int64(-1)
        if looks:
            hashed = hash_of(raw, begin, end)
            for step in range(_NEAR):
                slot = (hashed + np.uint64(step)) & last
                held = slots[slot]
                if held == NO_WORD:
                    slots[slot] = (hashed & ~NUMBER) | np.uint64(count)
                    break
                if (held ^ hashed) & ~NUMBER == 0:
                    other = np.int64(held & NUMBER)
                    if are_same(raw, spots[2 * other], spots[2 * other + 1], raw, begin, end):
                        found = other
                        break
        if found < 0:
            spots[2 * count], spots[2 * count + 1] = begin, end
            found = np.int64(count)
            count += 1
        places[word] = found
        if word + 1 == LIKELY_DIFFERENT and count - before > OFTEN_DIFFERENT:
            looks = False
    return places, count


@entry(
    (
        _RAW,
        _FIRST,
        array(types.int64, 2),
        array(types.int64),
        array(types.int32),
        array(types.int32, written=True),
        array(types.int64, written=True),
        array(types.int32, 2, written=True),
    )
)
def number_words(
    raw: Any,
    first: Any,
    columns: Any,
    rows: Any,
    values: Any,
    numbers: Any,
    spots: Any,
    event_word: Any,
) -> Any:
    """Number the words of all columns of strings (``batch_texts.py``): where those of each begin.

    Written are the number of each string, where each word begins and ends, and for as many columns
    as there is room for, which word each event has.
    """
    word_first = np.zeros(len(columns) + 1, np.int64)
    most = 1
    for column in range(len(columns)):
        while most < 2 * columns[column, 1]:
            most *= 2
    every = np.empty(most, np.uint64)
    count = begin = string = 0
    for column in range(len(columns)):
        words, strings, numbered = columns[column, 1], columns[column, 2], columns[column, 3] != 0
        size = 1
        while size < 2 * words:
            size *= 2
        slots = every[: 1 if numbered else size]
        for slot in range(len(slots)):
            slots[slot] = NO_WORD
        own, base = first[begin : begin + words + 1], columns[column, 0]
        places, count = _number_column(raw, own, base, numbered, count, slots, spots)
        for each in range(string, string + strings):
            numbers[each] = places[values[each]]
            if column < event_word.shape[1]:
                event_word[rows[each], column] = numbers[each]
        word_first[column + 1] = count
        begin += words + 1
        string += strings
    return word_first


@kernel
def _codes(
    first: Any, cuts: Any, keys: Any, slots: Any, uppers: Any, axis: Any, raw: Any, spot: Any
) -> Any:
    """The codes of a word on an axis of a pool (``text_axes.py``)."""
    begin, end = spot
    base, count = axis[2], axis[3]
    if axis[7] > axis[6]:
        table = slots[axis[6] : axis[7]]
        found = word_at(first, cuts, base, table, axis[8], raw, begin, end)
        return found + 1, uppers[base + found] if found >= 0 else UNREACHABLE
    low = cuts_before(first, cuts, keys, axis[9], base, base + count, raw, spot)
    base, count = axis[4], axis[5]
    return low, cuts_before(first, cuts, keys, axis[10], base, base + count, raw, spot)


_POOL: Final = (_FIRST, _RAW, _KEYS, _KEYS, array(types.int32), array(types.int64, 2))
_SAID: Final = array(types.int64, 2)
_CODED: Final = (
    *(array(types.int32, 2, written=True), array(types.int32, 2, written=True)),
    array(types.boolean, 2, written=True),
)


@kernel
def code_strings(
    pool: Any, said: Any, spots: Any, raw: Any, low: Any, high: Any, wide: Any
) -> None:
    """Code the strings of one event on all axes of their attributes.

    ``spots`` are where the string of each attribute begins and ends, -1 if it has none. ``said``
    has, for each attribute and axis, the row of the axis in a pool of texts (``text_axes.py``);
    where that is -1, the same codes are written for any string. The last says that it is not wide.
    """
    first, cuts, keys, slots, uppers, axes = pool
    for each in range(len(said)):
        attribute, axis, row = said[each, 0], said[each, 1], said[each, 2]
        spot = spots[2 * attribute], spots[2 * attribute + 1]
        if spot[0] < 0:
            continue
        codes = said[each, 3], said[each, 4]
        if row >= 0:
            codes = _codes(first, cuts, keys, slots, uppers, axes[row], raw, spot)
        low[0, axis], high[0, axis] = codes
        if said[each, 5]:
            wide[0, axis] = False


@entry(
    (
        *(*_POOL, _SAID, _FIRST),
        *(_FIRST, _FIRST, _RAW),
        *(_FIRST, _FIRST, array(types.int32), array(types.int32)),
        *_CODED,
    )
)
def code_texts(  # noqa: PLR0913, PLR0917  # arrays and numbers: a tuple would cost per call
    first: Any,
    cuts: Any,
    keys: Any,
    slots: Any,
    uppers: Any,
    axes: Any,
    said: Any,
    column_of: Any,
    word_first: Any,
    spots: Any,
    raw: Any,
    string_first: Any,
    rows: Any,
    numbers: Any,
    columns: Any,
    low: Any,
    high: Any,
    wide: Any,
) -> None:
    """The same of columns of strings, whose words are numbered (``batch_texts.py``).

    ``column_of`` is that of each attribute, or -1; ``columns`` are those of the codes of each axis.
    """
    found = np.empty((len(spots) // 2, 2), np.int32)
    for each in range(len(said)):
        column, axis, row = column_of[said[each, 0]], columns[said[each, 1]], said[each, 2]
        if column < 0:
            continue
        begin, end = string_first[column], string_first[column + 1]
        if row < 0:
            for string in range(begin, end):
                low[rows[string], axis] = said[each, 3]
                high[rows[string], axis] = said[each, 4]
        else:
            for word in range(word_first[column], word_first[column + 1]):
                spot = spots[2 * word], spots[2 * word + 1]
                codes = _codes(first, cuts, keys, slots, uppers, axes[row], raw, spot)
                found[word, 0], found[word, 1] = codes
            for string in range(begin, end):
                low[rows[string], axis] = found[numbers[string], 0]
                high[rows[string], axis] = found[numbers[string], 1]
        if said[each, 5]:
            for string in range(begin, end):
                wide[rows[string], axis] = False
