"""Sketches: what a filter asks for, and what an event says, as a few numbers.

A covering test costs a microsecond of Python, a test of an event as much or more. So each filter
is also a row of numbers, which NumPy compares with those of many others at once:

- *bits* for the attributes that all of its clauses look at;
- *needs*, the bits of those that must be present;
- for each of these attributes a *hull*: the least and the greatest value that it admits.

If A covers B, then A's bits are among B's, and A's hulls include B's. If an event matches A, then
it has what A needs, and its values lie in A's hulls, or its intervals meet them. These conditions
are necessary and not sufficient: what they leave is tested exactly. Hulls are floats: rounding
keeps order, and so does taking a string's first characters for a number. Only the first attributes
seen have a hull, the rest only their bits, so that memory per filter is bounded.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any, Final, TypeAlias

from predicast.covering.filter import Filter
from predicast.covering.ranges import Range
from predicast.model import Event, Interval
from predicast.model.domain import Domain
from predicast.model.elements import Elements
from predicast.model.values import microseconds

HULLS: Final = 32  # attributes with hulls, and a bit each: 512 bytes per filter
# The others share these bits, which lets more rows through to the exact test.
_SHARED_BITS: Final = 30
_CODE_POINTS: Final = 1 << 21

Hull: TypeAlias = tuple[int, float, float]  # column, least, greatest


class Sketch:
    """The bits, needs and hulls of a filter, or those of an event, which needs nothing."""

    __slots__ = ("bits", "hulls", "needs")

    def __init__(self, bits: int, needs: int, hulls: list[Hull]) -> None:
        self.bits = bits
        self.needs = needs
        self.hulls = hulls


class Sketcher:
    """Makes sketches; each attribute has a column from when it is first seen in a filter."""

    def __init__(self) -> None:
        self._columns: dict[str, int] = {}

    def of_filter(self, of: Filter) -> Sketch:
        """The sketch of a filter."""
        first, *others = of.clauses
        bits = needs = 0
        hulls: list[Hull] = []
        for attribute, domain in first.items():
            domains = [domain]
            if others:
                if not all(attribute in clause for clause in others):
                    continue  # some clause lets it be anything
                domains += [clause[attribute] for clause in others]
            column = self._columns.setdefault(attribute, len(self._columns))
            bit = _bit(column)
            bits |= bit
            if not any(map(_admits_absence, domains)):
                needs |= bit
            if column < HULLS:
                lows, highs = zip(*map(_ends, domains), strict=True)
                hulls.append((column, min(lows), max(highs)))
        return Sketch(bits, needs, hulls)

    def of_event(self, event: Event) -> Sketch:
        """The sketch of an event, as far as filters look at its attributes."""
        bits = 0
        hulls: list[Hull] = []
        for attribute, value in event.items():
            column = self._columns.get(attribute)
            if column is None:
                continue
            bits |= _bit(column)
            if column < HULLS:
                hulls.append((column, *_extent(value)))
        return Sketch(bits, 0, hulls)


def _bit(column: int) -> int:
    return 1 << (column if column < HULLS else HULLS + column % _SHARED_BITS)


def _admits_absence(domain: Range | Domain) -> bool:
    return domain[4] if isinstance(domain, tuple) else domain.absent


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


def _extent(value: Any) -> tuple[float, float]:
    """How far an event's value reaches; elements are not looked at here."""
    if isinstance(value, Interval):
        lo, hi = value.lo, value.hi
        return (
            -math.inf if lo is None else _as_float(lo),
            math.inf if hi is None else _as_float(hi),
        )
    if isinstance(value, Elements):
        return -math.inf, math.inf
    only = _as_float(value)
    return only, only


def _as_float(end: Any) -> float:
    if isinstance(end, datetime):
        return float(microseconds(end))
    if not isinstance(end, str):
        return float(end)
    number = 0
    for character in end[:3].ljust(3, "\0"):
        number = number * _CODE_POINTS + ord(character)
    return float(number)
