"""Rows: which ones an event reaches, and whether their tests hold. Laid out in ``rows.py``.

Some other tests are in doubt: regular expressions, above all, of which only a necessary literal has
been found. They are marked by the complement of the turn. A row that fails whatever they
say has failed; one that depends on them is put down, with the tests that it has to know. Whoever
called asks about those, and has these rows tried again.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from predicast.matching.columnar.kernels.buffers import position, with_pair, with_room, with_run
from predicast.matching.columnar.kernels.compiling import kernel
from predicast.matching.columnar.kernels.images import AT, bytes_of, ints_of, longs_of
from predicast.matching.columnar.reserved import FAILS, HOLDS, IN_DOUBT, NOT_THERE, UNREACHABLE

_MOST_TURNS: Final = 2**31 - 1
_FEW: Final = 16  # doubts that there is room for at first
_LOW: Final = (1 << 32) - 1


# Arrays come one by one here: taking them out of a tuple costs more than a test does.
@kernel
def _tests_hold(
    test_axis: Any,
    span_first: Any,
    span_lo: Any,
    span_hi: Any,
    begin: int,
    finish: int,
    low: Any,
    high: Any,
    columns: Any,
    event: int,
) -> bool:
    """Whether all of some tests hold, the first failure ending it."""
    for test in range(begin, finish):
        column = columns[test_axis[test]]
        place, end = span_first[test], span_first[test + 1]
        if end - place > 1:
            place = position(span_hi, place, end, high[event, column])
            if place == end:
                return False
        if span_lo[place] > low[event, column] or span_hi[place] < high[event, column]:
            return False
    return True


@kernel
def _others_end(
    row_other: Any, inverted: Any, begin: int, finish: int, marks: Any, turn: int
) -> int:
    """Whether those of a row's other tests hold that should, and the inverted ones do not."""
    outcome = HOLDS
    for place in range(begin, finish):
        other = row_other[place]
        mark = marks[other]
        if mark == ~turn:
            outcome = IN_DOUBT
        elif (mark == turn) == (inverted[other] != 0):
            return FAILS
    return outcome


@kernel
def _program_end(
    steps: Any, begin: int, tests: Any, first_test: int, codes: Any, event: int, marked: Any
) -> int:
    """Where a program, begun at its first step, ends (compile/programs.py)."""
    step_atom, step_then, step_otherwise = steps
    test_axis, span_first, span_lo, span_hi = tests
    low, high, _, columns = codes
    marks, turn, inverted = marked
    step = 0
    while step >= 0:
        atom = step_atom[begin + step]
        if atom < 0:
            if marks[~atom] == ~turn:
                return IN_DOUBT
            held = (marks[~atom] == turn) != (inverted[~atom] != 0)
        else:
            test = first_test + atom
            held = _tests_hold(
                *(test_axis, span_first, span_lo, span_hi, test, test + 1),
                *(low, high, columns, event),
            )
        step = step_then[begin + step] if held else step_otherwise[begin + step]
    return step


@kernel
def _led_from(access: Any, high: Any, columns: Any) -> Any:
    """The axes that lead to rows, but those of what no event has: of hundreds there may be few."""
    axes = len(columns)
    point_first, from_first, up_to_first = access[0][0], access[1][0], access[2][0]
    leading = np.empty(axes, np.int32)
    count = 0
    fails = high.size > NOT_THERE and high[0, NOT_THERE] == UNREACHABLE
    for axis in range(axes):
        if fails and columns[axis] == NOT_THERE:
            continue
        ways = point_first[axis + 1] - point_first[axis]
        ways += from_first[axis + 1] - from_first[axis]
        if ways + up_to_first[axis + 1] - up_to_first[axis] > 0:
            leading[count] = axis
            count += 1
    return leading[:count]


@kernel
def _reach(access: Any, axes: Any, codes: Any, event: int, rows: Any) -> int:
    """Write the rows that an event reaches through points and ends of spans; say how many."""
    low, high, _, columns = codes
    _, point_lo, point_hi, point_row = access[0]
    bucket_first, bucket, bucket_shift = access[3]
    from_first, from_lo, from_row = access[1]
    up_to_first, up_to_hi, up_to_row = access[2]
    number = 0
    for leading in range(len(axes)):
        axis = axes[leading]
        below, above = low[event, columns[axis]], high[event, columns[axis]]
        if above == UNREACHABLE:
            continue
        here, last = bucket_first[axis] + (above >> bucket_shift[axis]), bucket_first[axis + 1] - 1
        if here < last:
            place = position(point_hi, bucket[here], bucket[here + 1], above)
            end = bucket[last]
            while place < end and point_lo[place] <= below:
                rows[number] = point_row[place]
                number += 1
                place += 1
        place, end = from_first[axis], from_first[axis + 1]
        while place < end and from_lo[place] <= below:
            rows[number] = from_row[place]
            number += 1
            place += 1
        place, end = up_to_first[axis], up_to_first[axis + 1]
        while place < end and up_to_hi[place] >= above:
            rows[number] = up_to_row[place]
            number += 1
            place += 1
    return number


@kernel
def _next_turn(marks: Any) -> int:
    """The number that marks what holds for one more event; the last mark is the latest turn."""
    last = len(marks) - 1
    if marks[last] == _MOST_TURNS:
        for place in range(len(marks)):
            marks[place] = 0
    turn: int = marks[last] + 1
    marks[last] = turn
    return turn


@kernel
def _mark(
    hits: Any, event: int, marks: Any, turn: int, pattern: Any, rows: Any, number: int
) -> int:
    """Mark what holds or is in doubt, and write the rows that are reached through it."""
    event_word, word_first, word_test, column_first, column_test = hits
    pattern_first, pattern_row = pattern
    for column in range(event_word.shape[1]):
        word = event_word[event, column]
        if word < 0:
            continue
        begin, of_word = word_first[word], word_first[word + 1] - word_first[word]
        every = column_first[column + 1] - column_first[column]
        for place in range(of_word + every):
            if place < of_word:
                entry = word_test[begin + place]
            else:
                entry = column_test[column_first[column] + place - of_word]
            other = entry if entry >= 0 else ~entry
            before = marks[other]
            if before == turn or (entry < 0 and before == ~turn):
                continue
            marks[other] = turn if entry >= 0 else ~turn
            if before == ~turn:  # its rows are there already
                continue
            for way in range(pattern_first[other], pattern_first[other + 1]):
                rows[number] = pattern_row[way]
                number += 1
    return number


@kernel
def _tests_of(image: Any) -> Any:
    """What tests of codes are made of."""
    return (
        ints_of(image, AT.test_axis),
        longs_of(image, AT.test_span_first),
        ints_of(image, AT.span_lo),
        ints_of(image, AT.span_hi),
    )


@kernel
def _steps_of(image: Any) -> Any:
    """What programs are made of."""
    return (
        ints_of(image, AT.step_atom),
        ints_of(image, AT.step_then),
        ints_of(image, AT.step_otherwise),
    )


@kernel
def _with_questions(
    image: Any, row: int, event: int, marks: Any, turn: int, questions: Any, count: int
) -> Any:
    """The questions, and those about the tests in doubt that a row looks at: how many then."""
    other_first, row_other = longs_of(image, AT.row_other_first), ints_of(image, AT.row_other)
    step_first, step_atom = ints_of(image, AT.row_step_first), ints_of(image, AT.step_atom)
    for place in range(other_first[row], other_first[row + 1]):
        if marks[row_other[place]] == ~turn:
            questions = with_pair(questions, count, event, row_other[place])
            count += 1
    for step in range(step_first[row], step_first[row + 1]):
        if step_atom[step] < 0 and marks[~step_atom[step]] == ~turn:
            questions = with_pair(questions, count, event, ~step_atom[step])
            count += 1
    return questions, count


@kernel
def find_rows(  # noqa: PLR0915  # calls would take longer than what they do
    image: Any, codes: Any, hits: Any, marks: Any, out: Any, counting: bool, enough: int
) -> Any:
    """Test every row that an event reaches.

    Also the rows that depend on tests in doubt, and the tests to ask about: each with its event.
    """
    keys, runs, count, number = out
    low, high, _, columns = codes
    point_row = ints_of(image, AT.point_row)
    from_row, up_to_row = ints_of(image, AT.from_row), ints_of(image, AT.up_to_row)
    point_lo, point_hi = ints_of(image, AT.point_lo), ints_of(image, AT.point_hi)
    bucket_first, shift = longs_of(image, AT.bucket_first), bytes_of(image, AT.bucket_shift)
    access = (
        (longs_of(image, AT.point_first), point_lo, point_hi, point_row),
        (longs_of(image, AT.from_first), ints_of(image, AT.from_lo), from_row),
        (longs_of(image, AT.up_to_first), ints_of(image, AT.up_to_hi), up_to_row),
        (bucket_first, ints_of(image, AT.bucket), shift),
    )
    test_first, tried = longs_of(image, AT.row_test_first), ints_of(image, AT.row_tried)
    tests, steps = _tests_of(image), _steps_of(image)
    test_axis, span_first, span_lo, span_hi = tests
    step_first = ints_of(image, AT.row_step_first)
    other_first, row_other = longs_of(image, AT.row_other_first), ints_of(image, AT.row_other)
    inverted, anyway = bytes_of(image, AT.other_inverted), ints_of(image, AT.anyway)
    pattern = (longs_of(image, AT.pattern_first), ints_of(image, AT.pattern_row))
    owners, first_row = ints_of(image, AT.keys), longs_of(image, AT.block_slot)[-1]
    most = len(point_row) + len(from_row) + len(up_to_row)
    axes = _led_from(access, high, columns)
    rows = np.empty(most + len(pattern[1]) + len(anyway), np.int32)
    doubtful, doubts = np.empty(_FEW, np.int64), 0
    questions, asked = np.empty(_FEW, np.int64), 0
    for event in range(low.shape[0]):
        turn = _next_turn(marks)
        reached = _reach(access, axes, codes, event, rows)
        reached = _mark(hits, event, marks, turn, pattern, rows, reached)
        for place in range(len(anyway)):
            rows[reached + place] = anyway[place]
        reached += len(anyway)
        if not counting:
            keys = with_room(keys, count, reached)
        before = count
        for place in range(reached):
            row = rows[place]
            begin = test_first[row]
            if not _tests_hold(
                *(test_axis, span_first, span_lo, span_hi, begin, begin + tried[row]),
                *(low, high, columns, event),
            ):
                continue
            other, finish = other_first[row], other_first[row + 1]
            outcome = _others_end(row_other, inverted, other, finish, marks, turn)
            step = step_first[row]
            if outcome != FAILS and step < step_first[row + 1]:
                marked = marks, turn, inverted
                end = _program_end(steps, step, tests, begin, codes, event, marked)
                outcome = end if end == FAILS else min(outcome, end)
            if outcome == FAILS:
                continue
            if outcome == IN_DOUBT:
                doubtful = with_pair(doubtful, doubts, event, row)
                doubts += 1
                questions, asked = _with_questions(image, row, event, marks, turn, questions, asked)
                continue
            if not counting:
                keys[count] = owners[first_row + row]
            count += 1
            if count - before >= enough:
                break
        if count > before:
            runs = with_run(runs, number, event, count)
            number += 1
    return (keys, runs, count, number), (doubtful[:doubts], questions[:asked])


@kernel
def _mark_held(hits: Any, event: int, marks: Any, turn: int) -> None:
    """Mark what holds, and nothing that is in doubt."""
    event_word, word_first, word_test, column_first, column_test = hits
    for column in range(event_word.shape[1]):
        word = event_word[event, column]
        if word < 0:
            continue
        for place in range(word_first[word], word_first[word + 1]):
            if word_test[place] >= 0:
                marks[word_test[place]] = turn
        for place in range(column_first[column], column_first[column + 1]):
            if column_test[place] >= 0:
                marks[column_test[place]] = turn


@kernel
def try_rows(
    image: Any, codes: Any, hits: Any, marks: Any, doubtful: Any, answers: Any, out: Any
) -> Any:
    """Test rows that were in doubt again, now that it is known which of those tests hold."""
    keys, runs, count, number = out
    test_first, step_first = longs_of(image, AT.row_test_first), ints_of(image, AT.row_step_first)
    other_first, row_other = longs_of(image, AT.row_other_first), ints_of(image, AT.row_other)
    tests, steps, inverted = _tests_of(image), _steps_of(image), bytes_of(image, AT.other_inverted)
    owners, first_row = ints_of(image, AT.keys), longs_of(image, AT.block_slot)[-1]
    place = answer = 0
    while place < len(doubtful):
        event, before = doubtful[place] >> 32, count
        turn = _next_turn(marks)
        _mark_held(hits, event, marks, turn)
        while answer < len(answers) and answers[answer] >> 32 == event:
            marks[answers[answer] & _LOW] = turn
            answer += 1
        while place < len(doubtful) and doubtful[place] >> 32 == event:
            row = doubtful[place] & _LOW
            place += 1
            other, step = other_first[row], step_first[row]
            outcome = _others_end(row_other, inverted, other, other_first[row + 1], marks, turn)
            if outcome == HOLDS and step < step_first[row + 1]:
                marked, first = (marks, turn, inverted), test_first[row]
                outcome = _program_end(steps, step, tests, first, codes, event, marked)
            if outcome == HOLDS:
                keys[count] = owners[first_row + row]
                count += 1
        if count > before:
            runs = with_run(runs, number, event, count)
            number += 1
    return keys, runs, count, number
