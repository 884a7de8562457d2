"""The arrays of a question (``layout/question.py``), made again of where they lie."""

from __future__ import annotations

from typing import Any, Final

from numba import types

from predicast.matching.columnar.kernels.compiling import kernel
from predicast.matching.columnar.kernels.raw_arrays import at_address, rows_at_address
from predicast.matching.columnar.layout.question import QuestionArrays

# Which is which; the compiler takes them for the numbers that they are.
OF: Final[Any] = QuestionArrays._make(range(len(QuestionArrays._fields)))

_rows_of_ints: Final = rows_at_address(types.int32)
_rows_of_longs: Final = rows_at_address(types.int64)
_rows_of_flags: Final = rows_at_address(types.boolean)
_rows_of_ints_to_write: Final = rows_at_address(types.int32, written=True)
_rows_of_flags_to_write: Final = rows_at_address(types.boolean, written=True)


def _field(item: Any, *, written: bool = False) -> Any:
    """What makes an array of a field of the table."""
    array_at = at_address(item, written=written)

    @kernel
    def array_of(table: Any, field: int) -> Any:
        return array_at(table[field, 0], table[field, 1])

    return array_of


read = _field(types.uint8)
read_ints = _field(types.int32)
read_longs = _field(types.int64)
read_unsigned = _field(types.uint64)
read_floats = _field(types.float64)
written = _field(types.uint8, written=True)
written_ints = _field(types.int32, written=True)
written_longs = _field(types.int64, written=True)


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
