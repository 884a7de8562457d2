"""Strings in a file: where each begins, and the bytes of all of them, as Arrow has it.

Where they begin is written in 64 bits, however few would do: 32 bits end at 2 GiB of text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from predicast.arrays import Array
from predicast.engine.snapshot.layout import ArraysIn, ArraysOut, damaged

_PIECE = 1 << 16  # strings that are turned into Arrow without letting other threads run


class TextsEntry(msgspec.Struct, array_like=True, forbid_unknown_fields=True, frozen=True):
    """The numbers of the two arrays."""

    first: int
    bytes: int


def write_texts(texts: pa.Array, out: ArraysOut) -> TextsEntry:
    """Put an Arrow array of strings without nulls into a file."""
    wide = pa.types.is_large_string(texts.type)
    _, offsets, data = texts.buffers()
    first = np.zeros(1, np.int64 if wide else np.int32)
    if len(texts):
        first = np.frombuffer(offsets, first.dtype)[texts.offset : texts.offset + len(texts) + 1]
    raw = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    raw = raw[int(first[0]) : int(first[-1])]
    return TextsEntry(out.add(first.astype(np.int64) - first[0]), out.add(raw))


def read_texts(texts: TextsEntry, arrays: ArraysIn) -> pa.Array:
    """The strings, in Arrow's form and where they lie."""
    first = arrays.get(texts.first, "i8", "i4")  # 32 bits: the ids of version 2
    raw = arrays.get(texts.bytes, "u1")
    if not len(first):
        raise damaged(f"has strings without a beginning in array {texts.first}")
    kind = pa.LargeStringArray if first.dtype == np.int64 else pa.StringArray
    try:
        found = kind.from_buffers(len(first) - 1, pa.py_buffer(first), pa.py_buffer(raw))
        found.validate(full=True)
    except pa.ArrowInvalid as error:
        raise damaged(f"has no proper strings in array {texts.first}: {error}") from error
    return found


def arrow_strings(strings: Sequence[str]) -> pa.Array:
    """Python strings as Arrow, other threads being let in between."""
    pieces = [
        pa.array(strings[start : start + _PIECE], pa.large_string())
        for start in range(0, max(len(strings), 1), _PIECE)
    ]
    return pa.concat_arrays(pieces)


def distinct(strings: Sequence[str]) -> tuple[pa.Array, Array]:
    """The distinct ones among some strings, and which of them each one is."""
    encoded = arrow_strings(strings).dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return encoded.dictionary, narrow(codes, len(encoded.dictionary))


def narrow(codes: Array, count: int) -> Array:
    """Codes of that many things in the fewest bytes."""
    found: Array = codes.astype(np.min_scalar_type(max(count - 1, 0)))
    return found


def strings_of(texts: pa.Array) -> Array:
    """The strings as an array of Python objects."""
    return objects(texts.to_pylist())


def objects(values: Sequence[Any]) -> Array:
    """Python objects as an array, tuples among them as what they are."""
    return np.fromiter(values, object, len(values))


def check_codes(codes: Array, count: int, what: str) -> None:
    """Refuse codes that stand for nothing."""
    if len(codes) and int(codes.max()) >= count:
        raise damaged(f"has {what} beyond the {count} that there are")
