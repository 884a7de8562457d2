"""Functions of time over whole columns of microseconds, with the answers of
``predicast.derived.times``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from predicast.derived.times import SHORT
from predicast.derived.tree import Span
from predicast.matching.batches.typed_values import Mask

Array = npt.NDArray[Any]

_DAY: Final = 86_400_000_000
_FIRST: Final = -62_135_596_800_000_000  # 0001-01-01, in microseconds
_LAST: Final = 253_402_300_799_999_999  # the end of 9999
_FIRST_MONTH: Final = (1 - 1970) * 12
_LAST_MONTH: Final = (9999 - 1970) * 12 + 11
_FARTHEST: Final = 1 << 60  # microseconds: farther than the calendar is long


def field(name: str, values: Array) -> Array:
    """A part of each timestamp, such as its hour."""
    days = values // _DAY
    match name:
        case "hour":
            return values % _DAY // 3_600_000_000
        case "minute":
            return values % 3_600_000_000 // 60_000_000
        case "second":
            return values % 60_000_000 // 1_000_000
        case "dayofweek":
            return (days + 4) % 7 + 1  # the first of 1970 was a Thursday
        case "weekday":
            return (days + 3) % 7
    months = _months(days)
    match name:
        case "year":
            return months // 12 + 1970
        case "month":
            return months % 12 + 1
        case "quarter":
            return months % 12 // 3 + 1
        case "dayofyear":
            return days - _first_days(months // 12 * 12) + 1
    return days - _first_days(months) + 1


def truncated(unit: str, values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The first instant of the unit in which each lies."""
    if unit in SHORT:
        return values // SHORT[unit] * SHORT[unit]
    days = values // _DAY
    if unit == "WEEK":
        return ((days + 3) // 7 * 7 - 3) * _DAY
    months = _months(days)
    size = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}[unit]
    return _first_days(months - months % size) * _DAY


def shifted(values: Array, span: Span) -> tuple[Array, Mask]:
    """Each moved by a span, and which of them stay within the calendar."""
    valid = np.ones(len(values), bool)
    if abs(span.microseconds) > _FARTHEST or abs(span.months) > 12 * 10_000:
        return values, ~valid
    if span.months:
        days = values // _DAY
        months = _months(days)
        month = months + span.months
        valid = (month >= _FIRST_MONTH) & (month <= _LAST_MONTH)
        month = np.where(valid, month, 0)
        first = _first_days(month)
        last = _first_days(month + 1) - first
        day = np.minimum(days - _first_days(months), last - 1)
        values = (first + day) * _DAY + values % _DAY
    moved = values + span.microseconds
    return moved, valid & (moved >= _FIRST) & (moved <= _LAST)


def _months(days: Array) -> npt.NDArray[np.int64]:
    """Months since the beginning of 1970."""
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _first_days(months: Array) -> npt.NDArray[np.int64]:
    """The first day of each month, since the beginning of 1970."""
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
