"""The ends of regions on one attribute, as arrays, from whatever they are given as.

An end that is not there is null in a table and infinite in an array. Integers and microseconds are
kept as int64, everything else as float64; what neither can hold is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.arrays import Array
from predicast.arrow.tables import TableLike, as_table
from predicast.errors import (
    InvalidOptionError,
    InvalidValueError,
    UnknownColumnError,
    UnsupportedColumnError,
    suggest,
)
from predicast.model import Kind

# Attributes with (lo, hi) or (lo, hi, lo_open, hi_open), or a table with columns of such structs.
RegionsLike: TypeAlias = Mapping[str, Sequence[Any]] | TableLike

_FIELDS: Final = ("lo", "hi", "lo_open", "hi_open")
_INTEGERS: Final = "iu"
_WHAT: Final = "integers, floats or timestamps"


@dataclass(frozen=True, slots=True)
class End:
    """One end of each region: its values, which of them are there, and which are left out."""

    values: Array  # int64 or float64
    is_there: Array
    is_open: Array

    def taken(self, rows: Array) -> End:
        """Those of some regions."""
        return End(self.values[rows], self.is_there[rows], self.is_open[rows])


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of each region on one attribute; where a region has none there, neither counts."""

    kind: Kind
    lo: End
    hi: End
    is_given: Array

    def __len__(self) -> int:
        return len(self.is_given)

    def is_whole(self) -> Array:
        """Which of them range over integers or microseconds, as an ``Interval`` would."""
        if self.kind is Kind.TIMESTAMP:
            return np.ones(len(self), bool)
        if self.lo.values.dtype.kind not in _INTEGERS or self.hi.values.dtype.kind not in _INTEGERS:
            return np.zeros(len(self), bool)
        return self.lo.is_there & self.hi.is_there

    def taken(self, rows: Array) -> Ends:
        """Those of some regions."""
        return Ends(self.kind, self.lo.taken(rows), self.hi.taken(rows), self.is_given[rows])


def regions_of(given: RegionsLike, on: Sequence[str] | None, side: str) -> dict[str, Ends]:
    """The ends of regions on each attribute that is asked for, or on all."""
    if isinstance(given, Mapping):
        names = list(given) if on is None else list(on)
        for name in names:
            if name not in given:
                raise _unknown(name, given, side)
        found = {name: _of_arrays(name, given[name], side) for name in names}
    else:
        table = as_table(given)
        names = table.column_names if on is None else list(on)
        for name in names:
            if name not in table.column_names:
                raise _unknown(name, table.column_names, side)
        found = {name: _of_column(name, table.column(name), side) for name in names}
    if not found:
        raise InvalidOptionError(
            f"the {side} have no attribute to join on; name some, such as on=['x', 'y']",
            option="on",
        )
    lengths = {name: len(ends) for name, ends in found.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidOptionError(
            f"the {side} have different numbers of regions on different attributes: {lengths}",
            option=side,
        )
    return found


def _unknown(name: str, known: Any, side: str) -> UnknownColumnError:
    close = suggest(str(name), known)
    hint = f"did you mean {close!r}?" if close else f"there are {', '.join(map(repr, known))}"
    return UnknownColumnError(
        f"the {side} have no attribute {name!r}; {hint}", column=name, suggestion=close
    )


# Arrays.


def _of_arrays(name: str, given: Any, side: str) -> Ends:
    if not isinstance(given, Sequence) or len(given) not in {2, 4}:
        raise InvalidOptionError(
            f"{name!r} of the {side} is a pair of arrays, the lower and the upper ends, or these "
            "and for each end whether it is left out",
            option=side,
        )
    lo, hi = (_numbers(name, np.asarray(each), side) for each in given[:2])
    opens = [np.broadcast_to(np.asarray(each, bool), len(lo[0])) for each in given[2:]]
    lo_open, hi_open = opens or (np.zeros(len(lo[0]), bool),) * 2
    if len(lo[0]) != len(hi[0]):
        raise InvalidOptionError(
            f"{name!r} of the {side} has {len(lo[0])} lower and {len(hi[0])} upper ends",
            option=side,
        )
    if lo[1] is not hi[1]:
        raise _unsupported(name, "an end that is a number and one that is a timestamp", side)
    return _ends(lo[1], lo[0], hi[0], lo_open, hi_open, np.ones(len(lo[0]), bool))


def _numbers(name: str, values: Array, side: str) -> tuple[Array, Kind]:
    """The ends as int64 or float64, and whether they are numbers or timestamps."""
    if values.ndim != 1:
        raise _unsupported(name, f"an array of {values.ndim} dimensions", side)
    if values.dtype.kind == "M":
        exact = values.astype("datetime64[us]")
        if np.isnat(exact).any():
            raise _no_number(name, exact, np.isnat(exact), side)
        return exact.view(np.int64), Kind.TIMESTAMP
    if values.dtype.kind in _INTEGERS:
        if values.dtype == np.uint64 and (values >= 2**63).any():
            raise _no_number(name, values, values >= 2**63, side)
        return values.astype(np.int64), Kind.NUMBER
    if values.dtype.kind == "f" and values.dtype.itemsize <= 8:
        exact = values.astype(np.float64)
        if np.isnan(exact).any():
            raise _no_number(name, exact, np.isnan(exact), side)
        return exact, Kind.NUMBER
    raise _unsupported(name, f"an array of {values.dtype}", side)


def _no_number(name: str, values: Array, wrong: Array, side: str) -> InvalidValueError:
    row = int(wrong.argmax())
    return InvalidValueError(
        f"{name!r} of the {side}, row {row}: {values[row]} is no end of a region; where there is "
        "none it is infinite, or null in a table",
        attribute=name,
        value=values[row].item(),
        row=row,
    )


def _unsupported(name: str, found: str, side: str) -> UnsupportedColumnError:
    return UnsupportedColumnError(
        f"the ends of {name!r} of the {side} are {found}; {_WHAT} can be compared",
        column=name,
        type=found,
    )


def _ends(
    kind: Kind, lo: Array, hi: Array, lo_open: Array, hi_open: Array, is_given: Array
) -> Ends:
    """Both ends, with infinities for those that are not there."""
    has_lo, has_hi = lo != -np.inf, hi != np.inf
    return Ends(
        kind,
        End(lo, has_lo, lo_open & has_lo),
        End(hi, has_hi, hi_open & has_hi),
        is_given,
    )


# Tables.


def _of_column(name: str, column: pa.ChunkedArray, side: str) -> Ends:
    kind = column.type
    fields = {kind.field(place).name for place in range(kind.num_fields)}
    if not pa.types.is_struct(kind) or not {"lo", "hi"} <= fields:
        raise UnsupportedColumnError(
            f"column {name!r} of the {side} is no interval: it is a struct with the fields lo and "
            "hi and perhaps lo_open and hi_open",
            column=name,
            type=str(kind),
        )
    whole = column.combine_chunks()
    lo, hi = (_field(name, pc.struct_field(whole, each), side) for each in ("lo", "hi"))
    opens = [
        _flags(name, pc.struct_field(whole, each), side)
        if each in fields
        else np.zeros(len(column), bool)
        for each in ("lo_open", "hi_open")
    ]
    kinds = {each.kind for each in (lo, hi) if each.kind is not None}
    if len(kinds) > 1:
        raise _unsupported(name, "an end that is a number and one that is a timestamp", side)
    has_lo, has_hi = lo.is_there, hi.is_there
    return Ends(
        kinds.pop() if kinds else Kind.NUMBER,
        End(lo.values, has_lo, opens[0] & has_lo),
        End(hi.values, has_hi, opens[1] & has_hi),
        np.asarray(whole.is_valid()),
    )


@dataclass(frozen=True, slots=True)
class _Field:
    values: Array
    kind: Kind | None  # None: all are null
    is_there: Array


def _field(name: str, column: pa.Array, side: str) -> _Field:
    kind = column.type
    is_there = np.asarray(column.is_valid())
    if pa.types.is_null(kind):
        return _Field(np.zeros(len(column), np.int64), None, is_there)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        if pa.types.is_timestamp(kind):
            column = column.view(pa.timestamp(kind.unit))  # an instant needs no zone
        try:
            column = column.cast(pa.timestamp("us"))
        except pa.ArrowInvalid as error:
            raise _unsupported(name, f"{kind}s that are no microseconds ({error})", side) from None
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise _unsupported(name, str(kind), side)
    filled = column.fill_null(pa.scalar(0, pa.int64()).cast(column.type))
    values, found = _numbers(name, filled.to_numpy(zero_copy_only=False), side)
    return _Field(values, found, is_there & (np.abs(values) != np.inf))


def _flags(name: str, column: pa.Array, side: str) -> Array:
    if not (pa.types.is_boolean(column.type) or pa.types.is_null(column.type)):
        raise _unsupported(name, f"left out or not by {column.type}", side)
    return np.asarray(column.cast(pa.bool_()).fill_null(False).to_numpy(zero_copy_only=False), bool)
