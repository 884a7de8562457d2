r"""Spans and span sets: the ranges of values that constraints allow and events cover.

One algebra serves every kind of value. Numbers are dense: their ends are open or closed. The others
have a next value (the next microsecond; ``s + '\0'`` for a string; booleans are 0 and 1), so
their spans are written half-open, ``lo <= v < hi``, and equal sets of values are equal spans.

A *span set* is a tuple of spans, non-empty, ascending, with a gap between neighbours. That form
is unique, which makes "is every value of A in B" a walk over two lists.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Span:
    """A range; ``None`` is unbounded. Closed unless an end is said to be open.

    An end that is not there is neither: it is always written as closed, so that equal ranges are
    equal spans.
    """

    lo: Any = None
    hi: Any = None
    lo_open: bool = False
    hi_open: bool = False

    def __post_init__(self) -> None:
        if self.lo is None and self.lo_open:
            object.__setattr__(self, "lo_open", False)
        if self.hi is None and self.hi_open:
            object.__setattr__(self, "hi_open", False)

    def is_empty(self) -> bool:
        if self.lo is None or self.hi is None:
            return False
        if self.lo == self.hi:
            return self.lo_open or self.hi_open
        return bool(self.lo > self.hi)

    def is_empty_of_integers(self) -> bool:
        """Whether no integer lies in it (the ends being numbers)."""
        if self.lo is None or self.hi is None:
            return False
        first = math.ceil(self.lo)
        if self.lo_open and first == self.lo:
            first += 1
        last = -math.ceil(-self.hi)
        if self.hi_open and last == self.hi:
            last -= 1
        return bool(first > last)

    def closed_over_integers(self) -> Span:
        """The span with the same integers whose ends are closed (the ends being integers)."""
        lo = None if self.lo is None else self.lo + self.lo_open
        hi = None if self.hi is None else self.hi - self.hi_open
        return Span(lo, hi)

    def __and__(self, other: Span) -> Span:
        lo, lo_open = self.lo, self.lo_open
        if lo is None or (other.lo is not None and other.lo > lo):
            lo, lo_open = other.lo, other.lo_open
        elif other.lo is not None and other.lo == lo:
            lo_open = lo_open or other.lo_open
        hi, hi_open = self.hi, self.hi_open
        if hi is None or (other.hi is not None and other.hi < hi):
            hi, hi_open = other.hi, other.hi_open
        elif other.hi is not None and other.hi == hi:
            hi_open = hi_open or other.hi_open
        return Span(lo, hi, lo_open, hi_open)

    def begins_after(self, other: Span) -> bool:
        """Whether it begins after the other does."""
        if self.lo is None:
            return False
        if other.lo is None or self.lo > other.lo:
            return True
        return bool(self.lo == other.lo and self.lo_open and not other.lo_open)

    def ends_before(self, other: Span) -> bool:
        """Whether it ends before the other does."""
        if self.hi is None:
            return False
        if other.hi is None or self.hi < other.hi:
            return True
        return bool(self.hi == other.hi and self.hi_open and not other.hi_open)

    def touches(self, later: Span) -> bool:
        """Whether no gap parts it from a span that starts no earlier than it does."""
        if self.hi is None or later.lo is None or later.lo < self.hi:
            return True
        return bool(later.lo == self.hi and not (self.hi_open and later.lo_open))


SpanSet: TypeAlias = tuple[Span, ...]

EVERYTHING: SpanSet = (Span(),)


def span_set(spans: Iterable[Span]) -> SpanSet:
    """The span set of spans given in ascending order of their lower ends."""
    merged: list[Span] = []
    for span in spans:
        if span.is_empty():
            continue
        if merged and merged[-1].touches(span):
            last = merged[-1]
            if last.ends_before(span):
                merged[-1] = Span(last.lo, span.hi, last.lo_open, span.hi_open)
        else:
            merged.append(span)
    return tuple(merged)


def united(sets: Iterable[SpanSet]) -> SpanSet:
    """Every value that is in some of the sets."""
    spans = [span for each in sets for span in each]
    unbounded = [span for span in spans if span.lo is None]
    bounded = [span for span in spans if span.lo is not None]
    return span_set([*unbounded, *sorted(bounded, key=lambda span: (span.lo, span.lo_open))])


def complement(spans: SpanSet) -> SpanSet:
    """Every value outside the set."""
    gaps = []
    lo, lo_open = None, False
    for span in spans:
        if span.lo is not None:
            gaps.append(Span(lo, span.lo, lo_open, not span.lo_open))
        if span.hi is None:
            return span_set(gaps)
        lo, lo_open = span.hi, not span.hi_open
    gaps.append(Span(lo, None, lo_open, False))
    return span_set(gaps)


def intersection(a: SpanSet, b: SpanSet) -> SpanSet:
    """Every value in both sets; linear in their lengths."""
    shared = []
    i = j = 0
    while i < len(a) and j < len(b):
        both = a[i] & b[j]
        if not both.is_empty():
            shared.append(both)
        if a[i].ends_before(b[j]):
            i += 1
        else:
            j += 1
    return tuple(shared)


def includes(outer: SpanSet, inner: SpanSet) -> bool:
    """Whether every value of ``inner`` is in ``outer``."""
    if len(outer) > 8:  # so many are searched; of fewer, those that end too early are passed by
        starts = [span.lo for span in outer[1:]]
        return all(_includes(outer[_last_before(starts, span)], span) for span in inner)
    position = 0
    for span in inner:
        while position < len(outer) and outer[position].ends_before(span):
            position += 1
        if position == len(outer) or not _includes(outer[position], span):
            return False
    return True


def _last_before(starts: list[Any], span: Span) -> int:
    """The last of spans that starts no later than a span does, given where all but one start."""
    return 0 if span.lo is None else bisect_right(starts, span.lo)


def _includes(outer: Span, inner: Span) -> bool:
    return not (outer.begins_after(inner) or outer.ends_before(inner))


def meets(spans: SpanSet, span: Span, *, of_integers: bool) -> bool:
    """Whether some value (or some integer) lies both in the set and in the span."""
    first = 0
    if len(spans) > 8 and span.lo is not None:
        first = _last_before([other.lo for other in spans[1:]], span)
    for other in spans[first:]:
        if span.hi is not None and other.lo is not None and other.lo > span.hi:
            return False
        both = other & span
        if not (both.is_empty_of_integers() if of_integers else both.is_empty()):
            return True
    return False
