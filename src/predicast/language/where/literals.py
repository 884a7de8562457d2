"""Literals of the ``where`` dialect: from their text to checked values and back."""

from __future__ import annotations

import math
import re
import struct
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Final

from predicast.errors import InvalidValueError
from predicast.language.time_zones import implied_zone
from predicast.model.values import checked

_MAX_DIGITS: Final = 4000  # int() refuses more
_FLOAT_DIGITS: Final = 17  # as many as programs write of a float; more are meant as they stand
_EXPONENT: Final = frozenset("eE")

# What a backslash or a doubled quote stands for, by the literal's own quote.
_ESCAPES: Final = {
    quote: re.compile(
        r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([01][0-7]{2})|(.))" + f"|{quote}({quote})",
        re.DOTALL,
    )
    for quote in "'\""
}
_SURROGATES: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# As in Spark; \% and \_ keep their backslash, for LIKE.
_ESCAPED: Final = {
    "0": "\0",
    "b": "\b",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "Z": "\x1a",
    "%": "\\%",
    "_": "\\_",
}
_TIMESTAMP: Final = re.compile(
    r"(\d{4})-(\d{1,2})(?:-(\d{1,2})"
    r"(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?"
    r"\s*(Z|UTC|[+-]\d{1,2}(?::?\d{2})?)?)?)?",
    re.ASCII,
)


def number(text: str) -> int | float | Decimal:
    """An unsigned number, neither checked nor canonical yet: a minus sign may still come.

    With an exponent it is a float, as is a fraction of as few digits as floats have. What is
    written with more digits is meant to the last of them.
    """
    if text.isdigit():
        if len(text) > _MAX_DIGITS:
            raise InvalidValueError(f"a number of {len(text)} digits is too long")
        return int(text)
    if len(text) <= _FLOAT_DIGITS or not _EXPONENT.isdisjoint(text):
        return float(text)
    digits = len(text.replace(".", "").lstrip("0"))
    return float(text) if digits <= _FLOAT_DIGITS else decimal(text)


def decimal(text: str) -> Decimal:
    """An unsigned number that is meant to the last digit."""
    if len(text) > _MAX_DIGITS:
        raise InvalidValueError(f"a number of {len(text)} digits is too long")
    return Decimal(text)


def single(text: str) -> float:
    """An unsigned number as the nearest float of 32 bits."""
    exact = decimal(text)
    value = float(exact)
    # Twice to the nearest may be once too often. What is not exact in 64 bits is rounded to an odd
    # last bit there, which no value in the middle of two of 32 bits has.
    if math.isfinite(value) and exact != Decimal(value) and not _last_bit(value):
        value = math.nextafter(value, math.inf if exact > Decimal(value) else -math.inf)
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError as error:
        raise InvalidValueError("the number is beyond the range of 32-bit floats") from error


def _last_bit(value: float) -> int:
    return struct.pack("<d", value)[0] & 1


def string(text: str) -> str:
    """The content of a quoted literal, quotes included in ``text``."""
    quote, body = text[0], text[1:-1]
    if "\\" not in body:
        return body.replace(quote + quote, quote) if quote in body else body
    content = _ESCAPES[quote].sub(_unescaped, body)
    if not content.isascii():
        # Two \u escapes may be the halves of one character, as in Java and JSON.
        content = _SURROGATES.sub(_joined, content)
    return content


def _unescaped(match: re.Match[str]) -> str:
    short, long, octal, character, quote = match.groups()
    if character is not None:
        return _ESCAPED.get(character, character)
    if quote is not None:
        return quote
    code = int(octal, 8) if octal else int(short or long, 16)
    try:
        return chr(code)
    except (ValueError, OverflowError):
        raise InvalidValueError(f"{match.group()} is not a Unicode code point") from None


def _joined(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16", "surrogatepass").decode("utf-16")


def timestamp(text: str) -> datetime:
    """A timestamp from the content of its literal; without a zone it is in the implied one."""
    match = _TIMESTAMP.fullmatch(text.strip())
    if match is None:
        raise InvalidValueError(
            f"{text!r} is not a timestamp; write '2026-01-31 23:59:59.5', "
            "with Z or +02:00 behind it for another zone than UTC",
            value=text,
        )
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime(
            int(year),
            int(month),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0").ljust(6, "0")),
            _zone(zone),
        )
    except ValueError as error:
        raise InvalidValueError(f"{text!r} is not a timestamp: {error}", value=text) from None
    result = checked("timestamp", moment)
    assert isinstance(result, datetime)
    return result


def _zone(text: str | None) -> tzinfo:
    if text is None:
        return implied_zone()
    if text in {"Z", "UTC"}:
        return UTC
    digits = text[1:].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "0")
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-offset if text[0] == "-" else offset)


def day(text: str) -> datetime:
    """A DATE literal: the first instant of that day in UTC."""
    try:
        return datetime.combine(date.fromisoformat(text.strip()), datetime.min.time(), UTC)
    except ValueError:
        raise InvalidValueError(f"{text!r} is not a date; write '2026-01-31'", value=text) from None
