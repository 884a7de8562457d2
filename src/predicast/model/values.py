"""The values that events carry and constraints compare.

Six types in four kinds: integers (64-bit), floats (64-bit, finite) and decimals are all *numbers*
and compare exactly (``decimals.py``); strings compare by code point; booleans are only equal or
not; timestamps are instants in UTC, to the microsecond. Kinds never mix: ``True`` is not ``1``, and
``'5'`` is not ``5``. An event's attribute may also be a list of values (``elements.py``), which is
a kind of its own: conditions speak of its elements, and nothing is compared with the whole of it.

Python's own ``<`` and ``==`` between int and float are exact, and ``ExactDecimal`` has its own, so
plain comparison is right once the kinds agree. Whoever leaves Python (NumPy, Arrow) must see to
exactness there.

What else has a value of these types is taken for it: a date for its first instant, an enum's
member for its value, or for its name if that is none, a UUID for its text, a NumPy scalar for what
it holds.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from uuid import UUID

from predicast.errors import InvalidValueError, shortened
from predicast.model.decimals import (
    MAX_FRACTION_DIGITS,
    MAX_WHOLE_DIGITS,
    ExactDecimal,
    exact_integer,
    exact_number,
)
from predicast.model.elements import ELEMENT, Element, Elements, fields_of

if TYPE_CHECKING:
    from predicast.model.interval import Interval

# What is given; once checked, a Decimal is an ExactDecimal.
Value: TypeAlias = int | float | Decimal | str | bool | datetime

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1
EXACT: Final = 2**53  # integers below it are exact as float64
_MOST_SHOWN: Final = 10  # elements of a list
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

# Why a value is refused, where there are several ways in.
NOT_UNICODE: Final = "holds a lone surrogate, which is not Unicode"
_NOT_FINITE: Final = "is not finite; leave the attribute out instead"
_TOO_LONG: Final = (
    f"has more than {MAX_WHOLE_DIGITS} digits, or more than {MAX_FRACTION_DIGITS} behind the point"
)
_NO_TIME: Final = "is not a time; leave the attribute out instead"
_TOO_FINE: Final = "has parts of a microsecond; round it to microseconds"
_OUT_OF_YEARS: Final = "leaves the years 1 to 9999 in UTC"
_MISSING: Final = frozenset({"NAType", "MaskedConstant"})  # pandas.NA, numpy.ma.masked
_PER_MICROSECOND: Final = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}


# An enum's own __str__ would give 'Colour.RED'; the base type's gives the value.
_PLAIN: Final[dict[type, Callable[[Any], Value]]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
}


class Kind(enum.Enum):
    """What can be compared with what."""

    NUMBER = "number"
    STRING = "string"
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"
    LIST = "list"

    # As with operators: members are singletons, and Enum's own hash is a Python call.
    __hash__ = object.__hash__


SCALARS: Final = frozenset(Kind) - {Kind.LIST}  # the kinds of single values

KINDS: Final[dict[type, Kind]] = {
    int: Kind.NUMBER,
    float: Kind.NUMBER,
    ExactDecimal: Kind.NUMBER,
    str: Kind.STRING,
    bool: Kind.BOOLEAN,
    datetime: Kind.TIMESTAMP,
    Elements: Kind.LIST,
}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a value that could not be read where it came from, and says why not."""

    why: str


def kind_of(value: Value | Elements) -> Kind:
    """The kind of a checked value, or of a list."""
    return KINDS[type(value)]


def checked(attribute: str, value: Any) -> Value:
    """The value in its one canonical Python type, or an error that names the attribute."""
    cls = type(value)
    if cls is int:
        if INT_MIN <= value <= INT_MAX:
            return value  # type: ignore[no-any-return]
        return _of_any_length(attribute, value, exact_integer(value))
    if cls is str:
        if value.isascii():
            return value  # type: ignore[no-any-return]
        return _checked_text(attribute, value)
    if cls is float:
        if math.isfinite(value):
            return value + 0.0  # type: ignore[no-any-return]  # -0.0 becomes 0.0
        raise _refused(attribute, value, _NOT_FINITE)
    if cls is bool:
        return value  # type: ignore[no-any-return]
    if cls is datetime:
        return _in_utc(attribute, value)
    return _checked_unusual(attribute, value)


def _of_any_length(
    attribute: str, value: Any, number: int | float | ExactDecimal | None
) -> int | float | ExactDecimal:
    if number is None:  # and too long to be shown
        raise InvalidValueError(
            f"attribute {attribute!r}: the {type(value).__name__} {_TOO_LONG}",
            attribute=attribute,
            value=value,
        )
    return number


def _checked_text(attribute: str, value: str) -> str:
    if lone_surrogate(value) is not None:
        raise _refused(attribute, value, NOT_UNICODE)
    return value


def lone_surrogate(text: str) -> int | None:
    """Where a text has half of a character, with which it can neither be stored nor sent."""
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def _in_utc(attribute: str, value: datetime) -> datetime:
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None:  # Arrow, Spark and CSV hand out naive instants; all mean UTC.
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except (OverflowError, ValueError):
        raise _refused(attribute, value, _OUT_OF_YEARS) from None


def _checked_unusual(attribute: str, value: Any) -> Value:
    """What is of none of the model's own types, and stands for a value of one."""
    for base, value_of in _STAND_FOR_VALUES:
        if isinstance(value, base):
            return value_of(attribute, value)
    if type(value).__name__ in _MISSING:
        raise _refused(attribute, value, "is missing; leave the attribute out instead")
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        if value.dtype.kind == "M":
            return _from_datetime64(attribute, value)
        # Time spans may also come out as plain integers; those are no numbers.
        if value.dtype.kind in "iufbU" and type(value.item()) in KINDS:
            return checked(attribute, value.item())
    raise _refused(
        attribute,
        value,
        "is none of integer, float, decimal, string, boolean, timestamp",
    )


def _from_decimal(attribute: str, value: Any) -> Value:
    if type(value) is ExactDecimal:
        return value
    if not value.is_finite():
        raise _refused(attribute, value, _NOT_FINITE)
    return _of_any_length(attribute, value, exact_number(value))


def _from_enum(attribute: str, value: Any) -> Value:
    """The member's value, be it the member itself, or else its name."""
    for base, plain_of in _PLAIN.items():
        if isinstance(value, base):
            return checked(attribute, plain_of(value))
    return checked(attribute, value.value if type(value.value) in KINDS else value.name)


def _from_subclass_of_datetime(attribute: str, value: Any) -> Value:
    if value != value:  # noqa: PLR0124  # pandas.NaT is a datetime unequal to itself
        raise _refused(attribute, value, _NO_TIME)
    if getattr(value, "nanosecond", 0):
        raise _refused(attribute, value, _TOO_FINE)
    return _in_utc(attribute, datetime.combine(value.date(), value.time(), value.tzinfo))


def _unreadable(attribute: str, value: Any) -> Value:
    message = f"attribute {attribute!r}: {value.why}"
    raise InvalidValueError(message, attribute=attribute, value=value)


_STAND_FOR_VALUES: Final[tuple[tuple[type, Callable[[str, Any], Value]], ...]] = (
    (Decimal, _from_decimal),
    (Unreadable, _unreadable),
    (enum.Enum, _from_enum),
    (datetime, _from_subclass_of_datetime),
    (date, lambda _, value: datetime(value.year, value.month, value.day, tzinfo=UTC)),
    *(
        (base, lambda attribute, value, plain_of=plain_of: checked(attribute, plain_of(value)))
        for base, plain_of in _PLAIN.items()
    ),
    (UUID, lambda _, value: str(value)),
)


def _from_datetime64(attribute: str, value: Any) -> Value:
    """NumPy's own timestamps, each of which counts in a unit of its own."""
    import numpy as np  # it is loaded already, since the value is NumPy's

    if np.isnat(value):
        raise _refused(attribute, value, _NO_TIME)
    plain = value.item()
    if isinstance(plain, date):
        return checked(attribute, plain)
    # A count: of something finer than microseconds, or else beyond what Python's years hold.
    unit, step = np.datetime_data(value.dtype)
    if unit not in _PER_MICROSECOND:
        raise _refused(attribute, value, _OUT_OF_YEARS)
    count, left = divmod(plain * step, _PER_MICROSECOND[unit])
    if left:
        raise _refused(attribute, value, _TOO_FINE)
    try:
        return from_microseconds(count)
    except OverflowError:
        raise _refused(attribute, value, _OUT_OF_YEARS) from None


def _refused(attribute: str, value: Any, why: str) -> InvalidValueError:
    return InvalidValueError(
        f"attribute {attribute!r}: {shortened(value)} ({type(value).__name__}) {why}",
        attribute=attribute,
        value=value,
    )


def canonical_number(value: int | float) -> int | float:
    """The one spelling of a number in a constraint: 1.0 is 1, 1.5 and 1e300 stay floats."""
    if type(value) is float and value.is_integer() and INT_MIN <= value <= INT_MAX:
        return int(value)
    return value


def microseconds(value: datetime) -> int:
    """Microseconds since the epoch: exact, unlike ``timestamp()``."""
    return (value - EPOCH) // _MICROSECOND


def from_microseconds(count: int) -> datetime:
    """The timestamp that many microseconds after the epoch."""
    return EPOCH + timedelta(microseconds=count)


def show(value: Value | Interval | Elements) -> str:
    """The value as the ``where`` dialect writes it; an interval as mathematics does."""
    if isinstance(value, Elements):
        shown = [_show_element(each) for each in value.values[:_MOST_SHOWN]]
        left = len(value) - len(shown)
        return f"array({', '.join([*shown, *([f'and {left} more'] if left else [])])})"
    if value is True:
        return "TRUE"
    if value is False:
        return "FALSE"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.replace(tzinfo=None).isoformat(sep=' ')}Z'"
    return f"{value}BD" if isinstance(value, ExactDecimal) else str(value)


def _show_element(element: Element) -> str:
    if element is None:
        return "NULL"
    if isinstance(element, dict):
        if ELEMENT in element:
            return show(element[ELEMENT])
        fields = [f"{name}: {show(each)}" for name, each in fields_of(element).items()]
        return "{" + ", ".join(fields) + "}"
    return show(element)


def quote(text: str) -> str:
    """A string literal that reads back as ``text``."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
