"""Datatypes: how they derive from one another, and which value of the model a literal has.

Values are those of ``predicast.model.values``: integers, decimals, floats and doubles are all
numbers and compare exactly, as what they are written as; strings, booleans and timestamps are the
other kinds. A literal without a value (an unknown datatype, a text that its datatype does not
admit, NaN) is a term like any other, and no comparison is true of it.

*Promotion*: where a pattern asks for a double, a decimal will do, and where it asks for a decimal,
an integer will. XML Schema derives the integers from the decimals already; that a decimal may stand
for a float, and that for a double, is what XPath and SPARQL add.

What the derived types restrict (that a byte is below 128) is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Final

from predicast.errors import InvalidValueError
from predicast.graph.names import (
    BOOLEAN,
    DATE,
    DATE_TIME,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    LANG_STRING,
    LITERAL,
    STRING,
    XSD,
)
from predicast.model.decimals import MAX_FRACTION_DIGITS, MAX_WHOLE_DIGITS, exact_number
from predicast.model.values import Value, checked

# Each with what it derives from, or is promoted to.
_DERIVED: Final = {
    "integer": "decimal",
    "decimal": "float",
    "float": "double",
    "nonPositiveInteger": "integer",
    "negativeInteger": "nonPositiveInteger",
    "nonNegativeInteger": "integer",
    "positiveInteger": "nonNegativeInteger",
    "unsignedLong": "nonNegativeInteger",
    "unsignedInt": "unsignedLong",
    "unsignedShort": "unsignedInt",
    "unsignedByte": "unsignedShort",
    "long": "integer",
    "int": "long",
    "short": "int",
    "byte": "short",
    "normalizedString": "string",
    "token": "normalizedString",
    "language": "token",
    "Name": "token",
    "NCName": "Name",
    "NMTOKEN": "token",
    "dateTimeStamp": "dateTime",
    "yearMonthDuration": "duration",
    "dayTimeDuration": "duration",
}
_ROOTS: Final = (
    *("double", "string", "boolean", "dateTime", "date", "time", "duration", "anyURI"),
    *("gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay", "hexBinary", "base64Binary"),
)
PARENTS: Final[dict[str, str]] = (
    {XSD + name: XSD + parent for name, parent in _DERIVED.items()}
    | {XSD + name: LITERAL for name in _ROOTS}
    | {LANG_STRING: LITERAL}
)

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")
_DAY: Final = r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
_ZONE: Final = r"(Z|[+-][0-9]{2}:[0-9]{2})?"
_DATE: Final = re.compile(_DAY + _ZONE)
_DATE_TIME: Final = re.compile(_DAY + r"T([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?" + _ZONE)
_LONGEST_NUMBER: Final = MAX_WHOLE_DIGITS + MAX_FRACTION_DIGITS + 2  # a sign and a point
_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}


def value_of(text: str, datatype: str) -> Value | None:
    """The value that a text has by one of the datatypes above, or ``None`` if it has none."""
    read = _READERS.get(datatype)
    return None if read is None else read(text)


def _from_decimal(text: str, form: re.Pattern[str] = _DECIMAL) -> Value | None:
    text = text.strip()
    if len(text) > _LONGEST_NUMBER or not form.fullmatch(text):
        return None
    return exact_number(Decimal(text))


def _from_double(text: str) -> Value | None:
    text = text.strip()
    if len(text) > _LONGEST_NUMBER or not _DOUBLE.fullmatch(text):
        return None
    return _accepted(float(text))


def _from_date_time(text: str) -> Value | None:
    found = _DATE_TIME.fullmatch(text.strip())
    if found is None:
        return None
    day, time, fraction, zone = found.groups(default="")
    if fraction[6:].strip("0"):
        return None  # finer than a timestamp is
    return _from_iso(f"{day}T{time}.{fraction[:6]:0<6}{zone}")


def _from_date(text: str) -> Value | None:
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    day, zone = found.groups(default="")
    return _from_iso(f"{day}T00:00:00{zone}")


def _from_iso(text: str) -> Value | None:
    try:
        return _accepted(datetime.fromisoformat(text))
    except ValueError:
        return None  # the 30th of February


def _accepted(value: float | datetime) -> Value | None:
    try:
        return checked("literal", value)
    except InvalidValueError:
        return None


_BASES: Final[dict[str, Callable[[str], Value | None]]] = {
    STRING: lambda text: text,
    BOOLEAN: lambda text: _BOOLEANS.get(text.strip()),
    INTEGER: lambda text: _from_decimal(text, _INTEGER),
    DECIMAL: _from_decimal,
    FLOAT: _from_double,
    DOUBLE: _from_double,
    DATE: _from_date,
    DATE_TIME: _from_date_time,
}


def _reader_of(datatype: str) -> Callable[[str], Value | None] | None:
    while datatype not in _BASES:
        if datatype not in PARENTS:
            return None
        datatype = PARENTS[datatype]
    return _BASES[datatype]


_READERS: Final = {
    datatype: reader for datatype in PARENTS if (reader := _reader_of(datatype)) is not None
}
