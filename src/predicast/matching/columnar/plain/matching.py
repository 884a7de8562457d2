"""The matches of events in a segment, as ``kernels/matching.py`` finds them."""

from __future__ import annotations

from itertools import chain
from typing import Any, Final

import numpy as np

from predicast.arrays import Array
from predicast.matching.columnar.layout.image import Image
from predicast.matching.columnar.layout.question import Counts, Question, QuestionArrays
from predicast.matching.columnar.patterns.index_arrays import IndexImage
from predicast.matching.columnar.plain.blocks import scan_families
from predicast.matching.columnar.plain.coding import code_numbers
from predicast.matching.columnar.plain.patterns import find_event_tests
from predicast.matching.columnar.plain.results import as_runs, keep_live
from predicast.matching.columnar.plain.rows import Doubts, find_rows, try_rows
from predicast.matching.columnar.plain.words import code_strings

_COUNTS: Final = Counts()


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


def match_event(question: Question, epoch: int) -> tuple[int, int]:
    """Code one event and search its strings; write the matches that were held at an epoch.

    How many those are, and how many rows are in doubt; -1 if there is no room, and the counts of
    the question say how much it takes. Before all epochs (-1) the event is coded and searched and
    no more.
    """
    a = question.arrays
    numbers = a.ints, a.floats, a.tables, a.ranges
    code_numbers(numbers, a.wholes, a.reals, a.said, a.low, a.high)
    pool = a.first, a.cuts, a.keys, a.slots, a.uppers, a.axes
    code_strings(pool, a.of_strings, a.spots, a.raw, a.low, a.high, a.wide)
    if not _search(a):
        return -1, 0
    if epoch < 0:
        return 0, 0
    codes = a.low, a.high, a.wide, a.column
    asked: Any = (a.data, a.directory, *codes, *question.hits(), a.marks, False, 0)
    keys, _, doubtful, _ = match_events(*asked)
    keep_live(keys, a.deleted, a.since, epoch)
    keys = keys[keys >= 0]
    if len(keys) > len(a.found):
        a.counts[_COUNTS.room_for_found] = len(keys)
        return -1, 0
    a.found[: len(keys)] = keys
    return len(keys), len(doubtful)


def _search(a: QuestionArrays) -> bool:
    """Write the tests that hold for the strings of an event; whether there is room for them."""
    given = a.counts[_COUNTS.given]
    tests, asked = np.zeros(0, np.int32), np.zeros(0, np.int64)
    if len(a.seen):
        image = IndexImage(a.patterns, a.patterns_directory)
        tests, asked = find_event_tests(image, a.spots, a.raw)
    count, number = given + len(tests), len(asked)
    if count > len(a.tests) or number > len(a.asked):
        a.counts[_COUNTS.room_for_tests] = max(count, len(a.tests))
        a.counts[_COUNTS.room_for_asked] = max(number, len(a.asked))
        return False
    a.tests[given:count], a.asked[:number] = tests, asked
    a.held[1], a.counts[_COUNTS.asked] = count, number
    return True
