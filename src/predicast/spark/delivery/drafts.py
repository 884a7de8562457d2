"""What workers write: the deliveries and dead letters of a batch, as Parquet files in drafts.

A draft is a folder that no reader looks into. Every attempt of a task writes files of its own
there, and tells the driver their names when it is done; so the files of an attempt that failed,
or that was killed, are in nobody's list and never become part of anything. What sinks make of the
files that count is their business (``sinks.py``).
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Final, Literal, NamedTuple, Self, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from predicast.engine import Engine

Content: TypeAlias = Literal["deliveries", "dead letters"]

_GROUP_ROWS: Final = 1 << 16  # that are written at a time
_GROUP_BYTES: Final = 1 << 25
_BUFFERED_ROWS: Final = 1 << 18  # of all owners together, before a file of each is written
_NOBODY: Final = "__HIVE_DEFAULT_PARTITION__"  # what Spark calls the folder of null
# What Spark escapes in the names of such folders, and takes back when it reads them.
_ESCAPED: Final = {chr(code) for code in (*range(1, 0x20), 0x7F)} | set("\"#%'*/:=?\\{[]^")
_MAX_NAME: Final = 255  # bytes of a file's name, on most systems


class Draft(NamedTuple):
    """A folder to write to, and what goes there."""

    folder: str
    content: Content
    by_owner: bool = False


class DraftFile(NamedTuple):
    """A file that a task has written; ``draft`` is the position of its draft in the list."""

    draft: int
    name: str
    rows: int
    bytes: int


class Recipients(NamedTuple):
    """The subscriptions that rows are for, and the engine that knows whose those are."""

    ids: pa.StringArray
    engine: Engine

    def folders(self) -> tuple[list[str], pa.Array]:
        """The folders of their owners, and which of them each row goes to."""
        coded = self.ids.dictionary_encode()
        owners = [self.engine.get(id).owner for id in coded.dictionary.to_pylist()]
        names = [owner_folder(owner) for owner in owners]
        return list(dict.fromkeys(names)), pa.array(names, pa.string()).take(coded.indices)


class Writers:
    """Writes the files of one attempt of a task, in each of its drafts, or in those of a content.

    They are closed when the block ends, whatever state they are in.
    """

    def __init__(self, drafts: Sequence[Draft], content: Content | None = None) -> None:
        self._writers: list[tuple[Content, _FlatWriter | _OwnerWriter]] = [
            (draft.content, (_OwnerWriter if draft.by_owner else _FlatWriter)(position, draft))
            for position, draft in enumerate(drafts)
            if content in (None, draft.content)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with ExitStack() as every_one:  # also if one of them raises
            for _, writer in self._writers:
                every_one.callback(writer.abandon)

    def write(self, content: Content, table: pa.Table, recipients: Recipients | None) -> None:
        """Add rows to all drafts of a content."""
        for what, writer in self._writers:
            if what == content:
                writer.write(table, recipients)

    def finished(self) -> list[DraftFile]:
        """Write what waits, and say what was written."""
        return [file for _, writer in self._writers for file in writer.finished()]


class _FlatWriter:
    """All rows of a task in one file; they wait a while, so that it has few groups of rows."""

    def __init__(self, position: int, draft: Draft) -> None:
        self._position = position
        self._folder = Path(draft.folder)
        self._open: _OpenFile | None = None
        self._waiting: list[pa.Table] = []
        self._rows = self._bytes = 0  # that wait

    def write(self, table: pa.Table, recipients: Recipients | None) -> None:
        """Add rows."""
        self._waiting.append(table)
        self._rows += table.num_rows
        self._bytes += table.nbytes
        if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def finished(self) -> Iterator[DraftFile]:
        """Write what waits, close what is open, and say what was written."""
        if self._waiting:
            self._flush()
        if self._open is not None:
            yield self._open.closed(self._position)

    def _flush(self) -> None:
        table = pa.concat_tables(self._waiting)
        self._waiting, self._rows, self._bytes = [], 0, 0
        if self._open is None:
            self._open = _OpenFile(self._folder, _new_name(), table.schema)
        self._open.write(table)

    def abandon(self) -> None:
        """Close what is open, whatever state it is in."""
        if self._open is not None:
            self._open.abandon()


class _OwnerWriter:
    """A folder for each owner; rows wait until there are many, because files stay open else."""

    def __init__(self, position: int, draft: Draft) -> None:
        self._position = position
        self._folder = Path(draft.folder)
        self._waiting: dict[str, list[pa.Table]] = {}
        self._rows = 0
        self._files: list[DraftFile] = []

    def write(self, table: pa.Table, recipients: Recipients | None) -> None:
        """Add rows, each to those of its subscription's owner."""
        assert recipients is not None
        names, folders = recipients.folders()
        for name in names:
            rows = table.filter(pc.equal(folders, name))
            self._waiting.setdefault(name, []).append(rows)
        self._rows += table.num_rows
        if self._rows >= _BUFFERED_ROWS:
            self._flush()

    def finished(self) -> Iterator[DraftFile]:
        """Write what waits, and say what was written."""
        self._flush()
        yield from self._files

    def abandon(self) -> None:
        """Nothing is open."""

    def _flush(self) -> None:
        for folder, tables in self._waiting.items():
            (self._folder / folder).mkdir(exist_ok=True)
            table = pa.concat_tables(tables)
            opened = _OpenFile(self._folder, f"{folder}/{_new_name()}", table.schema)
            opened.write(table)
            self._files.append(opened.closed(self._position))
        self._waiting, self._rows = {}, 0


class _OpenFile:
    def __init__(self, folder: Path, name: str, schema: pa.Schema) -> None:
        self._name = name
        self._rows = 0
        # The driver has made the folder: if it is gone, so is the attempt that this belongs to.
        self._file: IO[bytes] = (folder / name).open("xb")
        self._writer = pq.ParquetWriter(self._file, schema)

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)
        self._rows += table.num_rows

    def closed(self, position: int) -> DraftFile:
        """Put all of it on disk."""
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        size = self._file.tell()
        self._file.close()
        return DraftFile(position, self._name, self._rows, size)

    def abandon(self) -> None:
        self._file.close()


def owner_folder(owner: str | None) -> str:
    """The folder of an owner, named as Spark names the values of a column ``owner``."""
    if owner is None:
        return f"owner={_NOBODY}"
    name = "owner=" + "".join(f"%{ord(c):02X}" if c in _ESCAPED else c for c in owner)
    if len(name.encode()) > _MAX_NAME:
        from predicast.errors import SinkError

        raise SinkError(
            f"the owner {owner[:60]!r}... is too long for the name of a folder, which has at most "
            f"{_MAX_NAME} bytes; deliver into a sink that is not by_owner"
        )
    return name


def stored(kind: pa.DataType) -> pa.DataType:
    """The type in which a column is stored: instants in UTC, whatever zone a session has."""
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, tz="UTC")
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(stored(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(stored(kind.key_type), stored(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(stored(kind.value_type)))
    return kind


def stored_columns(names: Sequence[str], arrays: Iterable[Any]) -> pa.Table:
    """Columns under their names, as they are stored."""
    columns = [array.cast(kind) for array in arrays for kind in [stored(array.type)]]
    fields = [pa.field(name, each.type) for name, each in zip(names, columns, strict=True)]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _new_name() -> str:
    return f"part-{uuid.uuid4().hex}.parquet"
