"""``Interval``: what a region event says of one attribute.

An interval with two integer ends (of 64 bits) ranges over integers; otherwise over reals; between
timestamps it ranges over microseconds. So ``Interval(3, 4)`` holds two numbers,
``Interval(3.0, 4.0)`` infinitely many.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from predicast.errors import InvalidIntervalError
from predicast.model.decimals import ExactDecimal
from predicast.model.spans import Span
from predicast.model.values import Kind, checked, kind_of, microseconds, show


@dataclass(frozen=True, slots=True)
class Interval:
    """What a region event says of one attribute: all values from ``lo`` to ``hi``.

    >>> Interval(3, 7)
    Interval(lo=3, hi=7, lo_open=False, hi_open=False)
    >>> Interval(None, 5.5, hi_open=True)  # everything below 5.5
    Interval(lo=None, hi=5.5, lo_open=True, hi_open=True)
    """

    lo: int | float | ExactDecimal | datetime | None = None
    hi: int | float | ExactDecimal | datetime | None = None
    lo_open: bool = False
    hi_open: bool = False

    def __post_init__(self) -> None:
        kinds = set()
        for end in ("lo", "hi"):
            raw: Any = getattr(self, end)
            if raw is None:
                object.__setattr__(self, f"{end}_open", True)  # one spelling of "unbounded"
                continue
            value = checked(f"Interval.{end}", raw)
            object.__setattr__(self, end, value)
            object.__setattr__(self, f"{end}_open", bool(getattr(self, f"{end}_open")))
            kinds.add(kind_of(value))
        if not kinds <= {Kind.NUMBER} and not kinds <= {Kind.TIMESTAMP}:
            named = " and ".join(sorted(kind.value for kind in kinds))
            raise InvalidIntervalError(
                f"{self}: an interval runs between two numbers or two timestamps, not {named}"
            )
        span = self.span()
        if span.is_empty_of_integers() if self.is_discrete() else span.is_empty():
            over = " (two integer ends range over integers)" if self.is_discrete() else ""
            raise InvalidIntervalError(f"{self} is empty{over}")

    def __str__(self) -> str:
        left = "(" if self.lo_open else "["
        right = ")" if self.hi_open else "]"
        lo = "-∞" if self.lo is None else show(self.lo)
        hi = "∞" if self.hi is None else show(self.hi)
        return f"{left}{lo}, {hi}{right}"

    @property
    def kind(self) -> Kind | None:
        """Number or timestamp; ``None`` when unbounded on both sides, which meets either."""
        end = self.hi if self.lo is None else self.lo
        return None if end is None else kind_of(end)

    def is_discrete(self) -> bool:
        """Whether it ranges over integers (or microseconds) rather than reals."""
        if self.kind is Kind.TIMESTAMP:
            return True
        return isinstance(self.lo, int) and isinstance(self.hi, int)

    def span(self) -> Span:
        """The same range as numbers: timestamps become microseconds."""
        return Span(_as_number(self.lo), _as_number(self.hi), self.lo_open, self.hi_open)


def _as_number(end: Any) -> int | float | ExactDecimal | None:
    return microseconds(end) if isinstance(end, datetime) else end
