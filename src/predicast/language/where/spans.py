"""Spans of time in texts: ``INTERVAL 1 DAY``, ``INTERVAL '1 day 2 hours'``."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from predicast.derived import Span

_MICROSECONDS: Final = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 7 * 86_400_000_000,
}
_MONTHS: Final = {"MONTH": 1, "YEAR": 12}
_PART: Final = re.compile(r"\s*([+-]?\d{1,18})(\.\d{1,6})?\s+([A-Za-z]+)\s*", re.ASCII)


def unit_of(word: str) -> str | None:
    """The unit that a word names, in the singular or the plural."""
    unit = word.upper().removesuffix("S")
    return unit if unit in _MICROSECONDS or unit in _MONTHS else None


def spans_of(text: str) -> Span | None:
    """The span that a text lists, number by unit; ``None`` if it is none."""
    months = microseconds = position = 0
    while position < len(text):
        match = _PART.match(text, position)
        unit = unit_of(match.group(3)) if match else None
        if match is None or unit is None:
            return None
        whole, fraction, _ = match.groups()
        if fraction and unit != "SECOND":
            return None
        if unit in _MONTHS:
            months += int(whole) * _MONTHS[unit]
        else:
            number = Decimal(whole + (fraction or ""))
            microseconds += int(number * _MICROSECONDS[unit])
        position = match.end()
    return Span(months, microseconds) if position else None
