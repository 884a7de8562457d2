"""Which of many string patterns hold for each of many strings, without trying each on each.

Three ways, by what a pattern requires of a string:

*Literals.* A needle, a prefix, a suffix and a LIKE pattern with a literal piece each require one
literal, the rarest or longest piece. All are bytes of UTF-8: that code synchronises itself (no
character's bytes occur inside or across others'), so a string is part of another exactly if its
bytes are part of the other's bytes. The literals of an attribute form three *sections*: what may be
anywhere in a word, what must be at its start, and what must be at its end, written backwards. In
each they are sorted within classes by how many bytes are sure to be there, and a table leads from
those first bytes to a bucket::

    class  8 or more  "https://" -> https://a   https://a/b   https://c     sorted
           4 to 7     "http"     -> http   https
           2 to 3     "ab"       -> ab   abc
           1          "a"        -> a
    parent  https://a/b -> https://a -> https -> http -> none   the longest literal it begins with
    uses    http -> test 3 at once (contains), test 8 if its pieces are in order, test 9 if asked

At a place of a word one lookup per class, the widest first, finds the bucket; binary search in it
finds the last literal not after the rest of the word, and the path of its parents is every literal
that begins there. The start and the end are one such place each. Anywhere else a *filter* of a
few kilobytes comes first (``index_arrays.py``): at most places it has no bit for the next bytes,
and nothing is looked up. A literal already seen in the word ends the path, for then its parents
were seen too: a place costs the classes, the logarithm of the bucket and *new* literals, however
many lengths there are and however much the literals share. No literal is longer than
``LONGEST`` bytes (of a longer one a window is required, and a candidate is verified in full), so
that a hostile needle costs no more than that per place.

*Regular expressions.* Where the expression plainly requires a literal, or one of a few
(``required_literals.py``), these are looked up in the same way. A word that has them, and all else
that the expression requires in the right order, leaves the test *in doubt*: it is asked only when
some clause depends on nothing else any more (``hits.py``).

*Neither.* ``[0-9]+`` or ``___`` require no literal. Their tests are in doubt of every word. Where a
word has many to ask, they are tried together (``questions.py``).

Cost: some 110 bytes per needle of ordinary length; time linear in the words' bytes plus hits and
candidates. Rejected: the automaton of Aho and Corasick, whose nodes would take some 40 bytes for
each *byte* of needle, and whose every step waits for the one before, while filters are looked
up side by side; looking for the rarest part of each needle instead of its beginning, which is as
quick but has no order to search a crowded bucket by; a rolling hash per length, with a lookup
per place and length; ``re2.Filter``, which loses matches where expressions share many atoms
(``a[ab]{5}[01]`` to ``a[ab]{34}[01]``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, Words, offsets, windows
from predicast.matching.columnar import loops
from predicast.matching.columnar.batch_texts import BatchTexts
from predicast.matching.columnar.layout.question import Counts
from predicast.matching.columnar.patterns.index_arrays import (
    ANYWHERE,
    AT_END,
    EACH,
    FILTERS,
    LONGEST,
    PLACES,
    WIDTHS,
    IndexArrays,
    IndexImage,
    fill_table,
    filters_of,
    find_parents,
    index_image,
)
from predicast.matching.columnar.patterns.needs import Literal, Need, need_of, preference
from predicast.matching.columnar.patterns.questions import Questions
from predicast.matching.columnar.reserved import ASK, SURE, WHOLE
from predicast.model.constraint import Constraint

_LEAST_ROOM: Final = 1 << 8  # for what one event finds
_LOW: Final = (1 << 32) - 1  # the part that is the doubt where a word and a doubt are one number


class Use(NamedTuple):
    """A literal that a test requires, the section that it is in, and how the test is decided."""

    section: int
    literal: bytes
    test: int  # or the doubt, if it is to be asked
    plan: int


class Found(NamedTuple):
    """What may hold for the words of a batch, or of one event."""

    spots: Array  # where each word begins and ends in the bytes
    raw: Array
    first: Array  # where the tests of each word begin
    tests: Array  # those that hold, and ~ of those in doubt; some twice
    asked: Array  # word and doubt in one number, ascending by word; some twice

    def word(self, number: int) -> bytes:
        """The bytes of a word."""
        return self.raw[self.spots[2 * number] : self.spots[2 * number + 1]].tobytes()


class EventRoom(NamedTuple):
    """What a ``Question`` has of an index, and of the tests that hold for one event."""

    patterns: Array
    patterns_directory: Array
    seen: Array
    word: Array
    held: Array
    tests: Array
    columns: Array
    asked: Array
    counts: Array


class PatternIndex:
    """Finds which tests hold for strings: positive patterns on their attributes.

    A test is met by a pattern or by any of several, and is then there as often as they hold.
    """

    def __init__(
        self, patterns: Sequence[Constraint], numbers: Sequence[int] | None = None
    ) -> None:
        """The tests are numbered in order, or as said; several may be ways to meet one test."""
        if numbers is None:
            numbers = range(len(patterns))
        self.attributes = list(dict.fromkeys(each.attribute for each in patterns))
        self._place = {attribute: place for place, attribute in enumerate(self.attributes)}
        self._questions = Questions()
        self._doubts: list[tuple[int, int]] = []  # question and test
        # Of each attribute the questions that are asked of any word for the sake of a test.
        self._of_any: list[dict[int, list[int]]] = [{} for _ in self.attributes]
        self._image = self._compiled(patterns, numbers)
        arrays = self._image.arrays()
        self._literals = len(arrays.literals) // EACH
        self._everywhere = [
            arrays.everywhere[begin:end].astype(np.int32)
            for begin, end in pairwise(arrays.everywhere_first.tolist())
        ]
        # How many tests are in doubt of every word that is looked at.
        self.always_in_doubt = sum(map(len, self._of_any))

    def _compiled(self, patterns: Sequence[Constraint], numbers: Sequence[int]) -> IndexImage:
        uses: list[Use] = []
        plans: list[Need] = []
        needs = [need_of(each) for each in patterns]
        rank = preference(needs)
        always: list[dict[int, None]] = [{} for _ in self.attributes]
        for pattern, number, need in zip(patterns, numbers, needs, strict=True):
            place = self._place[pattern.attribute]
            if need.exact and not need.pieces:
                always[place][number] = None
                continue
            plan = _plan_of(need, len(plans))
            if plan >= 0:
                plans.append(need)
            which = number
            if not need.exact or plan == ASK:
                question = self._questions.add(place, pattern)
                if not need.choices:
                    self._of_any[place].setdefault(number, []).append(question)
                    continue
                which = len(self._doubts)
                self._doubts.append((question, number))
            several = len(need.choices) > 1
            choice = min(need.choices, key=rank) if several else need.choices[0]
            uses += [_use(place, literal, which, plan) for literal in choice]
        everywhere = [
            [*held, *(~test for test in doubtful if test not in held)]
            for held, doubtful in zip(always, self._of_any, strict=True)
        ]
        return _index(uses, plans, everywhere, [test for _, test in self._doubts])

    def place_of(self, attribute: str) -> int:
        """The number of an attribute."""
        return self._place[attribute]

    def everywhere(self, place: int) -> Array:
        """Of any word of an attribute: the tests that hold, and ~ of those in doubt."""
        return self._everywhere[place]

    def search(self, texts: BatchTexts) -> Found:
        """What is found in the words of a batch; what is true of any word comes on top."""
        spots, raw = texts.spots, texts.raw
        columns = len(self.attributes), texts.attributes, texts.word_first
        return Found(spots, raw, *loops.now.find_tests(*self._image, *columns, spots, raw))

    def held(self, found: Found, words: Array, tests: Array, places: Array) -> Array:
        """Which tests in doubt hold for their words, ascending, by what is asked of them.

        ``places`` are the attributes of the tests, by number.
        """
        starts = np.flatnonzero(np.append(True, np.diff(words) != 0)[: len(words)])
        different = words[starts]
        begins = np.searchsorted(found.asked, different << 32).tolist()
        ends = np.searchsorted(found.asked, (different + 1) << 32).tolist()
        numbers, outcome = tests.tolist(), list[bool]()
        for word, place, begin, end, (first, stop) in zip(
            *(different.tolist(), places[starts].tolist(), begins, ends),
            pairwise([*starts.tolist(), len(numbers)]),
            strict=True,
        ):
            doubts = (found.asked[begin:end] & _LOW).tolist()
            here = numbers[first:stop]
            held = self._held(place, doubts, here, found.word(word))
            outcome += [test in held for test in here]
        return np.array(outcome, bool)

    def _held(
        self, attribute: int, doubts: Sequence[int], tests: Sequence[int], word: bytes
    ) -> set[int]:
        """Those of some tests that hold for a word in which literals led to these doubts."""
        for_sake_of: dict[int, list[int]] = {}
        for question, test in map(self._doubts.__getitem__, doubts):
            if test in tests:
                for_sake_of.setdefault(question, []).append(test)
        of_any = self._of_any[attribute]
        for test in tests if of_any else ():
            for question in of_any.get(test, ()):
                for_sake_of.setdefault(question, []).append(test)
        held = self._questions.held(attribute, set(for_sake_of), word)
        return {test for question in held for test in for_sake_of[question]}

    # One event at a time.

    def room(self) -> EventRoom:
        """What the strings of one event are searched with, and room for what is found."""
        searched = bool(self.attributes)
        return EventRoom(
            *self._image,
            seen=np.zeros(searched * (self._literals + 1), np.int32),
            word=np.zeros((1, 1), np.int32),
            held=np.zeros(2, np.int64),
            tests=np.empty(_LEAST_ROOM, np.int32),
            columns=np.zeros(2, np.int64),
            asked=np.empty(_LEAST_ROOM, np.int64),
            counts=np.zeros(len(Counts._fields), np.int64),
        )

    def nbytes(self) -> int:
        """Memory, with a rough price for what RE2 and Python hold."""
        image = self._image.data.nbytes + self._image.directory.nbytes
        return int(image + self._questions.nbytes() + 100 * len(self._doubts))


def _use(attribute: int, literal: Literal, test: int, plan: int) -> Use:
    place, text = literal
    return Use(PLACES * attribute + place, text[::-1] if place == AT_END else text, test, plan)


def _plan_of(need: Need, next_plan: int) -> int:
    """How a test is decided when its literal occurs.

    A piece that is bound to an end is compared there, however long it is. To look for a long one
    anywhere is left to whoever does that in linear time. What is asked has a plan if that says more
    than that its literal occurs.
    """
    pieces = need.pieces
    loose = pieces[need.at_start : len(pieces) - (need.at_end and len(pieces) > need.at_start)]
    if not need.choices or max(map(len, loose), default=0) > LONGEST:
        return ASK
    if not need.exact:
        return next_plan if need.folded or len(pieces) > 1 else ASK
    if len(pieces) == 1 and len(pieces[0]) <= LONGEST:
        return WHOLE if need.at_start and need.at_end else SURE
    return next_plan


def _index(
    uses: Sequence[Use],
    plans: Sequence[Need],
    everywhere: Sequence[Sequence[int]],
    doubt_tests: Sequence[int],
) -> IndexImage:
    """The image of the literals of all uses, and of what is true of any word."""
    attributes = len(everywhere)
    distinct = sorted({(use.section, use.literal) for use in uses})
    sections = np.array([section for section, _ in distinct], np.int64)
    literals = [literal for _, literal in distinct]
    lengths = np.array([len(literal) for literal in literals], np.int64)
    class_of = np.searchsorted(-np.array(WIDTHS), -lengths)
    parents = find_parents(sections.tolist(), literals)
    table_of = len(WIDTHS) * sections + class_of
    order = np.argsort(table_of, kind="stable")
    place = np.empty(len(distinct) + 1, np.int64)
    place[order] = np.arange(len(distinct))
    place[-1] = -1  # of no parent
    words = Words.of_bytes([literals[i] for i in order.tolist()])
    table_of = table_of[order]
    begins = windows(words.raw, words.first[:-1], words.first[1:])
    keys = begins >> _shifts(WIDTHS)[class_of[order]]
    starts = np.ones(len(distinct), np.bool_)
    starts[1:] = (keys[1:] != keys[:-1]) | (table_of[1:] != table_of[:-1])
    bounds = np.append(np.flatnonzero(starts), len(distinct))
    use_first, packed = _uses(uses, dict(zip(distinct, place.tolist(), strict=False)))
    each = np.stack([words.first, np.append(place[parents[order]], 0), use_first], axis=1)
    return index_image(
        IndexArrays(
            words.raw,
            each.ravel(),
            *_tables(keys, bounds, table_of[starts], len(WIDTHS) * PLACES * attributes),
            packed,
            *_filters(begins, class_of[order], sections[order], attributes),
            np.array([test for each in everywhere for test in each], np.int64),
            offsets([*map(len, everywhere)]),
            np.array(doubt_tests, np.int64),
            *_plans(plans),
        )
    )


def _tables(keys: Array, bounds: Array, table_of: Array, tables: int) -> tuple[Array, Array]:
    """A table for each class of each section that has buckets, at most half full."""
    counts = np.bincount(table_of, minlength=tables)
    sizes = [1 << (2 * count - 1).bit_length() if count else 0 for count in counts.tolist()]
    first, bucket_first = offsets(np.array(sizes, np.int64)), offsets(counts)
    slots = np.zeros(2 * first[-1], np.uint64)
    begins, ends = bounds[:-1].astype(np.uint64), bounds[1:].astype(np.uint64)
    buckets = (begins << np.uint64(32)) | ends
    for table in np.flatnonzero(counts).tolist():
        part = slice(2 * first[table], 2 * first[table + 1])
        here = slice(bucket_first[table], bucket_first[table + 1])
        fill_table(keys[bounds[:-1][here]], buckets[here], slots[part])
    return np.stack([first[:-1], np.diff(first) - 1], axis=1).ravel(), slots


def _uses(uses: Sequence[Use], place: dict[tuple[int, bytes], int]) -> tuple[Array, Array]:
    """Where the uses of each literal begin, and those: plan and test in one number."""
    of_use = np.array([place[use.section, use.literal] for use in uses], np.int64)
    order = np.argsort(of_use, kind="stable")
    packed = np.array([(use.plan << 32) | use.test for use in uses], np.int64)[order]
    return offsets(np.bincount(of_use, minlength=len(place))), packed


def _filters(
    begins: Array, classes: Array, sections: Array, attributes: int
) -> tuple[Array, Array]:
    """The filters of each attribute; empty where nothing may be anywhere."""
    made = [np.zeros(0, np.uint8)]
    for attribute in range(attributes):
        here = sections == PLACES * attribute + ANYWHERE
        nothing = np.zeros(0, np.uint8)
        made += filters_of(begins[here], classes[here]) if here.any() else [nothing] * FILTERS
    return np.concatenate(made), offsets([len(each) for each in made[1:]])


def _plans(needs: Sequence[Need]) -> tuple[Array, ...]:
    words = Words.of_bytes([piece for need in needs for piece in need.pieces])
    return (
        words.raw,
        words.first,
        offsets(np.array([len(need.pieces) for need in needs], np.int64)),
        np.array([need.at_start for need in needs], np.uint8),
        np.array([need.at_end for need in needs], np.uint8),
        np.array([not need.exact for need in needs], np.uint8),
        np.array([need.folded for need in needs], np.uint8),
    )


def _shifts(widths: Sequence[int]) -> Array:
    return np.array([64 - 8 * width for width in widths], np.uint64)
