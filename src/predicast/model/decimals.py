"""Decimals: numbers beside integers and floats, and how all of them compare.

There is one order of all numbers. An integer stands for itself. A float stands for the decimal that
it is written as: the shortest one that reads back as the same float; if that has no fraction, for
the integer that it is. So the float ``0.1`` equals the decimal ``0.1``, as everybody who writes a
price means it, and integers, floats and decimals among themselves compare as they always do.

Most decimals are thus integers or floats, and are made into those: what is left is an
``ExactDecimal``, a number that no 64-bit integer and no float stands for. That has more digits than
a float carries, or is an integer beyond 64 bits.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, Self

_INT_MIN: Final = -(2**63)
_INT_MAX: Final = 2**63 - 1
# Digits before the point and behind it: more than any float has. What has more is refused, since
# a decimal of one digit may have a billion zeros.
MAX_WHOLE_DIGITS: Final = 400
MAX_FRACTION_DIGITS: Final = 1_100
_MAX_BITS: Final = 1_328  # an integer of fewer has at most so many digits


class ExactDecimal(Decimal):
    """A number that is neither a 64-bit integer nor a float, in the order of all numbers.

    >>> ExactDecimal("0.10000000000000000001") > 0.1, ExactDecimal("18446744073709551617") > 5
    (True, True)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return Decimal.__eq__(self, _decimal(other))

    def __ne__(self, other: object) -> bool:
        return Decimal.__ne__(self, _decimal(other))

    def __lt__(self, other: Any) -> bool:
        return Decimal.__lt__(self, _decimal(other))

    def __le__(self, other: Any) -> bool:
        return Decimal.__le__(self, _decimal(other))

    def __gt__(self, other: Any) -> bool:
        return Decimal.__gt__(self, _decimal(other))

    def __ge__(self, other: Any) -> bool:
        return Decimal.__ge__(self, _decimal(other))

    __hash__ = Decimal.__hash__

    def __neg__(self) -> ExactDecimal:
        return ExactDecimal(self.copy_negate())  # Decimal's own would round

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __str__(self) -> str:
        return format(Decimal(self), "f")  # an exponent would make a float of it


def _decimal(value: Any) -> Any:
    return stand_in(value) if type(value) is float else value


def stand_in(value: float) -> Decimal:
    """The decimal that a float stands for."""
    return Decimal(value) if value.is_integer() else Decimal(repr(value))


def exact_number(value: Decimal) -> int | float | ExactDecimal | None:
    """The integer or float that equals a finite decimal, or else itself; ``None``: too long."""
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent < -MAX_FRACTION_DIGITS or value.adjusted() >= MAX_WHOLE_DIGITS:
        return None
    if value == (whole := int(value)):
        return exact_integer(whole)
    nearest = float(value)
    return nearest if stand_in(nearest) == value else _shortest(value)


def exact_integer(value: int) -> int | float | ExactDecimal | None:
    """An integer of 64 bits, or the float that equals it, or else itself; ``None``: too long."""
    if _INT_MIN <= value <= _INT_MAX:
        return value
    if value.bit_length() > _MAX_BITS:
        return None
    try:
        nearest = float(value)
    except OverflowError:
        return ExactDecimal(value)
    return nearest if int(nearest) == value else ExactDecimal(value)


def _shortest(value: Decimal) -> ExactDecimal:
    """The same number without zeros behind its fraction."""
    return ExactDecimal(format(value, "f").rstrip("0"))


def order_text(value: int | float | Decimal) -> str:
    """A text that sorts among others as the number does among numbers.

    A digit for the sign, the exponent, the digits; all of it turned round below zero, with an end
    that sorts behind every digit.
    """
    number = stand_in(value) if type(value) is float else Decimal(value)
    if not number:
        return "1"
    sign, digits, _ = number.as_tuple()
    written = "".join(map(str, digits)).strip("0")
    text = f"{number.adjusted() + 5_000:04}{written}"
    return f"0{text.translate(_TURNED)}~" if sign else f"2{text}"


_TURNED: Final = str.maketrans("0123456789", "9876543210")
