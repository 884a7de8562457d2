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
from predicast.matching.batches.typed_values import Strings
from predicast.matching.columnar.compile.coded_tests import Other
from predicast.matching.columnar.event_codes import OneEvent
from predicast.matching.columnar.patterns.element_tests import ElementTests
from predicast.matching.columnar.patterns.pattern_index import EventRoom, Found, PatternIndex
from predicast.model import Absent, Clause, Constraint, Elements, Event, Interval, Operator

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
    first_words: list[int]  # the numbers of the first words of each of the following
    found: list[Found]


class _OfElements(NamedTuple):
    """The conditions on elements of one attribute, with their numbers among all other tests."""

    tests: ElementTests
    numbers: Array
    straight: list[int]  # the numbers of those that are not inverted


class _Words:
    """Words numbered through, and the tests that hold for each."""

    def __init__(self) -> None:
        self._sizes: list[Array] = [np.zeros(0, np.int64)]
        self._tests: list[Array] = [np.zeros(0, np.int32)]
        self._count = 0

    def add(self, first: Array, tests: Array) -> int:
        """More words: where the tests of each begin, and those; the number of the first one."""
        number = self._count
        self._sizes.append(np.diff(first))
        self._tests.append(tests)
        self._count += len(first) - 1
        return number

    def hits(self, event_word: Array, of_columns: Sequence[Array]) -> Hits:
        """What there is, with the words of each event, and what is true of any in some columns."""
        tests = np.concatenate(self._tests).astype(np.int32, copy=False)
        sizes = np.zeros(event_word.shape[1], np.int64)
        sizes[: len(of_columns)] = [*map(len, of_columns)]
        return Hits(
            *(event_word, offsets(np.concatenate(self._sizes)), tests, offsets(sizes)),
            np.concatenate([np.zeros(0, np.int32), *of_columns]),
        )


class OtherTests:
    """The other tests of a segment, those on strings by attribute."""

    def __init__(self, others: Sequence[Other], absent: Absent) -> None:
        self._absent: Absent = absent
        self._rest: list[tuple[int, Clause]] = []
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
                self._rest.append((number, Clause(other.constraints)))
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

    def of_batch(self, columns: EventBatch) -> tuple[Hits, Searched]:
        """What holds for the events of a batch, and what that was searched in."""
        words = _Words()
        # Hundreds of attributes may be looked at, of which a batch has a few dozen.
        passes = self._absent == "passes"
        there = [each for each in self.attributes if passes or columns.parts(each)]
        lists = [each for each in self._of_elements if passes or columns.parts(each)]
        event, test = self._held(columns)
        width = len(there) + len(lists) + (len(event) > 0)
        event_word = np.full((len(columns), width), _NOWHERE, np.int32)
        searched = Searched(np.full(len(self.attributes), -1), [], [])
        for place, attribute in enumerate(there):
            searched.column[self._index.place_of(attribute)] = place
            self._code_attribute(columns, attribute, words, event_word[:, place], searched)
        for place, attribute in enumerate(lists, len(there)):
            here = self._of_elements[attribute]
            self._code_lists(columns, attribute, here, words, event_word[:, place])
        if len(event):
            order = np.argsort(event, kind="stable")
            first = words.add(offsets_of(event[order], len(columns)), test[order])
            event_word[:, -1] = first + np.arange(len(columns))
        places = map(self._index.place_of, () if passes else there)
        return words.hits(event_word, [*map(self._index.everywhere, places)]), searched

    def _code_attribute(
        self,
        columns: EventBatch,
        attribute: str,
        words: _Words,
        column: Array,
        searched: Searched,
    ) -> None:
        """Write which word each event has in one attribute."""
        if self._absent == "passes":
            column[:] = words.add(*_one_word(np.array(self._straight[attribute], np.int32)))
        for part in columns.parts(attribute):
            rows = slice(None) if part.rows is None else part.rows
            if isinstance(part, Strings):
                found = self._index.search(self._index.place_of(attribute), part.words)
                tests = found.first, found.tests
                if self._absent == "passes":  # of what is absent it is not true
                    tests = _with_each(*tests, self._index.everywhere(found.attribute))
                first = words.add(*tests)
                column[rows] = first + part.values
                searched.first_words.append(first)
                searched.found.append(found)
            else:
                column[rows] = _NOWHERE

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
        for number, clause in self._rest:
            constraints = clause.constraints
            mask = columns.test(constraints[0].attribute, constraints, self._absent)
            held.append(np.flatnonzero(mask))
            numbers.append(np.full(len(held[-1]), number, np.int32))
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
        bounds = np.searchsorted(pairs, np.array(searched.first_words, np.int64) << 32).tolist()
        held = [np.zeros(0, bool)]
        for found, first, (begin, end) in zip(
            searched.found, searched.first_words, pairwise([*bounds, len(pairs)]), strict=True
        ):
            if begin < end:
                here = pairs[begin:end]
                held.append(self._index.held(found, (here >> 32) - first, here & _LOW))
        return np.unique(questions[np.concatenate(held)[which]])

    def room(self) -> EventRoom:
        """Room for what one event finds."""
        return self._index.room()

    def of_event(self, event: Event, codes: OneEvent, room: EventRoom) -> Hits:
        """What holds for one event, whose strings are in the room of its codes."""
        count = self._index.of_event(codes.spots, codes.raw, room)
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
        if not more:
            return Hits(_ONE_EVENT, room.found, room.tests, *_NO_COLUMNS)
        every = np.concatenate([room.tests[:count], np.array(more, np.int32)])
        return Hits(_ONE_EVENT, *_one_word(every), *_NO_COLUMNS)

    def answers_of_event(self, codes: OneEvent, room: EventRoom, questions: Array) -> Array:
        """The same for one event, whose strings were searched last in a room."""
        tests = np.unique(questions)
        places = self._place[tests]
        held = [np.zeros(0, np.int64)]
        for place in {*places.tolist()}:
            found = self._index.found_in_event(codes.spots, codes.raw, room, place)
            here = tests[places == place]
            held.append(here[self._index.held(found, np.full(len(here), 2 * place), here)])
        return np.sort(np.concatenate(held))

    def _rest_of(self, event: Event) -> Iterable[int]:
        for number, clause in self._rest:
            if clause.matches(event, self._absent):
                yield number
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


_ONE_EVENT: Final = np.zeros((1, 1), np.int32)  # with one word, of all that holds
_NO_COLUMNS: Final = np.zeros(2, np.int64), np.zeros(0, np.int32)
NO_HITS: Final = Hits(
    np.zeros((1, 0), np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32), *_NO_COLUMNS
)


def no_hits(events: int) -> tuple[Hits, Searched]:
    """What holds for so many events where there are no other tests."""
    nothing = Searched(np.zeros(0, np.int64), [], [])
    return NO_HITS._replace(event_word=np.zeros((events, 0), np.int32)), nothing


def _is_region(clause: Clause, event: Event) -> bool:
    """Whether an event is an interval in something that a clause looks at."""
    return any(isinstance(event.get(c.attribute), Interval) for c in clause.all_constraints())


def _with_each(first: Array, tests: Array, more: Array) -> tuple[Array, Array]:
    """The tests of words with some more for each."""
    words = np.arange(len(first) - 1)
    which = np.concatenate([np.repeat(words, np.diff(first)), np.repeat(words, len(more))])
    order = np.argsort(which, kind="stable")
    both = np.concatenate([tests, np.tile(more, len(words))])[order]
    return first + len(more) * np.arange(len(first)), both


def _one_word(tests: Array) -> tuple[Array, Array]:
    return np.array([0, len(tests)]), tests
