"""Blocks of sketches: rows of bits and hulls, and what is known of each block as a whole.

::

    block 0   speed  least 100 .. 150   greatest 200 .. 300      of all of its rows: its zone
      row       live | speed          [100, 300]
      row       live | speed height   [150, 200]
      row       free

A *zone* says how far the ends of a block's rows reach, which bits all of them have and which bits
any has. A question is put to all zones at once, and then to all rows of the blocks that are left.
A zone may be wider than its rows, after some have gone, and never narrower.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from predicast.covering.sketches import Sketch

ROWS: Final = 64  # in a block
_LIVE: Final = 1 << 62
_FREE: Final = 1 << 63
_EVERY: Final = 2**64 - 1
_FIRST_BLOCKS: Final = 4
# Once so many rows of a block have gone, its zone is worked out anew.
_GONE: Final = ROWS // 4
# A block is parted fairly if neither half has fewer rows than these.
_FAIR: Final = ROWS // 4


class Marks(NamedTuple):
    """The marks on one attribute: those that rows have, and those that they allow.

    Of a row of which nothing is known, that is none and all. Of a block, what all of them have and
    what any allows.
    """

    has: np.ndarray  # (block, row)
    allows: np.ndarray
    all_have: np.ndarray
    any_allows: np.ndarray


class Halves(NamedTuple):
    """How the rows of a block are parted: by one axis, those up to a value from the later ones."""

    axis: int
    last: float
    later: np.ndarray

    def is_fairer(self, other: Halves | None) -> bool:
        return other is None or self.smaller() > other.smaller()

    def smaller(self) -> int:
        """How many rows the smaller half has."""
        return min(len(self.later), ROWS - len(self.later))


class Blocks:
    """Rows in blocks; whoever owns them says in which block a row is put."""

    def __init__(self) -> None:
        self._numbers = np.full((_FIRST_BLOCKS, ROWS), -1, np.int64)  # whose row it is
        self._bits = np.full((_FIRST_BLOCKS, ROWS), _FREE, np.uint64)
        self._needs = np.full((_FIRST_BLOCKS, ROWS), _FREE, np.uint64)
        self._common_bits = np.full(_FIRST_BLOCKS, _EVERY, np.uint64)
        self._any_bits = np.zeros(_FIRST_BLOCKS, np.uint64)
        self._common_needs = np.full(_FIRST_BLOCKS, _EVERY, np.uint64)
        # By axis: the least value on an attribute, then the greatest, then those on the next one.
        self._ends = np.empty((0, _FIRST_BLOCKS, ROWS))
        self._lowest = np.empty((0, _FIRST_BLOCKS))  # of each block
        self._highest = np.empty((0, _FIRST_BLOCKS))
        self._marks: dict[int, Marks] = {}  # by column, of those in which some row has marks
        self._free_rows: list[list[int]] = []
        self._gone: list[int] = []
        self._free_blocks: list[int] = []

    # Rows.

    def new_block(self) -> int:
        """A block without rows."""
        if self._free_blocks:
            return self._free_blocks.pop()
        block = len(self._free_rows)
        if block == len(self._bits):
            self._grow()
        self._free_rows.append(list(range(ROWS)))
        self._gone.append(0)
        return block

    def free_block(self, block: int) -> None:
        """Give back a block whose rows have all gone."""
        assert self.count(block) == 0
        self._tighten(block)
        self._free_blocks.append(block)

    def count(self, block: int) -> int:
        """How many rows a block has."""
        return ROWS - len(self._free_rows[block])

    def add(self, block: int, number: int, sketch: Sketch, ends: list[float]) -> int:
        """Put a sketch, and its ends by axis, into a block that has room; returns the row."""
        row = self._free_rows[block].pop()
        self._numbers[block, row] = number
        self.write(block, row, sketch, ends)
        return row

    def write(self, block: int, row: int, sketch: Sketch, ends: list[float]) -> None:
        """Put a sketch into a row, whatever it held, and widen the zone by it."""
        self._bits[block, row] = sketch.bits | _LIVE
        self._needs[block, row] = sketch.needs
        self._common_bits[block] &= np.uint64(sketch.bits | _LIVE)
        self._any_bits[block] |= np.uint64(sketch.bits | _LIVE)
        self._common_needs[block] &= np.uint64(sketch.needs)
        self._ends[:, block, row] = ends
        self._lowest[:, block] = np.minimum(self._lowest[:, block], ends)
        self._highest[:, block] = np.maximum(self._highest[:, block], ends)
        for column in sketch.marks.keys() - self._marks.keys():
            self._new_marks(column)
        for column, marks in self._marks.items():
            known = sketch.marks.get(column)
            has, allows = (0, _EVERY) if known is None else (known, known)
            marks.has[block, row], marks.allows[block, row] = has, allows
            marks.all_have[block] &= np.uint64(has)
            marks.any_allows[block] |= np.uint64(allows)

    def ends_of(self, sketch: Sketch) -> list[float]:
        """The ends of a sketch by axis; those of one that does not look there are infinite."""
        if sketch.hulls:
            last = max(column for column, _, _ in sketch.hulls)
            while len(self._ends) <= 2 * last:
                self._new_column()
        ends = [-math.inf, math.inf] * (len(self._ends) // 2)
        for column, least, greatest in sketch.hulls:
            ends[2 * column], ends[2 * column + 1] = least, greatest
        return ends

    def remove(self, block: int, row: int) -> None:
        """Free a row."""
        self._free(block, row)
        self._free_rows[block].append(row)
        self.loosen(block)

    def loosen(self, block: int) -> None:
        """Note that a row is no longer what the zone was made for."""
        self._gone[block] += 1
        if self._gone[block] >= _GONE:
            self._tighten(block)

    def move(self, block: int, rows: np.ndarray, to: int) -> list[int]:
        """Put rows into an empty block, from its first row on; returns their numbers."""
        assert self.count(to) == 0
        for each in self._of_rows():
            each[to, : len(rows)] = each[block, rows]
        self._ends[:, to, : len(rows)] = self._ends[:, block, rows]
        self._free(block, rows)
        self._free_rows[block] += rows.tolist()
        self._free_rows[to] = list(range(len(rows), ROWS))
        self._tighten(block)
        self._tighten(to)
        moved: list[int] = self._numbers[to, : len(rows)].tolist()
        return moved

    def _of_rows(self) -> Iterator[np.ndarray]:
        yield from (self._numbers, self._bits, self._needs)
        for marks in self._marks.values():
            yield from (marks.has, marks.allows)

    def _free(self, block: int, rows: int | np.ndarray) -> None:
        self._numbers[block, rows] = -1
        self._bits[block, rows] = _FREE
        self._needs[block, rows] = _FREE

    # Questions.

    def may_cover(self, sketch: Sketch) -> list[int]:
        """The numbers of filters that may cover the sketch's."""
        foreign = ~(sketch.bits | _LIVE) & _EVERY
        zones = (self._common_bits & np.uint64(foreign)) == 0
        return self._ask(zones, self._bits, foreign, 0, sketch, around=True)

    def may_be_covered(self, sketch: Sketch) -> list[int]:
        """The numbers of filters that the sketch's may cover."""
        own = sketch.bits | _LIVE
        zones = (self._any_bits & np.uint64(own)) == own
        return self._ask(zones, self._bits, own, own, sketch, around=False)

    def may_match(self, event: Sketch) -> list[int]:
        """The numbers of filters that an event with that sketch may match."""
        lacking = ~event.bits & _EVERY
        zones = (self._common_needs & np.uint64(lacking)) == 0
        # What meets an interval begins before that ends, and ends after it begins.
        hulls = [(column, greatest, least) for column, least, greatest in event.hulls]
        met = Sketch(event.bits, 0, hulls, event.marks)
        return self._ask(zones, self._needs, lacking, 0, met, around=True)

    def _ask(
        self,
        zones: np.ndarray,
        bits: np.ndarray,
        mask: int,
        masked: int,
        sketch: Sketch,
        *,
        around: bool,
    ) -> list[int]:
        """The numbers of the rows whose hulls and marks include the sketch's, or are within them.

        Only blocks whose zones may hold one are looked at, and rows whose bits are as they should.
        """
        known = [hull for hull in sketch.hulls if 2 * hull[0] < len(self._ends)]
        marked = [
            (self._marks[column], np.uint64(marks))
            for column, marks in sketch.marks.items()
            if column in self._marks
        ]
        for column, least, greatest in known:
            axis = 2 * column
            if around:
                zones &= self._lowest[axis] <= least
                zones &= self._highest[axis + 1] >= greatest
            else:
                zones &= self._highest[axis] >= least
                zones &= self._lowest[axis + 1] <= greatest
        for marks, own in marked:
            outside = own & ~marks.any_allows if around else marks.all_have & ~own
            zones &= outside == 0
        blocks = zones.nonzero()[0]
        rows = (bits[blocks] & np.uint64(mask)) == masked
        for column, least, greatest in known:
            begins, ends = self._ends[2 * column][blocks], self._ends[2 * column + 1][blocks]
            rows &= begins <= least if around else begins >= least
            rows &= ends >= greatest if around else ends <= greatest
        for marks, own in marked:
            outside = own & ~marks.allows[blocks] if around else marks.has[blocks] & ~own
            rows &= outside == 0
        found: list[int] = self._numbers[blocks][rows].tolist()
        return found

    # Splitting.

    def halves(self, block: int, first_axis: int) -> Halves | None:
        """How to part a full block by one end of one hull; ``None`` if its rows are all alike.

        Axes take turns, from the first one given on; one that parts unfairly is passed over.
        """
        best: Halves | None = None
        for turn in range(len(self._ends)):
            axis = (first_axis + turn) % len(self._ends)
            found = _parted(axis, self._ends[axis, block])
            if found is not None and found.is_fairer(best):
                best = found
                if found.smaller() >= _FAIR:
                    break
        return best

    def _tighten(self, block: int) -> None:
        """Work out the zone of a block from its rows."""
        self._gone[block] = 0
        live = (self._numbers[block] >= 0).nonzero()[0]
        bits, needs = self._bits[block, live], self._needs[block, live]
        self._common_bits[block] = np.bitwise_and.reduce(bits)
        self._any_bits[block] = np.bitwise_or.reduce(bits)
        self._common_needs[block] = np.bitwise_and.reduce(needs)
        for marks in self._marks.values():
            marks.all_have[block] = np.bitwise_and.reduce(marks.has[block, live])
            marks.any_allows[block] = np.bitwise_or.reduce(marks.allows[block, live])
        ends = self._ends[:, block, live]
        self._lowest[:, block] = ends.min(axis=1, initial=math.inf)
        self._highest[:, block] = ends.max(axis=1, initial=-math.inf)

    def _new_column(self) -> None:
        """Hulls on one attribute more, which no row has looked at so far."""
        for end in (-math.inf, math.inf):
            self._ends = np.concatenate([self._ends, np.full((1, *self._bits.shape), end)])
            zone = np.full((1, len(self._bits)), end)
            self._lowest = np.concatenate([self._lowest, zone])
            self._highest = np.concatenate([self._highest, zone])

    def _new_marks(self, column: int) -> None:
        """Marks on one attribute more, of which no row has any so far."""
        size = len(self._bits)
        self._marks[column] = Marks(
            np.zeros((size, ROWS), np.uint64),
            np.full((size, ROWS), _EVERY, np.uint64),
            np.zeros(size, np.uint64),
            np.full(size, _EVERY, np.uint64),
        )

    def _grow(self) -> None:
        self._numbers = _longer(self._numbers, -1)
        self._bits = _longer(self._bits, _FREE)
        self._needs = _longer(self._needs, _FREE)
        self._common_bits = _longer(self._common_bits, _EVERY)
        self._any_bits = _longer(self._any_bits, 0)
        self._common_needs = _longer(self._common_needs, _EVERY)
        self._ends = _longer(self._ends, 0, axis=1)
        self._lowest = _longer(self._lowest, math.inf, axis=1)
        self._highest = _longer(self._highest, -math.inf, axis=1)
        for column, (has, allows, all_have, any_allows) in self._marks.items():
            self._marks[column] = Marks(
                _longer(has, 0),
                _longer(allows, 0),
                _longer(all_have, _EVERY),
                _longer(any_allows, 0),
            )


def _parted(axis: int, values: np.ndarray) -> Halves | None:
    """The rows of a full block in two by their values, as evenly as these allow."""
    ordered = np.sort(values)
    middle = ordered[ROWS // 2 - 1]
    before = ordered[max(0, int(np.searchsorted(ordered, middle)) - 1)]
    best: Halves | None = None
    for last in (middle, before):
        found = Halves(axis, float(last), (values > last).nonzero()[0])
        if 0 < len(found.later) < ROWS and found.is_fairer(best):
            best = found
    return best


def _longer(rows: np.ndarray, filled: float, axis: int = 0) -> np.ndarray:
    return np.concatenate([rows, np.full_like(rows, filled)], axis)
