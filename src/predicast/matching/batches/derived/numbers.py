"""Arithmetic and comparisons of whole columns, with the answers of ``predicast.derived.values``.

Every function takes values of parts that stand in the same rows, and gives the values, and a mask
of those that are any: where 64 bits overflow, or a divisor is zero, there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from predicast.derived.values import rounded as rounded_value
from predicast.matching.batches.typed_values import (
    Decimals,
    Floats,
    Integers,
    Mask,
    TypedValues,
)
from predicast.model.values import INT_MAX, INT_MIN

Array: TypeAlias = npt.NDArray[Any]
Result: TypeAlias = tuple[type[TypedValues], Array, Mask | None]  # None: all are values

_BEYOND: Final = 2.0**63
_SURE: Final = 2.0**62  # a product whose float is less fits
_FEW_DIGITS: Final = 1e14  # with one more digit behind it, a number is still written exactly
_MAX_DIGITS: Final = 15  # 10**15 is far within what a float holds exactly


def arithmetic(function: str, left: TypedValues, right: TypedValues) -> Result | None:
    """A function of two numbers; decimals are computed with as floats."""
    left, right = _as_floats(left), _as_floats(right)
    if not _are_numbers(left, right):
        return None
    if isinstance(left, Integers) and isinstance(right, Integers) and function != "/":
        values, valid = _WHOLE[function](left.values, right.values)
        return Integers, values, valid
    x, y = left.values.astype(np.float64), right.values.astype(np.float64)
    with np.errstate(all="ignore"):
        values = _REAL[function](x, y) + 0.0
    valid = np.isfinite(values)
    if function in {"/", "%"}:
        valid &= y != 0
    return Floats, values, valid


def _add(x: Array, y: Array) -> tuple[Array, Mask]:
    total = x + y
    return total, ((x ^ total) & (y ^ total)) >= 0


def _subtract(x: Array, y: Array) -> tuple[Array, Mask]:
    rest = x - y
    return rest, ((x ^ y) & (x ^ rest)) >= 0


def _multiply(x: Array, y: Array) -> tuple[Array, Mask]:
    product = x * y
    size = np.abs(x.astype(np.float64) * y.astype(np.float64))
    valid = np.asarray(size < _SURE)
    doubtful = np.flatnonzero(~valid & (size <= _BEYOND))
    if len(doubtful):
        a, b, c = x[doubtful], y[doubtful], product[doubtful]
        # Neither is zero. What wrapped around has another sign, or does not divide back.
        same_sign = (c < 0) == ((a < 0) ^ (b < 0))
        with np.errstate(all="ignore"):
            valid[doubtful] = same_sign & (np.where(b == -1, a, c // b) == a)
    return product, valid


def _remainder(x: Array, y: Array) -> tuple[Array, Mask]:
    valid = y != 0
    # The least integer by -1 is beyond what a processor divides; the rest is 0 all the same.
    divisor = np.where(valid & (y != -1), y, 1)
    return np.fmod(x, divisor), valid


_WHOLE: Final[dict[str, Callable[[Array, Array], tuple[Array, Mask]]]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "%": _remainder,
}
_REAL: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": np.fmod,
}


def of_one(function: str, part: TypedValues) -> Result | None:
    """A function of one number."""
    beyond_floats = isinstance(part, Decimals)  # as some of them may be
    part = _as_floats(part)
    if isinstance(part, Integers):
        if function in {"floor", "ceil", "round"}:
            return Integers, part.values, None
        with np.errstate(all="ignore"):
            values = -part.values if function == "negative" else np.abs(part.values)
        return Integers, values, part.values != INT_MIN
    if not isinstance(part, Floats):
        return None
    valid = np.isfinite(part.values) if beyond_floats else None
    if function == "negative":
        return Floats, -part.values + 0.0, valid
    if function == "abs":
        return Floats, np.abs(part.values), valid
    if function == "round":
        return Floats, rounded(part.values, 0), valid
    return whole(np.floor(part.values) if function == "floor" else np.ceil(part.values))


def whole(values: Array) -> Result:
    """Floats without a fraction as integers, those that fit."""
    valid = (values >= -_BEYOND) & (values < _BEYOND)
    return Integers, np.where(valid, values, 0).astype(np.int64), valid


def rounded(values: Array, digits: int) -> Array:
    """Half away from zero, by the digits that a number is written with.

    The float next to a half of so few digits is written as that half, and a number beyond it is
    written with more: so one comparison tells, however inexact the product is.
    """
    if not 0 <= digits <= _MAX_DIGITS:
        return _by_digits(values, digits)
    size, unit = np.abs(values), 10.0**digits
    with np.errstate(all="ignore"):
        base = np.floor(size * unit)
        up = size >= (base + 0.5) / unit
        result = np.copysign((base + up) / unit, values) + 0.0
    doubtful = np.flatnonzero(base >= _FEW_DIGITS)
    if len(doubtful):
        result[doubtful] = _by_digits(values[doubtful], digits)
    return result


def _by_digits(values: Array, digits: int) -> Array:
    distinct, inverse = np.unique(values, return_inverse=True)
    found = [rounded_value(value, digits) for value in distinct.tolist()]
    # What overflows is left out by whoever asked: it is infinite here.
    return np.array([np.inf if each is None else each for each in found], float)[inverse]


def compared(function: str, left: TypedValues, right: TypedValues) -> Mask | None:
    """A comparison of two numbers, exactly; ``None`` if they are none."""
    if not _are_numbers(left, right):
        return None
    if isinstance(left, Decimals) or isinstance(right, Decimals):
        x, y = left.values.astype(object), right.values.astype(object)
        return DIRECT[function](x, y).astype(bool)
    if isinstance(left, Integers) is isinstance(right, Integers):
        return DIRECT[function](left.values, right.values)
    if isinstance(left, Integers):
        return _whole_with_real(function, left.values, right.values)
    if function == "=":
        return _whole_with_real("=", right.values, left.values)
    # x < i is not i <= x.
    return ~_whole_with_real("<=" if function == "<" else "<", right.values, left.values)


def _whole_with_real(function: str, x: Array, y: Array) -> Mask:
    if function == "=":
        at_most, less = _whole_with_real("<=", x, y), _whole_with_real("<", x, y)
        return at_most & ~less
    bound = np.ceil(y) if function == "<" else np.floor(y)
    inside = (bound >= -_BEYOND) & (bound < _BEYOND)
    compared = DIRECT[function](x, np.where(inside, bound, 0).astype(np.int64))
    return np.where(inside, compared, y > 0)


DIRECT: Final[dict[str, Callable[[Array, Array], Mask]]] = {
    "=": np.equal,
    "<": np.less,
    "<=": np.less_equal,
}


def _are_numbers(*parts: TypedValues) -> bool:
    return all(isinstance(part, Integers | Floats | Decimals) for part in parts)


def _as_floats(part: TypedValues) -> TypedValues:
    return Floats(part.values.astype(np.float64), part.rows) if isinstance(part, Decimals) else part


def in_range(values: Array, bits: int) -> Mask:
    """Which integers fit into so many bits."""
    if bits == 64:
        return (values >= INT_MIN) & (values <= INT_MAX)
    bound = 1 << (bits - 1)
    return (values >= -bound) & (values < bound)
