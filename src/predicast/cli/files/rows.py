"""The rows of a file, whatever its form: named values, each row with its place.

CSV, Parquet and Arrow say once which columns there are, so that one that is missing is found out
at once.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from predicast.cli.files.csv_text import csv_text, guess_hint
from predicast.cli.files.json_values import json_object, value_groups
from predicast.cli.files.queries import TextLines, queries
from predicast.cli.files.source import OF_COLUMNS, Form, OpenFile, Source
from predicast.errors import suggest


class FileRow(NamedTuple):
    """What a row holds, and its line; its number in a file of columns."""

    line: int
    values: Mapping[str, Any]
    text_lines: TextLines | None = (
        None  # where the lines of its text stand, if in lines of their own
    )
    file: Source | None = None  # of a folder: the one that holds it


class Columns(NamedTuple):
    """What is read of a row."""

    required: Mapping[str, str]  # names, by the option that states them
    others: tuple[str, ...] = ()
    if_none: str = ""  # the most likely mistake where no required column is there

    @property
    def names(self) -> list[str]:
        """All of them."""
        return [*self.required.values(), *self.others]


def rows(
    source: Source, columns: Columns, report: Callable[[int], None] = lambda _done: None
) -> Iterator[FileRow]:
    """All rows of a file; ``report`` is told now and then how many bytes have been read."""
    if source.form is Form.OWN:
        from predicast.cli.files.dialect_files import own_rows

        yield from own_rows(source, columns, report)
        return
    if source.form in OF_COLUMNS:
        with source.kept() as kept:  # read from its end, which a pipe does not let one do
            yield from _column_rows(kept, columns, report)
        return
    with source.opened() as opened:
        for number, row in enumerate(_ROWS[source.form](source, opened, columns), 1):
            yield row
            if number % 1_024 == 0:
                report(opened.position())


def _json_rows(source: Source, opened: OpenFile, _columns: Columns) -> Iterator[FileRow]:
    for group in value_groups(source, opened):
        for value in group:
            yield FileRow(value.line, json_object(source, value))


def _yaml_rows(source: Source, opened: OpenFile, columns: Columns) -> Iterator[FileRow]:
    from predicast.cli.files.yaml_rows import yaml_rows

    text = columns.required.get("expression", "")
    for row in yaml_rows(source, opened):
        yield FileRow(row.line, row.values, row.text_lines.get(text))


def _query_rows(source: Source, opened: OpenFile, columns: Columns) -> Iterator[FileRow]:
    names = columns.names[:3]
    for query in queries(source, opened):
        values = dict(zip(names, (query.id, query.text, query.owner), strict=True))
        yield FileRow(query.lines.first, values, query.lines)


def _csv_rows(source: Source, opened: OpenFile, columns: Columns) -> Iterator[FileRow]:
    start = 1
    with csv_text(source, opened, strict=True) as file:
        rows = file.rows
        try:
            header = next(filter(None, rows), [])
            _check_columns(source, header, columns)
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
                    yield FileRow(start, {name: cell for name, cell in named if cell})
                start = rows.line_num + 1
        except csv.Error as error:
            raise source.refuse(f"not CSV: {error}", start) from None


def _check_utf8(source: Source, row: list[str], line: int) -> None:
    try:
        "".join(row).encode()
    except UnicodeEncodeError:
        raise source.not_utf8(line) from None


def _column_rows(
    source: Source, columns: Columns, report: Callable[[int], None]
) -> Iterator[FileRow]:
    from predicast.cli.files.column_files import column_file

    with column_file(source, report) as file:
        _check_columns(source, file.schema.names, columns)
        wanted = [name for name in columns.names if name in file.schema.names]
        records = (row for batch in file.batches(wanted) for row in batch.to_pylist())
        for number, values in enumerate(records, 1):
            yield FileRow(number, values)


def _check_columns(source: Source, names: list[str], columns: Columns) -> None:
    for option, name in columns.required.items():
        if name not in names:
            close = suggest(name, filter(None, names))
            if close:
                hint = f"; is it {close!r}? Then say --{option} {close}"
            else:
                none = set(columns.required.values()).isdisjoint(names)
                hint = f"; {columns.if_none}" if none and columns.if_none else ""
            raise source.refuse(f"there is no column {name!r}{hint}")
    for name in columns.names:
        if names.count(name) > 1:
            raise source.refuse(f"two columns are named {name!r}")


_ROWS: Final[dict[Form, Callable[[Source, OpenFile, Columns], Iterator[FileRow]]]] = {
    Form.JSON_LINES: _json_rows,
    Form.CSV: _csv_rows,
    Form.TSV: _csv_rows,
    Form.YAML: _yaml_rows,
    Form.SPARQL: _query_rows,
}
