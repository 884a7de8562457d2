"""Which of a segment's other tests hold for which events: patterns, once per distinct string.

Nothing is written per event but the words that it has. What holds is known per word::

    event_word   note   city   rest       one column for each attribute with patterns, or conditions
      event 0     0      2      -1        on elements, and one for other tests; -1: nothing there
      event 1     1     -1       3
    word_test    0: [4, 7]   1: []   2: [5]   3: [8]      the tests that hold for each word

A loop that looks at an event marks the tests of its words, and whether one holds is then a single
look (``kernels/rows.py``). Three things are words without being strings: what holds of an attribute
that is absent, where that passes; a list; and what holds of one event beyond patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets, offsets_of
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.lists import Lists
from predicast.matching.batches.typed_values import Strings
from predicast.matching.brute_force import Groups, MaskCache
from predicast.matching.columnar.compile.coded_tests import Other
from predicast.matching.columnar.patterns.element_tests import ElementTests
from predicast.matching.columnar.patterns.pattern_index import PatternIndex
from predicast.model import Absent, Clause, Elements, Event, Operator

_PATTERNS: Final = frozenset({Operator.CONTAINS, Operator.LIKE, Operator.MATCHES})
_NOWHERE: Final = -1  # no word


class Hits(NamedTuple):
    """The words of events, and the numbers of the tests that hold for each word, some twice."""

    event_word: Array
    word_first: Array
    word_test: Array


class _Patterns(NamedTuple):
    """The patterns on one attribute, with their numbers among all other tests."""

    patterns: PatternIndex
    numbers: Array
    straight: Array  # the numbers of those that are not inverted


class _OfElements(NamedTuple):
    """The conditions on elements of one attribute, likewise."""

    tests: ElementTests
    numbers: Array
    straight: Array


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
        self._patterns: dict[str, _Patterns] = {}
        self._rest: list[tuple[int, Other]] = []
        self._of_elements: dict[str, _OfElements] = {}
        by_attribute: dict[str, list[int]] = {}
        lists: dict[str, list[int]] = {}
        for number, other in enumerate(others):
            alone = other.rest is None and len(other.constraints) == 1
            operator = other.constraints[0].operator if alone else None
            if operator in _PATTERNS:
                by_attribute.setdefault(other.attribute, []).append(number)
            elif operator is Operator.HAS:
                lists.setdefault(other.attribute, []).append(number)
            else:
                self._rest.append((number, other))
        for attribute, numbers in by_attribute.items():
            self._patterns[attribute] = _Patterns(
                PatternIndex([others[number].constraints[0] for number in numbers]),
                np.array(numbers, np.int32),
                np.array([n for n in numbers if not others[n].inverted], np.int32),
            )
        for attribute, numbers in lists.items():
            self._of_elements[attribute] = _OfElements(
                ElementTests(
                    [others[number].constraints[0] for number in numbers],
                    [others[number].inverted for number in numbers],
                ),
                np.array(numbers, np.int32),
                np.array([n for n in numbers if not others[n].inverted], np.int32),
            )
        self._all = len(others)
        self.width = len(self._patterns) + len(self._of_elements) + bool(self._rest)

    def __len__(self) -> int:
        return self._all

    def nbytes(self) -> int:
        """The memory of the indexes of patterns and of conditions on elements."""
        patterns = sum(each.patterns.nbytes() for each in self._patterns.values())
        return patterns + sum(each.tests.nbytes() for each in self._of_elements.values())

    def of_batch(self, columns: EventBatch) -> Hits:
        """What holds for the events of a batch."""
        words = _Words()
        event_word = np.full((len(columns), self.width), _NOWHERE, np.int32)
        for place, (attribute, here) in enumerate(self._patterns.items()):
            self._code_attribute(columns, attribute, here, words, event_word[:, place])
        for place, (attribute, of) in enumerate(self._of_elements.items(), len(self._patterns)):
            self._code_lists(columns, attribute, of, words, event_word[:, place])
        if self._rest:
            held = [
                np.flatnonzero(columns.test(other.attribute, other.constraints, self._absent))
                for _, other in self._rest
            ]
            event = np.concatenate(held)
            test = np.repeat([number for number, _ in self._rest], [*map(len, held)])
            first = words.add(
                offsets_of(np.sort(event), len(columns)), test[np.argsort(event, kind="stable")]
            )
            event_word[:, -1] = first + np.arange(len(columns))
        return words.hits(event_word)

    def _code_attribute(
        self, columns: EventBatch, attribute: str, here: _Patterns, words: _Words, column: Array
    ) -> None:
        """Write which word each event has in one attribute."""
        if self._absent == "passes":
            column[:] = words.add(*_one_word(here.straight))
        for part in columns.parts(attribute):
            rows = slice(None) if part.rows is None else part.rows
            if isinstance(part, Strings):
                first, found = here.patterns.hits(part.words)
                column[rows] = words.add(first, here.numbers[found]) + part.values
            else:
                column[rows] = _NOWHERE

    def _code_lists(
        self, columns: EventBatch, attribute: str, here: _OfElements, words: _Words, column: Array
    ) -> None:
        """Write which list each event has in one attribute."""
        if self._absent == "passes":
            column[:] = words.add(*_one_word(here.straight))
        for part in columns.parts(attribute):
            rows = slice(None) if part.rows is None else part.rows
            if isinstance(part, Lists):
                first, found = here.tests.hits(part)
                column[rows] = words.add(first, here.numbers[found]) + np.arange(len(part))
            else:
                column[rows] = _NOWHERE

    def _held(self, other: Other, columns: EventBatch) -> Array:
        """The rows in which a test holds that is no pattern."""
        if other.rest is None:
            mask = columns.test(other.attribute, other.constraints, self._absent)
            return np.flatnonzero(mask)
        clause = Clause(other.constraints, other.rest)
        return MaskCache(columns, self._absent).rows_of([Groups.of(clause)])

    def of_event(self, event: Event) -> Hits:
        """What holds for one event."""
        found: list[Array] = []
        for attribute, here in self._patterns.items():
            value = event.get(attribute)
            if isinstance(value, str):
                found.append(here.numbers[here.patterns.hits([value])[1]])
            elif value is None and self._absent == "passes":
                found.append(here.straight)
        for attribute, of in self._of_elements.items():
            value = event.get(attribute)
            if isinstance(value, Elements):
                found.append(of.numbers[of.tests.of_one(value)])
            elif value is None and self._absent == "passes":
                found.append(of.straight)
        found.append(np.array([*self._rest_of(event)], np.int32))
        return Hits(_ONE_EVENT, *_one_word(np.concatenate(found)))

    def _rest_of(self, event: Event) -> Iterable[int]:
        for number, other in self._rest:
            if Clause(other.constraints, other.rest).matches(event, self._absent):
                yield number


_ONE_EVENT: Final = np.zeros((1, 1), np.int32)  # with one word, of all that holds
NO_HITS: Final = Hits(np.zeros((1, 0), np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32))


def _one_word(tests: Array) -> tuple[Array, Array]:
    return np.array([0, len(tests)]), tests
