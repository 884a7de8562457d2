"""Sketches: what a filter asks for, and what an event says, as a few numbers.

A covering test costs a microsecond of Python, a test of an event as much or more. So each filter
is also a row of numbers, which NumPy compares with those of many others at once:

- *bits* for the attributes that all of its clauses look at;
- *needs*, the bits of those that must be present;
- for each of these attributes a *hull*: the least and the greatest value that it admits;
- where these are a few values, and not ranges, *marks*: one of 64 bits for each value.

If A covers B, then A's bits are among B's, A's hulls include B's, and B's marks are among A's. If
an event matches A, then it has what A needs, its values lie in A's hulls, or its intervals meet
them, and the marks of its values are among A's. Sets of cells such as {1, 3} have hulls that say
little of them, and marks that say nearly all. These conditions
are necessary and not sufficient: what they leave is tested exactly. Hulls are floats: rounding
keeps order, and so does taking a string's first characters for a number. Only the first attributes
seen have a hull, the rest only their bits, so that memory per filter is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

from predicast.covering.filter import Domains, Filter
from predicast.covering.ranges import Range
from predicast.model import Event, Interval, Kind
from predicast.model.domain import Domain
from predicast.model.elements import Elements
from predicast.model.values import microseconds

HULLS: Final = 32  # attributes with hulls, and a bit each: 512 bytes per filter
# The others share these bits, which lets more rows through to the exact test.
_SHARED_BITS: Final = 30
_CODE_POINTS: Final = 1 << 21

# Past so many values nearly every mark is among them, and they are not worth having.
_MOST_MARKED: Final = 64
_MIXED: Final = 0x9E3779B97F4A7C15  # neighbouring numbers get marks far from each other
_EVERY: Final = 2**64 - 1

Hull: TypeAlias = tuple[int, float, float]  # column, least, greatest


class Sketch:
    """The bits, needs, hulls and marks of a filter, or those of an event, which needs nothing."""

    __slots__ = ("bits", "hulls", "marks", "needs")

    def __init__(self, bits: int, needs: int, hulls: list[Hull], marks: dict[int, int]) -> None:
        self.bits = bits
        self.needs = needs
        self.hulls = hulls
        self.marks = marks  # by column; of a column that is not there nothing is known

    def may_cover(self, other: Sketch) -> bool:
        """Whether its filter may cover the other's, by what takes less than the test itself."""
        if self.bits & ~other.bits:
            return False  # it looks at an attribute that the other does not
        for column, marked in self.marks.items():
            if other.marks.get(column, 0) & ~marked:
                return False  # the other admits a value that it does not
        return True


class Sketcher:
    """Makes sketches; each attribute has a column from when it is first seen in a filter."""

    def __init__(self) -> None:
        self._columns: dict[str, int] = {}

    def of_filter(self, of: Filter) -> Sketch:
        """The sketch of a filter."""
        return self.of_clauses(of.clauses)

    def of_clauses(self, clauses: Sequence[Domains]) -> Sketch:
        """The sketch of a filter with these clauses."""
        first, *others = clauses
        bits = needs = 0
        hulls: list[Hull] = []
        marks: dict[int, int] = {}
        for attribute, domain in first.items():
            if not isinstance(attribute, str):
                continue  # part of a rest, of which there may be as many as filters
            domains = [domain]
            if others:
                if not all(attribute in clause for clause in others):
                    continue  # some clause lets it be anything
                domains += [clause[attribute] for clause in others]
            column = self._columns.setdefault(attribute, len(self._columns))
            bit = _bit(column)
            bits |= bit
            if not _admits_absence(domain) and not any(map(_admits_absence, domains[1:])):
                needs |= bit
            if column >= HULLS:
                continue
            least, greatest = _ends(domain)
            for lo, hi in map(_ends, domains[1:]):
                least, greatest = min(least, lo), max(greatest, hi)
            hulls.append((column, least, greatest))
            # Most domains are ranges of many values, and are not asked for marks.
            marked = (
                _marks_of_all(domains) if type(domain) is not tuple or least == greatest else None
            )
            if marked is not None:
                marks[column] = marked
        return Sketch(bits, needs, hulls, marks)

    def of_event(self, event: Event) -> Sketch:
        """The sketch of an event, as far as filters look at its attributes."""
        bits = 0
        hulls: list[Hull] = []
        marks: dict[int, int] = {}
        for attribute, value in event.items():
            column = self._columns.get(attribute)
            if column is None:
                continue
            bits |= _bit(column)
            if column < HULLS:
                hulls.append((column, *_extent(value)))
                if not isinstance(value, Interval | Elements):
                    marks[column] = _mark(
                        microseconds(value) if isinstance(value, datetime) else value
                    )
        return Sketch(bits, 0, hulls, marks)


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


def _marks_of_all(domains: list[Range | Domain]) -> int | None:
    """The marks of all values that some domain admits; ``None`` if they are not a few."""
    marks = 0
    for domain in domains:
        marked = _marks(domain)
        if marked is None:
            return None
        marks |= marked
    return marks


def _marks(domain: Range | Domain) -> int | None:
    if isinstance(domain, tuple):
        return _mark(domain[0]) if domain[0] == domain[2] else None
    if domain.others or len(domain.spans) > _MOST_MARKED:
        return None
    marks = 0
    for span in domain.spans:
        if span.lo is None or span.hi != end_of_one(domain.kind, span.lo):
            return None
        marks |= _mark(span.lo)
    return marks


def end_of_one(kind: Kind | None, value: Any) -> Any:
    """Where a span of one value ends: numbers have no next value, the others end before theirs."""
    if kind is Kind.NUMBER:
        return value
    return value + "\0" if isinstance(value, str) else value + 1


def _mark(value: Any) -> int:
    return 1 << ((hash(value) * _MIXED & _EVERY) >> 58)


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
