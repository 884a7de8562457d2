"""The compiled loops as the segment calls them; the inner ones are beside.

A segment reaches them as its image (``image.py``), one array of bytes and a directory: passing two
arrays costs a call little, passing forty would cost some microseconds, and the compiler some
seconds. Each loop takes out what it needs (``images.py``). For one event even that is much: it is
asked by a table of addresses (``addresses.py``). Matches leave as *runs*, the keys of one event
side by side: one number per match, and the event only once per run.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from predicast.matching.columnar.kernels.addresses import (
    OF,
    codes_of,
    codes_to_write,
    hits_of,
    read,
    read_floats,
    read_ints,
    read_longs,
    read_rows,
    read_unsigned,
    written,
    written_ints,
    written_longs,
)
from predicast.matching.columnar.kernels.blocks import scan_family, visits_of
from predicast.matching.columnar.kernels.coding import code_numbers
from predicast.matching.columnar.kernels.compiling import array, entry, kernel
from predicast.matching.columnar.kernels.images import AT, bytes_of, longs_of
from predicast.matching.columnar.kernels.patterns import find_event_tests
from predicast.matching.columnar.kernels.rows import find_rows, try_rows
from predicast.matching.columnar.kernels.words import code_strings
from predicast.matching.columnar.layout.question import Counts
from predicast.matching.columnar.reserved import OF_END

_ROOM: Final = 1 << 12  # matches that there is room for at first
_EVERY: Final = np.iinfo(np.int64).max
COUNTS: Final[Any] = Counts()  # the compiler takes them for the numbers that they are

# What is asked of a segment: its image, codes (four arrays), hits (five), and room for marks.
_ASKED: Final = (
    *(array(types.uint8), array(types.int64)),
    *(array(types.int32, 2), array(types.int32, 2), array(types.boolean, 2), array(types.int32)),
    *(array(types.int32, 2), array(types.int64), array(types.int32)),
    *(array(types.int64), array(types.int32)),
    array(types.int32, written=True),
)


@kernel
def _matched(
    image: Any, codes: Any, hits: Any, marks: Any, room: Any, counting: bool, enough: int
) -> Any:
    """Ask all families and all rows: keys, runs, and how many there are of each; and doubts."""
    out = (room, np.empty((16, 2), np.int64), np.int64(0), np.int64(0))
    for family in range(len(bytes_of(image, AT.width))):
        visits = visits_of(image, family, codes)
        if len(visits):
            out = scan_family(image, family, codes, visits, out, counting, enough)
    doubts = np.empty(0, np.int64), np.empty(0, np.int64)
    if len(longs_of(image, AT.row_test_first)) > 1:
        out, doubts = find_rows(image, codes, hits, marks, out, counting, enough)
    return out, doubts


@entry(
    (
        *_ASKED,
        types.boolean,
        types.int64,
    )
)
def match_events(  # noqa: PLR0913, PLR0917  # as below
    data: Any,
    directory: Any,
    low: Any,
    high: Any,
    wide: Any,
    column: Any,
    event_word: Any,
    word_first: Any,
    word_test: Any,
    column_first: Any,
    column_test: Any,
    marks: Any,
    counting: bool,
    enough: int,
) -> Any:
    """The matches of events: keys, and runs of (event, where its keys end).

    And what is in doubt: rows, and the tests to ask about, each together with its event as one
    number. ``counting`` leaves the keys out; ``enough`` ends an event's run when it has that many.
    ``marks`` has a place for each other test, and one more.
    """
    image, codes = (data, directory), (low, high, wide, column)
    hits = (event_word, word_first, word_test, column_first, column_test)
    room = np.empty(_ROOM, np.int32)
    out, doubts = _matched(image, codes, hits, marks, room, counting, enough)
    keys, runs, count, number = out
    return keys[: 0 if counting else count], runs[:number], doubts[0], doubts[1]


@entry(
    (
        *_ASKED,
        array(types.int64),
        array(types.int64),
    )
)
def match_doubtful(  # noqa: PLR0913, PLR0917  # as below
    data: Any,
    directory: Any,
    low: Any,
    high: Any,
    wide: Any,
    column: Any,
    event_word: Any,
    word_first: Any,
    word_test: Any,
    column_first: Any,
    column_test: Any,
    marks: Any,
    doubtful: Any,
    answers: Any,
) -> Any:
    """The matches among rows that were in doubt: keys, and runs of (event, where its keys end).

    ``answers`` are those of the tests asked about that hold, each with its event, ascending.
    """
    image, codes = (data, directory), (low, high, wide, column)
    hits = (event_word, word_first, word_test, column_first, column_test)
    room = np.empty(len(doubtful), np.int32), np.empty((16, 2), np.int64), np.int64(0), np.int64(0)
    keys, runs, count, number = try_rows(image, codes, hits, marks, doubtful, answers, room)
    return keys[:count], runs[:number]


@kernel
def _code(table: Any) -> None:
    """Write the codes of an event."""
    low, high, wide = codes_to_write(table)
    numbers = (
        read_longs(table, OF.ints),
        read_floats(table, OF.floats),
        read_ints(table, OF.tables),
        read_rows(table, OF.ranges, 2 * OF_END),
    )
    code_numbers(
        numbers,
        read_longs(table, OF.wholes),
        read_floats(table, OF.reals),
        written(table, OF.said),
        low,
        high,
    )
    spots = read_longs(table, OF.spots)
    if spots[len(spots) - 1] < 0:
        return  # there are no strings
    pool = (
        read_longs(table, OF.first),
        read(table, OF.cuts),
        read_unsigned(table, OF.keys),
        read_unsigned(table, OF.slots),
        read_ints(table, OF.uppers),
        read_rows(table, OF.axes, 11),
    )
    said, raw = read_rows(table, OF.of_strings, 6), read(table, OF.raw)
    code_strings(pool, said, spots, raw, low, high, wide)


@kernel
def _search(table: Any) -> bool:
    """Write the tests that hold for the strings of an event; whether there is room for them."""
    counts, held = written_longs(table, OF.counts), written_longs(table, OF.held)
    count, number = counts[COUNTS.given], np.int64(0)
    spots = read_longs(table, OF.spots)
    if len(read(table, OF.seen)) and spots[len(spots) - 1] >= 0:
        index = read(table, OF.patterns), read_longs(table, OF.patterns_directory)
        tests, seen = written_ints(table, OF.tests), written_ints(table, OF.seen)
        asked = written_longs(table, OF.asked)
        room = len(tests), len(asked)
        out = tests, count, asked, number
        out = find_event_tests(index, spots, read(table, OF.raw), seen, out)
        tests, count, asked, number = out
        if len(tests) > room[0] or len(asked) > room[1]:
            counts[COUNTS.room_for_tests] = len(tests)
            counts[COUNTS.room_for_asked] = len(asked)
            return False
    held[1], counts[COUNTS.asked] = count, number
    return True


@entry((array(types.int64, 2), types.int64), nogil=False)
def match_event(table: Any, epoch: int) -> Any:
    """Code one event and search its strings; write the matches that were held at an epoch.

    How many those are, and how many rows are in doubt. ``table`` is that of a ``Question``. If
    there is no room for what is written the answer is -1, and the counts of the question say how
    much it takes. Before all epochs (-1) the event is coded and searched and no more.
    """
    _code(table)
    if not _search(table):
        return np.int64(-1), np.int64(0)
    if epoch < 0:
        return np.int64(0), np.int64(0)
    image, codes = (read(table, OF.data), read_longs(table, OF.directory)), codes_of(table)
    marks, found = written_ints(table, OF.marks), written_ints(table, OF.found)
    out, doubts = _matched(image, codes, hits_of(table), marks, found, False, _EVERY)
    keys, _, count, _ = out
    if len(keys) > len(found):
        written_longs(table, OF.counts)[COUNTS.room_for_found] = len(keys)
        return np.int64(-1), np.int64(0)
    deleted, since = read_ints(table, OF.deleted), read_longs(table, OF.since)
    kept = np.int64(0)
    for number in range(count):
        key = keys[number]
        if key < 0:
            if since[~key] <= epoch:
                continue
            key = deleted[~key]
        found[kept] = key
        kept += 1
    return kept, np.int64(len(doubts[0]))


# Results.


@kernel
def _counted_runs(runs: Any, starts: Any) -> int:
    """Count the runs of each event, at the place behind it; how many matches they hold."""
    room = 0
    for run in range(len(runs)):
        starts[runs[run, 0] + 1] += 1
        room += runs[run, 2] - runs[run, 1]
    return room


@kernel
def _order_runs(runs: Any, first: int, starts: Any, order: Any) -> None:
    """Put the runs, numbered from ``first`` on, where those of their events start."""
    for run in range(len(runs)):
        event = runs[run, 0]
        order[starts[event]] = first + run
        starts[event] += 1


@entry(
    (
        array(types.int32),
        array(types.int64, 2),
        array(types.int32),
        array(types.int64, 2),
        types.int64,
        types.boolean,
        types.int64,
        types.int64,
    )
)
def gather(  # arrays and numbers: a tuple would cost per call
    most_keys: Any,
    most_runs: Any,
    more_keys: Any,
    more_runs: Any,
    events: int,
    is_plain: bool,
    limit: int,
    largest: int,
) -> Any:
    """All matches as (event, key) pairs, ascending by event.

    Runs are (event, first, end). There are two lots of them: most matches are one segment's, and
    to bring those of all the others together with them would take longer than finding them. Keys
    below 0 are deleted. At most ``limit`` per event are kept; with ``largest`` at 0 or above (the
    largest key), each key at most once per event. Where none of that can matter (``is_plain``),
    keys are copied as they stand.
    """
    starts = np.zeros(events + 1, np.int64)
    room = _counted_runs(most_runs, starts) + _counted_runs(more_runs, starts)
    for event in range(events):
        starts[event + 1] += starts[event]
    first_more = len(most_runs)
    order = np.empty(first_more + len(more_runs), np.int64)
    _order_runs(most_runs, 0, starts, order)
    _order_runs(more_runs, first_more, starts, order)
    out_events, out_keys = np.empty(room, np.int64), np.empty(room, np.int32)
    seen = np.zeros(largest + 1, np.int32)
    count, before, last = 0, 0, -1
    for place in range(len(order)):
        run = order[place]
        keys, runs = most_keys, most_runs
        if run >= first_more:
            run -= first_more
            keys, runs = more_keys, more_runs
        event, first, end = runs[run, 0], runs[run, 1], runs[run, 2]
        if event != last:
            before, last = count, event
        if is_plain:
            for match in range(first, end):
                out_events[count] = event
                out_keys[count] = keys[match]
                count += 1
            continue
        if largest < 0 and end - first <= limit - (count - before):
            for match in range(first, end):  # without a branch, which nobody could foretell
                out_events[count] = event
                out_keys[count] = keys[match]
                count += keys[match] >= 0
            continue
        for match in range(first, end):
            key = keys[match]
            if key < 0 or count - before >= limit:
                continue
            if largest >= 0:
                if seen[key] == event + 1:
                    continue
                seen[key] = event + 1
            out_events[count] = event
            out_keys[count] = key
            count += 1
    return out_events[:count], out_keys[:count]


# Deleting. What is deleted is listed with the epoch that it is gone from, and its key becomes the
# complement of its number in that list: an answer as of an earlier epoch still finds it.


@kernel
def _owner(keys: Any, by_key: Any, deleted: Any, place: int) -> Any:
    """Whose the clause at a place in the order of keys is, or was."""
    held = keys[by_key[place]]
    return np.int64(held if held >= 0 else deleted[~held])


@kernel
def _first_of(keys: Any, by_key: Any, deleted: Any, key: int) -> Any:
    """The first place in the order of keys whose clause has this key or a larger one.

    Keys are mostly spread evenly, those of a bulk without a gap: so the search begins where the key
    would be then, and takes larger and larger steps from there. Each step of a search that began
    in the middle would wait for memory.
    """
    high = len(by_key)
    if high == 0:
        return 0
    least, most = _owner(keys, by_key, deleted, 0), _owner(keys, by_key, deleted, high - 1)
    if key <= least:
        return 0
    if key > most:
        return high
    guess, step = (key - least) * (high - 1) // (most - least), 1
    if _owner(keys, by_key, deleted, guess) < key:
        low = guess + 1
        while guess + step < high and _owner(keys, by_key, deleted, guess + step) < key:
            low = guess + step + 1
            step *= 2
        high = min(guess + step, high)
    else:
        high = guess
        while guess >= step and _owner(keys, by_key, deleted, guess - step) >= key:
            high = guess - step
            step *= 2
        low = max(guess - step + 1, 0)
    while low < high:
        middle = (low + high) // 2
        if _owner(keys, by_key, deleted, middle) < key:
            low = middle + 1
        else:
            high = middle
    return low


@entry(
    (
        array(types.int32, written=True),
        array(types.int32),
        array(types.int64, written=True),
        array(types.int64, written=True),
        array(types.int32, written=True),
        array(types.int64, written=True),
        array(types.int64, written=True),
    ),
    nogil=False,
)
def mark_deleted(
    keys: Any, by_key: Any, wanted: Any, epochs: Any, deleted: Any, since: Any, count: Any
) -> int:
    """Delete all clauses of some keys, each from an epoch on; ``count`` is how many are listed.

    Keys that have none are moved to the front with their epochs: so many are left.
    """
    left = 0
    for row in range(len(wanted)):
        key, before = wanted[row], count[0]
        place = _first_of(keys, by_key, deleted, key)
        while place < len(by_key) and _owner(keys, by_key, deleted, place) == key:
            if keys[by_key[place]] >= 0:
                number = count[0]
                deleted[number] = key
                since[number] = epochs[row]
                count[0] = number + 1
                keys[by_key[place]] = ~number
            place += 1
        if count[0] == before:
            wanted[left], epochs[left] = key, epochs[row]
            left += 1
    return left


@entry((array(types.int32, written=True), array(types.int32), array(types.int64), types.int64))
def keep_live(found: Any, deleted: Any, since: Any, epoch: int) -> None:
    """Of keys that a segment found, turn those to -1 that were gone at an epoch."""
    for number in range(len(found)):
        key = found[number]
        if key < 0:
            found[number] = deleted[~key] if since[~key] > epoch else -1
