"""``WordTable``: which of many different words a string is, in one look.

A table of 2**n slots, at most half full, in which each word stands at the slot that its hash says
or soon behind it::

    slot   [ hash 7a.. word 4 |  free  | hash 13.. word 0 | hash 13.. word 9 | ... ]

Half of the hash stands beside the word's number, so that a string that is none of the words is
hardly ever compared with one. How far behind its slot a word may stand is known, and where it would
be too far there is no table: words that were chosen to collide cost no more than a search.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, Words, windows
from predicast.matching.columnar.reserved import NO_WORD

_FARTHEST: Final = 64  # slots behind the one that a hash says
LENGTH_FACTOR: Final = np.uint64(0x9E37_79B9_7F4A_7C15)  # odd and well mixed, as xxHash has them
WINDOW_FACTOR: Final = np.uint64(0xC2B2_AE3D_27D4_EB4F)
FOLD: Final = np.uint64(32)
LAST_FOLD: Final = np.uint64(29)
NUMBER: Final = np.uint64(0xFFFF_FFFF)  # the half of a slot that is a word's number


class WordTable(NamedTuple):
    """Slots, and how far behind its own a word stands at most."""

    slots: Array
    farthest: int


def hashes(words: Words) -> Array:
    """A number for each word, eight bytes at a time; ``kernels/words.py`` makes the same."""
    begin, end = words.first[:-1], words.first[1:]
    found = (end - begin).astype(np.uint64) * LENGTH_FACTOR
    some = np.arange(len(words))
    step = 0
    while len(some := some[begin[some] + step < end[some]]):
        mixed = found[some] ^ windows(words.raw, begin[some] + step, end[some])
        mixed = (mixed ^ (mixed >> FOLD)) * WINDOW_FACTOR  # of short words the first bytes vary
        found[some] = mixed ^ (mixed >> FOLD)
        step += 8
    found = (found ^ (found >> LAST_FOLD)) * LENGTH_FACTOR
    return np.asarray(found ^ (found >> FOLD))


def word_table(words: Words) -> WordTable | None:
    """The table of different words, or none where too many would stand in one place."""
    hashed = hashes(words)
    size = 1 << max(2 * len(words) - 1, 1).bit_length()
    slots = np.full(size, NO_WORD, np.uint64)
    left = np.arange(len(words))
    place = (hashed & np.uint64(size - 1)).astype(np.int64)
    entries = (hashed & ~NUMBER) | np.arange(len(words), dtype=np.uint64)
    for farthest in range(_FARTHEST):
        # Of those that meet in a free slot one stays, the others go on to the next.
        here = place[left]
        free = slots[here] == NO_WORD
        slots[here[free]] = entries[left[free]]
        left = left[slots[here] != entries[left]]
        if not len(left):
            return WordTable(slots, farthest)
        place[left] = (place[left] + 1) & (size - 1)
    return None
