"""Which of a segment's other tests hold for which events: patterns, once per distinct string.

Nothing is written per event but the words that it has. What holds is known per word::

    event_word   note   city   rest       one column for each attribute with patterns, or conditions
      event 0     0      2      -1        on elements, that there is, and one for other tests; -1:
      event 1     1     -1       3         nothing there
    word_test    0: [4, ~7]  1: []   2: [5]   3: [8]      the tests that hold for each word
    column_test  [~6]         []      []                   and those of every string of a column

A loop that looks at an event marks the tests of its words, and whether one holds is then a single
look (``kernels/rows.py``). Three things are words without being strings: what holds of an attribute
that is absent, where that passes; a list; and what holds of one event beyond patterns.

Complements are tests *in doubt*: only a look at the whole word decides, and that takes longer than
everything else. So it is taken when a clause depends on nothing else any more, which
is seldom: the loop puts such clauses down with the tests that it has to know, ``answers``
says which of them hold, and these clauses are tried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets, offsets_of
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.lists import Lists
from predicast.matching.columnar.batch_texts import BatchTexts
from predicast.matching.columnar.compile.coded_tests import Other
from predicast.matching.columnar.layout.question import Counts, QuestionArrays
from predicast.matching.columnar.patterns.element_tests import ElementTests
from predicast.matching.columnar.patterns.pattern_index import EventRoom, Found, PatternIndex
from predicast.model import Absent, Clause, Constraint, Elements, Event, Interval, Operator

_COUNTS: Final = Counts()
_NOWHERE: Final = -1  # no word
_MOST_DOUBTS: Final = 1 << 20  # of events, at a time
_LOW: Final = (1 << 32) - 1  # the part that is the test where it is one number with an event


class Hits(NamedTuple):
    """The words of events, and the numbers of the tests that hold for each word, some twice."""

    event_word: Array
    word_first: Array
    word_test: Array
    column_first: Array
    column_test: Array


class Searched(NamedTuple):
    """What was searched for the sake of the hits of a batch, in case that something is in doubt."""

    column: Array  # of the attribute of each number, -1 if no event has it
    found: Found


class _OfElements(NamedTuple):
    """The conditions on elements of one attribute, with their numbers among all other tests."""

    tests: ElementTests
    numbers: Array
    straight: list[int]  # the numbers of those that are not inverted


class _Rest(NamedTuple):
    """A test of one attribute that is no pattern, and whether it holds of what is absent."""

    number: int
    clause: Clause
    attribute: str
    if_absent: bool

    @classmethod
    def of(cls, number: int, other: Other, absent: Absent) -> _Rest:
        """The test of a number."""
        if_absent = all(constraint.holds_absent(absent) for constraint in other.constraints)
        return cls(number, Clause(other.constraints), other.attribute, if_absent)


class _Words:
    """Words numbered through, and the tests that hold for each: those of strings, then others."""

    def __init__(self, first: Array, tests: Array) -> None:
        self._first: list[Array] = [first]
        self._tests: list[Array] = [tests]
        self._count, self._held = len(first) - 1, len(tests)

    def add(self, first: Array, tests: Array) -> int:
        """More words: where the tests of each begin, and those; the number of the first one."""
        number = self._count
        self._first.append(first[1:] + self._held)
        self._tests.append(tests)
        self._count += len(first) - 1
        self._held += len(tests)
        return number

    def hits(self, event_word: Array, of_columns: Sequence[Array]) -> Hits:
        """What there is, with the words of each event, and what is true of any in some columns."""
        sizes = np.zeros(event_word.shape[1], np.int64)
        sizes[: len(of_columns)] = [*map(len, of_columns)]
        return Hits(
            event_word,
            _one(self._first),
            _one(self._tests).astype(np.int32, copy=False),
            offsets(sizes),
            np.concatenate([np.zeros(0, np.int32), *of_columns]),
        )


class OtherTests:
    """The other tests of a segment, those on strings by attribute."""

    def __init__(self, others: Sequence[Other], absent: Absent) -> None:
        self._absent: Absent = absent
        self._rest: list[_Rest] = []
        self._clauses: list[tuple[int, Clause]] = []
        self._straight: dict[str, list[int]] = {}  # the numbers of those that are not inverted
        patterns: list[Constraint] = []
        numbers: list[int] = []
        lists: dict[str, list[int]] = {}
        for number, other in enumerate(others):
            if other.rest is not None:
                self._clauses.append((number, Clause(other.constraints, other.rest)))
            elif ways := other.patterns():
                patterns += ways
                numbers += [number] * len(ways)
                straight = self._straight.setdefault(other.attribute, [])
                if not other.inverted:
                    straight.append(number)
            elif [each.operator for each in other.constraints] == [Operator.HAS]:
                lists.setdefault(other.attribute, []).append(number)
            else:
                self._rest.append(_Rest.of(number, other, absent))
        self._index = PatternIndex(patterns, numbers)
        self._of_elements = {
            attribute: _of_elements([others[each] for each in here], here)
            for attribute, here in lists.items()
        }
        # The attribute of each test, by its number in the index, if it is one on strings.
        self._place = np.full(len(others), -1)
        self._place[numbers] = [self._index.place_of(each.attribute) for each in patterns]
        self._all = len(others)
        self._has_rest = bool(self._rest or self._clauses)
        # Whether something may hold of an event without a look at its strings.
        self.has_others = self._has_rest or bool(self._of_elements) or absent == "passes"
        self.width = len(self.attributes) + len(self._of_elements) + self._has_rest

    @property
    def attributes(self) -> Sequence[str]:
        """Those whose strings are searched."""
        return self._index.attributes

    def __len__(self) -> int:
        return self._all

    def nbytes(self) -> int:
        """The memory of the indexes of patterns and of conditions on elements."""
        of_elements = (each.tests.nbytes() for each in self._of_elements.values())
        return self._index.nbytes() + sum(of_elements)

    @property
    def most_events(self) -> int:
        """Of how many events at a time all that is in doubt of any word fits in memory."""
        return max(_MOST_DOUBTS // (self._index.always_in_doubt + 1), 1)

    def of_batch(self, columns: EventBatch, texts: BatchTexts) -> tuple[Hits, Searched]:
        """What holds for the events of a batch, and what that was searched in."""
        found, passes = self._index.search(texts), self._absent == "passes"
        place = texts.columns_of(len(self.attributes))
        # Hundreds of attributes may be looked at, of which a batch has a few dozen.
        lists = [each for each in self._of_elements if passes or columns.parts(each)]
        event, test = self._held(columns)
        more = np.full((len(columns), len(lists) + (len(event) > 0)), _NOWHERE, np.int32)
        if passes:  # what is true of any word is not true of what is absent
            words = _Words(*self._with_everywhere(found, texts))
            event_word = self._with_absent(columns, texts.event_word, place, words)
            place, everywhere = np.arange(len(place)), []
        else:
            words, event_word = _Words(found.first, found.tests), texts.event_word
            everywhere = [
                self._index.everywhere(each)
                for each in texts.attributes[: event_word.shape[1]].tolist()
            ]
        for which, attribute in enumerate(lists):
            here = self._of_elements[attribute]
            self._code_lists(columns, attribute, here, words, more[:, which])
        if len(event):
            order = np.argsort(event, kind="stable")
            first = words.add(offsets_of(event[order], len(columns)), test[order])
            more[:, -1] = first + np.arange(len(columns))
        if more.shape[1]:
            event_word = np.concatenate([event_word, more], axis=1)
        return words.hits(event_word, everywhere), Searched(place, found)

    def _with_everywhere(self, found: Found, texts: BatchTexts) -> tuple[Array, Array]:
        """The tests of all words, with those that are true of any word of their attributes."""
        words = np.arange(len(found.first) - 1)
        which, tests = [np.repeat(words, np.diff(found.first))], [found.tests]
        searched = texts.event_word.shape[1]
        for attribute, (begin, end) in zip(
            texts.attributes[:searched].tolist(), pairwise(texts.word_first.tolist()), strict=False
        ):
            every = self._index.everywhere(attribute)
            which.append(np.repeat(words[begin:end], len(every)))
            tests.append(np.tile(every, end - begin))
        word = np.concatenate(which)
        order = np.argsort(word, kind="stable")
        return offsets_of(word[order], len(words)), np.concatenate(tests)[order]

    def _with_absent(
        self, columns: EventBatch, event_word: Array, place: Array, words: _Words
    ) -> Array:
        """The words of events in all attributes, with one for what is absent."""
        every = np.full((len(columns), len(place)), _NOWHERE, np.int32)
        every[:, place >= 0] = event_word
        for number, attribute in enumerate(self.attributes):
            column = every[:, number]
            is_absent = column == _NOWHERE
            for part in columns.parts(attribute):
                is_absent[slice(None) if part.rows is None else part.rows] = False
            column[is_absent] = words.add(*_one_word(np.array(self._straight[attribute], np.int32)))
        return every

    def _code_lists(
        self, columns: EventBatch, attribute: str, here: _OfElements, words: _Words, column: Array
    ) -> None:
        """Write which list each event has in one attribute."""
        if self._absent == "passes":
            column[:] = words.add(*_one_word(np.array(here.straight, np.int32)))
        for part in columns.parts(attribute):
            rows = slice(None) if part.rows is None else part.rows
            if isinstance(part, Lists):
                first, found = here.tests.hits(part)
                column[rows] = words.add(first, here.numbers[found]) + np.arange(len(part))
            else:
                column[rows] = _NOWHERE

    def _held(self, columns: EventBatch) -> tuple[Array, Array]:
        """Events and the tests that hold for them, of those that are no patterns."""
        numbers, held = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
        for rest in self._rest:
            if not rest.if_absent and not columns.parts(rest.attribute):
                continue
            mask = columns.test(rest.attribute, rest.clause.constraints, self._absent)
            held.append(np.flatnonzero(mask))
            numbers.append(np.full(len(held[-1]), rest.number, np.int32))
        regions = np.zeros(0, np.int64)
        if self._clauses:
            regions = np.flatnonzero(columns.has_intervals(columns.attributes()))
        events = columns.events() if len(regions) else []
        for number, clause in self._clauses if events else ():
            asked = [event for event in regions.tolist() if _is_region(clause, events[event])]
            failed = [event for event in asked if not clause.matches(events[event], self._absent)]
            held.append(np.array(failed, np.int64))
            numbers.append(np.full(len(failed), number, np.int32))
        return np.concatenate(held), np.concatenate(numbers)

    def answers(self, hits: Hits, searched: Searched, questions: Array) -> Array:
        """Those of some questions, of an event and a test each, whose test holds; ascending."""
        event, test = questions >> 32, questions & _LOW
        word = hits.event_word[event, searched.column[self._place[test]]].astype(np.int64)
        pairs, which = np.unique((word << 32) | test, return_inverse=True)
        tests = pairs & _LOW
        held = self._index.held(searched.found, pairs >> 32, tests, self._place[tests])
        return np.unique(questions[held[which]])

    def room(self) -> EventRoom:
        """Room for what one event finds."""
        return self._index.room()

    def beside(self, event: Event) -> list[int]:
        """What holds for one event without a look at its strings."""
        more = [*self._rest_of(event)] if self._has_rest else []
        for attribute, of in self._of_elements.items():
            value = event.get(attribute)
            if isinstance(value, Elements):
                more += of.numbers[of.tests.of_one(value)].tolist()
            elif value is None and self._absent == "passes":
                more += of.straight
        if self._absent == "passes":
            for attribute, straight in self._straight.items():
                more += straight if event.get(attribute) is None else ()
        return more

    def answers_of_event(self, asked: QuestionArrays, questions: Array) -> Array:
        """The same for one event that was asked just now."""
        tests = np.unique(questions)
        tests = tests[np.argsort(self._place[tests], kind="stable")]
        places = self._place[tests]
        to_ask = asked.asked[: asked.counts[_COUNTS.asked]]
        found = Found(asked.spots, asked.raw, asked.held, asked.tests, to_ask)
        return np.sort(tests[self._index.held(found, places, tests, places)])

    def _rest_of(self, event: Event) -> Iterable[int]:
        for rest in self._rest:
            is_absent = event.get(rest.attribute) is None
            if rest.if_absent if is_absent else rest.clause.matches(event, self._absent):
                yield rest.number
        if event.is_region:
            for number, clause in self._clauses:
                if not clause.matches(event, self._absent):
                    yield number


def _of_elements(others: Sequence[Other], numbers: Sequence[int]) -> _OfElements:
    tests = ElementTests(
        [other.constraints[0] for other in others], [other.inverted for other in others]
    )
    straight = [n for n, other in zip(numbers, others, strict=True) if not other.inverted]
    return _OfElements(tests, np.array(numbers, np.int32), straight)


_NO_COLUMNS: Final = np.zeros(2, np.int64), np.zeros(0, np.int32)
NO_HITS: Final = Hits(
    np.zeros((1, 0), np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32), *_NO_COLUMNS
)


def no_hits(events: int) -> tuple[Hits, Searched]:
    """What holds for so many events where there are no other tests."""
    none = np.zeros(0, np.int64)
    nothing = Searched(none, Found(none, none, none, none, none))
    return NO_HITS._replace(event_word=np.zeros((events, 0), np.int32)), nothing


def _is_region(clause: Clause, event: Event) -> bool:
    """Whether an event is an interval in something that a clause looks at."""
    return any(isinstance(event.get(c.attribute), Interval) for c in clause.all_constraints())


def _one(arrays: list[Array]) -> Array:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _one_word(tests: Array) -> tuple[Array, Array]:
    return np.array([0, len(tests)]), tests
