"""A batch of events as columns.

Each attribute becomes one or more *parts* (``predicast.matching.parts``), one for each
representation that its values have in the batch. A column of a DataFrame is one part; events
given as mappings may hold an integer here and a string there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.errors import (
    InvalidEventError,
    InvalidIntervalError,
    InvalidValueError,
    ModelError,
    UnknownColumnError,
    UnsupportedColumnError,
    suggest,
)
from predicast.matching.parts import (
    Booleans,
    ClosedEnds,
    Floats,
    Integers,
    Intervals,
    Mask,
    Part,
    Rows,
    Strings,
    Timestamps,
)
from predicast.model import Absent, Constraint, Event, Interval, Kind
from predicast.model.values import microseconds

_FIRST: Final = microseconds(datetime.min.replace(tzinfo=UTC))
_LAST: Final = microseconds(datetime.max.replace(tzinfo=UTC))


class Columns:
    """Events side by side: attribute by attribute instead of event by event."""

    def __init__(self, length: int, parts: Mapping[str, Sequence[Part]]) -> None:
        self._length = length
        self._parts = parts

    def __len__(self) -> int:
        return self._length

    @classmethod
    def from_events(cls, events: Sequence[Event]) -> Columns:
        """The columns of events of the model."""
        gathered: dict[str, dict[type, tuple[list[int], list[Any]]]] = {}
        for row, event in enumerate(events):
            for name, value in event.items():
                rows, values = gathered.setdefault(name, {}).setdefault(type(value), ([], []))
                rows.append(row)
                values.append(value)
        return cls(
            len(events),
            {
                name: [
                    _FROM_PYTHON[type_](values, np.array(rows, np.int64))
                    for type_, (rows, values) in by_type.items()
                ]
                for name, by_type in gathered.items()
            },
        )

    @classmethod
    def from_arrow(
        cls,
        batch: pa.RecordBatch | pa.Table,
        attributes: Iterable[str] | None = None,
        intervals: Mapping[str, tuple[str, str]] | None = None,
    ) -> Columns:
        """The columns of an Arrow batch; struct fields get dotted names, nulls are absent.

        Only the named attributes are converted, if any are named: a column that no subscription
        looks at may be of any type. ``intervals`` names attributes whose two (closed) ends stand
        in two columns; a null end is unbounded, two nulls are absence.
        """
        arrays: dict[str, pa.Array] = {}
        for name, array in flat_arrays(batch):
            if name in arrays:
                raise InvalidEventError(f"two columns are named {name!r}", attribute=name)
            arrays[name] = array
        intervals = intervals or {}
        wanted = frozenset(arrays) | frozenset(intervals) if attributes is None else attributes
        parts: dict[str, list[Part]] = {}
        for name in wanted:
            if name in intervals:
                ends = [_end(name, end, arrays) for end in intervals[name]]
                parts[name] = [_interval_part(name, *ends)]
            elif name in arrays:
                parts[name] = [_from_arrow(name, arrays[name])]
        return cls(batch.num_rows, parts)

    def attributes(self) -> Iterable[str]:
        """The names of the attributes that the batch may have values of."""
        return self._parts.keys()

    def parts(self, attribute: str) -> Sequence[Part]:
        """The attribute's values, by representation."""
        return self._parts.get(attribute, ())

    def test(self, attribute: str, constraints: tuple[Constraint, ...], absent: Absent) -> Mask:
        """The rows in which the attribute satisfies all of the constraints on it."""
        admits_absence = all(constraint.holds_absent(absent) for constraint in constraints)
        parts = self.parts(attribute)
        if len(parts) == 1 and parts[0].rows is None:
            return parts[0].test_all(constraints, absent)
        mask = np.full(self._length, admits_absence)
        for part in parts:
            mask[part.rows] = part.test_all(constraints, absent)
        return mask

    def chunks(self, rows: int) -> Iterator[tuple[int, Columns]]:
        """The same events in pieces of at most that many rows, each with its first row."""
        if self._length <= rows:
            yield 0, self
            return
        for start in range(0, self._length, rows):
            end = min(start + rows, self._length)
            parts = {name: [p.slice(start, end) for p in ps] for name, ps in self._parts.items()}
            yield start, Columns(end - start, parts)

    def events(self) -> list[Event]:
        """The events one by one, as the model has them."""
        attributes: list[dict[str, Any]] = [{} for _ in range(self._length)]
        for name, parts in self._parts.items():
            for part in parts:
                rows = range(self._length) if part.rows is None else part.rows
                for position, row in enumerate(rows):
                    attributes[row][name] = part.value(position)
        return [Event(each) for each in attributes]


# From Python values, all of one type.


def _strings(values: list[str], rows: Rows) -> Part:
    words = sorted(set(values))
    rank = {word: position for position, word in enumerate(words)}
    return Strings(np.array([rank[value] for value in values], np.int32), rows, words)


def _intervals(values: list[Interval], rows: Rows) -> Part:
    boxed = np.empty(len(values), object)
    boxed[:] = values
    return Intervals(boxed, rows)


_FROM_PYTHON: Final[dict[type, Callable[[list[Any], Rows], Part]]] = {
    int: lambda values, rows: Integers(np.array(values, np.int64), rows),
    float: lambda values, rows: Floats(np.array(values, np.float64), rows),
    bool: lambda values, rows: Booleans(np.array(values, bool), rows),
    datetime: lambda values, rows: Timestamps(
        np.array([microseconds(value) for value in values], np.int64), rows
    ),
    str: _strings,
    Interval: _intervals,
}


# From Arrow.


def flat_arrays(batch: pa.RecordBatch | pa.Table) -> Iterator[tuple[str, pa.Array]]:
    """Every leaf column of a batch with its dotted name."""
    for field, column in zip(batch.schema, batch.columns, strict=True):
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if isinstance(array, pa.ChunkedArray):  # an empty table combines to no chunk at all
            array = pa.array([], field.type)
        yield from _flat(field.name, array)


def _flat(name: str, array: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    if not pa.types.is_struct(array.type):
        yield name, array
        return
    # flatten() lets a null struct make its fields null, as an absent object has no attributes.
    for field, child in zip(array.type, array.flatten(), strict=True):
        yield from _flat(f"{name}.{field.name}", child)


def _from_arrow(name: str, array: pa.Array) -> Part:
    rows: Rows | None = None
    if array.null_count:
        rows = np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False))
        array = array.drop_null()
    kind = array.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        if not _is_text(kind):
            array = array.dictionary_decode()
    if pa.types.is_null(kind):
        return Booleans(np.zeros(0, bool), np.zeros(0, np.int64))
    if pa.types.is_integer(kind):
        return Integers(_integers(name, array), rows)
    if pa.types.is_floating(kind):
        return Floats(_floats(name, array), rows)
    if pa.types.is_boolean(kind):
        return Booleans(array.to_numpy(zero_copy_only=False), rows)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return Timestamps(_microseconds(name, array), rows)
    if _is_text(kind):
        return _ranked_strings(array, rows)
    raise UnsupportedColumnError(
        f"column {name!r} is of type {kind}; events hold integers, floats, strings, booleans and "
        f"timestamps: {_cast_hint(kind)}",
        column=name,
        type=str(kind),
    )


def _end(attribute: str, column: str, arrays: Mapping[str, pa.Array]) -> pa.Array:
    if column not in arrays:
        close = suggest(column, arrays)
        hint = f"; did you mean {close!r}?" if close else ""
        raise UnknownColumnError(
            f"an end of the interval {attribute!r} is column {column!r}, which is not there{hint}",
            column=column,
            suggestion=close,
        )
    return arrays[column]


def _interval_part(name: str, lows: pa.Array, highs: pa.Array) -> Part:
    ends = _closed_ends(name, lows, highs)
    if ends is None:
        return _boxed_interval_part(name, lows, highs)
    there = ends.has_lo | ends.has_hi
    empty = ends.has_lo & ends.has_hi & (ends.lo > ends.hi)
    if empty.any():
        return _boxed_interval_part(name, lows, highs)  # which finds the words for it
    if there.all():
        return Intervals(ends, None)
    rows = np.flatnonzero(there)
    return Intervals(ClosedEnds(ends.kind, *(each[rows] for each in ends[1:])), rows)


def _closed_ends(name: str, lows: pa.Array, highs: pa.Array) -> ClosedEnds | None:
    """Two columns of one type as ends of intervals; ``None`` if their types differ."""
    types = pa.types
    for is_type, kind, convert in (
        (types.is_integer, Kind.NUMBER, _integers),
        (types.is_floating, Kind.NUMBER, _floats),
        (types.is_timestamp, Kind.TIMESTAMP, _microseconds),
    ):
        if is_type(lows.type) and is_type(highs.type):
            masks = [end.is_valid().to_numpy(zero_copy_only=False) for end in (lows, highs)]
            lo, hi = (
                _spread(name, end, mask, convert)
                for end, mask in zip((lows, highs), masks, strict=True)
            )
            return ClosedEnds(kind, lo, hi, *masks)
    return None


def _spread(
    name: str, end: pa.Array, is_there: Mask, convert: Callable[[str, pa.Array], np.ndarray]
) -> np.ndarray:
    """The values of a column, with anything where there is none."""
    held = convert(name, end.drop_null())
    if len(held) == len(end):
        return held
    values = np.zeros(len(end), held.dtype)
    values[is_there] = held
    return values


def _boxed_interval_part(name: str, lows: pa.Array, highs: pa.Array) -> Part:
    rows, values = [], []
    for row, (lo, hi) in enumerate(zip(lows.to_pylist(), highs.to_pylist(), strict=True)):
        if lo is None and hi is None:
            continue
        try:
            values.append(Interval(lo, hi))
        except ModelError as error:
            raise InvalidIntervalError(
                f"attribute {name!r}, row {row}: {error.message}", attribute=name
            ) from error
        rows.append(row)
    return _intervals(values, np.array(rows, np.int64))


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    return any(
        test(kind) for test in (types.is_string, types.is_large_string, types.is_string_view)
    )


def _cast_hint(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return "cast it to double"
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        return "make a column of each element that matters"
    return "cast it or leave it out"


def _integers(name: str, array: pa.Array) -> np.ndarray:
    try:
        values: np.ndarray = array.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        raise InvalidValueError(
            f"attribute {name!r}: an unsigned integer is beyond 64 bits", attribute=name
        ) from None
    return values


def _floats(name: str, array: pa.Array) -> np.ndarray:
    values: np.ndarray = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    finite = np.isfinite(values)
    if not finite.all():
        culprit = values[~finite][0].item()
        raise InvalidValueError(
            f"attribute {name!r}: {culprit!r} is not finite; use null for no value",
            attribute=name,
            value=culprit,
        )
    return values


def _microseconds(name: str, array: pa.Array) -> np.ndarray:
    try:
        zoned = array.cast(pa.timestamp("us"))
    except pa.ArrowInvalid as error:
        raise InvalidValueError(
            f"attribute {name!r}: a timestamp is not a whole number of microseconds or out of "
            f"range ({error})",
            attribute=name,
        ) from None
    values: np.ndarray = zoned.cast(pa.int64()).to_numpy(zero_copy_only=False)
    if len(values) and not _FIRST <= values.min() <= values.max() <= _LAST:
        raise InvalidValueError(
            f"attribute {name!r}: a timestamp leaves the years 1 to 9999", attribute=name
        )
    return values


def _ranked_strings(array: pa.Array, rows: Rows | None) -> Part:
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    words = encoded.dictionary
    order = pc.sort_indices(words).to_numpy()  # UTF-8 sorts by code point
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return Strings(rank[codes], rows, words.take(order).to_pylist())
