"""Which of many string patterns hold for each of many strings, without trying each on each.

Three ways, by what a pattern requires of a string:

*Literals.* A needle, a prefix, a suffix and a LIKE pattern with a literal piece each require one
literal, the rarest or longest piece. All are bytes of UTF-8: that code synchronises itself (no
character's bytes occur inside or across others'), so a string is part of another exactly if its
bytes are part of the other's bytes. The literals are sorted within classes by how many bytes are
sure to be there, and a table leads from those first bytes to a bucket::

    class  8 or more  "https://" -> https://a   https://a/b   https://c     sorted
           4 to 7     "http"     -> http   https
           2 to 3     "ab"       -> ab   abc
           1          "a"        -> a
    parent  https://a/b -> https://a -> https -> http -> none   the longest literal it begins with
    uses    http -> test 3 at once (contains), test 8 if its pieces are in order, test 9 if asked

At each place of a word one lookup per class, the widest first, finds the bucket; binary search in
it finds the last literal not after the rest of the word, and the path of its parents is every
literal that begins there. A literal already seen in the word ends the path, for then its parents
were seen too: a place costs the classes, the logarithm of the bucket and *new* literals, however
many lengths there are and however much the literals share. No literal is longer than
``LONGEST`` bytes (of a longer one a window is required, and a candidate is asked in full), so that
a hostile needle costs no more than that per place.

*Regular expressions.* Where the expression plainly requires a literal, or one of a few
(``required_literals.py``), these are looked up in the same way and the candidates searched one by
one.

*Neither.* ``[0-9]+`` or ``___`` require no literal. Regular expressions of the kind are tried
together (``regex_sets.py``), the rest one by one.

Cost: some 90 bytes per needle of ordinary length; time linear in the words' bytes plus hits and
candidates. Rejected: the automaton of Aho and Corasick, whose nodes would take some 40 bytes for
each *byte* of needle; a rolling hash per length, with a lookup per place and length;
``re2.Filter``, which loses matches where expressions share many atoms (``a[ab]{5}[01]`` to
``a[ab]{34}[01]``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets
from predicast.matching.columnar import loops
from predicast.matching.columnar.patterns.index_arrays import (
    LONGEST,
    Found,
    Literals,
    Plans,
    Texts,
    fill_table,
    find_parents,
)
from predicast.matching.columnar.patterns.regex_sets import RegexSets
from predicast.matching.columnar.patterns.required_literals import required_literals
from predicast.matching.columnar.reserved import ASK, SURE
from predicast.model.constraint import Constraint
from predicast.model.operators import Operator
from predicast.model.patterns import ANY_ONE, ANY_RUN, LikePattern

Pairs = tuple[Array, Array]  # words and tests
Choice = tuple[bytes, ...]

_WIDTHS: Final = (8, 4, 2, 1)
_BATCH_CHARACTERS: Final = 1 << 20  # of words encoded at a time
_LEAST_ROOM: Final = 1 << 14  # for hits found at a time


class Need(NamedTuple):
    """What a word needs for a pattern to hold; if exact, no pieces at all hold of anything.

    A word for which it holds has, of each choice, at least one of the literals.
    """

    choices: list[Choice]
    pieces: tuple[bytes, ...]
    at_start: bool
    at_end: bool
    exact: bool  # the pieces say all; if not, a candidate is asked


class Use(NamedTuple):
    """A literal that a test requires, and how the test is then decided."""

    literal: bytes
    test: int
    plan: int


class PatternIndex:
    """Finds which positive patterns on one attribute hold for strings.

    A pattern is one constraint or several, of which one must hold.
    """

    def __init__(self, patterns: Sequence[Sequence[Constraint]]) -> None:
        numbers: dict[Any, int] = {}
        tests: list[Constraint] = []
        of_alternative: list[int] = []
        for pattern in patterns:
            for each in pattern:
                number = numbers.setdefault((each.operator, each.operand), len(numbers))
                if number == len(tests):
                    tests.append(each)
                of_alternative.append(number)
        self._patterns = len(patterns)
        self._tests = len(tests)
        test_of = np.array(of_alternative, np.int64)
        pattern_of = np.repeat(np.arange(len(patterns)), [*map(len, patterns)])
        order = np.argsort(test_of, kind="stable")
        self._of_test = pattern_of[order].astype(np.int32)
        self._of_test_first = offsets(np.bincount(test_of, minlength=len(tests)))
        # Whether test and pattern are the same throughout.
        self._are_plain = len(test_of) == len(tests) == len(patterns)
        self._always: list[int] = []
        self._unfiltered: list[int] = []
        self._asked: dict[int, Callable[[str], bool]] = {}
        self._compile(tests)
        idle = [n for n in self._unfiltered if tests[n].operator is Operator.MATCHES]
        self._unfiltered = sorted(set(self._unfiltered) - set(idle))
        self._sets = RegexSets({number: tests[number] for number in idle})

    def _compile(self, tests: Sequence[Constraint]) -> None:
        uses: list[Use] = []
        plans: list[Need] = []
        needs = [_need(test) for test in tests]
        preference = _preference(needs)
        for number, need in enumerate(needs):
            if need.exact and not need.pieces:
                self._always.append(number)
                continue
            plan = _plan_of(need, len(plans))
            if plan >= 0:
                plans.append(need)
            elif plan == ASK:
                self._asked[number] = tests[number].holds
            if not need.choices:
                self._unfiltered.append(number)
                continue
            several = len(need.choices) > 1
            choice = min(need.choices, key=preference) if several else need.choices[0]
            uses += [Use(literal, number, plan) for literal in choice]
        self._literals = _literals(uses)
        self._plans = _plans(plans)

    def hits(self, words: Sequence[str]) -> tuple[Array, Array]:
        """For each word the patterns that hold: CSR offsets, and numbers that ascend in a word.

        One of several alternatives is there as often as they hold.
        """
        per_word = [np.empty(0, np.int64)]
        numbers = [np.empty(0, np.int32)]
        for batch in _batches(words):
            keys = [self._pattern_keys(*pairs) for pairs in self._batch_hits(batch)]
            if not keys:
                keys = [np.empty(0, np.int64)]
            held_by, patterns = np.divmod(np.sort(np.concatenate(keys)), max(self._patterns, 1))
            per_word.append(np.bincount(held_by, minlength=len(batch)))
            numbers.append(patterns.astype(np.int32))
        return offsets(np.concatenate(per_word)), np.concatenate(numbers)

    def _batch_hits(self, words: Sequence[str]) -> Iterator[Pairs]:
        everywhere = np.arange(len(words))
        for number in self._always:
            yield everywhere, np.full(len(words), number)
        for number in self._unfiltered:
            yield self._confirmed(everywhere, np.full(len(words), number), words)
        yield from self._sets.hits(words)
        if len(self._literals.use_test):
            yield from self._literal_hits(words)

    def _literal_hits(self, words: Sequence[str]) -> Iterator[Pairs]:
        literals = self._literals
        texts = _texts([word.encode() for word in words])
        seen = np.full(len(literals.parent), -1, np.int64)
        room = max(_LEAST_ROOM, 2 * len(literals.use_test))
        found = Found(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.bool_))
        word = 0
        while word < len(words):
            count, word = loops.now.find_tests(literals, self._plans, texts, seen, found, word)
            some_words, tests, sure = (array[:count] for array in found)
            yield some_words[sure], tests[sure]
            if not sure.all():
                yield self._confirmed(some_words[~sure], tests[~sure], words)

    def _confirmed(self, candidates: Array, tests: Array, words: Sequence[str]) -> Pairs:
        """Those of the candidates that hold when asked, test by test, each once."""
        keys = np.unique(tests * len(words) + candidates)
        held = [self._asked[key // len(words)](words[key % len(words)]) for key in keys.tolist()]
        tests, candidates = np.divmod(keys[np.array(held, np.bool_)], len(words))
        return candidates, tests

    def _pattern_keys(self, words: Array, tests: Array) -> Array:
        """word × number of patterns + pattern, for each pattern that is one of the tests."""
        if self._are_plain:
            return np.asarray(words * self._patterns + tests)
        begin = self._of_test_first[tests]
        size = self._of_test_first[tests + 1] - begin
        ends = offsets(size)
        place = np.arange(ends[-1]) + np.repeat(begin - ends[:-1], size)
        return np.asarray(np.repeat(words, size) * self._patterns + self._of_test[place])

    def nbytes(self) -> int:
        """Memory, with a rough price for what RE2 and Python hold."""
        arrays = (*self._literals, *self._plans, self._of_test, self._of_test_first)
        asked = 200 * (len(self._asked) + len(self._always) + len(self._unfiltered))
        return sum(array.nbytes for array in arrays) + asked + self._sets.nbytes()


def _need(constraint: Constraint) -> Need:
    if constraint.operator is Operator.LIKE:
        assert isinstance(constraint.operand, LikePattern)
        return _like_need(list(constraint.operand.parts()))
    if constraint.operator is Operator.MATCHES:
        choices = [
            tuple(literal.encode() for literal in choice)
            for choice in required_literals(str(constraint.operand))
        ]
        return Need(_cut(choices), (), at_start=False, at_end=False, exact=False)
    needle = str(constraint.operand).encode()
    if constraint.operator is Operator.CONTAINS and 0 < len(needle) <= LONGEST:
        # The same as below without the detours: there may be hundreds of thousands.
        return Need([(needle,)], (needle,), False, False, True)
    if constraint.operator is Operator.EQ and not needle:  # no piece would say so: it is asked
        return Need([], (), at_start=False, at_end=False, exact=False)
    pieces = (needle,) if needle else ()
    at_start = constraint.operator in {Operator.PREFIX, Operator.EQ}
    at_end = constraint.operator in {Operator.SUFFIX, Operator.EQ}
    assert at_start or at_end or constraint.operator is Operator.CONTAINS, constraint
    return Need(_cut([pieces] if needle else []), pieces, at_start, at_end, exact=True)


def _like_need(parts: Sequence[str | object]) -> Need:
    pieces = tuple(part.encode() for part in parts if isinstance(part, str))
    # "" is LIKE nothing but itself: it has no piece to say so, and is asked.
    exact = bool(parts) and ANY_ONE not in parts
    at_start = exact and parts[0] is not ANY_RUN
    at_end = exact and parts[-1] is not ANY_RUN
    return Need(_cut([(piece,) for piece in pieces]), pieces, at_start, at_end, exact)


def _cut(choices: list[Choice]) -> list[Choice]:
    """The choices, with windows in the place of literals that are too long."""
    cut = []
    for choice in choices:
        if max(map(len, choice)) <= LONGEST:
            cut.append(choice)
            continue
        for part in (0, 1, 2):  # the beginning, the middle and the end: one may be rare
            begins = [max(len(literal) - LONGEST, 0) * part // 2 for literal in choice]
            windows = zip(choice, begins, strict=True)
            cut.append(tuple({literal[begin : begin + LONGEST] for literal, begin in windows}))
    return cut


def _plan_of(need: Need, next_plan: int) -> int:
    """How a test is decided when its literal occurs."""
    if not need.exact or max(map(len, need.pieces)) > LONGEST:
        return ASK
    if len(need.pieces) == 1 and not need.at_start and not need.at_end:
        return SURE
    return next_plan


def _preference(needs: Sequence[Need]) -> Callable[[Choice], tuple[bool, int, int]]:
    """How choices rank, the best lowest: one that few patterns have, then a long one."""
    of_several = (need.choices for need in needs if len(need.choices) > 1)
    common = Counter(literal for choices in of_several for choice in choices for literal in choice)

    def rank(choice: Choice) -> tuple[bool, int, int]:
        # A literal of one or two bytes occurs in most words, however few the patterns with it.
        shortest = min(map(len, choice))
        return shortest < 3, sum(common[literal] for literal in choice), -shortest

    return rank


def _literals(uses: Sequence[Use]) -> Literals:
    """The index of the literals of all uses."""
    distinct = sorted({use.literal for use in uses})
    width_of = np.searchsorted(-np.array(_WIDTHS), [-len(literal) for literal in distinct])
    parents = find_parents(distinct)
    order = np.argsort(width_of, kind="stable")
    place = np.empty(len(distinct) + 1, np.int64)
    place[order] = np.arange(len(distinct))
    place[-1] = -1  # of no parent
    text, first = _joined([distinct[i] for i in order.tolist()])
    width_of = width_of[order]
    keys = _windows(text, first[:-1]) >> _shifts(_WIDTHS)[width_of]
    starts = np.ones(len(distinct), np.bool_)
    starts[1:] = (keys[1:] != keys[:-1]) | (width_of[1:] != width_of[:-1])
    bucket_first = np.append(np.flatnonzero(starts), len(distinct))
    return Literals(
        text,
        first,
        place[parents[order]].astype(np.int32),
        bucket_first,
        *_tables(keys[starts], width_of[starts]),
        *_uses_by_literal(uses, dict(zip(distinct, place.tolist(), strict=False))),
    )


def _tables(keys: Array, width_of: Array) -> tuple[Array, Array, Array, Array, Array]:
    """One table for each class that has buckets, at most half full, one after the other."""
    present = np.unique(width_of)
    sizes = [
        1 << int(2 * np.count_nonzero(width_of == width) - 1).bit_length() for width in present
    ]
    table_first = offsets(np.array(sizes, np.int64))
    slot_keys = np.zeros(table_first[-1], np.uint64)
    slot_buckets = np.full(table_first[-1], -1, np.int32)
    for table, width in enumerate(present):
        part = slice(table_first[table], table_first[table + 1])
        buckets = np.flatnonzero(width_of == width)
        fill_table(keys[buckets], buckets, slot_keys[part], slot_buckets[part])
    widths = np.array(_WIDTHS)[present]
    return widths, _shifts(widths), table_first, slot_keys, slot_buckets


def _uses_by_literal(uses: Sequence[Use], place: dict[bytes, int]) -> tuple[Array, Array, Array]:
    of_use = np.array([place[use.literal] for use in uses], np.int64)
    order = np.argsort(of_use, kind="stable")
    tests = np.array([use.test for use in uses], np.int32)[order]
    plans = np.array([use.plan for use in uses], np.int32)[order]
    return offsets(np.bincount(of_use, minlength=len(place))), tests, plans


def _plans(needs: Sequence[Need]) -> Plans:
    text, piece_first = _joined([piece for need in needs for piece in need.pieces])
    return Plans(
        text,
        piece_first,
        offsets(np.array([len(need.pieces) for need in needs], np.int64)),
        np.array([need.at_start for need in needs], np.bool_),
        np.array([need.at_end for need in needs], np.bool_),
    )


def _texts(words: Sequence[bytes]) -> Texts:
    return Texts(*_joined(words))


def _joined(pieces: Sequence[bytes]) -> tuple[Array, Array]:
    """Byte strings one after the other and where each begins, with a window's room behind."""
    text = np.frombuffer(b"".join(pieces) + bytes(8), np.uint8)
    return text, offsets(np.fromiter(map(len, pieces), np.int64, len(pieces)))


def _windows(text: Array, first: Array) -> Array:
    """The 8 bytes from each place on, the first the most significant."""
    windows = np.zeros(len(first), np.uint64)
    for step in range(8):
        windows = (windows << np.uint64(8)) | text[first + step].astype(np.uint64)
    return windows


def _shifts(widths: Iterable[int]) -> Array:
    return np.array([64 - 8 * int(width) for width in widths], np.uint64)


def _batches(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Runs of words with a bounded sum of lengths, or of one long word."""
    lengths = offsets(np.fromiter(map(len, words), np.int64, len(words)))
    begin = 0
    while begin < len(words):
        end = int(np.searchsorted(lengths, lengths[begin] + _BATCH_CHARACTERS, "right")) - 1
        end = max(end, begin + 1)
        yield words[begin:end]
        begin = end
