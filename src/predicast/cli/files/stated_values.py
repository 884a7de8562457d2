"""What ``--type`` and ``--null`` state of events that have types of their own.

In CSV a stated type takes the place of a type that is found. JSON Lines, Parquet and Arrow have
types, but not always the ones that are meant: JSON writes timestamps as strings, and exports write
numbers as strings and postcodes as numbers. So a *string* of an attribute whose type was stated is
read as a cell of CSV would be; an integer that is to be a string becomes its digits; a value that
is of the type already stays. Anything else is an error that names the place: nothing is guessed or
rounded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from predicast import Interval
from predicast.cli.files.csv_types import CsvType, convert, misfit, shortened
from predicast.cli.files.matches import flat
from predicast.cli.files.source import Source
from predicast.errors import suggest
from predicast.model.values import KINDS, Kind, show


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedValues:
    """Types of attributes by name, and texts that stand for no value."""

    types: Mapping[str, CsvType] = field(default_factory=dict)
    nulls: tuple[str, ...] = ()

    def check_names(self, source: Source, names: Collection[str]) -> None:
        """Refuse the type of a column that there is not."""
        for name in self.types:
            if name not in names:
                close = suggest(name, filter(None, names))
                hint = f"; is it {close!r}?" if close else ""
                raise source.refuse(f"there is no column {name!r}{hint}")

    # Events as mappings.

    def in_events(
        self, source: Source, events: list[dict[str, Any]], lines: Sequence[int]
    ) -> list[dict[str, Any]]:
        """The events, flat, with their values as stated; ``lines`` is where they are from."""
        if not self.types and not self.nulls:
            return events
        stated = [
            {name: value for name, value in flat(event) if value not in self.nulls}
            for event in events
        ]
        for name, type in self.types.items():
            positions = [
                position
                for position, event in enumerate(stated)
                if name in event and not _is_of(type, event[name])
            ]
            values = _read(type, [_cell(type, stated[position][name]) for position in positions])
            if isinstance(values, int):
                wrong = positions[values]
                shown = shortened(_shown(stated[wrong][name]))
                raise source.refuse(
                    f"attribute {name!r}: {shown} is not of type {type}", lines[wrong]
                )
            for position, value in zip(positions, values.to_pylist(), strict=True):
                stated[position][name] = value
        return stated

    # Rows of Parquet and Arrow.

    def in_batches(
        self, source: Source, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        """The rows with their values as stated."""
        first = 1
        for batch in batches:
            yield self._in_batch(source, batch, first) if self.types or self.nulls else batch
            first += batch.num_rows

    def _in_batch(self, source: Source, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        if not batch.num_columns:
            return batch  # made anew it would have no rows
        names, arrays = [], []
        for name, array in _leaves(batch.schema.names, batch.columns):
            column = _plain(array)
            if self.nulls and pa.types.is_string(column.type):
                absent = pc.is_in(column, pa.array(self.nulls, pa.string()))
                column = pc.if_else(absent, pa.scalar(None, pa.string()), column)
            type = self.types.get(name)
            names.append(name)
            arrays.append(column if type is None else _typed(source, name, type, column, first))
        return pa.RecordBatch.from_arrays(arrays, names=names)


def _is_of(type: CsvType, value: Any) -> bool:
    if isinstance(value, Interval):
        ends = [end for end in (value.lo, value.hi) if end is not None]
        return all(_is_of(type, end) for end in ends)
    if type is CsvType.INTEGER:
        return value.__class__ is int
    return KINDS.get(value.__class__) is type.kind


def _shown(value: Any) -> str:
    is_value = isinstance(value, Interval) or value.__class__ in KINDS
    return show(value) if is_value else repr(value)


def _cell(type: CsvType, value: Any) -> str | None:
    """What CSV would have for a value that is not of the type; ``None`` if that is not certain."""
    if type is CsvType.STRING:
        return str(value) if value.__class__ is int else None
    return value if isinstance(value, str) else None


def _read(type: CsvType, cells: list[str | None]) -> pa.Array | int:
    """The cells as values, an empty one as none, or where the first is that cannot be read."""
    unreadable = cells.index(None) if None in cells else len(cells)
    readable = pa.array([cell or None for cell in cells[:unreadable]], pa.string())
    position = misfit(type, readable)
    if position is not None:
        return position
    return convert(type, readable) if unreadable == len(cells) else unreadable


def _leaves(names: Sequence[str], arrays: Sequence[pa.Array]) -> Iterator[tuple[str, pa.Array]]:
    """Fields of structs under the dotted names that attributes have."""
    for name, array in zip(names, arrays, strict=True):
        if pa.types.is_struct(array.type):
            fields = [f"{name}.{field.name}" for field in array.type]
            yield from _leaves(fields, array.flatten())
        else:
            yield name, array


def _plain(array: pa.Array) -> pa.Array:
    """Strings as plain strings, however they are stored."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array, kind = array.dictionary_decode(), kind.value_type
    strings = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return array.cast(pa.string()) if strings else array


def _typed(source: Source, name: str, type: CsvType, column: pa.Array, first: int) -> pa.Array:
    kind = column.type
    if pa.types.is_string(kind):
        if type is CsvType.STRING:
            return column
        cells = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
        position = misfit(type, cells)
        if position is not None:
            cell = shortened(cells[position].as_py())
            raise source.refuse(
                f"column {name!r}: {cell!r} is not of type {type}", first + position
            )
        return convert(type, cells)
    if type is CsvType.STRING and pa.types.is_integer(kind):
        return column.cast(pa.string())
    if pa.types.is_null(kind) or _holds(type, kind):
        return column
    raise source.refuse(f"column {name!r} holds {kind}, which cannot be read as {type}")


def _holds(type: CsvType, kind: pa.DataType) -> bool:
    """Whether the values of a column are of the type already."""
    if type is CsvType.BOOLEAN:
        return bool(pa.types.is_boolean(kind))
    if type is CsvType.TIMESTAMP:
        return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))
    floating = type is CsvType.FLOAT and pa.types.is_floating(kind)
    return bool(floating or (type.kind is Kind.NUMBER and pa.types.is_integer(kind)))
