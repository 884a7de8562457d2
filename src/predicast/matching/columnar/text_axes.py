"""Axes of strings: the codes of words on them, for batches and for single events.

The cuts of all axes stand side by side in one *pool*, so that an event, or a batch of them, takes
one call however many strings it has. Where there are very many cuts, a batch is coded axis
by axis, with the cuts where they lie: to copy them would take longer, and their memory::

    first  [ lower cuts of axis 0 | upper cuts of axis 0 | lower cuts of axis 1 | ... ]
    keys   [          ...         |         ...          |         ...          | ... ]
    slots  [                 table of axis 0             |    table of axis 1   | ... ]
    axes   axis, attribute, then where its lower and its upper cuts begin and how many they are,
           where its table begins and ends, how far from its slot a word stands, and how many
           bytes its lower and its upper cuts share
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, Words
from predicast.matching.columnar import loops
from predicast.matching.columnar.compile.cuts import Codes, TextCuts
from predicast.matching.columnar.compile.word_table import WordTable, word_table

_FEW_CUTS: Final = 1 << 18


class TextAxis:
    """The cuts of one axis of strings, and how words are found among them."""

    def __init__(self, lower: TextCuts, upper: TextCuts, *, whole: bool) -> None:
        """``whole``: all spans on it are single words."""
        self.lower, self.upper = lower, upper
        self._is_whole = whole

    @cached_property
    def table(self) -> WordTable | None:
        """Where to find whole words, if that is all that is asked for."""
        return word_table(self.lower.words) if self._is_whole else None

    @cached_property
    def uppers(self) -> Codes:
        """The upper codes of the words that are lower cuts."""
        return self.upper.code_all(self.lower.words)

    def code_all(self, words: Words) -> tuple[Codes, Codes]:
        """The lower and the upper codes of words."""
        if self.table is None:
            return self.lower.code_all(words), self.upper.code_all(words)
        low, high = np.empty(len(words), np.int32), np.empty(len(words), np.int32)
        cuts = self.lower.words
        loops.now.code_whole_words(
            cuts.first, cuts.raw, *self.table, self.uppers, words.first, words.raw, low, high
        )
        return low, high

    def code(self, text: str) -> tuple[int, int]:
        """The codes of one string."""
        low, high = self.code_all(Words.of([text]))
        return int(low[0]), int(high[0])


def are_cuts_few(axes: Sequence[TextAxis]) -> bool:
    """Whether there are so few that a batch, too, is best coded with all of them side by side."""
    return sum(len(axis.lower) + len(axis.upper) for axis in axes) <= _FEW_CUTS


class TextPool(NamedTuple):
    """The cuts of all axes of strings side by side, as ``code_texts`` reads them."""

    first: Array
    cuts: Array
    keys: Array
    slots: Array
    uppers: Array
    axes: Array


def pool_of(axes: Sequence[tuple[int, int, TextAxis]]) -> TextPool:
    """The pool of axes, given with their numbers and those of their attributes."""
    words: list[Words] = []
    keys, uppers = [np.zeros(0, np.uint64)], [np.zeros(0, np.int32)]
    slots = [np.zeros(0, np.uint64)]
    rows = np.zeros((len(axes), 11), np.int64)
    base = of_slots = 0
    for row, (number, attribute, axis) in enumerate(axes):
        rows[row, :2] = number, attribute
        table = axis.table
        ends = [axis.lower] if table else [axis.lower, axis.upper]
        for end, cuts in enumerate(ends):
            rows[row, 2 + 2 * end : 4 + 2 * end] = base, len(cuts)
            rows[row, 9 + end] = cuts.shared
            words.append(cuts.words)
            # One more, as there is one more place where words begin.
            keys += [cuts.keys, np.zeros(1, np.uint64)]
            codes = axis.uppers if table else np.zeros(len(cuts), np.int32)
            uppers += [codes, np.zeros(1, np.int32)]
            base += len(cuts) + 1
        if table:
            rows[row, 6:9] = of_slots, of_slots + len(table.slots), table.farthest
            slots.append(table.slots)
            of_slots += len(table.slots)
    return TextPool(
        _firsts(words),
        np.concatenate([np.zeros(0, np.uint8), *(each.text() for each in words)]),
        np.concatenate(keys),
        np.concatenate(slots),
        np.concatenate(uppers),
        rows,
    )


def _firsts(several: Sequence[Words]) -> Array:
    """Where the words of each begin, and the last of them ends, when their bytes are joined."""
    found, at = [np.zeros(0, np.int64)], 0
    for words in several:
        found.append(words.first - words.first[0] + at)
        at += int(words.first[-1] - words.first[0])
    return np.concatenate(found)
