"""Which of a segment's other tests hold for which events: patterns, once per distinct string."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, expand, offsets, offsets_of
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.typed_values import Strings
from predicast.matching.brute_force import Groups, MaskCache
from predicast.matching.columnar.compile.coded_tests import Other
from predicast.matching.columnar.patterns.pattern_index import PatternIndex
from predicast.model import Absent, Clause, Event, Operator

_PATTERNS: Final = frozenset({Operator.CONTAINS, Operator.LIKE, Operator.MATCHES})


class Hits(NamedTuple):
    """The numbers of the tests that are marked for each event, ascending."""

    first: Array
    test: Array


class _Patterns(NamedTuple):
    """The patterns on one attribute, with their numbers among all other tests."""

    patterns: PatternIndex
    numbers: Array
    straight: Array  # the numbers of those that are not inverted


class OtherTests:
    """The other tests of a segment, those on strings by attribute."""

    def __init__(self, others: Sequence[Other], absent: Absent) -> None:
        self._absent: Absent = absent
        self._patterns: dict[str, _Patterns] = {}
        self._rest: list[tuple[int, Other]] = []
        by_attribute: dict[str, list[int]] = {}
        for number, other in enumerate(others):
            if (
                other.rest is None
                and len(other.constraints) == 1
                and other.constraints[0].operator in _PATTERNS
            ):
                by_attribute.setdefault(other.attribute, []).append(number)
            else:
                self._rest.append((number, other))
        for attribute, numbers in by_attribute.items():
            self._patterns[attribute] = _Patterns(
                PatternIndex([others[number].constraints[0] for number in numbers]),
                np.array(numbers, np.int32),
                np.array([n for n in numbers if not others[n].inverted], np.int32),
            )
        self._all = len(others)

    def __len__(self) -> int:
        return self._all

    def nbytes(self) -> int:
        """The memory of the patterns' indexes."""
        return sum(each.patterns.nbytes() for each in self._patterns.values())

    def of_batch(self, columns: EventBatch) -> Hits:
        """What is marked for each event of a batch."""
        if not self._all:
            return Hits(np.zeros(len(columns) + 1, np.int64), np.zeros(0, np.int32))
        events, tests = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
        for attribute, here in self._patterns.items():
            lacks = np.ones(len(columns), bool)
            for part in columns.parts(attribute):
                rows = np.arange(len(columns)) if part.rows is None else part.rows
                lacks[rows] = False
                if isinstance(part, Strings):
                    first, found = here.patterns.hits(part.words)
                    counts = np.diff(first)[part.values]
                    events.append(np.repeat(rows, counts))
                    tests.append(here.numbers[found[expand(first, part.values)]])
            if self._absent == "passes":
                lacking = np.flatnonzero(lacks)
                events.append(np.repeat(lacking, len(here.straight)))
                tests.append(np.tile(here.straight, len(lacking)))
        for number, other in self._rest:
            held = self._held(other, columns)
            events.append(held)
            tests.append(np.full(len(held), number, np.int32))
        event, test = np.concatenate(events), np.concatenate(tests)
        order = np.lexsort((test, event))
        return Hits(offsets_of(event[order], len(columns)), test[order].astype(np.int32))

    def _held(self, other: Other, columns: EventBatch) -> Array:
        """The rows in which a test holds that is no pattern."""
        if other.rest is None:
            mask = columns.test(other.attribute, other.constraints, self._absent)
            return np.flatnonzero(mask)
        clause = Clause(other.constraints, other.rest)
        return MaskCache(columns, self._absent).rows_of([Groups.of(clause)])

    def of_event(self, event: Event) -> Hits:
        """What is marked for one event."""
        found: list[int] = []
        for attribute, here in self._patterns.items():
            value = event.get(attribute)
            if isinstance(value, str):
                found += here.numbers[here.patterns.hits([value])[1]].tolist()
            elif value is None and self._absent == "passes":
                found += here.straight.tolist()
        for number, other in self._rest:
            if Clause(other.constraints, other.rest).matches(event, self._absent):
                found.append(number)
        return Hits(offsets([len(found)]), np.array(sorted(found), np.int32))
