"""Which of a segment's other tests hold for which events: patterns, once per distinct string.

Nothing is written per event but the words that it has. What holds is known per word::

    event_word   note   city   rest       one column for each attribute with patterns, and one for
      event 0     0      2      -1        what is no pattern; -1: nothing there
      event 1     1     -1       3
    word_test    0: [4, 7]   1: []   2: [5]   3: [8]      the tests that hold for each word

A loop that looks at an event marks the tests of its words, and whether one holds is then a single
look (``kernels/rows.py``). Two things are words without being strings: what holds of an attribute
that is absent, where that passes; and what holds of one event beyond patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets, offsets_of
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.typed_values import Strings
from predicast.matching.columnar.compile.coded_tests import Other
from predicast.matching.columnar.event_codes import OneEvent
from predicast.matching.columnar.patterns.pattern_index import EventRoom, PatternIndex
from predicast.model import Absent, Clause, Constraint, Event

_NOWHERE: Final = -1  # no word


class Hits(NamedTuple):
    """The words of events, and the numbers of the tests that hold for each word, some twice."""

    event_word: Array
    word_first: Array
    word_test: Array


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

    def hits(self, event_word: Array) -> Hits:
        """What there is, with the words of each event."""
        tests = np.concatenate(self._tests).astype(np.int32, copy=False)
        return Hits(event_word, offsets(np.concatenate(self._sizes)), tests)


class OtherTests:
    """The other tests of a segment, those on strings by attribute."""

    def __init__(self, others: Sequence[Other], absent: Absent) -> None:
        self._absent: Absent = absent
        self._rest: list[tuple[int, Other]] = []
        self._clauses: list[tuple[int, Clause]] = []
        self._straight: dict[str, list[int]] = {}  # the numbers of those that are not inverted
        patterns: list[Constraint] = []
        numbers: list[int] = []
        for number, other in enumerate(others):
            if other.rest is not None:
                self._clauses.append((number, Clause(other.constraints, other.rest)))
            elif ways := other.patterns():
                patterns += ways
                numbers += [number] * len(ways)
                straight = self._straight.setdefault(other.attribute, [])
                if not other.inverted:
                    straight.append(number)
            else:
                self._rest.append((number, other))
        self._index = PatternIndex(patterns, numbers)
        self._all = len(others)
        self._has_rest = bool(self._rest or self._clauses)
        self.width = len(self.attributes) + self._has_rest

    @property
    def attributes(self) -> Sequence[str]:
        """Those whose strings are searched."""
        return self._index.attributes

    def __len__(self) -> int:
        return self._all

    def nbytes(self) -> int:
        """The memory of the patterns' indexes."""
        return self._index.nbytes()

    def of_batch(self, columns: EventBatch) -> Hits:
        """What holds for the events of a batch."""
        words = _Words()
        event_word = np.full((len(columns), self.width), _NOWHERE, np.int32)
        for place, attribute in enumerate(self.attributes):
            self._code_attribute(columns, attribute, words, event_word[:, place])
        if self._has_rest:
            event, test = self._held(columns)
            order = np.argsort(event, kind="stable")
            first = words.add(offsets_of(event[order], len(columns)), test[order])
            event_word[:, -1] = first + np.arange(len(columns))
        return words.hits(event_word)

    def _code_attribute(
        self, columns: EventBatch, attribute: str, words: _Words, column: Array
    ) -> None:
        """Write which word each event has in one attribute."""
        if self._absent == "passes":
            column[:] = words.add(*_one_word(np.array(self._straight[attribute], np.int32)))
        for part in columns.parts(attribute):
            rows = slice(None) if part.rows is None else part.rows
            if isinstance(part, Strings):
                column[rows] = words.add(*self._index.hits(attribute, part.words)) + part.values
            else:
                column[rows] = _NOWHERE

    def _held(self, columns: EventBatch) -> tuple[Array, Array]:
        """Events and the tests that hold for them, of those that are no patterns."""
        numbers, held = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
        for number, other in self._rest:
            mask = columns.test(other.attribute, other.constraints, self._absent)
            held.append(np.flatnonzero(mask))
            numbers.append(np.full(len(held[-1]), number, np.int32))
        events: list[Event] = []
        for number, clause in self._clauses:
            names = {constraint.attribute for constraint in clause.all_constraints()}
            regions = np.flatnonzero(columns.has_intervals(names)).tolist()
            if regions and not events:
                events = columns.events()
            failed = [row for row in regions if not clause.matches(events[row], self._absent)]
            held.append(np.array(failed, np.int64))
            numbers.append(np.full(len(failed), number, np.int32))
        return np.concatenate(held), np.concatenate(numbers)

    def room(self) -> EventRoom:
        """Room for what one event finds."""
        return self._index.room()

    def of_event(self, event: Event, codes: OneEvent, room: EventRoom) -> Hits:
        """What holds for one event, whose strings are in the room of its codes."""
        count = self._index.of_event(codes.spots, codes.raw, room)
        more = [*self._rest_of(event)] if self._has_rest else []
        if self._absent == "passes":
            for attribute, straight in self._straight.items():
                more += straight if event.get(attribute) is None else ()
        if not more:
            return Hits(_ONE_EVENT, room.found, room.tests)
        every = np.concatenate([room.tests[:count], np.array(more, np.int32)])
        return Hits(_ONE_EVENT, *_one_word(every))

    def _rest_of(self, event: Event) -> Iterable[int]:
        for number, other in self._rest:
            if Clause(other.constraints).matches(event, self._absent):
                yield number
        if event.is_region:
            for number, clause in self._clauses:
                if not clause.matches(event, self._absent):
                    yield number


_ONE_EVENT: Final = np.zeros((1, 1), np.int32)  # with one word, of all that holds
NO_HITS: Final = Hits(np.zeros((1, 0), np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32))


def _one_word(tests: Array) -> tuple[Array, Array]:
    return np.array([0, len(tests)]), tests
