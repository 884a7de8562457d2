"""Functions of time: the parts of a timestamp, truncation, spans. All of it in UTC."""

from __future__ import annotations

import calendar
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from predicast.derived.tree import Span
from predicast.model.values import Value, from_microseconds, microseconds

FIELDS: Final[dict[str, Callable[[datetime], int]]] = {
    "year": lambda at: at.year,
    "quarter": lambda at: (at.month + 2) // 3,
    "month": lambda at: at.month,
    "day": lambda at: at.day,
    "dayofweek": lambda at: at.isoweekday() % 7 + 1,  # from Sunday, 1
    "weekday": lambda at: at.weekday(),  # from Monday, 0
    "dayofyear": lambda at: at.timetuple().tm_yday,
    "hour": lambda at: at.hour,
    "minute": lambda at: at.minute,
    "second": lambda at: at.second,
}
UNITS: Final = (
    *("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"),
    *("MILLISECOND", "MICROSECOND"),
)
SHORT: Final = {  # in microseconds
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
}
UNIT_ALIASES: Final = {
    "YYYY": "YEAR",
    "YY": "YEAR",
    "MON": "MONTH",
    "MM": "MONTH",
    "DD": "DAY",
}


def truncated(unit: Any, at: Any) -> Value | None:
    """The first instant of the unit in which a timestamp lies."""
    if type(at) is not datetime:
        return None
    if unit in SHORT:
        return from_microseconds(microseconds(at) // SHORT[unit] * SHORT[unit])
    day = datetime(at.year, at.month, at.day, tzinfo=UTC)
    if unit == "WEEK":  # which begins on Monday, as the year 1 did
        return day - timedelta(days=day.weekday())
    if unit == "MONTH":
        return day.replace(day=1)
    return day.replace(day=1, month=1 if unit == "YEAR" else (day.month - 1) // 3 * 3 + 1)


def shifted(at: Any, span: Span) -> Value | None:
    """A timestamp moved by a span; a day that the month has not is the month's last."""
    if type(at) is not datetime:
        return None
    try:
        moved: datetime = _shifted_months(at, span.months) if span.months else at
        return moved + timedelta(microseconds=span.microseconds)
    except (OverflowError, ValueError):
        return None


def _shifted_months(at: datetime, months: int) -> datetime:
    year, month = divmod(at.year * 12 + at.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    last = calendar.monthrange(year, month + 1)[1]
    return at.replace(year=year, month=month + 1, day=min(at.day, last), tzinfo=UTC)
