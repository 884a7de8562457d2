"""What functions make of values, one event at a time: the meaning that columns are tested against.

Each takes values and gives a value, or ``None`` where there is none: an argument of another kind
than it takes, an overflow of 64 bits, a division by zero. None of them sees an absent argument.
Decimals are compared exactly, and computed with as floats.
Semantics are Spark's with ``spark.sql.ansi.enabled=false``, but for what wraps around there, or
becomes infinite: that is unknown here (decision 17).
"""

from __future__ import annotations

import math
from datetime import datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

from predicast.model.decimals import ExactDecimal
from predicast.model.values import INT_MAX, INT_MIN, Value, kind_of

_NUMBERS: Final = (int, float, ExactDecimal)
_EXACT: Final = 2.0**52  # from here on every float is an integer
_WIDE: Final = Context(prec=700, rounding=ROUND_HALF_UP)  # digits: as many as any float has


def whole(value: int) -> int | None:
    """An integer that fits into 64 bits."""
    return value if INT_MIN <= value <= INT_MAX else None


def real(value: float) -> float | None:
    """A float that is finite, with one zero."""
    return value + 0.0 if math.isfinite(value) else None


def add(x: Any, y: Any) -> Value | None:
    """The sum."""
    if type(x) is int and type(y) is int:
        return whole(x + y)
    return real(float(x) + float(y)) if _are_numbers(x, y) else None


def subtract(x: Any, y: Any) -> Value | None:
    """The difference."""
    if type(x) is int and type(y) is int:
        return whole(x - y)
    return real(float(x) - float(y)) if _are_numbers(x, y) else None


def multiply(x: Any, y: Any) -> Value | None:
    """The product."""
    if type(x) is int and type(y) is int:
        return whole(x * y)
    return real(float(x) * float(y)) if _are_numbers(x, y) else None


def divide(x: Any, y: Any) -> Value | None:
    """Always of floats: 1 / 2 is 0.5."""
    # Not Python's own division of integers, which rounds once where Spark rounds three times.
    return real(float(x) / float(y)) if _are_numbers(x, y) and float(y) else None


def remainder(x: Any, y: Any) -> Value | None:
    """With the sign of the first, as in Java."""
    if not _are_numbers(x, y) or not float(y):
        return None
    if type(x) is int and type(y) is int:
        rest = abs(x) % abs(y)
        return -rest if x < 0 else rest
    # A decimal may be beyond all floats: of an infinite number there is no remainder.
    return real(math.fmod(x, y)) if math.isfinite(x) else None


def negate(x: Any) -> Value | None:
    """The opposite."""
    if type(x) is int:
        return whole(-x)
    return real(-float(x)) if type(x) in _NUMBERS else None


def absolute(x: Any) -> Value | None:
    """Without the sign."""
    if type(x) is int:
        return whole(abs(x))
    return real(abs(float(x))) if type(x) in _NUMBERS else None


def rounded(x: Any, digits: Any = 0) -> Value | None:
    """Half away from zero, by the decimal digits that the number is written with."""
    if type(digits) is not int or type(x) not in _NUMBERS:
        return None
    if type(x) is int:
        return x if digits >= 0 else _rounded_whole(x, -digits)
    x = float(x)
    if digits >= 0 and abs(x) >= _EXACT:
        return real(x)
    if not math.isfinite(x):
        return None
    digits = max(-400, min(400, digits))
    return real(float(_WIDE.quantize(Decimal(repr(x)), Decimal(1).scaleb(-digits))))


def _rounded_whole(x: int, zeros: int) -> int | None:
    if zeros > 19:
        return 0
    unit = 10**zeros
    size = (abs(x) + unit // 2) // unit * unit
    return whole(-size if x < 0 else size)


def floor(x: Any) -> Value | None:
    """The next integer below."""
    if type(x) is int or type(x) not in _NUMBERS:
        return x if type(x) is int else None
    number = real(float(x))
    return None if number is None else whole(math.floor(number))


def ceiling(x: Any) -> Value | None:
    """The next integer above."""
    if type(x) is int or type(x) not in _NUMBERS:
        return x if type(x) is int else None
    number = real(float(x))
    return None if number is None else whole(math.ceil(number))


def lower(x: Any) -> Value | None:
    """In lower case."""
    return x.lower() if type(x) is str else None


def upper(x: Any) -> Value | None:
    """In upper case."""
    return x.upper() if type(x) is str else None


def trim(x: Any) -> Value | None:
    """Without spaces around it; other blanks stay, as in Spark."""
    return x.strip(" ") if type(x) is str else None


def trim_left(x: Any) -> Value | None:
    """Without spaces before it."""
    return x.lstrip(" ") if type(x) is str else None


def trim_right(x: Any) -> Value | None:
    """Without spaces behind it."""
    return x.rstrip(" ") if type(x) is str else None


def length(x: Any) -> Value | None:
    """The number of characters."""
    return len(x) if type(x) is str else None


def substring(x: Any, position: Any, count: Any = INT_MAX) -> Value | None:
    """From a position counted from 1, or from the end if negative; 0 is the first as well."""
    if type(x) is not str or type(position) is not int or type(count) is not int:
        return None
    start = position - 1 if position > 0 else len(x) + position if position else 0
    return x[max(start, 0) : max(start + count, 0)]


def concatenate(*parts: Any) -> Value | None:
    """One string of several."""
    try:
        return "".join(parts)
    except TypeError:  # one of them is no string
        return None


def less(x: Any, y: Any) -> Value | None:
    """Whether the first is less; booleans have no order."""
    return x < y if _are_ordered(x, y) else None


def at_most(x: Any, y: Any) -> Value | None:
    """Whether the first is less or equal."""
    return x <= y if _are_ordered(x, y) else None


def equal(x: Any, y: Any) -> Value | None:
    """Whether two values of one kind are equal."""
    # Python compares integers with floats exactly.
    return x == y if kind_of(x) is kind_of(y) else None


def same(x: Any, y: Any) -> Value | None:
    """Whether two values are equal, or both absent: never unknown for values of one kind."""
    if x is None or y is None:
        return x is y
    return equal(x, y)


def first(*values: Any) -> Value | None:
    """The first that is there; absent ones are ``None``."""
    return next((value for value in values if value is not None), None)


def greatest(*values: Any) -> Value | None:
    """The greatest of those that are there, the first of equal ones."""
    there = _comparable(values)
    return max(there) if there else None


def least(*values: Any) -> Value | None:
    """The least of those that are there, the first of equal ones."""
    there = _comparable(values)
    return min(there) if there else None


def _comparable(values: tuple[Any, ...]) -> list[Any]:
    there = [value for value in values if value is not None]
    alike = there and all(_are_ordered(there[0], value) for value in there)
    return there if alike else []


def _are_numbers(x: Any, y: Any) -> bool:
    return type(x) in _NUMBERS and type(y) in _NUMBERS


def _are_ordered(x: Any, y: Any) -> bool:
    if type(x) is type(y):
        return type(x) is not bool
    return _are_numbers(x, y)


def is_time(x: Any) -> bool:
    """Whether it is a timestamp."""
    return type(x) is datetime
