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
(``required_literals.py``), these are looked up in the same way and the candidates searched one by
one, or those of a word together where it has many.

*Neither.* ``[0-9]+`` or ``___`` require no literal. Regular expressions of the kind are tried
together (``regex_sets.py``), the rest one by one.

Cost: some 110 bytes per needle of ordinary length; time linear in the words' bytes plus hits and
candidates. Rejected: the automaton of Aho and Corasick, whose nodes would take some 40 bytes for
each *byte* of needle, and whose every step waits for the one before, while filters are looked
up side by side; looking for the rarest part of each needle instead of its beginning, which is as
quick but has no order to search a crowded bucket by; a rolling hash per length, with a lookup
per place and length; ``re2.Filter``, which loses matches where expressions share many atoms
(``a[ab]{5}[01]`` to ``a[ab]{34}[01]``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from predicast.arrays import Array, Words, offsets, windows
from predicast.matching.columnar import loops
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
from predicast.matching.columnar.patterns.regex_sets import RegexSets
from predicast.matching.columnar.reserved import ASK, SURE, WHOLE
from predicast.model.constraint import Constraint
from predicast.model.operators import Operator
from predicast.model.patterns import regex_test

Pairs = tuple[Array, Array]  # words and tests

_LEAST_ROOM: Final = 1 << 8  # for what one event finds
_TEST: Final = (1 << 32) - 1  # the part that is the test where a word and a test are one number


class Use(NamedTuple):
    """A literal that a test requires, the section that it is in, and how the test is decided."""

    section: int
    literal: bytes
    test: int
    plan: int


class EventRoom:
    """What searching the strings of one event writes to; nobody else does meanwhile."""

    __slots__ = ("asked", "found", "seen", "tests")

    def __init__(self, literals: int) -> None:
        self.seen = np.zeros(literals + 1, np.int32)
        self.tests = np.empty(_LEAST_ROOM, np.int32)
        self.asked = np.empty(_LEAST_ROOM, np.int64)
        self.found = np.zeros(2, np.int64)  # where the tests of an event begin and end


class _Unindexed:
    """The tests on one attribute that no literal leads to."""

    def __init__(self) -> None:
        self.always: list[int] = []
        self.asked: list[int] = []
        self.sets = RegexSets({})

    def __bool__(self) -> bool:
        return bool(self.always or self.asked or len(self.sets))


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
        self._asked: list[Callable[[bytes], bool]] = []
        self._asked_tests: list[list[int]] = []  # that hold if it does
        self._unindexed = [_Unindexed() for _ in self.attributes]
        self._image = self._compiled(patterns, numbers)
        self._literals = len(self._image.arrays().literals) // EACH
        self._places_unindexed = [place for place, here in enumerate(self._unindexed) if here]

    def _compiled(self, patterns: Sequence[Constraint], numbers: Sequence[int]) -> IndexImage:
        uses: list[Use] = []
        plans: list[Need] = []
        needs = [need_of(each) for each in patterns]
        rank = preference(needs)
        searched: list[dict[int, str]] = [{} for _ in self.attributes]
        always_searched: list[dict[int, str]] = [{} for _ in self.attributes]
        known: dict[tuple[int, Operator, Any], int] = {}
        for pattern, number, need in zip(patterns, numbers, needs, strict=True):
            place = self._place[pattern.attribute]
            if need.exact and not need.pieces:
                self._unindexed[place].always.append(number)
                continue
            plan = _plan_of(need, len(plans))
            if plan >= 0:
                plans.append(need)
            which = number
            if plan == ASK:
                same = place, pattern.operator, pattern.operand
                which = known.setdefault(same, len(self._asked))
                if which < len(self._asked):  # the same pattern is in several tests
                    self._asked_tests[which].append(number)
                    continue
                self._asked.append(_question(pattern))
                self._asked_tests.append([number])
            if pattern.operator is Operator.MATCHES:
                (searched if need.choices else always_searched)[place][which] = str(pattern.operand)
            if need.choices:
                several = len(need.choices) > 1
                choice = min(need.choices, key=rank) if several else need.choices[0]
                uses += [_use(place, literal, which, plan) for literal in choice]
            elif pattern.operator is not Operator.MATCHES:
                self._unindexed[place].asked.append(which)
        self._regexes = [RegexSets(regexes) for regexes in searched]
        for here, regexes in zip(self._unindexed, always_searched, strict=True):
            here.sets = RegexSets(regexes)
        return _index(uses, plans, len(self.attributes))

    def hits(self, attribute: str, words: Words) -> tuple[Array, Array]:
        """For each word of an attribute the tests that hold: offsets, and numbers, some twice."""
        place = self._place[attribute]
        first, tests, asked = loops.now.find_tests(*self._image, place, words.first, words.raw)
        more = [self._confirmed(place, asked >> 32, asked & _TEST, words)] if len(asked) else []
        more += self._unindexed_hits(place, words)
        if not more:
            return first, tests
        word = np.concatenate(
            [np.repeat(np.arange(len(words)), np.diff(first)), *(w for w, _ in more)]
        )
        test = np.concatenate([tests, *(t for _, t in more)])
        order = np.argsort(word, kind="stable")
        return offsets(np.bincount(word, minlength=len(words))), test[order].astype(np.int32)

    def _unindexed_hits(self, place: int, words: Words) -> Iterator[Pairs]:
        here = self._unindexed[place]
        if not here:
            return
        everywhere = np.arange(len(words))
        for number in here.always:
            yield everywhere, np.full(len(words), number)
        for which in here.asked:
            yield self._confirmed(place, everywhere, np.full(len(words), which), words)
        if len(here.sets):
            held = [here.sets.held(word) for word in words.encoded()]
            yield self._tests_of(everywhere, held)

    def _confirmed(self, place: int, candidates: Array, asked: Array, words: Words) -> Pairs:
        """Those of the candidates that hold when asked, word by word, each once."""
        order = np.lexsort((asked, candidates))
        word, which = candidates[order], asked[order].tolist()
        different, first = np.unique(word, return_index=True)
        bounds = [*first.tolist(), len(which)]
        held = [
            self._held(place, set(which[begin:end]), words.bytes_at(each))
            for each, (begin, end) in zip(different.tolist(), pairwise(bounds), strict=True)
        ]
        return self._tests_of(different, held)

    def _held(self, place: int, asked: set[int], word: bytes) -> list[int]:
        """What of all that is asked of a word holds; many regular expressions are tried at once."""
        found: list[int] = []
        regexes = self._regexes[place]
        if len(asked) > 1 and len(asked) > regexes.calls:
            among = regexes.among(asked)
            if len(among) > regexes.calls:
                found = [which for which in regexes.held(word) if which in among]
                asked -= among
        return found + [which for which in asked if self._asked[which](word)]

    def _tests_of(self, words: Array, held: Sequence[Sequence[int]]) -> Pairs:
        """The tests that hold for words, given what was asked of each and holds."""
        tests = [[t for which in each for t in self._asked_tests[which]] for each in held]
        flat = [test for each in tests for test in each]
        return np.repeat(words, [*map(len, tests)]), np.array(flat, np.int32)

    # One event at a time.

    def room(self) -> EventRoom:
        """Room for one event."""
        return EventRoom(self._literals)

    def of_event(self, spots: Array, raw: Array, room: EventRoom) -> int:
        """Write the tests that hold for the strings of an event to a room's tests: how many.

        ``spots`` are where the string of each attribute begins and ends in the bytes, or -1.
        """
        count, number = loops.now.find_event_tests(
            *self._image, len(self.attributes), spots, raw, room.seen, room.tests, room.asked
        )
        if count < 0:
            room.tests, room.asked = np.empty(-count, np.int32), np.empty(-number, np.int64)
            return self.of_event(spots, raw, room)
        more: list[int] = []
        if number or self._places_unindexed:
            more = self._asked_of_event(spots, raw, room.asked[:number].tolist())
            if count + len(more) > len(room.tests):
                room.tests = np.concatenate([room.tests, np.empty(len(more), np.int32)])
            room.tests[count : count + len(more)] = more
        room.found[1] = count + len(more)
        return count + len(more)

    def _asked_of_event(self, spots: Array, raw: Array, asked: list[int]) -> list[int]:
        found: list[int] = []
        of_place: dict[int, set[int]] = {}
        for key in asked:
            of_place.setdefault(key >> 32, set()).add(key & _TEST)
        for place, some in of_place.items():
            word = raw[spots[2 * place] : spots[2 * place + 1]].tobytes()
            for which in self._held(place, some, word):
                found += self._asked_tests[which]
        for place in self._places_unindexed:
            if spots[2 * place] >= 0:
                words = Words(spots[2 * place : 2 * place + 2], raw)
                for _, tests in self._unindexed_hits(place, words):
                    found += tests.tolist()
        return found

    def nbytes(self) -> int:
        """Memory, with a rough price for what RE2 and Python hold."""
        asked = len(self._asked) + sum(len(here.always) for here in self._unindexed)
        sets = sum(here.sets.nbytes() for here in self._unindexed)
        sets += sum(regexes.nbytes() for regexes in self._regexes)
        return int(self._image.data.nbytes + self._image.directory.nbytes + 200 * asked + sets)


def _question(pattern: Constraint) -> Callable[[bytes], bool]:
    """What says of the bytes of a string whether a pattern holds; RE2 reads bytes itself."""
    if pattern.operator is Operator.MATCHES:
        return regex_test(str(pattern.operand))
    return lambda raw: pattern.holds(raw.decode())


def _use(attribute: int, literal: Literal, test: int, plan: int) -> Use:
    place, text = literal
    return Use(PLACES * attribute + place, text[::-1] if place == AT_END else text, test, plan)


def _plan_of(need: Need, next_plan: int) -> int:
    """How a test is decided when its literal occurs.

    A piece that is bound to an end is compared there, however long it is. To look for a long one
    anywhere is left to whoever does that in linear time.
    """
    pieces = need.pieces
    loose = pieces[need.at_start : len(pieces) - (need.at_end and len(pieces) > need.at_start)]
    if not need.exact or max(map(len, loose), default=0) > LONGEST:
        return ASK
    if len(pieces) == 1 and len(pieces[0]) <= LONGEST:
        return WHOLE if need.at_start and need.at_end else SURE
    return next_plan


def _index(uses: Sequence[Use], plans: Sequence[Need], attributes: int) -> IndexImage:
    """The image of the literals of all uses."""
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


def _plans(needs: Sequence[Need]) -> tuple[Array, Array, Array, Array, Array]:
    words = Words.of_bytes([piece for need in needs for piece in need.pieces])
    return (
        words.raw,
        words.first,
        offsets(np.array([len(need.pieces) for need in needs], np.int64)),
        np.array([need.at_start for need in needs], np.uint8),
        np.array([need.at_end for need in needs], np.uint8),
    )


def _shifts(widths: Sequence[int]) -> Array:
    return np.array([64 - 8 * width for width in widths], np.uint64)
