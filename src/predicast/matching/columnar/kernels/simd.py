"""Comparing 64 spans at a time, and bytes several at a time: what numba does not offer by itself.

``span_mask`` loads 64 lower and 64 upper codes, compares them with what an event says and returns
the outcome as the bits of one integer. Written out as LLVM vectors it becomes a handful of
instructions on any processor; LLVM's own vectoriser makes bytes of the outcomes, from which the
few that hold are then hard to pick.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic as _intrinsic

from predicast.matching.columnar.kernels.compiling import features, kernel
from predicast.matching.columnar.reserved import LANES

# What it makes is called without the context, which its type does not know.
intrinsic: Callable[[Callable[..., Any]], Any] = _intrinsic
_insert_function: Any = get_or_insert_function

_LONG: Final = 8  # bytes of the widest number


def _splat(builder: Any, scalar: Any, lane: Any) -> Any:
    """A vector with the scalar in every lane."""
    undefined = ir.Constant(ir.VectorType(lane, LANES), ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, undefined, everywhere)


def _span_mask(bits: int) -> Any:
    lane = ir.IntType(bits)
    vector = ir.VectorType(lane, LANES)

    @intrinsic
    def span_mask(context: Any, codes: Any, lo: Any, hi: Any, low: Any, high: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            codes, lo, hi, low, high = arguments
            array = context.make_array(signature.args[0])(context, builder, codes)

            def load(offset: Any) -> Any:
                place = builder.gep(array.data, [offset], source_etype=ir.IntType(8))
                pointer = builder.bitcast(place, vector.as_pointer())
                return builder.load(pointer, align=1, typ=vector)

            below = _splat(builder, builder.trunc(low, lane), lane)
            above = _splat(builder, builder.trunc(high, lane), lane)
            held = builder.and_(
                builder.icmp_unsigned("<=", load(lo), below),
                builder.icmp_unsigned(">=", load(hi), above),
            )
            return builder.bitcast(held, ir.IntType(LANES))

        place = types.int64
        return types.uint64(codes, place, place, place, place), generate

    return span_mask


# Codes are bytes; the offsets of the 64 lower and upper codes come first, the event's codes next.
span_mask_8 = _span_mask(8)
span_mask_16 = _span_mask(16)
span_mask_32 = _span_mask(32)


@intrinsic
def range_mask(context: Any, values: Any, place: Any, lo: Any, hi: Any) -> Any:
    """Which of 64 numbers, from a place on, are in a range; of what is no number none is."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, place, lo, hi = arguments
        lane = ir.DoubleType()
        vector = ir.VectorType(lane, LANES)
        array = context.make_array(signature.args[0])(context, builder, values)
        start = builder.gep(array.data, [place], source_etype=lane)
        numbers = builder.load(builder.bitcast(start, vector.as_pointer()), align=8, typ=vector)
        held = builder.and_(
            builder.fcmp_ordered(">=", numbers, _splat(builder, lo, lane)),
            builder.fcmp_ordered("<=", numbers, _splat(builder, hi, lane)),
        )
        return builder.bitcast(held, ir.IntType(LANES))

    return types.uint64(values, types.int64, types.float64, types.float64), generate


@intrinsic
def bounds_mask(context: Any, lo: Any, hi: Any, place: Any, value: Any) -> Any:
    """Which of 64 ranges, from a place on, hold a number; what is no number none does."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        *arrays, place, value = arguments
        lane = ir.DoubleType()
        vector = ir.VectorType(lane, LANES)
        number = _splat(builder, value, lane)

        def load(which: int) -> Any:
            array = context.make_array(signature.args[which])(context, builder, arrays[which])
            start = builder.gep(array.data, [place], source_etype=lane)
            return builder.load(builder.bitcast(start, vector.as_pointer()), align=8, typ=vector)

        held = builder.and_(
            builder.fcmp_ordered("<=", load(0), number),
            builder.fcmp_ordered("<=", number, load(1)),
        )
        return builder.bitcast(held, ir.IntType(LANES))

    return types.uint64(lo, hi, types.int64, types.float64), generate


def _bytes_at(count: int) -> Any:
    number = ir.IntType(8 * count)

    @intrinsic
    def bytes_at(context: Any, raw: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            raw, place = arguments
            array = context.make_array(signature.args[0])(context, builder, raw)
            start = builder.gep(array.data, [place], source_etype=ir.IntType(8))
            loaded = builder.load(builder.bitcast(start, number.as_pointer()), align=1, typ=number)
            if sys.byteorder == "big":
                loaded = builder.bswap(loaded)
            return builder.zext(loaded, ir.IntType(64)) if count < _LONG else loaded

        return types.uint64(raw, types.int64), generate

    return bytes_at


# So many bytes from a place on, all of which must be there, the first the least significant.
four_at = _bytes_at(4)
eight_at = _bytes_at(_LONG)


@intrinsic
def reversed_bytes(context: Any, number: Any) -> Any:
    """The number whose first byte is the last of this one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def lowest_bit(context: Any, mask: Any) -> Any:
    """The number of the lowest bit that is set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def count_bits(context: Any, mask: Any) -> Any:
    """How many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


# Writing the keys whose bit is set, side by side.

_PART: Final = 16  # keys in a vector of AVX-512


@intrinsic
def _compress(context: Any, held: Any, place: Any, mask: Any, keys: Any, count: Any) -> Any:
    """Write 16 keys, those whose bit is set first; what stands behind them is of no meaning.

    They are brought together in a register and stored whole. An instruction that stores just the
    chosen ones exists, but is microcoded, and slow, on some processors (AMD's Zen 4).
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        held, place, mask, keys, count = arguments
        key, part = ir.IntType(32), ir.VectorType(ir.IntType(32), _PART)
        source = context.make_array(signature.args[0])(context, builder, held)
        target = context.make_array(signature.args[3])(context, builder, keys)
        start = builder.gep(source.data, [place], source_etype=key)
        end = builder.gep(target.data, [count], source_etype=key)
        values = builder.load(builder.bitcast(start, part.as_pointer()), align=4, typ=part)
        bits = builder.bitcast(
            builder.trunc(mask, ir.IntType(_PART)), ir.VectorType(ir.IntType(1), _PART)
        )
        compress = _insert_function(
            builder.module,
            ir.FunctionType(part, [part, part, bits.type]),
            f"llvm.x86.avx512.mask.compress.v{_PART}i32",
        )
        together = builder.call(compress, [values, ir.Constant(part, None), bits])
        builder.store(together, builder.bitcast(end, part.as_pointer()), align=4)
        return context.get_dummy_value()

    place = types.int64
    return types.void(held, place, types.uint64, keys, place), generate


def _put_vectors(held: Any, slot: int, mask: Any, keys: Any, count: int) -> int:
    """Write the keys of 64 slots whose bit is set; how many there are then.

    Four times the same without a branch, whatever the bits: which of the four have any cannot be
    foretold.
    """
    for part in range(0, LANES, _PART):
        bits = (mask >> np.uint64(part)) & np.uint64((1 << _PART) - 1)
        _compress(held, slot + part, bits, keys, count)
        count += count_bits(bits)
    return count


def _put_by_fours(held: Any, slot: int, mask: Any, keys: Any, count: int) -> int:
    """The same without such vectors.

    Always four in a row, though fewer may be left: a loop that ends after the last bit ends where
    no processor expects it, which costs more than three keys that the next ones are written over.
    """
    end: int = count + count_bits(mask)
    while count < end:
        for place in range(count, count + 4):
            keys[place] = held[slot + lowest_bit(mask) % LANES]
            mask &= mask - np.uint64(1)
        count += 4
    return end


# By what the processor has and not by a trial: compiled kernels are kept for processors alike.
_put_keys: Final = _put_vectors if "+avx512f" in features() else _put_by_fours
# It may write up to 64 keys, of whatever value, behind those that it counts.
put_keys = kernel(_put_keys)
