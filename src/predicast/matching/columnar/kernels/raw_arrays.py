"""Arrays made of where they lie.

numba's ``view``, ``reshape`` and slices come to the same, but each takes apart what is known here,
which is some hundred instructions wherever one stands: a fifth of what compiling all kernels took.

Nothing is kept by an array that is made so. Whoever asks must hold what it lies in until the
kernel is over: the caller of an entry does that for its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.np.arrayobj import populate_array

from predicast.matching.columnar.kernels.compiling import array
from predicast.matching.columnar.kernels.simd import intrinsic

_populate: Any = populate_array  # it has no type


def _made(context: Any, builder: Any, made: Any, start: Any, shape: Sequence[Any]) -> Any:
    """An array without gaps that begins at a pointer."""
    size = context.get_abi_sizeof(context.get_data_type(made.dtype))
    strides = [context.get_constant(types.intp, size)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(length, strides[0]))
    found = context.make_array(made)(context, builder)
    _populate(
        found,
        data=builder.bitcast(start, found.data.type),
        shape=shape,
        strides=strides,
        itemsize=context.get_constant(types.intp, size),
        meminfo=None,
    )
    return found._getvalue()


def _items(context: Any, builder: Any, made: Any, size: Any) -> Any:
    """How many there are in so many bytes."""
    item = context.get_abi_sizeof(context.get_data_type(made.dtype))
    return builder.udiv(size, context.get_constant(types.intp, item))


def at_address(item: Any, *, written: bool = False) -> Any:
    """What makes an array of an address and a number of bytes."""
    made = array(item, written=written)

    @intrinsic
    def array_at(context: Any, address: Any, size: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            address, size = arguments
            start = builder.inttoptr(address, ir.IntType(8).as_pointer())
            shape = [_items(context, builder, made, size)]
            return _made(context, builder, made, start, shape)

        return made(types.int64, types.int64), generate

    return array_at


def rows_at_address(item: Any, *, written: bool = False) -> Any:
    """What makes one of an address, a number of rows, and how long these are."""
    made = array(item, 2, written=written)

    @intrinsic
    def rows_at(context: Any, address: Any, count: Any, width: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            address, count, width = arguments
            start = builder.inttoptr(address, ir.IntType(8).as_pointer())
            return _made(context, builder, made, start, [count, width])

        return made(types.int64, types.int64, types.int64), generate

    return rows_at


def within_bytes(item: Any) -> Any:
    """What makes an array of the bytes of another, from one place to another."""
    made: Final = array(item)

    @intrinsic
    def array_within(context: Any, data: Any, begin: Any, end: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data, begin, end = arguments
            whole = context.make_array(signature.args[0])(context, builder, data)
            start = builder.gep(whole.data, [begin], source_etype=ir.IntType(8))
            shape = [_items(context, builder, made, builder.sub(end, begin))]
            return _made(context, builder, made, start, shape)

        return made(data, types.int64, types.int64), generate

    return array_within


@intrinsic
def stretch(context: Any, values: Any, begin: Any, end: Any) -> Any:
    """The part of an array from one place to another, both of which are inside."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, begin, end = arguments
        made = signature.return_type
        whole = context.make_array(made)(context, builder, values)
        start = builder.gep(whole.data, [begin], source_etype=context.get_data_type(made.dtype))
        return _made(context, builder, made, start, [builder.sub(end, begin)])

    return values(values, types.int64, types.int64), generate
