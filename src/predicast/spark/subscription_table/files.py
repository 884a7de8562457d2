"""The data files of a subscription table: written once, never changed, read as Arrow tables.

A file holds at most ``ROWS`` rows in the order of their ids. That bounds what a change of one
subscription costs: the file that holds it is written anew without, or with another row in its
place. The least and the greatest id of each file are in the table's log, so that whoever looks for
an id, this program or another, opens few of them.

Files are on disk before a commit names them; one that no commit names is nobody's, and vacuum
removes it.
"""

from __future__ import annotations

import json
import os
import uuid
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.errors import DamagedTableError, SubscriptionTableError, TableNotWrittenError
from predicast.spark.subscription_table.rows import COLUMNS, DIALECT

if TYPE_CHECKING:
    import pyarrow as pa

ROWS: Final = 4_096  # of a file: some milliseconds to write anew, a few hundred files per million


def folder_of(path: str | os.PathLike[str]) -> Path:
    """The folder of the table at a path."""
    text = os.fspath(path)
    if "://" in text:
        scheme, _, rest = text.partition("://")
        if scheme != "file":
            raise SubscriptionTableError(
                f"a subscription table is in a folder, here or mounted, not at {scheme}://",
                path=text,
            )
        text = rest
    return Path(text).absolute()


class DataFile(NamedTuple):
    """A file of a version of the table; what another tool wrote may not say what is in it."""

    path: str  # relative to the table, as the log has it
    size: int
    rows: int | None
    first_id: str | None
    last_id: str | None

    def may_hold(self, ids: Sequence[str]) -> bool:
        """Whether one of these ids, which ascend, may be in the file."""
        if self.first_id is None or self.last_id is None:
            return True
        place = bisect_left(ids, self.first_id)
        return place < len(ids) and ids[place] <= self.last_id

    def is_small(self) -> bool:
        """Whether it is worth putting together with others."""
        return self.rows is not None and self.rows < ROWS // 2


class DataFiles:
    """Reads and writes the files of one table."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, file: DataFile, columns: Sequence[str] = COLUMNS) -> pa.Table:
        """Some columns of a file, as strings."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self._folder / file.path
        try:
            with pq.ParquetFile(path) as opened:
                table = opened.read(columns=list(columns))
            if DIALECT in columns and DIALECT not in table.column_names:
                table = table.append_column(DIALECT, pa.nulls(len(table), pa.string()))
            strings = [pa.field(name, pa.string()) for name in columns]
            table = table.select(list(columns)).cast(pa.schema(strings))
            table.validate(full=True)  # that strings are text, above all
            return table
        except (OSError, KeyError, pa.ArrowException) as error:
            raise self._unreadable(file, error) from error

    def _unreadable(self, file: DataFile, error: Exception) -> DamagedTableError:
        if isinstance(error, FileNotFoundError):
            why = (
                "is missing: it was removed by a vacuum, or by accident. A later version may be "
                "whole; a copy of the file put back in its place makes this one whole again"
            )
        else:
            why = f"cannot be read ({error}); restore it from a copy"
        return DamagedTableError(
            f"the file {file.path} of the subscription table {self._folder} {why}",
            path=str(self._folder),
            file=file.path,
        )

    def write(self, rows: pa.Table) -> list[DataFile]:
        """Files with these rows, in the order of ids; all of them or, after an error, none."""
        ordered = rows.sort_by("id").combine_chunks()
        written: list[DataFile] = []
        try:
            for part in _parts(ordered):
                written.append(self._write_one(part))  # noqa: PERF401  # those before an error count
        except BaseException as error:
            self.remove(written)
            if isinstance(error, OSError):
                raise not_written(self._folder, error) from error
            raise
        return written

    def _write_one(self, rows: pa.Table) -> DataFile:
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        if not has_dialects(rows):
            rows = rows.drop_columns([DIALECT])  # which the table may lack
        name = f"part-{uuid.uuid4()}.parquet"
        path = self._folder / name
        try:
            with path.open("xb") as file:
                pq.write_table(rows, file, compression="zstd")
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        least, greatest = pc.min_max(rows["id"]).as_py().values()
        return DataFile(name, path.stat().st_size, len(rows), least, greatest)

    def remove(self, files: Iterable[DataFile]) -> None:
        """Remove files that no commit names; what is left of them is vacuum's."""
        for each in files:
            with suppress(OSError):
                (self._folder / each.path).unlink(missing_ok=True)


def has_dialects(rows: pa.Table) -> bool:
    """Whether some row is in a dialect."""
    return bool(rows[DIALECT].null_count < len(rows))


def _parts(rows: pa.Table) -> Iterator[pa.Table]:
    """As few files as the rows fit into, of about the same length."""
    if not len(rows):
        return
    count = -(-len(rows) // ROWS)
    bounds = [len(rows) * number // count for number in range(count + 1)]
    for begin, end in pairwise(bounds):
        yield rows.slice(begin, end - begin)


def statistics(file: DataFile) -> str:
    """What the log says of a file, as the protocol of Delta Lake has it."""
    said: dict[str, object] = {"numRecords": file.rows}
    if file.first_id is not None:
        said |= {"minValues": {"id": file.first_id}, "maxValues": {"id": file.last_id}}
    return json.dumps(said)


def not_written(folder: Path, error: OSError) -> TableNotWrittenError:
    """The error of a table that is as it was."""
    return TableNotWrittenError(
        f"nothing was written to the subscription table {folder}: {error.strerror or error}",
        path=str(folder),
        errno=error.errno,
    )
