"""What a table of bounds is asked (``bounds_table.py``): the values of events in rows of float64.

::

    names     price  volume  symbol  price (timestamp)       the columns that clauses ask for
    moved     0      1       2       3                       the row of each
    values    [ 9.5   7.0   …  nan nan ]                     an event after the other, nan for none
              [ 5.0   8.0   …  nan nan ]
              [ 3     -1    …  nan nan ]                     words by number, -1: not waited for
              [ nan   nan   …  nan nan ]                     one row for all that no event has

There is room for a multiple of 64 events, or for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.matching.batches.event_batch import PartKind
from predicast.matching.batches.typed_values import (
    Decimals,
    Floats,
    Integers,
    Intervals,
    Strings,
    TypedValues,
)
from predicast.matching.columnar.bounds_table import NO_VALUE, Columns
from predicast.matching.columnar.reserved import LANES
from predicast.model import Event
from predicast.model.values import kind_of, microseconds

_PLAIN: Final = frozenset({int, float, bool})
_NUMBERS: Final = frozenset({Integers, Floats})
_INEXACT: Final = frozenset({Intervals, Decimals})


class Asked(NamedTuple):
    """Values of events and where those of each column are; how many are meant; as of when."""

    moved: Array
    values: Array
    passes: Array  # a bit for each value that is lacking and passes all the same
    events: int
    epoch: int


class ValueRules(NamedTuple):
    """How values are written: the number of each string, and if one that is lacking passes."""

    words: dict[str, int]
    absent_passes: bool


def asked_of_event(columns: Columns, rules: ValueRules, event: Event, epoch: int) -> Asked:
    """The values of one event."""
    words, absent_passes = rules
    same, nothing, passes = columns.room
    values, width = nothing.copy(), len(same)
    if absent_passes:
        passes = ~passes
    for attribute, value in event.items():
        mine = columns.of(attribute)
        if mine is None:
            continue
        own = kind_of(value)  # type: ignore[arg-type]
        for kind, column in mine.items():
            if column >= width:
                continue
            if absent_passes:
                passes[column] = 0
            if kind is own:
                values[column] = _number(value, words)
    return Asked(same, values, passes, 1, epoch)


def _number(value: Any, words: dict[str, int]) -> float:
    """A value of an event as a column has it."""
    if type(value) is str:
        return words.get(value, -1)
    return float(value if type(value) in _PLAIN else microseconds(value))


class BatchLayout(NamedTuple):
    """Where the values of batches go whose parts are of the same kinds."""

    kinds: list[PartKind]
    names: int  # columns that there are
    moved: Array
    rows: int  # the last of them for what no event has
    numbers: list[int]  # parts whose values are the first rows: numbers that every event has
    others: list[tuple[int, int, bool]]  # parts, their rows, and if the values are of their kind
    are_exact: bool  # whether none is an interval or a decimal, which are no float64

    @classmethod
    def of(cls, columns: Columns, kinds: list[PartKind]) -> BatchLayout:
        """For parts of such kinds, of attributes that have columns."""
        names = len(columns.names)
        moved = np.full(names, -1, np.int32)
        numbers: list[int] = []
        mixed: list[tuple[int, int, bool]] = []  # with the column instead of its row
        for part, (attribute, type_, is_whole) in enumerate(kinds):
            if type_ in _INEXACT:
                continue
            for kind, column in (columns.of(attribute) or {}).items():
                if column >= names:
                    continue  # it came meanwhile
                if is_whole and type_ in _NUMBERS and type_.kind is kind:
                    moved[column] = len(numbers)
                    numbers.append(part)
                else:
                    mixed.append((part, column, type_.kind is kind))
        rows = len(numbers)
        for _, column, _ in mixed:
            if moved[column] < 0:
                moved[column] = rows
                rows += 1
        moved[moved < 0] = rows
        others = [(part, int(moved[column]), is_own) for part, column, is_own in mixed]
        are_exact = not any(type_ in _INEXACT for _, type_, _ in kinds)
        return cls(kinds, names, moved, rows + 1, numbers, others, are_exact)

    def asked(
        self, parts: Sequence[TypedValues], events: int, rules: ValueRules, epoch: int
    ) -> Asked:
        """The values of a batch that has these parts."""
        words, absent_passes = rules
        shape = self.rows, -(-events // LANES) * LANES
        values, plain = np.empty(shape), len(self.numbers)
        values[plain:] = NO_VALUE
        if plain:
            values[:plain, :events] = np.array([parts[part].values for part in self.numbers])
            values[:plain, events:] = NO_VALUE
        for place, row, is_own in self.others:
            if is_own:
                part = parts[place]
                here = slice(None) if part.rows is None else part.rows
                values[row, :events][here] = _numbers(part, words)
        if not absent_passes:
            passes = np.zeros((shape[0], shape[1] // LANES), np.uint64)
            return Asked(self.moved, values, passes, events, epoch)
        lacks = np.ones(shape, bool)
        lacks[:plain, :events] = False
        for place, row, _ in self.others:
            rows = parts[place].rows
            lacks[row, :events][slice(None) if rows is None else rows] = False
        passes = np.packbits(lacks, axis=1, bitorder="little").view(np.uint64)
        return Asked(self.moved, values, passes, events, epoch)


def _numbers(part: TypedValues, words: dict[str, int]) -> Array:
    if isinstance(part, Strings):
        return np.array([words.get(word, -1) for word in part.words], np.float64)[part.values]
    return part.values
