"""The ends of many intervals as arrays, so that a domain is tested against all of them at once.

Answers as ``Domain.meets`` does, interval by interval, exactly:

- over integers and microseconds, intervals and spans become closed ranges of int64; two ranges, of
  which neither is empty, meet unless one ends before the other starts;
- over reals the same holds, except that equal ends meet only if both are closed. A bound that
  no float64 equals is rounded to one, and the comparison says on which side of it the bound lay;
- the few intervals that fit neither (unbounded on both sides, or with an integer end that no
  float64 equals) are asked one by one.

Cost: a handful of NumPy operations for each span of the domain. The arrays are made once per batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from predicast.model import Interval, Kind
from predicast.model.domain import Domain
from predicast.model.spans import Span, SpanSet
from predicast.model.values import INT_MAX, INT_MIN

_Mask: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"
_Bound: TypeAlias = int | float


class IntervalEnds:
    """Intervals, sorted by how their ends compare."""

    def __init__(self, intervals: Sequence[Interval] | np.ndarray) -> None:
        self._length = len(intervals)
        whole: list[int] = []
        real: list[int] = []
        moments: list[int] = []
        other: list[int] = []
        spans = [interval.span() for interval in intervals]
        for row, (interval, span) in enumerate(zip(intervals, spans, strict=True)):
            if interval.kind is Kind.TIMESTAMP:
                moments.append(row)
            elif interval.is_discrete():
                whole.append(row)
            elif interval.kind is not None and _fits_float(span.lo) and _fits_float(span.hi):
                real.append(row)
            else:
                other.append(row)
        self._whole = _Ranges(whole, spans)
        self._moments = _Ranges(moments, spans)
        self._real = _Reals(real, spans)
        self._other = [(row, intervals[row]) for row in other]

    def meets(self, domain: Domain) -> _Mask:
        """Which intervals have a point in the domain."""
        if domain.others:
            mask = np.zeros(self._length, bool)
            for each in domain.by_kind():
                mask |= self.meets(each)
            return mask
        if domain.kind is None:
            return np.full(self._length, bool(domain.spans))
        mask = np.zeros(self._length, bool)
        if domain.kind is Kind.TIMESTAMP:
            self._moments.mark(mask, domain.spans)
        elif domain.kind is Kind.NUMBER:
            self._whole.mark(mask, domain.spans)
            self._real.mark(mask, domain.spans)
        for row, interval in self._other:
            mask[row] = domain.meets(interval)
        return mask


class _Ranges:
    """Closed ranges of 64-bit integers; an unbounded end is the least or the greatest of them."""

    def __init__(self, rows: list[int], spans: list[Span]) -> None:
        self._rows = np.array(rows, np.int64)
        ranges = [_integers(spans[row]) for row in rows]
        self._first = np.array([first for first, _ in ranges], np.int64)
        self._last = np.array([last for _, last in ranges], np.int64)

    def mark(self, mask: _Mask, spans: SpanSet) -> None:
        if not len(self._rows):
            return
        met = np.zeros(len(self._rows), bool)
        for span in spans:
            first, last = _integers(span)
            if first <= last:
                met |= (self._first <= last) & (self._last >= first)
        mask[self._rows] = met


class _Reals:
    """Ranges of reals, their ends open or closed."""

    def __init__(self, rows: list[int], spans: list[Span]) -> None:
        self._rows = np.array(rows, np.int64)
        chosen = [spans[row] for row in rows]
        self._lo = np.array([-math.inf if s.lo is None else s.lo for s in chosen], np.float64)
        self._hi = np.array([math.inf if s.hi is None else s.hi for s in chosen], np.float64)
        self._lo_closed = np.array([not s.lo_open for s in chosen], bool)
        self._hi_closed = np.array([not s.hi_open for s in chosen], bool)

    def mark(self, mask: _Mask, spans: SpanSet) -> None:
        if not len(self._rows):
            return
        met = np.zeros(len(self._rows), bool)
        for span in spans:
            met |= self._ends_after_start_of(span) & self._starts_before_end_of(span)
        mask[self._rows] = met

    def _ends_after_start_of(self, span: Span) -> _Mask:
        if span.lo is None:
            return np.ones(len(self._rows), bool)
        bound = float(span.lo)
        if bound > span.lo:
            return self._hi >= bound
        beyond: _Mask = self._hi > bound
        if bound == span.lo and not span.lo_open:
            beyond |= (self._hi == bound) & self._hi_closed
        return beyond

    def _starts_before_end_of(self, span: Span) -> _Mask:
        if span.hi is None:
            return np.ones(len(self._rows), bool)
        bound = float(span.hi)
        if bound < span.hi:
            return self._lo <= bound
        before: _Mask = self._lo < bound
        if bound == span.hi and not span.hi_open:
            before |= (self._lo == bound) & self._lo_closed
        return before


def _fits_float(end: _Bound | None) -> bool:
    return end is None or float(end) == end


def _integers(span: Span) -> tuple[int, int]:
    """The first and the last 64-bit integer in a span; the first is the greater one if none is."""
    first, last = INT_MIN, INT_MAX
    if span.lo is not None:
        first = max(first, math.floor(span.lo) + 1 if span.lo_open else math.ceil(span.lo))
    if span.hi is not None:
        last = min(last, math.ceil(span.hi) - 1 if span.hi_open else math.floor(span.hi))
    return first, last
