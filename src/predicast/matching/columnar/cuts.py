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
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from predicast.model.values import INT_MAX, INT_MIN

Codes: TypeAlias = npt.NDArray[np.int32]
Number: TypeAlias = int | float

_EXACT: Final = 2**53
_SHIFTABLE: Final = 2**61


@dataclass(frozen=True, slots=True)
class NumberCuts:
    """Sorted distinct cuts between numbers."""

    whole: npt.NDArray[np.int64]
    rest: npt.NDArray[np.float64]
    side: npt.NDArray[np.int8]
    ints: npt.NDArray[np.int64]  # the least int64 behind each cut, up to the last that has one
    floats: npt.NDArray[np.float64]  # the least float64 behind each cut; inf if there is none

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
            packed, position = np.unique(whole * 2 + side, return_inverse=True)
            distinct = (packed >> 1, np.zeros(len(packed)), (packed & 1).astype(np.int8))
            return cls._of(*distinct), position.astype(np.int32)
        order = np.lexsort((side, rest, whole))
        w, r, s = whole[order], rest[order], side[order]
        is_new = np.ones(len(order), bool)
        is_new[1:] = (w[1:] != w[:-1]) | (r[1:] != r[:-1]) | (s[1:] != s[:-1])
        position = np.empty(len(order), np.int32)
        position[order] = np.cumsum(is_new) - 1
        return cls._of(w[is_new], r[is_new], s[is_new]), position

    @classmethod
    def _of(
        cls,
        whole: npt.NDArray[np.int64],
        rest: npt.NDArray[np.float64],
        side: npt.NDArray[np.int8],
    ) -> NumberCuts:
        # Behind 2.5 and behind "just after 2" the first integer is 3; behind -2.5 it is -2.
        steps = (rest > 0) | ((rest == 0) & (side == 1))
        reachable = ~(steps & (whole == INT_MAX))
        ints = (whole + (steps & reachable))[: int(reachable.sum())]
        with np.errstate(over="ignore"):  # behind the last float there is only infinity
            floats = np.where(side == 1, np.nextafter(whole + rest, np.inf), whole + rest)
        for odd in np.flatnonzero(np.abs(whole.astype(np.float64)) >= _EXACT):
            floats[odd] = _least_float(int(whole[odd]), float(rest[odd]), int(side[odd]))
        return cls(whole, rest, side, ints, floats)

    def code_ints(self, values: npt.NDArray[np.int64]) -> Codes:
        """How many cuts lie before each value."""
        return np.searchsorted(self.ints, values, side="right").astype(np.int32)

    def code_floats(self, values: npt.NDArray[np.float64]) -> Codes:
        """How many cuts lie before each value."""
        return np.searchsorted(self.floats, values, side="right").astype(np.int32)

    def code(self, value: Number) -> int:
        """How many cuts lie before one value."""
        array = self.ints if isinstance(value, int) else self.floats
        return int(array.searchsorted(value, side="right"))

    def code_cut(self, value: Number, side: int) -> int:
        """How many cuts are at or before a cut; side -1 means those at smaller values only."""
        whole, rest = split(value)
        first, last = np.searchsorted(self.whole, (whole, whole + 1 if whole < INT_MAX else whole))
        last = len(self) if whole == INT_MAX else last
        position = int(first)
        while position < last and (self.rest[position], self.side[position]) <= (rest, side):
            position += 1
        return position


def split(value: Number) -> tuple[int, float]:
    """A number as its integral part and the rest, both exact; a huge float is all rest."""
    if isinstance(value, int):
        return value, 0.0
    if not INT_MIN <= value <= INT_MAX:
        return (INT_MAX if value > 0 else INT_MIN), value
    whole = int(value)
    return whole, value - whole


def split_all(values: Sequence[Number]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Many numbers as integral parts and rests."""
    if all(type(value) is int for value in values):
        return np.array(values, np.int64), np.zeros(len(values))
    pairs = [split(value) for value in values]
    return np.array([w for w, _ in pairs], np.int64), np.array([r for _, r in pairs], np.float64)


def _least_float(whole: int, rest: float, side: int) -> float:
    value: Number = rest if abs(rest) > 1 else whole
    nearest = float(value)
    behind = nearest > value or (nearest == value and side == 0)
    return nearest if behind else math.nextafter(nearest, math.inf)


@dataclass(frozen=True, slots=True)
class TextCuts:
    """Sorted distinct strings, each a cut just before itself."""

    words: list[str]

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def rank(cls, words: Sequence[str]) -> tuple[TextCuts, Codes]:
        """The distinct ones among these strings, and the position of each given one among them."""
        distinct = sorted(set(words))
        position = {word: place for place, word in enumerate(distinct)}
        return cls(distinct), np.array([position[word] for word in words], np.int32)

    def code(self, value: str) -> int:
        """How many cuts lie before a string (or at it)."""
        return bisect_right(self.words, value)
