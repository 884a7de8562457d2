"""The arrays of a question (``layout/question.py``), made again of where they lie."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types
from numba.np.arrayobj import populate_array

from predicast.matching.columnar.kernels.compiling import array, kernel
from predicast.matching.columnar.kernels.simd import intrinsic
from predicast.matching.columnar.layout.question import QuestionArrays

_populate: Any = populate_array  # it has no type

# Which is which; the compiler takes them for the numbers that they are.
OF: Final[Any] = QuestionArrays._make(range(len(QuestionArrays._fields)))


def _bytes_at(*, written: bool) -> Any:
    made = array(types.uint8, written=written)

    @intrinsic
    def bytes_at(context: Any, address: Any, size: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            address, size = arguments
            found = context.make_array(made)(context, builder)
            one = context.get_constant(types.intp, 1)
            _populate(
                found,
                data=builder.inttoptr(address, found.data.type),
                shape=[size],
                strides=[one],
                itemsize=one,
                meminfo=None,  # whoever asks keeps it
            )
            return found._getvalue()

        return made(types.int64, types.int64), generate

    return bytes_at


_to_read: Final = _bytes_at(written=False)
_to_write: Final = _bytes_at(written=True)


@kernel
def read(table: Any, field: int) -> Any:
    """The bytes of an array that is read."""
    return _to_read(table[field, 0], table[field, 1])


@kernel
def written(table: Any, field: int) -> Any:
    """The bytes of an array that is written to."""
    return _to_write(table[field, 0], table[field, 1])


@kernel
def read_longs(table: Any, field: int) -> Any:
    """An array of int64."""
    return read(table, field).view(np.int64)


@kernel
def read_rows(table: Any, field: int, width: int) -> Any:
    """An array of int64 with so many columns."""
    longs = read_longs(table, field)
    return longs.reshape((len(longs) // width, width))


@kernel
def codes_of(table: Any) -> Any:
    """The codes of the event: low, high, which are wide, and the column of each axis."""
    low, high = read(table, OF.low).view(np.int32), read(table, OF.high).view(np.int32)
    wide, column = read(table, OF.wide).view(np.bool_), read(table, OF.column).view(np.int32)
    shape = 1, len(low)
    return low.reshape(shape), high.reshape(shape), wide.reshape(shape), column


@kernel
def hits_of(table: Any) -> Any:
    """The tests that hold, as those of the one word that the event has."""
    word = read(table, OF.word).view(np.int32).reshape((1, 1))
    tests, held = read(table, OF.tests).view(np.int32), read_longs(table, OF.held)
    return word, held, tests, read_longs(table, OF.columns), tests[:0]


@kernel
def codes_to_write(table: Any) -> Any:
    """The first three of these, to be written."""
    low, high = written(table, OF.low).view(np.int32), written(table, OF.high).view(np.int32)
    wide, shape = written(table, OF.wide).view(np.bool_), (1, len(low))
    return low.reshape(shape), high.reshape(shape), wide.reshape(shape)
