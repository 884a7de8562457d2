"""``DeltaSink``: a Delta Lake table, without Java, through delta-rs.

Workers write the files into the table's folder, where nobody sees them; one commit adds them all,
together with an application transaction that says which batch it was. A batch whose number is not
above the one in the table is there already. Any reader of Delta tables can read them.
"""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from predicast.errors import PipelineError, SinkError
from predicast.spark.delivery.places import folder, put_on_disk
from predicast.spark.delivery.sinks import Batch, Sink, Written

if TYPE_CHECKING:
    from deltalake import DeltaTable

_FILES: Final = "deliveries"
_STREAM: Final = "predicast.stream"  # the property of a table that belongs to one stream


@dataclass(frozen=True)
class DeltaSink(Sink):
    """A Delta Lake table, made with the first delivery if there is none.

    A table that a stream has made is that stream's alone, so that one which lost its checkpoint
    does not deliver everything again; ``shared`` lets several streams add to one table.
    """

    path: str | os.PathLike[str]
    shared: bool = False
    _root: Path = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_root", folder("path", self.path))

    def open(self, stream: str) -> None:
        """Refuse another stream's table, and remove drafts that never became part of it."""
        table = self._table()
        if table is not None and not self.shared:
            owner = table.metadata().configuration.get(_STREAM, stream)
            if owner != stream:
                raise SinkError(
                    f"{self._root} has the deliveries of another stream; this one would repeat or "
                    "mix them. Go on with that stream's checkpoint, or deliver into another table; "
                    "DeltaSink(path, shared=True) lets streams share one",
                    path=str(self._root),
                )
        for each in (self._root / _FILES).glob(f"{stream}-*"):
            number = each.name.split("-")[1]
            if not self.has(Batch(stream, int(number))):
                shutil.rmtree(each, ignore_errors=True)

    def has(self, batch: Batch) -> bool:
        """Whether the table has the batch, or a later one."""
        table = self._table()
        last = None if table is None else table.transaction_version(_application(batch.stream))
        return last is not None and last >= batch.number

    def draft(self, batch: Batch, scratch: Path) -> Path:
        """A folder within the table's: files that no commit names are not part of it."""
        made = self._root / _FILES / f"{batch.stream}-{batch.number}-{uuid.uuid4().hex}"
        made.mkdir(parents=True)
        return made

    def commit(self, written: Written) -> None:
        """Add the files in one commit, which names the batch."""
        if written.files:
            put_on_disk(written.draft)
            self._add(written)
        self._remove_other_drafts(written)

    def _add(self, written: Written) -> None:
        import pyarrow.parquet as pq
        from deltalake import CommitProperties, Transaction
        from deltalake.exceptions import DeltaError
        from deltalake.transaction import AddAction

        batch = written.batch
        schema = pq.read_schema(written.draft / written.files[0].name).remove_metadata()
        table = self._table() or self._created(batch.stream, schema)
        self._check(table, schema)
        now_ms = time.time_ns() // 1_000_000
        inside = written.draft.relative_to(self._root).as_posix()
        added: list[Any] = [
            AddAction(
                f"{inside}/{file.name}",
                file.bytes,
                {},
                now_ms,
                True,
                json.dumps({"numRecords": file.rows}),
            )
            for file in written.files
        ]
        properties = CommitProperties(
            app_transactions=[Transaction(_application(batch.stream), batch.number)],
            custom_metadata={
                "predicast.batch": str(batch.number),
                "predicast.version": str(written.version),
            },
        )
        try:
            table.create_write_transaction(
                added, mode="append", schema=table.schema(), commit_properties=properties
            )
        except DeltaError as error:
            raise SinkError(
                f"batch {batch.number} cannot be added to {self._root}: {error}",
                path=str(self._root),
            ) from error

    def _table(self) -> DeltaTable | None:
        try:
            from deltalake import DeltaTable
            from deltalake.exceptions import DeltaError, TableNotFoundError
        except ImportError as error:
            raise PipelineError(
                "DeltaSink needs the package deltalake, which is not installed"
            ) from error
        try:
            return DeltaTable(self._root)
        except TableNotFoundError:
            if (self._root / "_delta_log").exists():
                raise self._unreadable("its log has nothing in it") from None
            return None
        except DeltaError as error:
            raise self._unreadable(str(error)) from error

    def _unreadable(self, why: str) -> SinkError:
        return SinkError(
            f"{self._root} cannot be read as a Delta table: {why}; restore it, or deliver into "
            "another table with a new checkpoint",
            path=str(self._root),
        )

    def _created(self, stream: str, schema: Any) -> DeltaTable:
        from deltalake import DeltaTable

        return DeltaTable.create(
            self._root,
            schema=schema,
            configuration={} if self.shared else {_STREAM: stream},
            raise_if_key_not_exists=False,
        )

    def _check(self, table: DeltaTable, schema: Any) -> None:
        """Refuse files whose columns are not the table's."""
        import pyarrow as pa
        from deltalake import Schema

        theirs = {each.name: str(each.type) for each in table.schema().fields}
        ours = {each.name: str(each.type) for each in Schema.from_arrow(pa.schema(schema)).fields}
        if theirs != ours:
            raise SinkError(
                f"{self._root} has the columns {_listed(theirs)}, and deliveries have "
                f"{_listed(ours)}; deliver into another table, or keep other columns",
                path=str(self._root),
            )

    def _remove_other_drafts(self, written: Written) -> None:
        """Remove what other attempts at this batch have left."""
        stream, number = written.batch
        for each in written.draft.parent.glob(f"{stream}-{number}-*"):
            if each != written.draft or not written.files:
                shutil.rmtree(each, ignore_errors=True)
        named = {file.name for file in written.files}
        for each in written.draft.glob("*.parquet"):
            if each.name not in named:
                each.unlink(missing_ok=True)


def _application(stream: str) -> str:
    """What the stream is called in application transactions."""
    return f"predicast-{stream}"


def _listed(columns: dict[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())
