"""A CSV file as Arrow batches, read twice: once to find the types of its columns, once for rows.

The types must hold for the whole file, however long; so the first pass looks at every cell of the
columns that are asked for (``predicast.cli.files.csv_types`` has the rules). Memory is bounded by a
block in either pass. Rows are counted by Arrow; only when something is wrong is the file read a
third time, slowly, to name the line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import BinaryIO, Final

import pyarrow as pa
import pyarrow.csv

from predicast.cli.files.csv_text import PlainCsv, csv_text, guess_hint
from predicast.cli.files.csv_types import ColumnType, CsvType, convert
from predicast.cli.files.source import OpenFile, Source
from predicast.errors import InputFileError

# Also the longest row there may be.
_BLOCK_BYTES: Final = 4 * 2**20
_LONGEST_CELL: Final = 16 * _BLOCK_BYTES


class CsvFile:
    """A CSV file whose first line names its columns; the source can be opened several times."""

    def __init__(self, source: Source, nulls: Sequence[str] = ()) -> None:
        self._source = source
        self._nulls = ["", *nulls]
        self._header()

    def _header(self) -> None:
        """Read the columns' names, and look whether any row follows."""
        with self._source.opened() as opened, csv_text(self._source, opened) as file:
            try:
                self.names = next(filter(None, file.rows), [])
            except csv.Error as error:
                raise self._source.refuse(f"not CSV: {error}", 1) from None
            if not self.names:
                raise self._source.refuse("is empty; the first line must name the columns")
            if any("\udc80" <= character <= "\udcff" for name in self.names for character in name):
                raise self._source.not_utf8(1)
            self._has_rows = any(line.strip("\r\n") for line in file.text)
            self._delimiter = file.delimiter
            self._is_spaced = file.is_spaced
            self._skipped = 0 if file.is_spaced else file.skipped

    def columns_among(self, attributes: Collection[str]) -> list[str]:
        """The columns that are attributes; one of them must not be there twice."""
        found = [name for name in self.names if name in attributes]
        for name in found:
            if found.count(name) > 1:
                raise self._source.refuse(f"two columns are named {name!r}", 1)
        return found

    def types(
        self,
        columns: Sequence[str],
        given: Mapping[str, CsvType],
        report: Callable[[int], None] = lambda _done: None,
    ) -> dict[str, ColumnType]:
        """The type of each of the columns; one that was given must be right."""
        found = {name: ColumnType(given.get(name)) for name in columns}
        row = 0
        for batch in self._cells(columns, report):
            for name, column in found.items():
                column.see(batch.column(name), row)
                if name in given and column.misfits:
                    wrong, cell = column.misfits[given[name]]
                    raise self._source.refuse(
                        f"column {name!r}: {cell!r} is not of type {given[name]}",
                        self.line_of(wrong),
                    )
            row += batch.num_rows
        return found

    def batches(
        self,
        types: Mapping[str, CsvType | None],
        others: Sequence[str],
        report: Callable[[int], None] = lambda _done: None,
    ) -> Iterator[pa.RecordBatch]:
        """The rows: columns of the types given, and other columns as strings."""
        wanted = {*types, *others} or set(self.names[:1])
        columns = [name for name in dict.fromkeys(self.names) if name in wanted]
        for batch in self._cells(columns, report):
            arrays = [convert(types.get(n) or CsvType.STRING, batch.column(n)) for n in columns]
            yield pa.RecordBatch.from_arrays(arrays, names=columns)

    def _cells(
        self, columns: Sequence[str], report: Callable[[int], None]
    ) -> Iterator[pa.RecordBatch]:
        """The named columns as strings, empty cells as nulls."""
        if not self._has_rows:
            return
        columns = columns or self.names[:1]  # one at least, to count the rows
        with self._source.opened() as opened, self._plain(opened) as stream:
            try:
                for batch in self._reader(stream, columns):
                    report(opened.position())
                    yield batch
            except pa.ArrowException as error:
                raise self._not_csv(error) from None

    @contextmanager
    def _plain(self, opened: OpenFile) -> Iterator[BinaryIO]:
        """What Arrow reads, which takes a space for part of a cell, and quotes behind it too."""
        if not self._is_spaced:
            yield opened.stream
            return
        csv.field_size_limit(_LONGEST_CELL)
        with csv_text(self._source, opened) as file:
            try:
                yield io.BufferedReader(PlainCsv(file), _BLOCK_BYTES)
            except csv.Error as error:
                raise self._source.refuse(f"not CSV: {error}", file.rows.line_num) from None

    def _reader(self, stream: BinaryIO, columns: Sequence[str]) -> pa.csv.CSVStreamingReader:
        return pa.csv.open_csv(
            stream,
            read_options=pa.csv.ReadOptions(
                block_size=_BLOCK_BYTES, use_threads=False, skip_rows=self._skipped
            ),
            parse_options=pa.csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()),
                include_columns=columns,
                null_values=self._nulls,
                strings_can_be_null=True,
            ),
        )

    def _not_csv(self, error: Exception) -> InputFileError:
        message = str(error)
        if "straddling object" in message:
            return self._source.refuse(
                f"a row is longer than {_BLOCK_BYTES // 2**20} MiB; is a quote not closed?"
            )
        numbered = re.search(r"Row #(\d+): (?:CSV conversion error to string: )?(.*)", message)
        if numbered is None:
            return self._source.refuse(f"not CSV: {message}")
        # Arrow counts what it skips, and the header.
        line = self.line_of(int(numbered[1]) - self._skipped - 2)
        if "invalid UTF8" in numbered[2]:
            return self._source.not_utf8(line)
        hint = guess_hint(self._source, self._delimiter) if "columns" in numbered[2] else ""
        return self._source.refuse(numbered[2][:200] + hint, line)

    def line_of(self, row: int) -> int | None:
        """The line on which a row begins: not the same where quoted cells hold line breaks."""
        with closing(self._slow_rows()) as rows:
            return next((line for number, (line, _) in enumerate(rows, -1) if number == row), None)

    def _slow_rows(self) -> Generator[tuple[int, list[str]], None, None]:
        """Every row that is not blank, the header first, with its first line."""
        csv.field_size_limit(_LONGEST_CELL)  # what is wrong may be that it is too long
        with self._source.opened() as opened, csv_text(self._source, opened) as file:
            start = 1
            try:
                for row in file.rows:
                    if row:
                        yield start, row
                    start = file.rows.line_num + 1
            except csv.Error as error:
                raise self._source.refuse(f"not CSV: {error}", start) from None
