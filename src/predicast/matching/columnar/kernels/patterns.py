"""The inner loops of ``pattern_index.py``, compiled by numba: free functions over arrays.

The arrays are those of ``index_arrays.py``, in one image. What is done at each place of a word is
written out in one loop, however long that makes it: to call a function with a few arrays takes as
long as looking at ten places.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from predicast.matching.columnar.kernels.compiling import array, entry, inlined, kernel
from predicast.matching.columnar.kernels.images import bytes_of, longs_of, unsigned_longs_of
from predicast.matching.columnar.kernels.simd import eight_at, four_at, reversed_bytes
from predicast.matching.columnar.kernels.words import WIDTH, window
from predicast.matching.columnar.patterns.index_arrays import (
    AT_END,
    AT_START,
    EACH,
    EVERY_CLASS,
    FIELD,
    FILTERS,
    FOLD,
    HALF,
    HIGH_FACTOR,
    LONG_CLASS,
    LONGEST,
    LOW_FACTOR,
    LOW_HALF,
    NARROW_FIRST,
    NARROW_SECOND,
    NO_BUCKET,
    ONE,
    PARENT,
    PLACES,
    SINGLE_CLASS,
    USES,
    WIDTHS,
)
from predicast.matching.columnar.reserved import ASK, WHOLE

_STRETCH: Final = 1 << 11  # places of a word that are looked at before literals are looked for
_CLASSES: Final = len(WIDTHS)
_FIRST: Final = np.uint64(0xFF)
_FIRST_LETTER: Final = np.uint8(ord("A"))
_LAST_LETTER: Final = np.uint8(ord("Z"))
_APART: Final = np.uint8(0x20)  # the one bit in which "A" and "a" differ
_BYTES: Final = 256  # that there are
_TEST: Final = (1 << 32) - 1  # the part of a use that is the test
_OFTEN: Final = 1 << 30  # times that what was seen is told apart
_ROOM: Final = 1 << 8  # for tests, at first


@kernel
def _slot(key: Any, mask: Any) -> Any:
    """What ``first_slots`` says of one key."""
    mixed = (key & LOW_HALF) * LOW_FACTOR ^ (key >> HALF) * HIGH_FACTOR
    mixed ^= mixed >> FOLD
    mixed = (mixed & LOW_HALF) * HIGH_FACTOR
    return np.int64((mixed >> FOLD) & np.uint64(mask))


@inlined
def _common(left: Any, at: int, right: Any, place: int, most: int) -> int:
    """How many bytes, at most ``most``, left[at:] and right[place:] begin with in common."""
    length = 0
    while length + WIDTH <= most and eight_at(left, at + length) == eight_at(right, place + length):
        length += WIDTH
    while length < most and left[at + length] == right[place + length]:
        length += 1
    return length


@inlined
def _last_not_after(
    literals: Any, pool: Any, low: int, high: int, text: Any, place: int, end: int
) -> int:
    """The last of the sorted literals low to high that is not after text[place:end], or low."""
    while high - low > 1:
        middle = (low + high) // 2
        at = literals[EACH * middle]
        size = literals[EACH * (middle + 1)] - at
        most = min(size, end - place)
        same = _common(pool, at, text, place, most)
        if same == size or (same < most and pool[at + same] < text[place + same]):
            low = middle
        else:
            high = middle
    return low


@inlined
def _window(text: Any, place: int, end: int) -> Any:
    """The window there; what is behind the end of the word may be in it."""
    if place + WIDTH <= len(text):
        found = reversed_bytes(eight_at(text, place))
    else:
        found = window(text, place, end)
    return found


@inlined
def _longest_at(
    tables: Any,
    slots: Any,
    literals: Any,
    pool: Any,
    section: int,
    classes: int,
    key: Any,
    text: Any,
    place: int,
    end: int,
) -> Any:
    """The longest literal of a section, of some classes, that text[place:end] begins with, or -1.

    ``key`` is the window there. What the widest class finds has the others' literals on its path.
    """
    bucket = NO_BUCKET
    for number in range(_CLASSES):
        width = WIDTHS[number]
        table = 2 * (_CLASSES * section + number)
        first, mask = tables[table], tables[table + 1]
        if (classes >> number) & 1 and width <= end - place and mask >= 0 and bucket == NO_BUCKET:
            short = key >> np.uint64(64 - 8 * width)
            slot = _slot(short, mask)
            bucket = slots[2 * (first + slot) + 1]
            while bucket != NO_BUCKET and slots[2 * (first + slot)] != short:
                slot = (slot + 1) & mask
                bucket = slots[2 * (first + slot) + 1]
    literal: Any = np.int64(-1)
    if bucket != NO_BUCKET:
        low: Any = np.int64(bucket >> HALF)
        high: Any = np.int64(bucket & LOW_HALF)
        literal = _last_not_after(literals, pool, low, high, text, place, end)
        size = literals[EACH * (literal + 1)] - literals[EACH * literal]
        same = _common(pool, literals[EACH * literal], text, place, min(size, end - place))
        while literal >= 0 and literals[EACH * (literal + 1)] - literals[EACH * literal] > same:
            literal = literals[EACH * literal + PARENT]
    return literal


@kernel
def _find(pool: Any, at: int, size: int, text: Any, place: int, end: int) -> int:
    """Where the piece of the pool first occurs in text[place:end], or -1."""
    while place + size <= end:
        if _common(pool, at, text, place, size) == size:
            return place
        place += 1
    return -1


@kernel
def _are_folded_in_order(pool: Any, pieces: Any, text: Any, place: int, end: int) -> bool:
    """Whether the pieces, in lower case, occur in order in text[place:end], in whatever case."""
    for piece in range(len(pieces) - 1):
        at, size = pieces[piece], pieces[piece + 1] - pieces[piece]
        length = 0
        while length < size:
            if place + size > end:
                return False
            byte = text[place + length]
            if _FIRST_LETTER <= byte <= _LAST_LETTER:
                byte |= _APART
            if byte == pool[at + length]:
                length += 1
            else:
                place, length = place + 1, 0
        place += size
    return True


@kernel
def _in_order(
    pool: Any, pieces: Any, at_start: bool, at_end: bool, text: Any, place: int, end: int
) -> bool:
    """Whether the pieces occur in order in text[place:end], bound to its ends as said.

    ``pieces`` are where each begins and the last ends. Taking each piece where it first occurs
    leaves the most room for the rest.
    """
    piece, last = 0, len(pieces) - 1
    if at_start:
        size = pieces[1] - pieces[0]
        if _find(pool, pieces[0], size, text, place, min(place + size, end)) < 0:
            return False
        place += size
        piece = 1
    if at_end:
        if piece == last:  # the same piece is bound at both ends
            return bool(place == end)
        last -= 1
        size = pieces[last + 1] - pieces[last]
        if size > end - place or _find(pool, pieces[last], size, text, end - size, end) < 0:
            return False
        end -= size
    while piece < last:
        size = pieces[piece + 1] - pieces[piece]
        place = _find(pool, pieces[piece], size, text, place, end)
        if place < 0:
            return False
        place += size
        piece += 1
    return True


@kernel
def _in_plan(image: Any, plan: int, text: Any, begin: int, end: int) -> bool:
    """Whether the pieces of a plan occur in order in text[begin:end]."""
    plan_first = longs_of(image, FIELD.plan_first)
    piece_first = longs_of(image, FIELD.piece_first)
    pieces = piece_first[plan_first[plan] : plan_first[plan + 1] + 1]
    at_start = bytes_of(image, FIELD.at_start)[plan] != 0
    at_end = bytes_of(image, FIELD.at_end)[plan] != 0
    pool = bytes_of(image, FIELD.plan_text)
    if bytes_of(image, FIELD.is_folded)[plan]:
        return bool(_are_folded_in_order(pool, pieces, text, begin, end))
    return bool(_in_order(pool, pieces, at_start, at_end, text, begin, end))


@kernel
def _larger(values: Any) -> Any:
    """The same values, with room for as many more."""
    larger = np.empty(2 * len(values), values.dtype)
    for place in range(len(values)):
        larger[place] = values[place]
    return larger


@kernel
def _shift(table: Any) -> Any:
    """By how much a hash of 32 bits is shifted to be a place in a table of 2**n."""
    shift, size = np.uint64(32), len(table)
    while size > 1:
        shift -= np.uint64(1)
        size //= 2
    return shift


@kernel
def _has_literals(tables: Any, section: int) -> bool:
    found = False
    for number in range(_CLASSES):
        found |= tables[2 * (_CLASSES * section + number) + 1] >= 0
    return found


@kernel
def _begins(there: Any, wide: Any, shift: Any, narrow: Any) -> Any:
    """Of which classes literals may begin with four bytes, the first the least significant."""
    classes = wide[((there * LOW_FACTOR) & LOW_HALF) >> shift]
    if len(narrow):
        classes |= narrow[(there & NARROW_FIRST) | ((there >> ONE) & NARROW_SECOND)]
    return classes


# In the next two all places are written, and those that are of no interest are written over: a
# branch that nobody can foretell takes longer.


@kernel
def _likely(text: Any, place: int, end: int, wide: Any, narrow: Any, places: Any) -> int:
    """Write the places from one up to another where a literal may begin: how many.

    Four bytes must be there from each.
    """
    count, shift = np.uint64(0), _shift(wide)
    if len(narrow):
        for each in range(place, end):
            places[count] = each
            count += np.uint64(_begins(four_at(text, each), wide, shift, narrow) != 0)
    else:
        for each in range(place, end):
            places[count] = each
            hashed = (four_at(text, each) * LOW_FACTOR) & LOW_HALF
            count += np.uint64(wide[hashed >> shift] != 0)
    return np.int64(count)  # type: ignore[return-value]


@kernel
def _likelier(
    text: Any, filters: Any, singles: Any, stamp: int, places: Any, classes: Any, count: int
) -> int:
    """Leave those places where a literal may begin by what is known of eight bytes: how many.

    A literal of a single byte is of interest once in a word.
    """
    wide, long, narrow = filters
    wide_shift, long_shift, left = _shift(wide), _shift(long), np.uint64(0)
    for number in range(count):
        place = places[number]
        there = eight_at(text, place)
        low, first = there & LOW_HALF, there & _FIRST
        mixed = (low * LOW_FACTOR) ^ ((there >> HALF) * HIGH_FACTOR)
        found = _begins(low, wide, wide_shift, narrow)
        found &= long[(mixed & LOW_HALF) >> long_shift] | ~LONG_CLASS
        found &= ~(SINGLE_CLASS * np.uint8(singles[first] == stamp))
        singles[first] = stamp
        places[left], classes[left] = place, found
        left += np.uint64(found != 0)
    return np.int64(left)  # type: ignore[return-value]


@kernel
def _new_room() -> Any:
    """What a search writes to on its way."""
    return (
        np.empty(_STRETCH + 2, np.int64),
        np.empty(_STRETCH + 2, np.uint8),
        np.zeros(_BYTES, np.int64),
        np.empty(LONGEST, np.uint8),
    )


@kernel
def _search(  # noqa: PLR0912, PLR0915  # calls would take longer than what they do
    image: Any, attribute: int, spots: Any, text: Any, marked: Any, room: Any, ends: Any, out: Any
) -> Any:
    """Report what is found in each word, and how many tests there are at the end of each.

    ``spots`` are where each begins and ends in the text.
    """
    pool, literals = bytes_of(image, FIELD.text), longs_of(image, FIELD.literals)
    tables, uses = longs_of(image, FIELD.tables), longs_of(image, FIELD.uses)
    doubt_test, is_asked = longs_of(image, FIELD.doubt_test), bytes_of(image, FIELD.is_asked)
    slots = unsigned_longs_of(image, FIELD.slots)
    every, first = bytes_of(image, FIELD.filters), longs_of(image, FIELD.filter_first)
    at = FILTERS * attribute
    wide, narrow = every[first[at] : first[at + 1]], every[first[at + 2] : first[at + 3]]
    filters = wide, every[first[at + 1] : first[at + 2]], narrow
    section = PLACES * attribute
    at_start, at_end = section + AT_START, section + AT_END
    has_start, has_end = _has_literals(tables, at_start), _has_literals(tables, at_end)
    seen, stamp = marked
    places, classes, singles, backwards = room
    known = len(text) - WIDTH + 1  # from here on there is no whole window
    tests, count, asked, number = out
    for word in range(len(ends)):
        begin, end = spots[2 * word], spots[2 * word + 1]
        stamp += 1
        reached, found, ends_at = begin, 0, end if len(wide) else begin
        # Two places before the word stand for its start and its end.
        for place in range(begin - 2, begin):
            if has_end if place < begin - 1 else has_start:
                places[found], classes[found] = place, EVERY_CLASS
                found += 1
        while found or reached < ends_at:
            until = min(reached + _STRETCH, ends_at)
            if reached < min(until, known):
                likely = places[found:], classes[found:]
                more = _likely(text, reached, min(until, known), wide, narrow, likely[0])
                found += _likelier(text, filters, singles, stamp, *likely, more)
            for place in range(max(reached, known), until):
                places[found], classes[found] = place, EVERY_CLASS
                found += 1
            reached = until
            for which in range(found):
                place = places[which]
                if place >= begin - 1:
                    here, there = max(place, begin), section if place >= begin else at_start
                    key = _window(text, here, end)
                    some = classes[which]
                    literal = _longest_at(
                        tables, slots, literals, pool, there, some, key, text, here, end
                    )
                else:
                    size = min(end - begin, LONGEST)
                    for step in range(size):
                        backwards[step] = text[end - 1 - step]
                    key = window(backwards, 0, size)
                    some = classes[which]
                    literal = _longest_at(
                        tables, slots, literals, pool, at_end, some, key, backwards, 0, size
                    )
                while literal >= 0 and seen[literal] != stamp:
                    seen[literal] = stamp
                    at = EACH * literal
                    for place_of_use in range(literals[at + USES], literals[at + EACH + USES]):
                        use = uses[place_of_use]
                        plan, test = use >> 32, use & _TEST
                        doubtful = plan == ASK
                        if plan == WHOLE:
                            if literals[at + EACH] - literals[at] != end - begin:
                                continue
                        elif plan >= 0:
                            if not _in_plan(image, plan, text, begin, end):
                                continue
                            doubtful = is_asked[plan] != 0
                        if doubtful:
                            if number == len(asked):
                                asked = _larger(asked)
                            asked[number] = (np.int64(word) << 32) | test
                            number += 1
                            test = ~doubt_test[test]
                        if count == len(tests):
                            tests = _larger(tests)
                        tests[count] = test
                        count += 1
                    literal = literals[at + PARENT]
            found = 0
        ends[word] = count
    return tests, count, asked, number


_TEXT: Final = array(types.uint8)
_LONG: Final = array(types.int64)


@entry((_TEXT, _LONG, types.int64, _LONG, _LONG, _LONG, _TEXT))
def find_tests(
    data: Any, directory: Any, attributes: int, of: Any, word_first: Any, spots: Any, text: Any
) -> Any:
    """The tests that may hold for each word of several columns, and what is to be asked.

    ``of`` are the attributes of the columns; only so many have patterns at all. Where the tests of
    each word begin; those that hold, and ~ of those in doubt; word and doubt in one number for each
    that is to be asked. Some are there twice.
    """
    image = data, directory
    seen = np.zeros(len(longs_of(image, FIELD.literals)) // EACH, np.int32)
    words = word_first[-1]
    first, room = np.zeros(words + 1, np.int64), _new_room()
    out = np.empty(words + _ROOM, np.int32), np.int64(0), np.empty(_ROOM, np.int64), np.int64(0)
    for column in range(len(of)):
        begin, end, before = word_first[column], word_first[column + 1], out[3]
        if of[column] < attributes:
            marked, ends = (seen, begin), first[begin + 1 : end + 1]
            own = spots[2 * begin : 2 * end]
            out = _search(image, of[column], own, text, marked, room, ends, out)
            for place in range(before, out[3]):
                out[2][place] += np.int64(begin) << 32
        else:
            for word in range(begin, end):
                first[word + 1] = out[1]
    return first, out[0][: out[1]], out[2][: out[3]]


@kernel
def find_event_tests(image: Any, spots: Any, text: Any, seen: Any, out: Any) -> Any:
    """The same for the strings of one event, written behind the tests that there are.

    ``out`` is tests and what is to be asked, each with how many there are; it comes back larger if
    there was no room. ``spots`` are where the string of each attribute begins and ends, and -1 if
    there is none. The last of ``seen`` counts how often it was used. What is to be asked goes by
    the number of the attribute, and the doubt. What is true of any string comes with it.
    """
    everywhere = longs_of(image, FIELD.everywhere)
    everywhere_first = longs_of(image, FIELD.everywhere_first)
    last = len(seen) - 1
    ends, room = np.empty(1, np.int64), _new_room()
    for attribute in range(len(everywhere_first) - 1):
        if spots[2 * attribute] < 0:
            continue
        before = out[3]
        word = spots[2 * attribute : 2 * attribute + 2]
        out = _search(image, attribute, word, text, (seen, np.int64(seen[last])), room, ends, out)
        for place in range(before, out[3]):
            out[2][place] |= np.int64(attribute) << 32
        seen[last] += 1
        found, count, asked, number = out
        for place in range(everywhere_first[attribute], everywhere_first[attribute + 1]):
            if count == len(found):
                found = _larger(found)
            found[count] = everywhere[place]
            count += 1
        out = found, count, asked, number
    if seen[last] > _OFTEN:
        seen[:] = 0
    return out
