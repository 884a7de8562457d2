"""Which literals occur in words, and which tests then hold, as ``kernels/patterns.py`` finds them.

The places where a literal may begin are found for many words at once; what begins there, and the
pieces of a pattern, are compared one by one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np

from predicast.arrays import Array, offsets, windows
from predicast.matching.columnar.patterns.index_arrays import (
    ANYWHERE,
    AT_END,
    AT_START,
    EACH,
    LONGEST,
    NO_BUCKET,
    PARENT,
    PLACES,
    USES,
    WIDTHS,
    IndexArrays,
    IndexImage,
    first_slots,
)
from predicast.matching.columnar.reserved import ASK, WHOLE

_TEST: Final = (1 << 32) - 1  # the low half, of a use or of a bucket

Found = tuple[list[int], list[int]]  # tests that hold, and tests to be asked


def find_tests(
    data: Array,
    directory: Array,
    attributes: int,
    of: Array,
    word_first: Array,
    spots: Array,
    text: Array,
) -> tuple[Array, Array, Array]:
    """The tests that hold for each word of several columns, and what is to be asked."""
    index = IndexImage(data, directory).arrays()
    sizes, tests, asked = [0] * int(word_first[-1]), [], []
    for column, attribute in enumerate(of.tolist()):
        begin, end = word_first[column : column + 2].tolist()
        if attribute >= attributes:
            continue
        both = spots[2 * begin : 2 * end].reshape(-1, 2).tolist()
        search = _Search(index, [text[a:b].tobytes() for a, b in both])
        for word, (held, doubtful) in enumerate(search.words(attribute), begin):
            sizes[word] = len(held)
            tests += held
            asked += [(word << 32) | test for test in doubtful]
    first = offsets(np.array(sizes, np.int64))
    return first, np.array(tests, np.int32), np.array(asked, np.int64)


def find_event_tests(image: IndexImage, spots: Array, text: Array) -> tuple[Array, Array]:
    """The same for the strings of one event.

    ``spots`` are where the string of each attribute begins and ends, and -1 if there is none. What
    is to be asked goes by the number of the attribute. What is true of any string comes with it.
    """
    index = image.arrays()
    attributes = len(index.everywhere_first) - 1
    held: list[Array] = [np.zeros(0, np.int32)]
    doubtful: list[Array] = [np.zeros(0, np.int64)]
    for attribute in range(attributes):
        if spots[2 * attribute] >= 0:
            word = spots[2 * attribute : 2 * attribute + 2]
            one = np.array([attribute]), np.array([0, 1]), word, text
            _, here, more = find_tests(*image, attributes, *one)
            true = index.everywhere[slice(*index.everywhere_first[attribute : attribute + 2])]
            held += [here, true.astype(np.int32)]
            doubtful.append(more | (attribute << 32))
    return np.concatenate(held), np.concatenate(doubtful)


class _Search:
    """What is found in words, in bytes as Python compares them fastest."""

    def __init__(self, index: IndexArrays, words: list[bytes]) -> None:
        self._index = index
        self._each = index.literals.reshape(-1, EACH)
        self._raw = words
        self._ends = np.cumsum([len(word) for word in self._raw], dtype=np.int64)

    def words(self, attribute: int) -> Iterator[Found]:
        """For each word the tests that hold, and those to be asked."""
        buckets: list[list[tuple[int, int, bytes]]] = [[] for _ in self._raw]
        raw = b"".join(self._raw)
        everywhere = np.arange(len(raw)), np.repeat(self._ends, [*map(len, self._raw)])
        self._add(PLACES * attribute + ANYWHERE, raw, *everywhere, buckets)
        begins = self._ends - [len(word) for word in self._raw]
        self._add(PLACES * attribute + AT_START, raw, begins, self._ends, buckets)
        raw = b"".join(word[::-1] for word in self._raw)
        self._add(PLACES * attribute + AT_END, raw, begins, self._ends, buckets)
        for word, found in zip(self._raw, buckets, strict=True):
            yield self._tests(word, found)

    def _add(
        self,
        section: int,
        raw: bytes,
        begins: Array,
        ends: Array,
        buckets: list[list[tuple[int, int, bytes]]],
    ) -> None:
        """Note for each word the buckets that may have what begins at some places, and the rest."""
        count = len(WIDTHS)
        text = np.frombuffer(raw, np.uint8)
        keys = windows(text, begins, ends)
        bucket = np.full(len(begins), NO_BUCKET, np.uint64)
        for number, width in enumerate(WIDTHS):  # the widest first, as in the compiled loop
            first, last = self._index.tables[2 * (count * section + number) :][:2].tolist()
            places = np.flatnonzero((bucket == NO_BUCKET) & (width <= ends - begins))
            if last >= 0 and len(places):
                short = keys[places] >> np.uint64(64 - 8 * width)
                slots = self._index.slots[2 * first : 2 * (first + last + 1)]
                bucket[places] = _looked_up(slots[0::2], slots[1::2], short)
        some = np.flatnonzero(bucket != NO_BUCKET)
        words = np.searchsorted(self._ends, begins[some], "right")
        for word, place, end, which in zip(
            words.tolist(),
            begins[some].tolist(),
            ends[some].tolist(),
            bucket[some].tolist(),
            strict=True,
        ):
            buckets[word].append((which, section, raw[place : min(place + LONGEST, end)]))

    def _tests(self, word: bytes, buckets: list[tuple[int, int, bytes]]) -> Found:
        index, held, asked = self._index, list[int](), list[int]()
        seen: set[int] = set()
        for bucket, _, rest in buckets:
            literal = self._longest(bucket, rest)
            while literal >= 0 and literal not in seen:
                seen.add(literal)
                for use in index.uses[slice(*self._each[literal : literal + 2, USES])].tolist():
                    plan, test = use >> 32, use & _TEST
                    if plan != ASK and not self._holds(plan, literal, word):
                        continue
                    if plan == ASK or (plan >= 0 and index.is_asked[plan]):
                        asked.append(test)
                        test = ~int(index.doubt_test[test])
                    held.append(test)
                literal = int(self._each[literal, PARENT])
        return held, asked

    def _literal(self, number: int) -> bytes:
        begin, end = self._each[number : number + 2, 0]
        return self._index.text[begin:end].tobytes()

    def _longest(self, bucket: int, rest: bytes) -> int:
        """The longest literal of a bucket, or on the path of one, that this begins with; or -1."""
        low, high = bucket >> 32, bucket & _TEST
        after = bisect_right(range(high), rest, low, high, key=self._literal)
        number = max(after - 1, low)
        while number >= 0 and not rest.startswith(self._literal(number)):
            number = int(self._each[number, PARENT])
        return number

    def _holds(self, plan: int, literal: int, word: bytes) -> bool:
        """Whether the pieces of a plan occur in order in a word, bound to its ends as said."""
        index = self._index
        if plan < 0:
            return plan != WHOLE or len(self._literal(literal)) == len(word)
        bounds = index.piece_first[index.plan_first[plan] : index.plan_first[plan + 1] + 1].tolist()
        pieces = [index.plan_text[a:b].tobytes() for a, b in pairwise(bounds)]
        if index.is_folded[plan]:
            word = word.lower()
        begin, end = 0, len(word)
        if index.at_start[plan]:
            piece = pieces.pop(0)
            if not word.startswith(piece):
                return False
            begin = len(piece)
        if index.at_end[plan]:
            if not pieces:  # the same piece is bound at both ends
                return begin == end
            piece = pieces.pop()
            if not word.endswith(piece, begin):
                return False
            end -= len(piece)
        for piece in pieces:
            begin = word.find(piece, begin, end)
            if begin < 0:
                return False
            begin += len(piece)
        return True


def _looked_up(slot_keys: Array, slot_buckets: Array, keys: Array) -> Array:
    """The buckets of keys in a table, 0 for those that are not there."""
    last = len(slot_keys) - 1
    slots = first_slots(keys, last)
    while (goes_on := (slot_buckets[slots] != NO_BUCKET) & (slot_keys[slots] != keys)).any():
        slots[goes_on] = (slots[goes_on] + 1) & last
    buckets: Array = slot_buckets[slots]
    return buckets
