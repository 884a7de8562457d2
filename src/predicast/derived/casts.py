"""Casts between the model's types, as Spark makes them; where it would wrap around or saturate,
and where a text says no such value, there is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Final

from predicast.model.decimals import ExactDecimal
from predicast.model.values import EPOCH, Value, from_microseconds, microseconds

# What Spark trims around a number: control characters, and the space.
_BLANK: Final = "".join(map(chr, range(0x21))) + "\x7f"
_WHOLE: Final = re.compile(r"([+-]?)([0-9]*)(?:\.[0-9]*)?", re.ASCII)
_REAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[dDfF]?", re.ASCII)
_MAX_DIGITS: Final = 4000  # int() refuses more; no such number fits into 64 bits
_TIME: Final = re.compile(
    r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})"
    r"(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?"  # a zone stands behind seconds only
    r"\s*(Z|UTC|[+-]\d{1,2}(?::?\d{2})?)?)?)?)?)?",
    re.ASCII,
)
_DAY: Final = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.ASCII | re.DOTALL)
_TRUE: Final = frozenset({"t", "true", "y", "yes", "1"})
_FALSE: Final = frozenset({"f", "false", "n", "no", "0"})
BITS: Final = {"BIGINT": 64, "INT": 32, "SMALLINT": 16, "TINYINT": 8}


def to_whole(bits: int) -> Callable[[Any], Value | None]:
    """A cast to integers of so many bits."""
    bound = 1 << (bits - 1)

    def cast(x: Any) -> Value | None:
        value = _whole(x)
        return value if value is not None and -bound <= value < bound else None

    return cast


def _whole(x: Any) -> int | None:
    if type(x) is int:
        return x
    if type(x) is float or type(x) is bool or type(x) is ExactDecimal:
        return int(x)
    if type(x) is datetime:
        return microseconds(x) // 1_000_000
    text = x.strip(_BLANK)
    match = _WHOLE.fullmatch(text)
    # A sign or nothing is no number, and yet Spark takes a lone point for one.
    if match is None or text in {"", "+", "-"} or len(text) > _MAX_DIGITS:
        return None
    sign, digits = match.groups()
    return int(sign + (digits or "0"))


def to_real(x: Any) -> Value | None:
    """A cast to DOUBLE."""
    if type(x) is str:
        text = x.strip(_BLANK[:-1])
        if _REAL.fullmatch(text) is None:
            return None
        value = float(text.rstrip("dDfF"))
    elif type(x) is datetime:
        value = microseconds(x) / 1_000_000
    else:
        value = float(x)
    return value + 0.0 if math.isfinite(value) else None


def to_text(x: Any) -> Value | None:
    """A cast to STRING."""
    if type(x) is bool:
        return "true" if x else "false"
    if type(x) is float:
        return _real_text(x)
    if type(x) is datetime:
        shown = x.replace(tzinfo=None).isoformat(sep=" ")
        return shown.rstrip("0") if x.microsecond else shown
    return str(x)


def _real_text(x: float) -> str:
    """As Java writes a double: with an exponent below 0.001 and from 10,000,000 on."""
    if x == 0 or 1e-3 <= abs(x) < 1e7:
        plain = format(Decimal(repr(x)), "f")
        return plain if "." in plain else f"{plain}.0"
    sign, digits, exponent = Decimal(repr(x)).as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, digits))
    exponent += len(written) - 1
    fraction = written[1:].rstrip("0") or "0"
    return f"{'-' if sign else ''}{written[0]}.{fraction}E{exponent}"


def to_truth(x: Any) -> Value | None:
    """A cast to BOOLEAN."""
    if type(x) is str:
        word = x.strip(_BLANK).lower()
        return True if word in _TRUE else False if word in _FALSE else None
    if type(x) is datetime:
        return None
    return bool(x)


def to_time(x: Any) -> Value | None:
    """A cast to TIMESTAMP; numbers are seconds."""
    if type(x) is datetime:
        return x
    if type(x) is bool:
        return None
    if type(x) is str:
        return _time_of(x.strip(_BLANK))
    return _instant(x * 1_000_000 if type(x) is int else float(x) * 1_000_000.0)


def to_day(x: Any) -> Value | None:
    """A cast to DATE: the first instant of the day."""
    if type(x) is datetime:
        return x.replace(hour=0, minute=0, second=0, microsecond=0)
    if type(x) is not str:
        return None
    match = _DAY.fullmatch(x.strip(_BLANK))
    return None if match is None else _moment(*match.groups())


def _instant(count: float) -> datetime | None:
    try:
        return from_microseconds(int(count))
    except (OverflowError, ValueError):
        return None


def _time_of(text: str) -> datetime | None:
    match = _TIME.fullmatch(text)
    return None if match is None else _moment(*match.groups())


def _moment(
    year: str,
    month: str | None,
    day: str | None,
    hour: str | None = None,
    minute: str | None = None,
    second: str | None = None,
    fraction: str | None = None,
    zone: str | None = None,
) -> datetime | None:
    try:
        at = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int(fraction[:6].ljust(6, "0")) if fraction else 0,
            _zone(zone),
        )
        return EPOCH + (at - EPOCH)  # in UTC, or beyond the calendar
    except (OverflowError, ValueError):
        return None


def _zone(text: str | None) -> timezone:
    if text is None or text in {"Z", "UTC"}:
        return UTC
    digits = text[1:].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "0")
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-offset if text[0] == "-" else offset)


CASTS: Final[dict[str, Callable[[Any], Value | None]]] = {
    **{name: to_whole(bits) for name, bits in BITS.items()},
    "DOUBLE": to_real,
    "STRING": to_text,
    "BOOLEAN": to_truth,
    "TIMESTAMP": to_time,
    "DATE": to_day,
}
# Other words for the same type. FLOAT is none of them: of 32 bits in Spark, of 64 in PostgreSQL.
TYPE_ALIASES: Final = {
    "LONG": "BIGINT",
    "INTEGER": "INT",
    "SHORT": "SMALLINT",
    "BYTE": "TINYINT",
    "DOUBLE PRECISION": "DOUBLE",
    "TEXT": "STRING",
    "VARCHAR": "STRING",
    "BOOL": "BOOLEAN",
    "TIMESTAMPTZ": "TIMESTAMP",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "TIMESTAMP_NTZ": "TIMESTAMP",
}
