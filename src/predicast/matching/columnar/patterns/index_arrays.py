"""The arrays of a pattern index (``pattern_index.py``), and how two of them are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.matching.columnar.reserved import FREE

LONGEST: Final = 64  # bytes of a literal

HALF: Final = np.uint64(32)
LOW_HALF: Final = np.uint64(0xFFFF_FFFF)
LOW_FACTOR: Final = np.uint64(0x9E37_79B1)  # odd 32-bit primes, as xxHash has them
HIGH_FACTOR: Final = np.uint64(0x85EB_CA77)
FOLD: Final = np.uint64(29)


class Literals(NamedTuple):
    """The distinct literals, by class and then in order; see the module's drawing."""

    text: Array
    first: Array
    parent: Array
    bucket_first: Array
    widths: Array
    shifts: Array  # of a window of 8 bytes, to leave those of the width
    table_first: Array
    slot_keys: Array
    slot_buckets: Array
    use_first: Array
    use_test: Array
    use_plan: Array  # a plan to verify by, or SURE or ASK


class Plans(NamedTuple):
    """Pieces that must occur in order, the first and last perhaps bound to the ends."""

    text: Array
    piece_first: Array
    first: Array
    at_start: Array
    at_end: Array


class Texts(NamedTuple):
    """Words as bytes, one after the other, and zeros for windows that reach beyond the last."""

    text: Array
    first: Array


class Found(NamedTuple):
    """Room for what a kernel finds."""

    words: Array
    tests: Array
    sure: Array


def first_slots(keys: Array, last: Array | int) -> Array:
    """Where the search for keys begins in tables whose last slots are these, 2**n - 1.

    Only 32-bit halves are multiplied, so nothing overflows.
    """
    mixed = (keys & LOW_HALF) * LOW_FACTOR ^ (keys >> HALF) * HIGH_FACTOR
    mixed ^= mixed >> FOLD
    mixed = (mixed & LOW_HALF) * HIGH_FACTOR
    slots: Array = (mixed >> FOLD).astype(np.int64) & last
    return slots


def fill_table(keys: Array, buckets: Array, slot_keys: Array, slot_buckets: Array) -> None:
    """Put distinct keys into an empty table of 2**n slots, by linear probing.

    All at once: of those that meet in a free slot one stays, the others go on to the next.
    """
    last = len(slot_keys) - 1
    slots = first_slots(keys, last)
    while len(keys):
        is_free = slot_buckets[slots] == FREE
        slot_buckets[slots[is_free]] = buckets[is_free]
        stays = slot_buckets[slots] == buckets
        slot_keys[slots[stays]] = keys[stays]
        keys, buckets, slots = keys[~stays], buckets[~stays], (slots[~stays] + 1) & last


def find_parents(literals: Sequence[bytes]) -> Array:
    """For sorted distinct literals: the longest other one that each begins with, or -1.

    Whatever a literal begins with, the one before it in order begins with too, or is it: so the
    answer is on the path of the one before.
    """
    parents = np.empty(len(literals), np.int64)
    path: list[int] = []
    for place, literal in enumerate(literals):
        while path and not literal.startswith(literals[path[-1]]):
            path.pop()
        parents[place] = path[-1] if path else -1
        path.append(place)
    return parents
