"""The values of a plain Arrow array as NumPy arrays, exactly or not at all.

What the model has no value for is marked, not raised: who asked knows which row and attribute it
is, and whether anybody wants it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predicast.model.values import INT_MAX, INT_MIN, microseconds

_FIRST: Final = microseconds(datetime.min.replace(tzinfo=UTC))
_LAST: Final = microseconds(datetime.max.replace(tzinfo=UTC))
_MICROSECONDS: Final = {"s": 1_000_000, "ms": 1_000, "us": 1}
_DAY: Final = 86_400_000_000
_NANOSECONDS: Final = 1_000  # in a microsecond

_Mask = npt.NDArray[np.bool_]


class Read(NamedTuple):
    """Values, with anything where the array has null, and those that are none of the model's."""

    values: npt.NDArray[Any]
    wrong: _Mask | None = None
    why: str = ""


def integers(array: pa.Array) -> Read:
    """Integers of any width as int64."""
    values = _filled(array, 0)
    if values.dtype != np.uint64:
        return Read(values.astype(np.int64, copy=False))
    beyond = values > np.uint64(INT_MAX)
    return Read(values.astype(np.int64), beyond, "is beyond 64 bits; use a float or a string")


def floats(array: pa.Array) -> Read:
    """Floats of any width as float64."""
    values = _filled(array.cast(pa.float64()), 0.0)
    return Read(values, ~np.isfinite(values), "is not finite; use null for no value")


def booleans(array: pa.Array) -> Read:
    """True and false."""
    return Read(_filled(array, False))


def instants(array: pa.Array) -> Read:
    """Timestamps of every unit, and dates, as microseconds since the epoch."""
    kind = array.type
    if pa.types.is_date32(kind):
        counts, scale = _filled(array.view(pa.int32()), 0).astype(np.int64), _DAY
    else:
        counts = _filled(array.view(pa.int64()), 0)
        unit = "ms" if pa.types.is_date64(kind) else kind.unit
        if unit == "ns":
            whole = counts // _NANOSECONDS
            odd = whole * _NANOSECONDS != counts
            return Read(whole, odd, f"({kind}) has nanoseconds; timestamps count microseconds")
        scale = _MICROSECONDS[unit]
    wrong = (counts < _FIRST // scale) | (counts > _LAST // scale)
    values = np.where(wrong, 0, counts) * scale if scale > 1 else counts
    return Read(values, wrong, f"({kind}) leaves the years 1 to 9999")


def is_decimal(kind: pa.DataType) -> bool:
    """Whether a type is one of decimals, with a scale that Arrow can write digits for."""
    most = 76 if pa.types.is_decimal256(kind) else 38
    return bool(pa.types.is_decimal(kind)) and abs(kind.scale) <= most


def decimals(array: pa.Array) -> tuple[npt.NDArray[Any], _Mask, _Mask]:
    """Each decimal as an exact int or float; the rows that hold ints, and those that hold floats.

    Where there is neither, there is no value or none that is exact.
    """
    if not (pa.types.is_decimal128(array.type) or pa.types.is_decimal256(array.type)):
        array = array.cast(pa.decimal128(38, array.type.scale))
    encoded = array.dictionary_encode()  # prices repeat
    distinct = [exact_number(value) for value in encoded.dictionary.to_pylist()] + [None]
    numbers = np.empty(len(distinct), object)
    numbers[:] = distinct
    types = np.array([{int: 1, float: 2}.get(type(each), 0) for each in distinct])
    codes = _filled(encoded.indices, -1)
    return numbers[codes], types[codes] == 1, types[codes] == 2


def exact_number(value: Decimal) -> int | float | None:
    """The 64-bit integer or else the float that a decimal equals, if there is one."""
    exact = Fraction(value)
    if exact.denominator == 1 and INT_MIN <= exact.numerator <= INT_MAX:
        return exact.numerator
    nearest = float(exact)
    return nearest if Fraction(nearest) == exact else None


def texts(words: pa.Array) -> tuple[list[str], list[int]]:
    """Words as Python has them, and the positions of those that are not Unicode."""
    wrong = wrong_texts(words)
    if not wrong:
        return words.to_pylist(), []
    return [raw.decode(errors="replace") for raw in _raw_bytes(words)], wrong


def text_bytes(texts: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Where each of some texts without nulls begins and the last ends, and the bytes, in place."""
    _, first, raw = texts.buffers()
    if not len(texts) or first is None:
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    begins = np.frombuffer(first, width)[texts.offset : texts.offset + len(texts) + 1]
    text = np.zeros(0, np.uint8) if raw is None else np.frombuffer(raw, np.uint8)
    return begins.astype(np.int64), text


def wrong_texts(texts: pa.Array) -> list[int]:
    """The positions of those that are not Unicode."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return [place for place, raw in enumerate(_raw_bytes(texts)) if not _is_unicode(raw)]
    return []


def _raw_bytes(texts: pa.Array) -> list[bytes]:
    found: list[bytes] = texts.cast(pa.large_binary()).to_pylist()
    return found


def _is_unicode(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def numpy_of(array: pa.Array) -> npt.NDArray[Any]:
    """The array, copied where it has to be."""
    found: npt.NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return found


def _filled(array: pa.Array, value: Any) -> npt.NDArray[Any]:
    return numpy_of(array.fill_null(value) if array.null_count else array)
