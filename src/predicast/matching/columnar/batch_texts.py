"""``BatchTexts``: all strings of a batch that a segment looks at, side by side.

::

    raw           cmd.exe whoami cmd.exe ... alice bob          the bytes of all columns
    columns       image                      user
    rows          0    1      2              0     2            the event of each string
    numbers       0    1      0              2     3            the word of each string
    spots         0-7, 7-13                  99-104, 104-107    where each word is in the bytes

So a batch of fifty columns takes one call of a loop and not fifty: of a few hundred events that is
most of the time. Where words repeat they are numbered on the way, each once: a word is coded and
searched for its patterns as often as it has numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.typed_values import Strings
from predicast.matching.columnar import loops

NO_WORD: Final = -1


class BatchTexts(NamedTuple):
    """Columns of strings; those whose strings are searched come first."""

    attributes: Array  # the number of that of each column, ascending
    string_first: Array  # where the strings of each column begin
    rows: Array
    numbers: Array
    word_first: Array  # where the words of each column begin
    spots: Array
    raw: Array
    event_word: Array  # for each event and searched column the word, -1 if there is none

    def columns_of(self, attributes: int) -> Array:
        """The column of each of so many attributes, -1 if the batch has no strings of it."""
        found = np.full(attributes, -1)
        here = self.attributes[self.attributes < attributes]
        found[here] = np.arange(len(here))
        return found


def batch_texts(batch: EventBatch, attributes: Mapping[str, int], searched: int) -> BatchTexts:
    """The strings of some attributes, given by number; so many of them are searched."""
    there = [
        (attributes[name], part)
        for name in batch.attributes()
        if name in attributes
        for part in batch.parts(name)
        if isinstance(part, Strings) and len(part)
    ]
    if not there:
        return no_texts(len(batch))
    there.sort(key=lambda each: each[0])
    every = np.arange(len(batch))
    raw, first, rows, values, columns, end = [], [], list[Array](), [], [], 0
    for _, part in there:
        words = part.words
        begins = words.first
        text = words.text()
        raw.append(text)
        first.append(begins)
        values.append(part.values)
        rows.append(every if part.rows is None else part.rows)
        columns.append((end - int(begins[0]), len(words), len(part), not part.have_own_words))
        end += len(text)
    of = np.array([number for number, _ in there], np.int64)
    described, where, text = np.array(columns, np.int64), np.concatenate(rows), np.concatenate(raw)
    given = np.concatenate(values)
    numbers = np.empty_like(given)
    spots = np.empty(2 * int(described[:, 1].sum()), np.int64)
    event_word = np.full((len(batch), int((of < searched).sum())), NO_WORD, np.int32)
    word_first = loops.now.number_words(
        *(text, np.concatenate(first), described, where, given),
        *(numbers, spots, event_word),
    )
    spots = spots[: 2 * int(word_first[-1])]
    string_first = offsets(described[:, 2])
    return BatchTexts(of, string_first, where, numbers, word_first, spots, text, event_word)


def no_texts(events: int) -> BatchTexts:
    """A batch without strings that matter."""
    none, at = np.zeros(0, np.int64), np.zeros(1, np.int64)
    event_word = np.zeros((events, 0), np.int32)
    numbers, raw = np.zeros(0, np.int32), np.zeros(0, np.uint8)
    return BatchTexts(none, at, none, numbers, at, none, raw, event_word)
