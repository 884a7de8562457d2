"""The matches of events in a segment, as ``kernels/matching.py`` finds them."""

from __future__ import annotations

from itertools import chain

import numpy as np

from predicast.arrays import Array
from predicast.matching.columnar.layout.image import Image
from predicast.matching.columnar.plain.blocks import scan_families
from predicast.matching.columnar.plain.results import as_runs, keep_live
from predicast.matching.columnar.plain.rows import Doubts, find_rows, try_rows


def match_events(  # noqa: PLR0913, PLR0917  # as the compiled one
    data: Array,
    directory: Array,
    low: Array,
    high: Array,
    wide: Array,
    column: Array,
    event_word: Array,
    word_first: Array,
    word_test: Array,
    column_first: Array,
    column_test: Array,
    marks: Array,
    counting: bool,
    enough: int,
) -> tuple[Array, Array, Array, Array]:
    """The matches of events: keys, and runs of (event, where its keys end).

    And what is in doubt: rows, and the tests to ask about, each together with its event as one
    number. ``counting`` leaves the keys out. There may be more than ``enough`` of an event, as
    there may with the compiled loops.
    """
    arrays = Image(data, directory).arrays()
    codes = (low[:, column], high[:, column], wide[:, column])
    found = scan_families(arrays, codes)
    nothing = np.zeros(0, np.int64)
    doubts = Doubts([nothing], [nothing])
    if len(arrays.row_test_first) > 1:
        hits = event_word, word_first, word_test, column_first, column_test
        found = chain(found, find_rows(arrays, codes, hits, doubts))
    events, keys = [], []
    for event, place in found:
        events.append(event)
        keys.append(arrays.keys[place])
    doubtful, questions = np.sort(np.concatenate(doubts.rows)), np.concatenate(doubts.questions)
    return *as_runs(events, keys, counting=counting), doubtful, questions


def match_doubtful(  # noqa: PLR0913, PLR0917  # as the compiled one
    data: Array,
    directory: Array,
    low: Array,
    high: Array,
    wide: Array,
    column: Array,
    event_word: Array,
    word_first: Array,
    word_test: Array,
    column_first: Array,
    column_test: Array,
    marks: Array,
    doubtful: Array,
    answers: Array,
) -> tuple[Array, Array]:
    """The matches among rows that were in doubt: keys, and runs of (event, where its keys end)."""
    arrays = Image(data, directory).arrays()
    codes = (low[:, column], high[:, column], wide[:, column])
    hits = event_word, word_first, word_test, column_first, column_test
    event, place = try_rows(arrays, codes, hits, doubtful, answers)
    return as_runs([event], [arrays.keys[place]], counting=False)


def match_event(  # noqa: PLR0913, PLR0917  # as the compiled one
    data: Array,
    directory: Array,
    low: Array,
    high: Array,
    wide: Array,
    column: Array,
    event_word: Array,
    word_first: Array,
    word_test: Array,
    column_first: Array,
    column_test: Array,
    marks: Array,
    deleted: Array,
    since: Array,
    epoch: int,
    found: Array,
) -> tuple[int, int]:
    """The matches of one event that were held at an epoch, written to ``found``: how many.

    If there is no room for them, nothing is written: the answer is the room it takes, below 0.
    And how many rows are in doubt.
    """
    hits = event_word, word_first, word_test, column_first, column_test
    keys, _, doubtful, _ = match_events(
        data, directory, low, high, wide, column, *hits, marks, False, 0
    )
    keep_live(keys, deleted, since, epoch)
    keys = keys[keys >= 0]
    if len(keys) > len(found):
        return -len(keys), len(doubtful)
    found[: len(keys)] = keys
    return len(keys), len(doubtful)
