"""Blocks of sketches: rows of words and reaches, and what is known of each block as a whole.

::

    block 0   speed  down -150 .. -100   up 200 .. 300           of all of its rows: its zone
      row       live | speed          down -100, up 300             100 to 300
      row       live | speed height   down -150, up 200             150 to 200
      row       free

A hull is kept as how far it *reaches*, down and up, the first with its sign turned: then a hull
includes another if it reaches at least as far on both axes, and one comparison of arrays asks that
of all axes and rows. Whatever has to be a subset of something is bits in *words*, and a row fails
if a word has a bit that a question forbids.

A *zone* says how far the rows of a block reach, at least and at most, and which bits of each word
all of them have. Where there are many blocks, a question is put to all zones at once, and then to
all rows of the blocks that are left. A zone may be wider than its rows, after some have gone, and
never narrower.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from predicast.covering.sketches import Sketch

ROWS: Final = 64  # in a block
_LIVE: Final = 1 << 62
_FREE: Final = 1 << 63
_EVERY: Final = 2**64 - 1
_FIRST_BLOCKS: Final = 4
# Up to so many blocks it costs less to look at all rows than at the zones first: of one question,
# and of many that are put together.
_FEW_BLOCKS: Final = 8
_FEW_BLOCKS_FOR_MANY: Final = 32
_CELLS: Final = 1 << 18  # axes by questions by rows: what is compared at a time
# With so many axes more than a question looks at, it costs less to pick out those.
_MANY_AXES: Final = 8
# Once so many rows of a block have gone, its zone is worked out anew.
_GONE: Final = ROWS // 4
# A block is parted fairly if neither half has fewer rows than these.
_FAIR: Final = ROWS // 4

# Words of a row: bits that it has, bits that it lacks, bits that it needs; then, for each attribute
# on which some row has marks, those that it does not allow and those that it has. A row of which
# no marks are known allows all and has none.
_HAS, _LACKS, _NEEDS, _MARKS = range(4)

_Masks: TypeAlias = list[tuple[int, int]]  # by word: the bits that no row may have
_Reach: TypeAlias = list[tuple[int, float]]  # by axis


class _Question(NamedTuple):
    """What rows have to be like: bits that they may not have, and how far they reach."""

    masks: _Masks
    ends: _Reach


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
        self._words = np.full((_MARKS, _FIRST_BLOCKS, ROWS), _FREE, np.uint64)
        self._words[_LACKS] = _EVERY
        self._common = np.full((_MARKS, _FIRST_BLOCKS), _EVERY, np.uint64)  # to all of a block
        # By axis: down on an attribute, then up, then those on the next one.
        self._reach = np.empty((0, _FIRST_BLOCKS, ROWS))
        self._least = np.empty((0, _FIRST_BLOCKS))  # of each block
        self._most = np.empty((0, _FIRST_BLOCKS))
        self._marked: dict[int, int] = {}  # by column: the word of what its rows do not allow
        self._free_rows: list[list[int]] = []
        self._gone: list[int] = []
        self._free_blocks: list[int] = []

    # Rows.

    def new_block(self) -> int:
        """A block without rows."""
        if self._free_blocks:
            return self._free_blocks.pop()
        block = len(self._free_rows)
        if block == len(self._numbers):
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

    def add(self, block: int, number: int, sketch: Sketch, reach: list[float]) -> int:
        """Put a sketch, and its reach by axis, into a block that has room; returns the row."""
        row = self._free_rows[block].pop()
        self._numbers[block, row] = number
        self.write(block, row, sketch, reach)
        return row

    def write(self, block: int, row: int, sketch: Sketch, reach: list[float]) -> None:
        """Put a sketch into a row, whatever it held, and widen the zone by it."""
        words = np.array(self._words_of(sketch), np.uint64)
        self._words[:, block, row] = words
        self._common[:, block] &= words
        ends = np.array(reach)
        self._reach[:, block, row] = ends
        self._least[:, block] = np.minimum(self._least[:, block], ends)
        self._most[:, block] = np.maximum(self._most[:, block], ends)

    def _words_of(self, sketch: Sketch) -> list[int]:
        bits = sketch.bits | _LIVE
        words = [bits, ~bits & _EVERY, sketch.needs]
        for column in sketch.marks:
            if column not in self._marked:
                self._new_marks(column)
        for column in self._marked:  # in the order of their words
            known = sketch.marks.get(column)
            words += (0, 0) if known is None else (~known & _EVERY, known)
        return words

    def reach_of(self, sketch: Sketch) -> list[float]:
        """How far a sketch reaches by axis: without end where it does not look."""
        if sketch.hulls:
            last = max(column for column, _, _ in sketch.hulls)
            while len(self._reach) <= 2 * last:
                self._new_column()
        reach = [math.inf] * len(self._reach)
        for column, least, greatest in sketch.hulls:
            reach[2 * column], reach[2 * column + 1] = -least, greatest
        return reach

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
        moved: list[int] = self._numbers[block, rows].tolist()
        self._numbers[to, : len(rows)] = moved
        for each in (self._words, self._reach):
            each[:, to, : len(rows)] = each[:, block, rows]
        self._free(block, rows)
        self._free_rows[block] += rows.tolist()
        self._free_rows[to] = list(range(len(rows), ROWS))
        self._tighten(block)
        self._tighten(to)
        return moved

    def _free(self, block: int, rows: int | np.ndarray) -> None:
        self._numbers[block, rows] = -1
        self._words[_HAS, block, rows] = _FREE
        self._words[_LACKS, block, rows] = _EVERY
        self._words[_NEEDS, block, rows] = _FREE

    # Questions.

    def may_cover(self, sketches: Sequence[Sketch]) -> list[list[int]]:
        """For each sketch the numbers of filters that may cover its own."""
        return self._ask_all([self._around(each) for each in sketches], around=True)

    def may_be_covered(self, sketches: Sequence[Sketch]) -> list[list[int]]:
        """For each sketch the numbers of filters that its own may cover."""
        return self._ask_all([self._within(each) for each in sketches], around=False)

    def may_match(self, event: Sketch) -> list[int]:
        """The numbers of filters that an event with that sketch may match."""
        masks = [(_NEEDS, ~event.bits & _EVERY)]
        masks += self._marks_within(event)
        # What meets an interval begins before that ends, and ends after it begins.
        hulls = [(column, greatest, least) for column, least, greatest in event.hulls]
        met = Sketch(event.bits, 0, hulls, event.marks)
        return self._ask(_Question(masks, self._ends_of(met)), around=True)

    def _around(self, sketch: Sketch) -> _Question:
        masks = [(_HAS, ~(sketch.bits | _LIVE) & _EVERY)]
        masks += self._marks_within(sketch)
        return _Question(masks, self._ends_of(sketch))

    def _within(self, sketch: Sketch) -> _Question:
        masks = [(_LACKS, sketch.bits | _LIVE)]
        for column, marks in sketch.marks.items():
            if column in self._marked:
                masks.append((self._marked[column] + 1, ~marks & _EVERY))
        return _Question(masks, self._ends_of(sketch))

    def _marks_within(self, sketch: Sketch) -> _Masks:
        """What asks for rows that allow all the marks of a sketch."""
        marked = self._marked
        return [
            (marked[column], marks) for column, marks in sketch.marks.items() if column in marked
        ]

    def _ends_of(self, sketch: Sketch) -> _Reach:
        """How far a sketch reaches on the axes that it looks at, as far as any row does."""
        ends: _Reach = []
        for column, least, greatest in sketch.hulls:
            if 2 * column < len(self._reach):
                ends += ((2 * column, -least), (2 * column + 1, greatest))
        return ends

    def _ask(self, question: _Question, *, around: bool) -> list[int]:
        """The numbers of the rows that reach at least as far or, not ``around``, at most.

        No word of theirs has a bit of its mask. Only blocks whose zones may hold one are looked at.
        """
        count = len(self._free_rows)
        blocks: slice | np.ndarray = slice(count)
        axes = _Axes(question.ends, len(self._reach), around=around)
        if count > _FEW_BLOCKS:
            zones = _lack(question.masks, self._common)
            axes.narrow(zones, self._most if around else self._least)
            blocks = zones.nonzero()[0]
        rows = _lack(question.masks, self._words, blocks)
        axes.narrow(rows, self._reach, blocks)
        found: list[int] = self._numbers[blocks][rows].tolist()
        return found

    def _ask_all(self, questions: Sequence[_Question], *, around: bool) -> list[list[int]]:
        count = len(self._free_rows)
        if len(questions) == 1 or count > _FEW_BLOCKS_FOR_MANY:
            return [self._ask(each, around=around) for each in questions]
        together = max(1, _CELLS // max(1, len(self._reach) * count * ROWS))
        found: list[list[int]] = []
        for begin in range(0, len(questions), together):
            found += self._ask_together(questions[begin : begin + together], around=around)
        return found

    def _ask_together(self, questions: Sequence[_Question], *, around: bool) -> list[list[int]]:
        """The same for some questions at once, each of all rows."""
        count = len(self._free_rows)
        masks = np.zeros((len(self._words), len(questions), 1), np.uint64)
        nothing = -math.inf if around else math.inf  # what any row reaches, and none goes beyond
        ends = np.full((len(self._reach), len(questions), 1), nothing)
        for place, question in enumerate(questions):
            for word, mask in question.masks:
                masks[word, place] = mask
            for axis, end in question.ends:
                ends[axis, place] = end
        rows = np.ones((len(questions), count * ROWS), np.bool_)
        for word in np.flatnonzero(masks.any(axis=(1, 2))).tolist():
            rows &= (self._words[word, :count].reshape(1, -1) & masks[word]) == 0
        for axis in np.flatnonzero((ends != nothing).any(axis=(1, 2))).tolist():
            reach = self._reach[axis, :count].reshape(1, -1)
            rows &= reach >= ends[axis] if around else reach <= ends[axis]
        asked, places = rows.nonzero()
        numbers = self._numbers[:count].reshape(-1)[places].tolist()
        upto = np.searchsorted(asked, np.arange(len(questions) + 1)).tolist()
        return [numbers[begin:end] for begin, end in pairwise(upto)]

    # Splitting.

    def halves(self, block: int, first_axis: int) -> Halves | None:
        """How to part a full block by one end of one hull; ``None`` if its rows are all alike.

        Axes take turns, from the first one given on; one that parts unfairly is passed over.
        """
        best: Halves | None = None
        for turn in range(len(self._reach)):
            axis = (first_axis + turn) % len(self._reach)
            found = _parted(axis, self._reach[axis, block])
            if found is not None and found.is_fairer(best):
                best = found
                if found.smaller() >= _FAIR:
                    break
        return best

    def _tighten(self, block: int) -> None:
        """Work out the zone of a block from its rows."""
        self._gone[block] = 0
        live = (self._numbers[block] >= 0).nonzero()[0]
        self._common[:, block] = np.bitwise_and.reduce(self._words[:, block, live], axis=1)
        reach = self._reach[:, block, live]
        self._least[:, block] = reach.min(axis=1, initial=math.inf)
        self._most[:, block] = reach.max(axis=1, initial=-math.inf)

    def _new_column(self) -> None:
        """Reaches on one attribute more, which no row has looked at so far."""
        rows = np.full((2, *self._numbers.shape), math.inf)
        zones = np.full((2, len(self._numbers)), math.inf)
        self._reach = np.concatenate([self._reach, rows])
        self._least = np.concatenate([self._least, zones])
        self._most = np.concatenate([self._most, zones])

    def _new_marks(self, column: int) -> None:
        """Marks on one attribute more, of which no row has any so far."""
        self._marked[column] = len(self._words)
        rows = np.zeros((2, *self._numbers.shape), np.uint64)
        self._words = np.concatenate([self._words, rows])
        self._common = np.concatenate([self._common, np.zeros_like(rows[:, :, 0])])

    def _grow(self) -> None:
        self._numbers = _longer(self._numbers, -1)
        self._words = _longer(self._words, _FREE, axis=1)
        self._words[_LACKS, len(self._free_rows) :] = _EVERY
        self._common = _longer(self._common, _EVERY, axis=1)
        self._reach = _longer(self._reach, math.inf, axis=1)
        self._least = _longer(self._least, math.inf, axis=1)
        self._most = _longer(self._most, -math.inf, axis=1)


class _Axes:
    """How far a question reaches on the axes that it looks at."""

    __slots__ = ("_around", "_ends", "_picked")

    def __init__(self, ends: _Reach, count: int, *, around: bool) -> None:
        self._around = around
        self._picked: list[int] | None = None
        if count - len(ends) > _MANY_AXES:
            self._picked = [axis for axis, _ in ends]
            self._ends = np.array([end for _, end in ends])
            return
        # Every row reaches at least this far, and none farther than that.
        full = [-math.inf if around else math.inf] * count
        for axis, end in ends:
            full[axis] = end
        self._ends = np.array(full)

    def narrow(
        self, kept: np.ndarray, reach: np.ndarray, blocks: slice | np.ndarray = slice(None)
    ) -> None:
        """Keep those of the zones or rows that reach as far as they should on every axis."""
        if self._picked is not None:
            for axis, end in zip(self._picked, self._ends.tolist(), strict=True):
                kept &= self._compared(reach[axis][blocks], end)
            return
        ends = self._ends.reshape(-1, *(1,) * (reach.ndim - 1))
        kept &= self._compared(reach[:, blocks], ends).all(axis=0)

    def _compared(self, reach: np.ndarray, ends: np.ndarray | float) -> np.ndarray:
        found: np.ndarray = reach >= ends if self._around else reach <= ends
        return found


def _lack(masks: _Masks, words: np.ndarray, blocks: slice | np.ndarray = slice(None)) -> np.ndarray:
    """Which zones or rows have no bit of any mask."""
    (word, mask), *others = masks
    found = words[word][blocks] & np.uint64(mask)
    for word, mask in others:
        found |= words[word][blocks] & np.uint64(mask)
    lack: np.ndarray = found == 0
    return lack


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
