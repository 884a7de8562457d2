"""The inner loops of ``pattern_index.py``, compiled by numba: free functions over arrays.

The arrays are those of ``index_arrays.py``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from predicast.matching.columnar.kernels.compiling import array, entry, kernel
from predicast.matching.columnar.patterns.index_arrays import (
    FOLD,
    HALF,
    HIGH_FACTOR,
    LOW_FACTOR,
    LOW_HALF,
    Found,
    Literals,
    Plans,
    Texts,
)
from predicast.matching.columnar.reserved import ASK, FREE

_BYTE: Final = np.uint64(8)


@kernel
def _slot(key: Any, mask: Any) -> Any:
    """What ``first_slots`` says of one key."""
    mixed = (key & LOW_HALF) * LOW_FACTOR ^ (key >> HALF) * HIGH_FACTOR
    mixed ^= mixed >> FOLD
    mixed = (mixed & LOW_HALF) * HIGH_FACTOR
    return np.int64((mixed >> FOLD) & np.uint64(mask))


@kernel
def _common(left: Any, at: int, right: Any, place: int, most: int) -> int:
    """How many bytes, at most ``most``, left[at:] and right[place:] begin with in common."""
    length = 0
    while length < most and left[at + length] == right[place + length]:
        length += 1
    return length


@kernel
def _bucket(slot_keys: Any, slot_buckets: Any, first: int, end: int, key: Any) -> Any:
    """The bucket of the literals that begin with the key, or -1, from slots first to end."""
    mask = end - first - 1
    slot = _slot(key, mask)
    while slot_buckets[first + slot] != FREE and slot_keys[first + slot] != key:
        slot = (slot + 1) & mask
    return slot_buckets[first + slot]


@kernel
def _last_not_after(
    literals: Any, first: Any, low: int, high: int, text: Any, place: int, end: int
) -> int:
    """The last of the sorted literals low to high that is not after text[place:end], or low."""
    while high - low > 1:
        middle = (low + high) // 2
        at = first[middle]
        size = first[middle + 1] - at
        most = min(size, end - place)
        same = _common(literals, at, text, place, most)
        if same == size or (same < most and literals[at + same] < text[place + same]):
            low = middle
        else:
            high = middle
    return low


@kernel
def _find(pool: Any, at: int, size: int, text: Any, place: int, end: int) -> int:
    """Where the piece of the pool first occurs in text[place:end], or -1."""
    while place + size <= end:
        if _common(pool, at, text, place, size) == size:
            return place
        place += 1
    return -1


@kernel
def _in_order(
    pool: Any, pieces: Any, at_start: bool, at_end: bool, text: Any, place: int, end: int
) -> bool:
    """Whether the pieces occur in order in text[place:end], bound to its ends as said.

    ``pieces`` are where each begins and the last ends. Taking each piece where it first occurs
    leaves the most room for the rest.
    """
    piece, last = 0, len(pieces) - 1
    if at_start:
        size = pieces[1] - pieces[0]
        if _find(pool, pieces[0], size, text, place, min(place + size, end)) < 0:
            return False
        place += size
        piece = 1
    if at_end:
        if piece == last:  # the same piece is bound at both ends
            return bool(place == end)
        last -= 1
        size = pieces[last + 1] - pieces[last]
        if size > end - place or _find(pool, pieces[last], size, text, end - size, end) < 0:
            return False
        end -= size
    while piece < last:
        size = pieces[piece + 1] - pieces[piece]
        place = _find(pool, pieces[piece], size, text, place, end)
        if place < 0:
            return False
        place += size
        piece += 1
    return True


@kernel
def _plan_holds(plans: Any, plan: int, text: Any, place: int, end: int) -> bool:
    pieces = plans.piece_first[plans.first[plan] : plans.first[plan + 1] + 1]
    at_start, at_end = plans.at_start[plan], plans.at_end[plan]
    return bool(_in_order(plans.text, pieces, at_start, at_end, text, place, end))


@kernel
def _longest(first: Any, parent: Any, literal: int, same: int) -> int:
    """The longest on the path of parents that has at most ``same`` bytes, or -1."""
    while literal >= 0 and first[literal + 1] - first[literal] > same:
        literal = parent[literal]
    return literal


# Tuples are taken as they are: of arrays that may be written to, but for texts.
_TEXT: Final = array(types.uint8)
_SHORT: Final = array(types.int32, written=True)
_LONG: Final = array(types.int64, written=True)
_WORD: Final = array(types.uint64, written=True)
_FLAG: Final = array(types.boolean, written=True)
_LITERALS: Final = Literals(
    text=_TEXT,
    first=_LONG,
    parent=_SHORT,
    bucket_first=_LONG,
    widths=_LONG,
    shifts=_WORD,
    table_first=_LONG,
    slot_keys=_WORD,
    slot_buckets=_SHORT,
    use_first=_LONG,
    use_test=_SHORT,
    use_plan=_SHORT,
)
_named: Any = types.NamedTuple
_PLANS: Final = Plans(text=_TEXT, piece_first=_LONG, first=_LONG, at_start=_FLAG, at_end=_FLAG)


@entry(
    (
        _named(_LITERALS, Literals),
        _named(_PLANS, Plans),
        _named(Texts(text=_TEXT, first=_LONG), Texts),
        _LONG,
        _named(Found(words=_LONG, tests=_LONG, sure=_FLAG), Found),
        types.int64,
    )
)
def find_tests(
    literals: Any, plans: Any, texts: Any, seen: Any, found: Any, first_word: int
) -> tuple[int, int]:
    """Report the tests of every literal that occurs in each word, each literal once per word.

    ``seen`` holds the last word in which a literal was seen: the literals that begin it were seen
    in the same place. Returns the number of tests written and the word to go on with.
    """
    # The inner loops take arrays one by one: a call that is given all of ``literals`` copies it.
    text, word_first = texts.text, texts.first
    pool, first, parent = literals.text, literals.first, literals.parent
    widths, shifts, table_first = literals.widths, literals.shifts, literals.table_first
    keys, buckets, bucket_first = literals.slot_keys, literals.slot_buckets, literals.bucket_first
    use_first, use_test, use_plan = literals.use_first, literals.use_test, literals.use_plan
    out_words, out_tests, out_sure = found.words, found.tests, found.sure
    count = 0
    for word in range(first_word, len(word_first) - 1):
        if count > 0 and count + len(use_test) > len(out_tests):
            return count, word
        begin, end = word_first[word], word_first[word + 1]
        window = np.uint64(0)
        for place in range(begin, begin + 7):
            window = (window << _BYTE) | np.uint64(text[place])
        for place in range(begin, end):
            window = (window << _BYTE) | np.uint64(text[place + 7])
            bucket = FREE
            for i in range(len(widths)):  # the widest first: what it finds has the others' paths
                if widths[i] <= end - place and bucket == FREE:
                    key = window >> shifts[i]
                    bucket = _bucket(keys, buckets, table_first[i], table_first[i + 1], key)
            if bucket == FREE:
                continue
            low, high = bucket_first[bucket], bucket_first[bucket + 1]
            literal = _last_not_after(pool, first, low, high, text, place, end)
            most = min(first[literal + 1] - first[literal], end - place)
            same = _common(pool, first[literal], text, place, most)
            literal = _longest(first, parent, literal, same)
            while literal >= 0 and seen[literal] != word:
                seen[literal] = word
                for use in range(use_first[literal], use_first[literal + 1]):
                    plan = use_plan[use]
                    if plan < 0 or _plan_holds(plans, plan, text, begin, end):
                        out_words[count] = word
                        out_tests[count] = use_test[use]
                        out_sure[count] = plan != ASK
                        count += 1
                literal = parent[literal]
    return count, len(word_first) - 1
