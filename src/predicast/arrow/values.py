"""The values of a plain Arrow array as NumPy arrays, exactly or not at all.

What the model has no value for is marked, not raised: who asked knows which row and attribute it
is, and whether anybody wants it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from predicast.model.decimals import ExactDecimal, exact_integer, exact_number
from predicast.model.values import INT_MAX, microseconds

_FIRST: Final = microseconds(datetime.min.replace(tzinfo=UTC))
_LAST: Final = microseconds(datetime.max.replace(tzinfo=UTC))
_MICROSECONDS: Final = {"s": 1_000_000, "ms": 1_000, "us": 1}
_DAY: Final = 86_400_000_000
_NANOSECONDS: Final = 1_000  # in a microsecond
_FEW_DIGITS: Final = 10**15  # decimals of 15 digits are told apart by floats
_MOST_DIGITS: Final = 18  # 10**18 is an int64
_EXACT_POWER: Final = 22  # 10**22 is a float, exactly
_NO_FLOATS: Final = np.zeros(0)
# The layouts of texts that are bytes side by side, and how wide the places are where they begin.
TEXTS: Final[dict[int, type[np.signedinteger[Any]]]] = {
    pa.string().id: np.int32,
    pa.large_string().id: np.int64,
}
# The layouts of integers that are side by side as they are.
INTEGERS: Final[dict[int, type[np.signedinteger[Any]]]] = {
    pa.int8().id: np.int8,
    pa.int16().id: np.int16,
    pa.int32().id: np.int32,
    pa.int64().id: np.int64,
}
_NO_OBJECTS: Final = np.zeros(0, object)

_Mask = npt.NDArray[np.bool_]


class Read(NamedTuple):
    """Values, with anything where the array has null, and those that are none of the model's."""

    values: npt.NDArray[Any]
    wrong: _Mask | None = None
    why: str = ""


def integers(array: pa.Array) -> Read:
    """Integers of up to 64 bits, with a sign, as int64."""
    return Read(_filled(array, 0).astype(np.int64, copy=False))


def integers_in_place(
    column: pa.ChunkedArray,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64] | None] | None:
    """The integers of a column that are not null, and where they stand (``None``: everywhere).

    Read from Arrow's buffers, as each of its functions takes some microseconds. ``None`` if it is
    not one chunk of one of the layouts, or has no rows: then there may be no buffer.
    """
    if not len(column) or column.num_chunks != 1 or column.type.id not in INTEGERS:
        return None
    array = column.chunk(0)
    type = INTEGERS[array.type.id]
    values = _numbers_at(array.buffers()[1], type, array.offset, len(array))
    values = values.astype(np.int64, copy=False)
    if not array.null_count:
        values.flags.writeable = False
        return values, None
    [places] = valid_places(array).nonzero()
    values = values[places]
    values.flags.writeable = False  # as what is Arrow's is: kernels are compiled for either apart
    return values, places


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


def is_exact(kind: pa.DataType) -> bool:
    """Whether a type is one of numbers that may be neither 64-bit integers nor floats.

    Decimals are, with a scale that Arrow can write digits for, and integers without a sign.
    """
    if kind == pa.uint64():
        return True
    most = 76 if pa.types.is_decimal256(kind) else 38
    return bool(pa.types.is_decimal(kind)) and abs(kind.scale) <= most


class Numbers(NamedTuple):
    """Numbers by the type that each is of; where there is none, the array has null."""

    integers: npt.NDArray[np.int64]
    is_integer: _Mask
    floats: npt.NDArray[np.float64]
    is_float: _Mask
    decimals: npt.NDArray[Any]  # objects
    is_decimal: _Mask


def numbers(array: pa.Array) -> Numbers:
    """Decimals and integers without a sign, each as what it equals."""
    if not array.null_count:
        known = _small(array)
        if known is not None:
            return known
    if pa.types.is_decimal(array.type) and array.type.bit_width < 128:
        array = array.cast(pa.decimal128(38, array.type.scale))
    encoded = array.dictionary_encode()  # prices repeat
    found = [_number(value) for value in encoded.dictionary.to_pylist()]
    codes = _filled(encoded.indices, -1)
    masks = []
    for type_ in (int, float, ExactDecimal):
        is_type = np.array([*(type(each) is type_ for each in found), False], bool)
        masks.append(is_type[codes])
    boxed = np.empty(len(found) + 1, object)
    boxed[:-1] = found
    every = boxed[codes]
    is_integer, is_float, is_decimal = masks
    return Numbers(
        every[is_integer].astype(np.int64), is_integer,
        every[is_float].astype(np.float64), is_float,
        every[is_decimal], is_decimal,
    )  # fmt: skip


def _number(value: Decimal | int) -> int | float | ExactDecimal | None:
    return exact_integer(value) if type(value) is int else exact_number(Decimal(value))


def _small(array: pa.Array) -> Numbers | None:
    """The same without a Python object each, if all are of few digits."""
    none = np.zeros(len(array), bool)
    if array.type == pa.uint64():
        values = numpy_of(array)
        if len(values) and values.max() > np.uint64(INT_MAX):
            return None
        return Numbers(values.astype(np.int64), ~none, _NO_FLOATS, none, _NO_OBJECTS, none)
    scale = array.type.scale
    if not pa.types.is_decimal128(array.type) or not 0 <= scale <= _EXACT_POWER:
        return None
    first, count = 2 * array.offset, 2 * len(array)
    counts, high = _numbers_at(array.buffers()[1], np.int64, first, count).reshape(-1, 2).T
    if not ((high == counts >> 63) & (np.abs(counts) < _FEW_DIGITS)).all():
        return None
    # Of so few digits a decimal is the shortest that reads back as the float nearest to it, and
    # one division of what floats hold exactly gives that.
    unit = 10**scale
    is_integer = counts % unit == 0 if scale <= _MOST_DIGITS else counts == 0
    integers_ = counts[is_integer] // unit if scale <= _MOST_DIGITS else counts[is_integer]
    floats_ = counts[~is_integer] / float(unit)
    return Numbers(integers_, is_integer, floats_, ~is_integer, _NO_OBJECTS, none)


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
    width = TEXTS[texts.type.id]
    begins = _numbers_at(first, width, texts.offset, len(texts) + 1)
    text = np.zeros(0, np.uint8) if raw is None else np.frombuffer(raw, np.uint8)
    return begins.astype(np.int64), text


class TextsInPlace(NamedTuple):
    """Texts where their bytes lie, of an array that may have nulls."""

    first: npt.NDArray[np.int64]  # where each begins and the last ends
    raw: npt.NDArray[np.uint8]
    places: npt.NDArray[np.int64] | None  # in the array; None: everywhere


def texts_in_place(array: pa.Array) -> TextsInPlace | None:
    """The texts of an array that are not null.

    ``None`` if what is null has bytes as well, which Arrow allows, or for arrays of other layouts.
    """
    if array.type.id not in TEXTS:  # types of others may not be hashable
        return None
    nulls = array.null_count
    if nulls and nulls == len(array):
        return TextsInPlace(*text_bytes(array[:0]), np.zeros(0, np.int64))
    first, raw = text_bytes(array)
    if not nulls:
        return TextsInPlace(first, raw, None)
    [places] = valid_places(array).nonzero()
    begins, ends = first[places], first[places + 1]
    if not np.array_equal(begins[1:], ends[:-1]):
        return None
    found = np.empty(len(places) + 1, np.int64)
    found[:-1], found[-1] = begins, ends[-1]
    return TextsInPlace(found, raw, places)


def _numbers_at(
    buffer: pa.Buffer, type: type[np.signedinteger[Any]], first: int, count: int
) -> npt.NDArray[Any]:
    """Numbers in a buffer, behind which there may be bytes that are no whole number."""
    return np.frombuffer(buffer, type, count, first * np.dtype(type).itemsize)


def valid_places(array: pa.Array) -> _Mask:
    """Which values are not null."""
    bits = array.buffers()[0]
    if bits is None:
        return numpy_of(array.is_valid())
    begin, end = array.offset, array.offset + len(array)
    there = np.frombuffer(bits, np.uint8)[begin // 8 : (end + 7) // 8]
    unpacked = np.unpackbits(there, count=end - begin // 8 * 8, bitorder="little")
    return unpacked[begin % 8 :].view(bool)


def wrong_texts(texts: pa.Array) -> list[int]:
    """The positions of those that are not Unicode, among texts without nulls."""
    if are_unicode(texts):
        return []
    return [place for place, raw in enumerate(_raw_bytes(texts)) if not _is_unicode(raw)]


def are_unicode(texts: pa.Array) -> bool:
    """Whether all texts are, but for nulls."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


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
