"""Which literals occur in words, and which tests then hold, as ``kernels/patterns.py`` finds them.

The places where a literal may begin are found for many words at once; what begins there, and the
pieces of a pattern, are compared one by one.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.matching.columnar.patterns.index_arrays import (
    LONGEST,
    Found,
    Literals,
    Plans,
    Texts,
    first_slots,
)
from predicast.matching.columnar.reserved import ASK, FREE

_WINDOW: Final = 8  # bytes
_BYTES: Final = 1 << 12  # of words that are looked at in one call: better loops may be ready then


def find_tests(
    literals: Literals, plans: Plans, texts: Texts, seen: Array, found: Found, first_word: int
) -> tuple[int, int]:
    """Report the tests of every literal that occurs in each word, each literal once per word.

    Returns the number of tests written and the word to go on with.
    """
    first = texts.first
    end_word = int(np.searchsorted(first, first[first_word] + _BYTES, "right")) - 1
    end_word = max(end_word, first_word + 1)
    places, buckets = _buckets(literals, texts, first_word, end_word)
    words = np.searchsorted(first, places, "right") - 1
    search = _Search.of(literals, plans, texts, first_word, end_word)
    count, last = 0, -1
    for place, bucket, word in zip(places.tolist(), buckets.tolist(), words.tolist(), strict=True):
        if word != last:
            if count > 0 and count + len(literals.use_test) > len(found.tests):
                return count, word
            last = word
        literal = search.longest(bucket, place, word)
        while literal >= 0 and seen[literal] != word:
            seen[literal] = word
            for use in range(*literals.use_first[literal : literal + 2].tolist()):
                plan = int(literals.use_plan[use])
                if plan < 0 or search.holds(plan, word):
                    found.words[count] = word
                    found.tests[count] = literals.use_test[use]
                    found.sure[count] = plan != ASK
                    count += 1
            literal = int(literals.parent[literal])
    return count, end_word


def _buckets(
    literals: Literals, texts: Texts, first_word: int, end_word: int
) -> tuple[Array, Array]:
    """The places of words at which a literal may begin, and the bucket that it would be in."""
    begin, stop = texts.first[[first_word, end_word]].tolist()
    sizes = np.diff(texts.first[first_word : end_word + 1])
    left = np.repeat(texts.first[first_word + 1 : end_word + 1], sizes) - np.arange(begin, stop)
    window = np.zeros(stop - begin, np.uint64)
    for step in range(_WINDOW):
        window = (window << np.uint64(8)) | texts.text[begin + step : stop + step].astype(np.uint64)
    bucket = np.full(stop - begin, FREE, np.int64)
    for table, width in enumerate(literals.widths):  # the widest first, as in the compiled loop
        places = np.flatnonzero((bucket == FREE) & (width <= left))
        slots = slice(*literals.table_first[table : table + 2])
        keys = window[places] >> literals.shifts[table]
        bucket[places] = _looked_up(literals.slot_keys[slots], literals.slot_buckets[slots], keys)
    places = np.flatnonzero(bucket != FREE)
    return begin + places, bucket[places]


def _looked_up(slot_keys: Array, slot_buckets: Array, keys: Array) -> Array:
    """The buckets of keys in a table, ``FREE`` for those that are not there."""
    last = len(slot_keys) - 1
    slots = first_slots(keys, last)
    while (goes_on := (slot_buckets[slots] != FREE) & (slot_keys[slots] != keys)).any():
        slots[goes_on] = (slots[goes_on] + 1) & last
    buckets: Array = slot_buckets[slots]
    return buckets


class _Search(NamedTuple):
    """What is compared one by one, in bytes as Python compares them fastest."""

    literals: Literals
    plans: Plans
    text: bytes  # of some words
    first: list[int]  # where each of them begins
    first_word: int
    begin: int  # where the first of them begins

    @classmethod
    def of(
        cls, literals: Literals, plans: Plans, texts: Texts, first_word: int, end_word: int
    ) -> _Search:
        """For some words."""
        first = texts.first[first_word : end_word + 1]
        begin = int(first[0])
        text = texts.text[begin : first[-1]].tobytes()
        return cls(literals, plans, text, (first - begin).tolist(), first_word, begin)

    def literal(self, number: int) -> bytes:
        begin, end = self.literals.first[number : number + 2]
        return self.literals.text[begin:end].tobytes()

    def longest(self, bucket: int, place: int, word: int) -> int:
        """The longest literal of a bucket, or on the path of one, that begins there; or -1."""
        end = self.first[word - self.first_word + 1]
        place -= self.begin
        low, high = self.literals.bucket_first[bucket : bucket + 2].tolist()
        rest = self.text[place : min(place + LONGEST, end)]
        after = bisect_right(range(high), rest, low, high, key=self.literal)
        number = max(after - 1, int(low))
        while number >= 0 and not rest.startswith(self.literal(number)):
            number = int(self.literals.parent[number])
        return number

    def holds(self, plan: int, word: int) -> bool:
        """Whether the pieces of a plan occur in order in a word, bound to its ends as said."""
        plans = self.plans
        begin, end = self.first[word - self.first_word : word - self.first_word + 2]
        bounds = plans.piece_first[plans.first[plan] : plans.first[plan + 1] + 1].tolist()
        pieces = [plans.text[a:b].tobytes() for a, b in pairwise(bounds)]
        if plans.at_start[plan]:
            piece = pieces.pop(0)
            if not self.text.startswith(piece, begin, end):
                return False
            begin += len(piece)
        if plans.at_end[plan]:
            if not pieces:  # the same piece is bound at both ends
                return bool(begin == end)
            piece = pieces.pop()
            if not self.text.endswith(piece, begin, end):
                return False
            end -= len(piece)
        for piece in pieces:
            begin = self.text.find(piece, begin, end)
            if begin < 0:
                return False
            begin += len(piece)
        return True
