"""Subscriptions from a file: an id, what it states, perhaps an owner.

What is stated is text of the ``where`` dialect under ``expression`` or, in JSON Lines, the JSON
form under ``subscription``. Other fields are ignored. An id must be there and be the only one of
its kind; an integer counts as its digits.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any, Final, NamedTuple

from predicast import Engine, Subscribe
from predicast.cli.files.csv_text import csv_text, guess_hint
from predicast.cli.files.json_lines import json_object, line_groups
from predicast.cli.files.source import Form, OpenFile, Source
from predicast.engine.entry import Entry
from predicast.errors import InputFileError, PredicastError, suggest
from predicast.language import Readable, subscription_from_document, to_subscription
from predicast.language.reading import stated_by

_PARQUET_ROWS: Final = 8_192
_TOGETHER: Final = 8_192  # subscriptions that an engine gets at a time: quick, and little memory
_DOCUMENT: Final = "subscription"
# The most likely mistake where neither is there.
_SUBSCRIPTIONS_FIRST: Final = "the first of the two files has subscriptions, with {!r} and {!r}"


class Fields(NamedTuple):
    """What the fields are called in the file."""

    id: str = "id"
    expression: str = "expression"
    owner: str = "owner"


class Record(NamedTuple):
    """A subscription as the file has it; ``stated`` is not yet read."""

    id: str
    owner: str | None
    stated: Any
    line: int


class _FileRow(NamedTuple):
    line: int
    values: Mapping[str, Any]


def load(
    engine: Engine,
    source: Source,
    fields: Fields,
    *,
    drop_invalid: bool = False,
    report: Callable[[int], None] = lambda _done: None,
) -> list[InputFileError]:
    """Subscribe all that the file holds; return why each of those that were dropped was."""
    dropped = []
    for group in _groups(records(source, fields, report)):
        refused = _subscribe(engine, group, fields)
        for position in sorted(refused):
            record, error = group[position], refused[position]
            refusal = source.refuse(f"subscription {record.id!r}: {error.message}", record.line)
            if not drop_invalid:
                raise refusal from error
            dropped.append(refusal)
    return dropped


def _groups(records: Iterator[Record]) -> Iterator[list[Record]]:
    """So many at a time; where the file is broken, first those that stand before that place."""
    group: list[Record] = []
    try:
        for record in records:
            group.append(record)
            if len(group) == _TOGETHER:
                yield group
                group = []
    except InputFileError:
        yield group
        raise
    yield group


def _subscribe(engine: Engine, group: list[Record], fields: Fields) -> dict[int, PredicastError]:
    """Subscribe those of a group that are valid; why the others are not, by position."""
    refused: dict[int, PredicastError] = {}
    valid: dict[int, Subscribe] = {}
    for position, record in enumerate(group):
        try:
            valid[position] = Subscribe(record.id, _read(record, fields), record.owner)
        except PredicastError as error:
            refused[position] = error
    try:
        engine.subscribe_many(valid.values())
    except PredicastError:  # of any one of them: which, and what of the others?
        report = engine.apply(valid.values(), on_refusal="report")
        positions = list(valid)
        refused |= {positions[each.position]: each.error for each in report.refused}
    return refused


def subscribes(
    source: Source, fields: Fields, report: Callable[[int], None] = lambda _done: None
) -> Iterator[Subscribe]:
    """What subscribes to each that the file holds, with its text; the first bad one is refused."""
    for record in records(source, fields, report):
        try:
            read = _read(record, fields)
        except PredicastError as error:
            why = f"subscription {record.id!r}: {error.message}"
            raise source.refuse(why, record.line) from error
        text = record.stated if isinstance(record.stated, str) else None
        yield Subscribe(record.id, read if text is None else text, record.owner)


def find(source: Source, fields: Fields, id: str) -> Entry:
    """The one subscription with this id; the others need not even be readable."""
    found: Record | None = None
    others: list[str] = []
    for record in records(source, fields):
        if record.id == id:
            found = record
        elif len(others) < 10_000:  # enough for a hint
            others.append(record.id)
    if found is None:
        close = suggest(id, others)
        hint = f"; did you mean {close!r}?" if close else ""
        raise source.refuse(f"no subscription has the id {id!r}{hint}")
    try:
        subscription = to_subscription(_read(found, fields))
        text = found.stated if isinstance(found.stated, str) else None
        return Entry(id, subscription, found.owner, text)
    except PredicastError as error:
        raise source.refuse(f"subscription {id!r}: {error.message}", found.line) from error


def _read(record: Record, fields: Fields) -> Readable:
    """What the record states, read: an error is this record's."""
    if isinstance(record.stated, dict):
        return subscription_from_document(record.stated)
    if record.stated is None:
        raise InputFileError(f"there is no {fields.expression!r}", line=record.line)
    stated, _ = stated_by(record.stated)
    return stated


def records(
    source: Source, fields: Fields, report: Callable[[int], None] = lambda _done: None
) -> Iterator[Record]:
    """All subscriptions of the file, their ids checked, what they state not yet."""
    lines: dict[str, int] = {}
    # Parquet is read from its end, which a pipe does not let one do.
    seekable = source.kept() if source.form is Form.PARQUET else nullcontext(source)
    with seekable as file, file.opened() as opened:
        for row in _ROWS[source.form](source, opened, fields):
            record = _record(source, row, fields)
            before = lines.setdefault(record.id, record.line)
            if before != record.line:
                raise source.refuse(
                    f"the id {record.id!r} was given before, in {source.counted} {before}",
                    record.line,
                )
            yield record
            if len(lines) % 1_024 == 0:
                report(opened.position())


def _record(source: Source, row: _FileRow, fields: Fields) -> Record:
    id = _name(row.values.get(fields.id))
    if id is None:
        given = row.values.get(fields.id)
        if given is None:
            close = suggest(fields.id, (name for name in row.values if name))
            if close and close != fields.id:
                hint = f"; is it {close!r}? Then say --id {close}"
            elif fields.expression not in row.values and _DOCUMENT not in row.values:
                hint = f"; {_SUBSCRIPTIONS_FIRST.format(*fields)}"
            else:
                hint = ""
            raise source.refuse(f"there is no {fields.id!r}{hint}", row.line)
        raise source.refuse(f"an id is a non-empty string or an integer, not {given!r}", row.line)
    owner = row.values.get(fields.owner)
    if owner is not None:
        owner = _name(owner)
        if owner is None:
            raise source.refuse("an owner is a non-empty string or an integer", row.line)
    stated = row.values.get(fields.expression)
    if source.form is Form.JSON_LINES and row.values.get(_DOCUMENT) is not None:
        if stated is not None:
            raise source.refuse(f"give {fields.expression!r} or {_DOCUMENT!r}, not both", row.line)
        stated = row.values[_DOCUMENT]
        if not isinstance(stated, dict):
            raise source.refuse(f"{_DOCUMENT!r} is an object: the JSON form", row.line)
    elif isinstance(stated, dict):
        raise source.refuse(
            f"{fields.expression!r} is text; the JSON form goes under {_DOCUMENT!r}", row.line
        )
    return Record(id, owner, stated, row.line)


def _name(value: Any) -> str | None:
    """An id or owner as a string, if it can be one."""
    if type(value) is int:
        return str(value)
    return value if isinstance(value, str) and value else None


# The three forms.


def _json_rows(source: Source, opened: OpenFile, _fields: Fields) -> Iterator[_FileRow]:
    for group in line_groups(source, opened):
        for line in group:
            yield _FileRow(line.number, json_object(source, line))


def _csv_rows(source: Source, opened: OpenFile, fields: Fields) -> Iterator[_FileRow]:
    start = 1
    with csv_text(source, opened, strict=True) as file:
        rows = file.rows
        try:
            header = next(filter(None, rows), [])
            _check_columns(source, header, fields)
            start = rows.line_num + 1
            for row in rows:
                _check_utf8(source, row, start)
                if len(row) not in {0, len(header)}:
                    raise source.refuse(
                        f"has {len(row)} cells, the first line {len(header)}"
                        + guess_hint(source, file.delimiter),
                        start,
                    )
                if row:
                    named = zip(header, row, strict=True)
                    yield _FileRow(start, {name: cell for name, cell in named if cell})
                start = rows.line_num + 1
        except csv.Error as error:
            raise source.refuse(f"not CSV: {error}", start) from None


def _check_utf8(source: Source, row: list[str], line: int) -> None:
    try:
        "".join(row).encode()
    except UnicodeEncodeError:
        raise source.refuse("not UTF-8", line) from None


def _parquet_rows(source: Source, opened: OpenFile, fields: Fields) -> Iterator[_FileRow]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(opened.stream)
        names = file.schema_arrow.names
        _check_columns(source, names, fields)
        wanted = [name for name in fields if name in names]
        row = 0
        for batch in file.iter_batches(_PARQUET_ROWS, columns=wanted):
            for values in batch.to_pylist():
                row += 1
                yield _FileRow(row, values)
    except pa.ArrowException as error:
        raise source.refuse(f"cannot be read as Parquet: {error}") from None


def _check_columns(source: Source, names: list[str], fields: Fields) -> None:
    for option in ("id", "expression"):
        name = getattr(fields, option)
        if name not in names:
            close = suggest(name, filter(None, names))
            if close:
                hint = f"; is it {close!r}? Then say --{option} {close}"
            else:
                neither = {fields.id, fields.expression}.isdisjoint(names)
                hint = f"; {_SUBSCRIPTIONS_FIRST.format(*fields)}" if neither else ""
            raise source.refuse(f"there is no column {name!r}{hint}")
    for name in fields:
        if names.count(name) > 1:
            raise source.refuse(f"two columns are named {name!r}")


_ROWS: Final[dict[Form, Callable[[Source, OpenFile, Fields], Iterator[_FileRow]]]] = {
    Form.JSON_LINES: _json_rows,
    Form.CSV: _csv_rows,
    Form.TSV: _csv_rows,
    Form.PARQUET: _parquet_rows,
}
