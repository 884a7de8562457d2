"""``FilterIndex``: which filters may cover, or be covered by, a given one.

A covering test costs a microsecond of Python, and to place a filter means to know all that cover
it and all that it covers. So each filter is also a row of numbers::

            attributes (bits)    speed            height
    row 0   live | speed         [100, 300]       [-inf, inf]
    row 1   live | speed height  [150, 200]       [0, 9000]
    row 2   free                 ...

The *bits* stand for the attributes that all of its clauses look at, the *hull* of an attribute for
the least and the greatest value that it admits. If A covers B then A's bits are among B's, and A's
hulls include B's. These are necessary conditions, which NumPy tests for all rows at once, and few
rows are left for the exact test. Hulls are floats: rounding keeps order, and so does taking a
string's first characters for a number. Only the first attributes seen have a hull, the rest only
their bits, so that memory per filter is bounded.

A descent through the poset alone (SIENA's way) was rejected: those that a filter covers may sit
below nodes that neither cover it nor are covered by it, so that every such node has to be entered.

Cost: a question is one pass over the rows' bits and, on the rows left, over each hull.
"""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import numpy as np

from predicast.covering.filter import Filter
from predicast.covering.ranges import Range
from predicast.model.domain import Domain

_HULLS: Final = 32  # attributes with hulls, and a bit each: 512 bytes per filter
# The others share these bits, which lets more rows through to the exact test.
_SHARED_BITS: Final = 30
_LIVE: Final = 1 << 62
_FREE: Final = 1 << 63
_FIRST_ROWS: Final = 64
# With so few rows left, the exact test is cheaper than another pass.
_FEW: Final = 4
_CODE_POINTS: Final = 1 << 21

Hull: TypeAlias = tuple[int, float, float]  # column, least, greatest


class Sketch:
    """The bits and hulls of a filter."""

    __slots__ = ("bits", "hulls")

    def __init__(self, bits: int, hulls: list[Hull]) -> None:
        self.bits = bits
        self.hulls = hulls


class FilterIndex:
    """Rows of bits and hulls; the caller keeps which row is whose."""

    def __init__(self) -> None:
        self._columns: dict[str, int] = {}
        self._bits = np.full(_FIRST_ROWS, _FREE, np.uint64)
        self._least: list[np.ndarray] = []
        self._greatest: list[np.ndarray] = []
        self._free: list[int] = []
        self._rows = 0

    def add(self, sketch: Sketch) -> int:
        """Put a sketch into a row; returns the row."""
        if self._free:
            row = self._free.pop()
        else:
            row = self._rows
            self._rows += 1
            if row == len(self._bits):
                self._grow()
        self._write(row, sketch)
        return row

    def remove(self, row: int, sketch: Sketch) -> None:
        """Free a row, which holds that sketch."""
        self._erase(row, sketch)
        self._bits[row] = _FREE
        self._free.append(row)

    def change(self, row: int, old: Sketch, new: Sketch) -> None:
        """Put another sketch into a row."""
        if old.bits != new.bits:  # otherwise they have the same hulls, and are overwritten
            self._erase(row, old)
        self._write(row, new)

    def may_cover(self, sketch: Sketch) -> list[int]:
        """The rows of filters that may cover the sketch's."""
        foreign = np.uint64(~(sketch.bits | _LIVE) & (2**64 - 1))
        rows = ((self._bits[: self._rows] & foreign) == 0).nonzero()[0]
        for column, least, greatest in sketch.hulls:
            if len(rows) <= _FEW:
                break
            inside = self._least[column][rows] <= least
            inside &= self._greatest[column][rows] >= greatest
            rows = rows[inside]
        found: list[int] = rows.tolist()
        return found

    def may_be_covered(self, sketch: Sketch) -> list[int]:
        """The rows of filters that the sketch's may cover."""
        own = np.uint64(sketch.bits | _LIVE)
        rows = ((self._bits[: self._rows] & own) == own).nonzero()[0]
        for column, least, greatest in sketch.hulls:
            if len(rows) <= _FEW:
                break
            inside = self._least[column][rows] >= least
            inside &= self._greatest[column][rows] <= greatest
            rows = rows[inside]
        found: list[int] = rows.tolist()
        return found

    def sketch(self, of: Filter) -> Sketch:
        """The sketch of a filter."""
        first, *others = of.clauses
        bits = 0
        hulls: list[Hull] = []
        columns = self._columns
        for attribute, domain in first.items():
            if not isinstance(attribute, str):
                continue  # part of a rest, of which there may be as many as filters
            least, greatest = _ends(domain)
            if others:
                if not all(attribute in clause for clause in others):
                    continue  # some clause lets it be anything
                ends = [_ends(clause[attribute]) for clause in others]
                least = min(least, *(lo for lo, _ in ends))
                greatest = max(greatest, *(hi for _, hi in ends))
            column = columns.get(attribute)
            if column is None:
                column = self._new_column(attribute)
            if column < _HULLS:
                bits |= 1 << column
                hulls.append((column, least, greatest))
            else:
                bits |= 1 << _HULLS + column % _SHARED_BITS
        return Sketch(bits, hulls)

    def _new_column(self, attribute: str) -> int:
        column = self._columns[attribute] = len(self._columns)
        if column < _HULLS:
            self._least.append(np.full(len(self._bits), -math.inf))
            self._greatest.append(np.full(len(self._bits), math.inf))
        return column

    def _write(self, row: int, sketch: Sketch) -> None:
        self._bits[row] = sketch.bits | _LIVE
        for column, least, greatest in sketch.hulls:
            self._least[column][row] = least
            self._greatest[column][row] = greatest

    def _erase(self, row: int, sketch: Sketch) -> None:
        for column, _, _ in sketch.hulls:
            self._least[column][row] = -math.inf
            self._greatest[column][row] = math.inf

    def _grow(self) -> None:
        more = len(self._bits)
        self._bits = np.concatenate([self._bits, np.full(more, _FREE, np.uint64)])
        for columns, nothing in ((self._least, -math.inf), (self._greatest, math.inf)):
            for position, column in enumerate(columns):
                columns[position] = np.concatenate([column, np.full(more, nothing)])


def _ends(domain: Range | Domain) -> tuple[float, float]:
    """The least and the greatest value as floats; of no value at all, inside out."""
    if isinstance(domain, tuple):
        return float(domain[0]), float(domain[2])
    if not domain.spans:
        return math.inf, -math.inf
    if domain.others:
        lows, highs = zip(*map(_ends, domain.by_kind()), strict=True)
        return min(lows), max(highs)
    lo, hi = domain.spans[0].lo, domain.spans[-1].hi
    return (
        -math.inf if lo is None else _as_float(lo),
        math.inf if hi is None else _as_float(hi),
    )


def _as_float(end: Any) -> float:
    if not isinstance(end, str):
        return float(end)
    number = 0
    for character in end[:3].ljust(3, "\0"):
        number = number * _CODE_POINTS + ord(character)
    return float(number)
