"""Ranges: domains of one span of numbers, as plain tuples.

Most domains are ranges, and most of the poset's time goes to making, hashing and comparing them,
which Python does several times as fast for a tuple as for a ``Domain`` with its spans. The ends
come with flags so that larger means later at both: an open lower end is later than a closed one, a
closed upper end later than an open one. Infinities stand for no end.

A domain that can be a range always is one (``ranged``), so that equal domains are equal still.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any, Final, TypeAlias

from predicast.bounded_cache import remembered
from predicast.model import Absent, Constraint, Interval, Kind
from predicast.model.domain import Domain
from predicast.model.operators import BOUNDS, Bound
from predicast.model.spans import Span

# Least value, whether it is left out, greatest value, whether it is included, and absence.
Range: TypeAlias = tuple[Any, bool, Any, bool, bool]

_NUMBER: Final = Kind.NUMBER
_NO_ENDS: Final = (-math.inf, math.inf)


def _ends(bounds: tuple[Bound, ...]) -> tuple[bool, bool, bool, bool]:
    """What an operator says of a range: a lower end, left out; an upper end, included."""
    lower = [each for each in bounds if each.is_lower]
    upper = [each for each in bounds if not each.is_lower]
    return (
        bool(lower),
        any(each.is_open for each in lower),
        bool(upper),
        not any(each.is_open for each in upper),
    )


_ENDS: Final = {operator: _ends(bounds) for operator, bounds in BOUNDS.items()}


def narrowed(so_far: Range | None, constraint: Constraint, absent: Absent) -> Range | None:
    """The range, if there is one, in which a constraint holds too; ``None`` if it is no range."""
    if constraint.kind is not _NUMBER:
        return None
    ends = _ENDS.get(constraint.operator)
    if ends is None:
        return None
    has_lower, lo_open, has_upper, hi_closed = ends
    operand: Any = constraint.operand
    lo, hi = operand if type(operand) is tuple else (operand, operand)
    if not has_lower:
        lo = -math.inf
    if not has_upper:
        hi = math.inf
    if so_far is not None:
        lo, lo_open, hi, hi_closed = _both(so_far, (lo, lo_open, hi, hi_closed))
    if lo > hi or (lo == hi and (lo_open or not hi_closed)):
        return None  # empty, which only a domain says
    return lo, lo_open, hi, hi_closed, absent == "passes"


def _both(one: Range, other: tuple[Any, bool, Any, bool]) -> tuple[Any, bool, Any, bool]:
    """The later of the lower ends, the earlier of the upper ends."""
    lo, lo_open, hi, hi_closed, _ = one
    least, least_open, greatest, greatest_closed = other
    if least > lo or (least == lo and least_open):
        lo, lo_open = least, least_open
    if greatest < hi or (greatest == hi and not greatest_closed):
        hi, hi_closed = greatest, greatest_closed
    return lo, lo_open, hi, hi_closed


def ranged(domain: Domain) -> Range | Domain:
    """The domain as a range, if it is one."""
    if domain.kind is not Kind.NUMBER or len(domain.spans) != 1 or domain.others:
        return domain
    (span,) = domain.spans
    lo = -math.inf if span.lo is None else span.lo
    hi = math.inf if span.hi is None else span.hi
    return lo, span.lo_open, hi, not span.hi_open, domain.absent


@remembered(4 << 20, lambda *_: 1_000)  # a range and its domain are always of this size
def as_domain(of: Range) -> Domain:
    """The range as a domain, for what is asked too seldom to be worth a short cut."""
    lo, lo_open, hi, hi_closed, absent = of
    span = Span(
        None if lo == -math.inf else lo,
        None if hi == math.inf else hi,
        lo_open,
        not hi_closed,
    )
    return Domain(absent, Kind.NUMBER, (span,))


def range_meets(of: Range, interval: Interval) -> bool:
    """Whether some point of a region event's interval is in the range, as its domain says too."""
    lo, lo_open, hi, hi_closed, _ = of
    least: Any = interval.lo
    greatest: Any = interval.hi
    if isinstance(least, datetime) or isinstance(greatest, datetime):
        return False
    if type(least) is int and type(greatest) is int:  # it holds integers alone
        if not (_is_whole(lo) and _is_whole(hi)):
            return as_domain(of).meets(interval)
        first, last = least + interval.lo_open, greatest - interval.hi_open
        return max(first, lo + lo_open) <= min(last, hi if hi_closed else hi - 1)  # type: ignore[no-any-return]
    if greatest is not None and (
        lo > greatest or (lo == greatest and (lo_open or interval.hi_open))
    ):
        return False
    return not (
        least is not None and (least > hi or (least == hi and (interval.lo_open or not hi_closed)))
    )


def _is_whole(end: Any) -> bool:
    return type(end) is int or end in _NO_ENDS
