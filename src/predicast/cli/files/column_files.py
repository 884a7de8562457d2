"""Files of typed columns, read as Arrow batches: Parquet, and Arrow's own files and streams.

However many rows a file's own batches have, those that are given are small. Only the columns that
are asked for are decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from predicast.cli.files.source import Form, OpenFile, Source

Report: TypeAlias = Callable[[int], None]

_BATCH_ROWS: Final = 16_384
# What they begin with.
_ARROW_FILE: Final = b"ARROW1"
_ARROW_STREAM: Final = b"\xff\xff\xff\xff"
_OLD_FEATHER: Final = b"FEA1"
_NAMES: Final = {Form.PARQUET: "Parquet", Form.ARROW: "Arrow"}


@dataclass(frozen=True, slots=True)
class ColumnFile:
    """An open file: its columns, and its rows."""

    schema: pa.Schema
    _batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows, with these columns or all."""
        return self._batches(self.schema.names if columns is None else columns)


@contextmanager
def column_file(source: Source, report: Report = lambda _done: None) -> Iterator[ColumnFile]:
    """The file, open; ``report`` is told how many bytes the rows read so far stand for."""
    open_it = _parquet if source.form is Form.PARQUET else _arrow
    with source.opened() as opened:
        try:
            yield open_it(source, opened, report)
        # A damaged name is no Unicode, a damaged length asks for too much.
        except (pa.ArrowException, UnicodeDecodeError, MemoryError) as error:
            name, why = _NAMES[source.form], str(error) or "it asks for too much memory"
            raise source.refuse(f"cannot be read as {name}: {why}") from None


def _parquet(source: Source, opened: OpenFile, report: Report) -> ColumnFile:
    # Not pre-buffered: a row group may be as large as the file.
    file = pq.ParquetFile(opened.stream, pre_buffer=False)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        size, total, done = source.size() or 0, max(file.metadata.num_rows, 1), 0
        for groups in _row_groups(file):
            for batch in file.iter_batches(_BATCH_ROWS, groups, list(columns)):
                yield batch
                done += batch.num_rows
                report(size * done // total)

    return ColumnFile(file.schema_arrow, batches)


def _row_groups(file: pq.ParquetFile) -> Iterable[list[int]]:
    """All row groups together, unless Arrow cannot read across them: dictionaries in structs."""
    groups = range(file.num_row_groups)
    nested = any(
        pa.types.is_struct(each.type) and "dictionary<" in str(each.type)
        for each in file.schema_arrow
    )
    return ([group] for group in groups) if nested else [list(groups)]


def _arrow(source: Source, opened: OpenFile, report: Report) -> ColumnFile:
    stream = opened.stream
    start = stream.read(len(_ARROW_FILE))
    stream.seek(0)
    is_file = start == _ARROW_FILE
    if not is_file and not start.startswith(_ARROW_STREAM):
        hint = "; Feather is read from its version 2 on" if start.startswith(_OLD_FEATHER) else ""
        raise source.refuse(f"neither a file nor a stream of Arrow{hint}")

    def reader(columns: list[int] | None) -> Iterator[pa.RecordBatch]:
        options = pa.ipc.IpcReadOptions(included_fields=columns)
        stream.seek(0)
        if not is_file:
            yield from pa.ipc.open_stream(stream, options=options)
            return
        file = pa.ipc.open_file(stream, options=options)
        yield from map(file.get_batch, range(file.num_record_batches))

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        wanted = [number for number, name in enumerate(schema.names) if name in columns]
        for batch in reader(wanted):
            batch.validate(full=True)  # a file is not trusted: offsets may lead anywhere
            for start in range(0, batch.num_rows, _BATCH_ROWS):
                yield batch.slice(start, _BATCH_ROWS)
            report(opened.position())

    schema = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(stream).schema
    return ColumnFile(schema, batches)
