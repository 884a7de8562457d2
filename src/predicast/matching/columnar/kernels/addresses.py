"""The arrays of a question (``layout/question.py``), made again of where they lie."""

from __future__ import annotations

from typing import Any, Final

from numba import types

from predicast.matching.columnar.kernels.compiling import kernel
from predicast.matching.columnar.kernels.raw_arrays import at_address, rows_at_address
from predicast.matching.columnar.layout.question import QuestionArrays

# Which is which; the compiler takes them for the numbers that they are.
OF: Final[Any] = QuestionArrays._make(range(len(QuestionArrays._fields)))

_bytes: Final = at_address(types.uint8)
_ints: Final = at_address(types.int32)
_longs: Final = at_address(types.int64)
_unsigned: Final = at_address(types.uint64)
_floats: Final = at_address(types.float64)
_bytes_to_write: Final = at_address(types.uint8, written=True)
_ints_to_write: Final = at_address(types.int32, written=True)
_longs_to_write: Final = at_address(types.int64, written=True)
_rows_of_ints: Final = rows_at_address(types.int32)
_rows_of_longs: Final = rows_at_address(types.int64)
_rows_of_flags: Final = rows_at_address(types.boolean)
_rows_of_ints_to_write: Final = rows_at_address(types.int32, written=True)
_rows_of_flags_to_write: Final = rows_at_address(types.boolean, written=True)


@kernel
def read(table: Any, field: int) -> Any:
    """An array of bytes that is read."""
    return _bytes(table[field, 0], table[field, 1])


@kernel
def read_ints(table: Any, field: int) -> Any:
    """An array of int32."""
    return _ints(table[field, 0], table[field, 1])


@kernel
def read_longs(table: Any, field: int) -> Any:
    """An array of int64."""
    return _longs(table[field, 0], table[field, 1])


@kernel
def read_unsigned(table: Any, field: int) -> Any:
    """An array of uint64."""
    return _unsigned(table[field, 0], table[field, 1])


@kernel
def read_floats(table: Any, field: int) -> Any:
    """An array of float64."""
    return _floats(table[field, 0], table[field, 1])


@kernel
def written(table: Any, field: int) -> Any:
    """An array of bytes that is written to."""
    return _bytes_to_write(table[field, 0], table[field, 1])


@kernel
def written_ints(table: Any, field: int) -> Any:
    """An array of int32 that is written to."""
    return _ints_to_write(table[field, 0], table[field, 1])


@kernel
def written_longs(table: Any, field: int) -> Any:
    """An array of int64 that is written to."""
    return _longs_to_write(table[field, 0], table[field, 1])


@kernel
def read_rows(table: Any, field: int, width: int) -> Any:
    """An array of int64 with so many columns."""
    return _rows_of_longs(table[field, 0], table[field, 1] // (8 * width), width)


@kernel
def codes_of(table: Any) -> Any:
    """The codes of the event: low, high, which are wide, and the column of each axis."""
    axes = table[OF.wide, 1]  # a byte each
    low, high = table[OF.low, 0], table[OF.high, 0]
    wide = _rows_of_flags(table[OF.wide, 0], 1, axes)
    column = read_ints(table, OF.column)
    return _rows_of_ints(low, 1, axes), _rows_of_ints(high, 1, axes), wide, column


@kernel
def codes_to_write(table: Any) -> Any:
    """The first three of these, to be written."""
    axes = table[OF.wide, 1]
    low, high = table[OF.low, 0], table[OF.high, 0]
    wide = _rows_of_flags_to_write(table[OF.wide, 0], 1, axes)
    return _rows_of_ints_to_write(low, 1, axes), _rows_of_ints_to_write(high, 1, axes), wide


@kernel
def hits_of(table: Any) -> Any:
    """The tests that hold, as those of the one word that the event has."""
    word = _rows_of_ints(table[OF.word, 0], 1, 1)
    tests, held = read_ints(table, OF.tests), read_longs(table, OF.held)
    return word, held, tests, read_longs(table, OF.columns), tests[:0]
