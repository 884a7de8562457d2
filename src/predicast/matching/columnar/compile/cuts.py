"""Cuts: the ends of spans, ranked, so that comparing values is comparing small integers.

A span of values starts and ends at *cuts*, places just before a value (side 0) or just after it
(side 1). A lower cut is satisfied by the values behind it, an upper cut by those before it.
Ranked among all lower cuts of an axis (from 1; 0 is "unbounded") and among all upper cuts (from
0; n is "unbounded"), a span is a pair of codes, and a value the number of lower and the number of
upper cuts that lie before it::

    value in span   ⟺   span.lo <= lower_code(value)  and  upper_code(value) <= span.hi

An interval is coded crosswise, the lower code from its upper end and the upper code from its lower
end; then the same test says whether span and interval meet (paper 1, theorem 1).

Numbers rank exactly. Each is split into its integral part (int64) and the rest (float64, of the
same sign), which compare as the numbers do. To rank the values of a column, each cut becomes the
least int64 and the least float64 behind it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from predicast.arrays import Words, offsets, windows
from predicast.arrow import text_bytes
from predicast.matching.columnar import loops
from predicast.model.decimals import ExactDecimal
from predicast.model.values import EXACT, INT_MAX, INT_MIN

Codes: TypeAlias = npt.NDArray[np.int32]
Number: TypeAlias = int | float | ExactDecimal

_SHIFTABLE: Final = 2**61
_EVERY: Final = np.zeros(0, np.int64)
_NO_TABLE: Final = np.zeros(0, np.int32)
_ALONE: Final = 256  # cuts of an axis that are worth ranking by themselves
_HANDFUL: Final = 8  # cuts that are searched as quickly as looked up
_SPARSE: Final = 8  # integers per cut that a table of codes may span


class Split(Protocol):
    """Cuts between numbers, or what is to become of them: integral parts, rests and sides."""

    @property
    def whole(self) -> npt.NDArray[Any]: ...
    @property
    def rest(self) -> npt.NDArray[Any]: ...
    @property
    def side(self) -> npt.NDArray[Any]: ...


def lie_before(a: Split, b: Split) -> npt.NDArray[np.bool_]:
    """Which cuts lie before the other's."""
    before: npt.NDArray[np.bool_] = (a.whole < b.whole) | (
        (a.whole == b.whole) & ((a.rest < b.rest) | ((a.rest == b.rest) & (a.side < b.side)))
    )
    return before


def hold_no_integer(lower: Split, upper: Split) -> npt.NDArray[np.bool_]:
    """Which spans between these cuts lie between two integers: regions over integers miss them."""
    first = lower.whole + ((lower.rest > 0) | ((lower.rest == 0) & (lower.side == 1)))
    last = upper.whole - ((upper.rest < 0) | ((upper.rest == 0) & (upper.side == 0)))
    none: npt.NDArray[np.bool_] = first > last
    return none


def spread(position: Codes, is_there: npt.NDArray[np.bool_]) -> Codes:
    """The positions of those that there are, -1 for the others."""
    every = np.full(len(is_there), -1, np.int32)
    every[is_there] = position
    return every


@dataclass(frozen=True)
class NumberCuts:
    """Sorted distinct cuts between numbers."""

    whole: npt.NDArray[np.int64]
    rest: npt.NDArray[np.float64]
    side: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.whole)

    @classmethod
    def rank(
        cls,
        whole: npt.NDArray[np.int64],
        rest: npt.NDArray[np.float64],
        side: npt.NDArray[np.int8],
    ) -> tuple[NumberCuts, Codes]:
        """The distinct ones among these cuts, and the position of each given one among them."""
        if not rest.any() and ((whole > -_SHIFTABLE) & (whole < _SHIFTABLE)).all():
            packed, rank = _distinct(whole * 2 + side)
            distinct = (packed >> 1, np.zeros(len(packed)), (packed & 1).astype(np.int8))
            return cls(*distinct), rank.astype(np.int32)
        order = np.lexsort((side, rest, whole))
        w, r, s = whole[order], rest[order], side[order]
        is_new = np.ones(len(order), bool)
        is_new[1:] = (w[1:] != w[:-1]) | (r[1:] != r[:-1]) | (s[1:] != s[:-1])
        position = np.empty(len(order), np.int32)
        position[order] = np.cumsum(is_new) - 1
        return cls(w[is_new], r[is_new], s[is_new]), position

    def nbytes(self) -> int:
        """The memory of the arrays that are always there."""
        return 2 * self.whole.nbytes + self.rest.nbytes + self.side.nbytes  # with those of ints

    @cached_property
    def ints(self) -> npt.NDArray[np.int64]:
        """The least int64 behind each cut, up to the last that has one."""
        # Behind 2.5 and behind "just after 2" the first integer is 3; behind -2.5 it is -2.
        steps = (self.rest > 0) | ((self.rest == 0) & (self.side == 1))
        reachable = ~(steps & (self.whole == INT_MAX))
        least: npt.NDArray[np.int64] = (self.whole + (steps & reachable))[: int(reachable.sum())]
        return least

    @cached_property
    def floats(self) -> npt.NDArray[np.float64]:
        """The least float64 behind each cut; infinity if there is none."""
        nearest = self.whole + self.rest
        with np.errstate(over="ignore"):  # behind the last float there is only infinity
            least = np.where(self.side == 1, np.nextafter(nearest, np.inf), nearest)
        for odd in np.flatnonzero(np.abs(self.whole.astype(np.float64)) >= EXACT):
            cut = int(self.whole[odd]), float(self.rest[odd]), int(self.side[odd])
            least[odd] = _least_float(*cut)
        return least

    @cached_property
    def table(self) -> tuple[int, npt.NDArray[np.int32]]:
        """The codes of all integers from right before the first cut to the last, and the first.

        There are none if that would be too many.
        """
        if len(self.ints) < _HANDFUL:
            return 0, _NO_TABLE
        first, last = int(self.ints[0]), int(self.ints[-1])
        if first == INT_MIN or last == INT_MAX or last - first > _SPARSE * len(self):
            return 0, _NO_TABLE
        behind = np.bincount(self.ints - (first - 1), minlength=last - first + 2)
        return first - 1, np.cumsum(behind, dtype=np.int32)

    def keep_table(self, table: npt.NDArray[np.int32]) -> None:
        """Have the same table where somebody else needs it, too: it may be large."""
        vars(self)["table"] = self.table[0], table

    def code_all(
        self,
        values: npt.NDArray[np.int64] | npt.NDArray[np.float64],
        rows: npt.NDArray[np.int64] | None,
        codes: Codes,
    ) -> None:
        """Write how many cuts lie before each value, in the rows given or in all."""
        where = _EVERY if rows is None else np.ascontiguousarray(rows)
        gapless: npt.NDArray[Any] = np.ascontiguousarray(values)
        if values.dtype == np.float64:
            loops.now.code_by_search(self.floats, gapless, where, codes)
        elif len(self.table[1]):
            first, table = self.table
            loops.now.code_by_table(table, first, gapless, where, codes)
        else:
            loops.now.code_by_search(self.ints, gapless, where, codes)

    @cached_property
    def _one(self) -> tuple[memoryview, memoryview | None, int, int]:
        """What coding single integers takes: Python reads a memoryview faster than an array."""
        first, table = self.table
        if not len(table):
            return memoryview(self.ints), None, 0, 0  # type: ignore[arg-type]
        return memoryview(self.ints), memoryview(table), first, int(self.ints[-1])  # type: ignore[arg-type]

    @cached_property
    def _one_float(self) -> memoryview:
        return memoryview(self.floats)  # type: ignore[arg-type]

    def code(self, value: Number) -> int:
        """How many cuts lie before one value."""
        if isinstance(value, float):
            return bisect_right(self._one_float, value)
        if not isinstance(value, int):
            return bisect_left(range(len(self)), value, key=self._value)  # it is at none of them
        ints, table, first, last = self._one
        if table is None:
            return bisect_right(ints, value)
        if first <= value <= last:
            code: int = table[value - first]
            return code
        return 0 if value < first else len(ints)

    def _value(self, position: int) -> Any:
        """The number that a cut is at."""
        whole, rest = int(self.whole[position]), float(self.rest[position])
        return whole if rest == 0 else whole + rest if abs(rest) < 1 else rest

    def code_cut(self, value: Number, side: int) -> int:
        """How many cuts are at or before a cut; side -1 means those at smaller values only."""
        if isinstance(value, ExactDecimal):
            return self.code(value)
        whole, rest = split(value)
        first, last = np.searchsorted(self.whole, (whole, whole + 1 if whole < INT_MAX else whole))
        last = len(self) if whole == INT_MAX else last
        position = int(first)
        while position < last and (self.rest[position], self.side[position]) <= (rest, side):
            position += 1
        return position


def ranked_apart(
    axis: npt.NDArray[np.int64],
    whole: npt.NDArray[np.int64],
    rest: npt.NDArray[np.float64],
    side: npt.NDArray[np.int8],
    axes: int,
) -> tuple[list[NumberCuts], Codes]:
    """The distinct cuts of each of many axes, and the position of each given cut on its own axis.

    Axes with many cuts are ranked one by one. All others are sorted in one go: where there are
    thousands of them, a few NumPy calls for each would be all the work.
    """
    counts = np.bincount(axis, minlength=axes)
    by_axis = np.argsort(axis, kind="stable")
    first = offsets(counts)
    position = np.empty(len(axis), np.int32)
    alone: dict[int, NumberCuts] = {}
    for each in np.flatnonzero(counts > _ALONE).tolist():
        here = by_axis[first[each] : first[each + 1]]
        alone[each], position[here] = NumberCuts.rank(whole[here], rest[here], side[here])
    others = by_axis[counts[axis[by_axis]] <= _ALONE]
    order = others[np.lexsort((side[others], rest[others], whole[others], axis[others]))]
    a, w, r, s = axis[order], whole[order], rest[order], side[order]
    is_new = np.ones(len(order), bool)
    is_new[1:] = (a[1:] != a[:-1]) | (w[1:] != w[:-1]) | (r[1:] != r[:-1]) | (s[1:] != s[:-1])
    a, w, r, s = a[is_new], w[is_new], r[is_new], s[is_new]
    begin = offsets(np.bincount(a, minlength=axes))
    position[order] = np.cumsum(is_new) - 1 - begin[axis[order]]
    cuts = [
        alone[each] if each in alone else NumberCuts(w[b:e], r[b:e], s[b:e])
        for each, (b, e) in enumerate(pairwise(begin.tolist()))
    ]
    return cuts, position


def _distinct(
    integers: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The distinct ones, ascending, and the position of each; sorts only those that are spread."""
    least = int(integers.min(initial=_SHIFTABLE))
    room = int(integers.max(initial=least)) - least + 1
    if not len(integers) or room > 4 * len(integers):
        return np.unique(integers, return_inverse=True)
    there = np.zeros(room, bool)
    there[integers - least] = True
    return np.flatnonzero(there) + least, np.cumsum(there)[integers - least] - 1


def split(value: int | float) -> tuple[int, float]:
    """A number as its integral part and the rest, both exact; a huge float is all rest."""
    if isinstance(value, int):
        return value, 0.0
    if not INT_MIN <= value <= INT_MAX:
        return (INT_MAX if value > 0 else INT_MIN), value
    whole = int(value)
    return whole, value - whole


def split_all(
    values: Sequence[int | float],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Many numbers as integral parts and rests."""
    if all(type(value) is int for value in values):
        return np.array(values, np.int64), np.zeros(len(values))
    pairs = [split(value) for value in values]
    return np.array([w for w, _ in pairs], np.int64), np.array([r for _, r in pairs], np.float64)


def _least_float(whole: int, rest: float, side: int) -> float:
    value = rest if abs(rest) > 1 else whole
    nearest = float(value)
    behind = nearest > value or (nearest == value and side == 0)
    return nearest if behind else math.nextafter(nearest, math.inf)


@dataclass(frozen=True)
class TextCuts:
    """Sorted distinct strings, each a cut just before itself."""

    words: Words

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def rank(cls, words: Sequence[str | None]) -> tuple[TextCuts, Codes]:
        """The distinct ones among these strings, and where each is; -1 where there is none."""
        distinct = sorted({word for word in words if word is not None})
        position: dict[str | None, int] = {word: rank for rank, word in enumerate(distinct)}
        position[None] = -1
        return cls(Words.of(distinct)), np.array([position[word] for word in words], np.int32)

    @classmethod
    def united(cls, cuts: Sequence[TextCuts]) -> tuple[TextCuts, Codes]:
        """The distinct ones among several, and the position of each given one among them."""
        # By Arrow, beside which other threads run: this is done while others match.
        words = Words.joined([each.words for each in cuts])
        buffers = [pa.py_buffer(np.ascontiguousarray(each)) for each in (words.first, words.raw)]
        encoded = pa.LargeStringArray.from_buffers(len(words), *buffers).dictionary_encode()
        order = pc.sort_indices(encoded.dictionary)  # UTF-8 sorts by code point
        rank = np.empty(len(order), np.int32)
        rank[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
        united = Words(*text_bytes(encoded.dictionary.take(order)))
        return cls(united), rank[encoded.indices.to_numpy()]

    def take(self, which: npt.NDArray[np.int64]) -> TextCuts:
        """Some of the cuts."""
        return TextCuts(self.words.take(which))

    def nbytes(self) -> int:
        """The memory of the strings and of their keys."""
        return self.words.nbytes() + 8 * len(self.words)

    @cached_property
    def shared(self) -> int:
        """How many bytes all of them begin with: paths and addresses are told apart far inside."""
        if not len(self):
            return 0
        ends = zip(self.words.bytes_at(0), self.words.bytes_at(len(self) - 1), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))

    @cached_property
    def keys(self) -> npt.NDArray[np.uint64]:
        """The bytes of each behind those, by which they are searched."""
        first = self.words.first
        return windows(self.words.raw, first[:-1] + self.shared, first[1:])

    def code_all(self, words: Words) -> Codes:
        """How many cuts lie before each word (or at it)."""
        codes = np.empty(len(words), np.int32)
        own = self.words
        asked = words.first, words.raw, codes
        loops.now.code_words(own.first, own.raw, self.keys, self.shared, *asked)
        return codes
