"""Rows of an Arrow stream, or of a file, as events in JSON.

A stream can be a thousand times as large as its bytes: compressed, by a dictionary whose one long
value stands in every row, or by lists of nulls, which take no room. All of these are refused, or
counted, before anything is made of the rows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

import msgspec

from predicast.errors import InvalidEventError, LimitReachedError, shortened

_ELEMENTS: Final = 1_000_000  # of all lists of a stream
_REPEATED: Final = 64 << 20  # bytes of strings that rows have by dictionaries
_FILE: Final = b"ARROW1\0\0"  # what a file begins with; a stream follows, and an index of it
# Places of fields in the tables of Arrow's flatbuffers.
_HEADER, _BATCH_OF_DICTIONARY, _COMPRESSION = 2, 1, 3


def too_many(most: int) -> LimitReachedError:
    """The error of a batch that has more events than it may."""
    return LimitReachedError(
        f"there are more than the {most:,} events of a batch", what="events of a batch", limit=most
    )


def bodies_of_arrow(body: bytes, most: int) -> list[bytes]:
    """The bodies of the events of a stream or a file, one per row."""
    import pyarrow as pa

    body = body.removeprefix(_FILE)
    try:
        _refuse_compressed(body)
        rows = list(_rows(body, most))
    except (pa.ArrowException, OSError, ValueError, OverflowError, struct.error) as error:
        if isinstance(error, InvalidEventError | LimitReachedError):
            raise
        raise InvalidEventError(f"the body is not a stream of Arrow: {error}") from None
    return [_body(row) for row in rows]


def _rows(body: bytes, most: int) -> Iterator[dict[str, Any]]:
    import pyarrow as pa

    count = elements = 0
    with pa.ipc.open_stream(pa.BufferReader(body)) as reader:
        for field in reader.schema:
            _check_type(field.name, field.type)
        for batch in reader:
            count += batch.num_rows
            if count > most:
                raise too_many(most)
            batch.validate(full=True)
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                elements += _elements(column)
                if elements > _ELEMENTS:
                    raise LimitReachedError(
                        f"the lists of {name!r} have more than {_ELEMENTS:,} elements",
                        what="elements of lists",
                        limit=_ELEMENTS,
                    )
                _check_repeated(name, column)
            yield from batch.to_pylist()


def _check_type(name: str, kind: Any, *, is_top: bool = True, in_list: bool = False) -> None:
    """Refuse types that are no values of events, and those that take less room than they make."""
    import pyarrow.types as are

    if are.is_struct(kind):
        for field in kind:
            _check_type(f"{name}.{field.name}", field.type, is_top=False, in_list=in_list)
    elif are.is_list(kind) or are.is_large_list(kind):
        _check_type(name, kind.value_type, is_top=False, in_list=True)
    elif are.is_dictionary(kind) and is_top:
        if not (are.is_string(kind.value_type) or are.is_large_string(kind.value_type)):
            raise _unsupported(name, kind)
    elif not (
        are.is_boolean(kind)
        or are.is_integer(kind)
        or are.is_floating(kind)
        or are.is_decimal(kind)
        or are.is_string(kind)
        or are.is_large_string(kind)
        or are.is_timestamp(kind)
        or are.is_date(kind)
        or (are.is_null(kind) and not in_list)
    ):
        raise _unsupported(name, kind)


def _elements(column: Any) -> int:
    """How many elements its lists have in all."""
    import pyarrow.types as are

    if are.is_struct(column.type):
        return sum(_elements(column.field(place)) for place in range(column.type.num_fields))
    if are.is_list(column.type) or are.is_large_list(column.type):
        return len(column.values) + _elements(column.values)
    return 0


def _check_repeated(name: str, column: Any) -> None:
    import pyarrow.compute as pc
    import pyarrow.types as are

    if not are.is_dictionary(column.type):
        return
    lengths = pc.binary_length(column.dictionary).cast("int64")
    total = pc.sum(lengths.take(column.indices)).as_py() or 0
    if total > _REPEATED:
        raise LimitReachedError(
            f"the strings of {name!r} have {total:,} bytes, more than {_REPEATED:,}",
            what="bytes of strings",
            limit=_REPEATED,
            actual=total,
        )


def _refuse_compressed(body: bytes) -> None:
    """Look at each message before Arrow makes room for what it claims to hold."""
    import pyarrow as pa

    for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(body)):
        table = _Table.root(message.metadata.to_pybytes())
        if message.type == "schema":
            continue
        header = table.table(_HEADER)
        if message.type == "dictionary":
            header = None if header is None else header.table(_BATCH_OF_DICTIONARY)
        if header is not None and header.table(_COMPRESSION) is not None:
            raise InvalidEventError("send the stream of Arrow without compression")


class _Table:
    """A table of a flatbuffer."""

    def __init__(self, content: bytes, start: int) -> None:
        self._content = content
        self._start = start

    @classmethod
    def root(cls, content: bytes) -> _Table:
        return cls(content, struct.unpack_from("<I", content)[0])

    def table(self, place: int) -> _Table | None:
        """The table that a field holds, if it is there."""
        places = self._start - struct.unpack_from("<i", self._content, self._start)[0]
        size: int = struct.unpack_from("<H", self._content, places)[0]
        if 4 + 2 * place >= size:
            return None
        offset: int = struct.unpack_from("<H", self._content, places + 4 + 2 * place)[0]
        if not offset:
            return None
        field = self._start + offset
        return _Table(self._content, field + struct.unpack_from("<I", self._content, field)[0])


def _unsupported(name: str, kind: Any) -> InvalidEventError:
    return InvalidEventError(
        f"attribute {shortened(name)} cannot be sent in a table as {shortened(str(kind))}: values "
        "are numbers, strings, booleans, times, and lists and structs of them",
        attribute=name,
    )


def _body(row: Mapping[str, Any]) -> bytes:
    fields = {name: _document(value) for name, value in row.items() if value is not None}
    return msgspec.json.encode(fields)


def _document(value: Any) -> Any:
    if isinstance(value, datetime):
        at = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return {"$timestamp": at.replace(tzinfo=None).isoformat() + "Z"}
    if isinstance(value, date):
        return {"$timestamp": f"{value.isoformat()}T00:00:00Z"}
    if isinstance(value, Decimal):
        return {"$decimal": f"{value:f}"}
    if isinstance(value, list):
        return [_document(each) for each in value]
    if isinstance(value, dict):
        return {key: _document(each) for key, each in value.items() if each is not None}
    return value
