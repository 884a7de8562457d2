"""The arrays of a pattern index (``pattern_index.py``) in one image, and how some of them are made.

::

    data        [ text | first | parent | ... ]     bytes, each array aligned
    directory   [ begin, end, begin, end, ... ]     int64, in the fields' order

Two arrays are passed to a loop instead of twenty: for a single event that is most of the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from predicast.arrays import Array

LONGEST: Final = 64  # bytes of a literal
WIDTHS: Final = (8, 4, 2, 1)  # bytes of a literal that a table of its class knows, the widest first

# Where in a word a literal must be. What must be at the end is kept, and looked for, backwards.
ANYWHERE: Final = 0
AT_START: Final = 1
AT_END: Final = 2
PLACES: Final = 3

HALF: Final = np.uint64(32)
LOW_HALF: Final = np.uint64(0xFFFF_FFFF)
LOW_FACTOR: Final = np.uint64(0x9E37_79B1)  # odd 32-bit primes, as xxHash has them
HIGH_FACTOR: Final = np.uint64(0x85EB_CA77)
FOLD: Final = np.uint64(29)

_ALIGNMENT: Final = 8


class IndexArrays(NamedTuple):
    """The distinct literals by section, class and order; see the drawing in the index."""

    text: Array
    literals: Array  # of each where it begins, its parent, and its first use; then the end
    tables: Array  # of each class of each section the first slot, and the last one from there or -1
    slots: Array  # of each a key and a bucket: the first literal in the high half, the end
    uses: Array  # of each a plan to verify by, or SURE, WHOLE or ASK; in the low half test or doubt
    filters: Array  # of each attribute that of wide literals, of long ones, and of narrow ones
    filter_first: Array
    # Of each attribute what is true of any string of it: tests that hold, ~ of those in doubt.
    everywhere: Array
    everywhere_first: Array
    doubt_test: Array  # of each doubt the test that holds if what is asked does
    # Plans: pieces that must occur in order, the first and last perhaps bound to the ends.
    plan_text: Array
    piece_first: Array
    plan_first: Array
    at_start: Array
    at_end: Array
    is_asked: Array  # whether what has the pieces is asked
    is_folded: Array  # whether case does not count; the pieces are in lower case then


EACH: Final = 3  # numbers of a literal
PARENT: Final = 1
USES: Final = 2
NO_BUCKET: Final = np.uint64(0)
EVERY_CLASS: Final = (1 << len(WIDTHS)) - 1

_CODES: Final = "u1 i8 i8 u8 i8 u1 i8 i8 i8 i8 u1 i8 i8 u1 u1 u1 u1"
DTYPES: Final = IndexArrays(*map(np.dtype, _CODES.split()))  # type: ignore[arg-type]
FIELD: Final[Any] = IndexArrays._make(range(len(DTYPES)))  # which is which


class IndexImage(NamedTuple):
    """The bytes of all arrays, and where each begins and ends."""

    data: Array
    directory: Array

    def arrays(self) -> IndexArrays:
        """The arrays inside."""
        ends = self.directory.reshape(-1, 2)
        views = [self.data[b:e].view(t) for (b, e), t in zip(ends, DTYPES, strict=True)]
        return IndexArrays(*views)


def index_image(arrays: IndexArrays) -> IndexImage:
    """The image of arrays."""
    directory = np.zeros((len(DTYPES), 2), np.int64)
    end = 0
    for place, (array, dtype) in enumerate(zip(arrays, DTYPES, strict=True)):
        begin = -(-end // _ALIGNMENT) * _ALIGNMENT
        end = begin + len(array) * dtype.itemsize
        directory[place] = begin, end
    data = np.zeros(end, np.uint8)
    for (begin, stop), array, dtype in zip(directory, arrays, DTYPES, strict=True):
        data[begin:stop].view(dtype)[:] = array
    return IndexImage(data, directory.ravel())


def first_slots(keys: Array, last: Array | int) -> Array:
    """Where the search for keys begins in tables whose last slots are these, 2**n - 1.

    Only 32-bit halves are multiplied, so nothing overflows.
    """
    mixed = (keys & LOW_HALF) * LOW_FACTOR ^ (keys >> HALF) * HIGH_FACTOR
    mixed ^= mixed >> FOLD
    mixed = (mixed & LOW_HALF) * HIGH_FACTOR
    slots: Array = (mixed >> FOLD).astype(np.int64) & last
    return slots


def fill_table(keys: Array, buckets: Array, slots: Array) -> None:
    """Put distinct keys and their buckets into an empty table of 2**n slots, by linear probing.

    All at once: of those that meet in a free slot one stays, the others go on to the next.
    """
    slot_keys, slot_buckets = slots[0::2], slots[1::2]
    last = len(slot_keys) - 1
    place = first_slots(keys, last)
    while len(keys):
        is_free = slot_buckets[place] == NO_BUCKET
        slot_buckets[place[is_free]] = buckets[is_free]
        stays = slot_buckets[place] == buckets
        slot_keys[place[stays]] = keys[stays]
        keys, buckets, place = keys[~stays], buckets[~stays], (place[~stays] + 1) & last


def find_parents(sections: Sequence[int], literals: Sequence[bytes]) -> Array:
    """For sorted distinct literals: the longest other one that each begins with, or -1.

    Whatever a literal begins with, the one before it in order begins with too, or is it: so the
    answer is on the path of the one before. Those of other sections are no part of it.
    """
    parents = np.empty(len(literals), np.int64)
    path: list[int] = []
    last = -1
    for place, (section, literal) in enumerate(zip(sections, literals, strict=True)):
        if section != last:
            path, last = [], section
        while path and not literal.startswith(literals[path[-1]]):
            path.pop()
        parents[place] = path[-1] if path else -1
        path.append(place)
    return parents


# Filters say for a hash of a few bytes of which classes literals may begin so, a bit for each. At a
# place of a word that has none no literal begins. Wide ones go by four bytes, narrow ones by two
# of which seven bits each are taken. The longest go by eight bytes once more. Filters of wide ones
# are small enough to stay in a near cache: some sixteen bytes for each literal.
FILTERS: Final = 3  # of each attribute
LONG_CLASS: Final = np.uint8(1)  # the bit of the longest
SINGLE_CLASS: Final = np.uint8(1 << (len(WIDTHS) - 1))  # the bit of those that are one byte
NARROW_FIRST: Final = np.uint64(0x7F)  # the bits of the first byte, and of the second
NARROW_SECOND: Final = np.uint64(0x3F80)
ONE: Final = np.uint64(1)
_WIDE_CLASSES: Final = 2
_NARROW_PLACES: Final = 1 << 14
_FEWEST_BITS: Final = 8  # of a hash
_MOST_BITS: Final = 16
_BYTES_EACH: Final = 16


def filters_of(begins: Array, classes: Array) -> tuple[Array, Array, Array]:
    """The filters of wide, long and narrow literals, given how each begins and its class.

    They go by numbers whose first byte is the least significant: a loop loads them so.
    """
    begins = begins.byteswap()
    is_wide = classes < _WIDE_CLASSES
    wide = _filter((begins[is_wide] & LOW_HALF) * LOW_FACTOR, classes[is_wide])
    of_long = begins[classes == 0]
    mixed = (of_long & LOW_HALF) * LOW_FACTOR ^ (of_long >> HALF) * HIGH_FACTOR
    long = _filter(mixed, np.zeros(len(mixed), np.int64))
    begin, which = begins[~is_wide], classes[~is_wide]
    if not len(begin):
        return wide, long, np.zeros(0, np.uint8)
    alone = WIDTHS[-1] == np.array(WIDTHS)[which]  # whatever follows it
    every = (begin[alone][:, None] | (np.arange(256, dtype=np.uint64) << np.uint64(8))).ravel()
    keys = np.concatenate([begin[~alone], every])
    places = (keys & NARROW_FIRST) | ((keys >> ONE) & NARROW_SECOND)
    classes = np.concatenate([which[~alone], np.repeat(which[alone], 256)])
    return wide, long, _marked(_NARROW_PLACES, places, classes)


def _filter(mixed: Array, classes: Array) -> Array:
    """A filter whose places are the upper bits of 32."""
    bits = max(_BYTES_EACH * len(mixed) - 1, 1).bit_length()
    bits = min(max(bits, _FEWEST_BITS), _MOST_BITS)
    return _marked(1 << bits, (mixed & LOW_HALF) >> np.uint64(32 - bits), classes)


def _marked(size: int, places: Array, classes: Array) -> Array:
    made = np.zeros(size, np.uint8)
    np.bitwise_or.at(made, places.astype(np.int64), np.left_shift(1, classes).astype(np.uint8))
    return made
