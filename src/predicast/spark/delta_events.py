"""``DeltaEvents``: a Delta table as a stream of events, without Java, through delta-rs.

A stream begins with all rows of the table, and goes on with those that commits add. An offset is a
version, so that a batch that Spark repeats has the same rows. Rows of a table that is written to
for events are added and never changed: a commit that removes some is refused, unless it only
rewrites them (as optimize does).

Limits: tables with deletion vectors or renamed columns are refused; old files must still be there,
so vacuum may not be quicker than the stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable
    from pyspark.sql.types import StructType

_NOTHING: Final = -1  # the version before the first
_READER: Final = 3  # the protocol from which on tables name their features
_FEATURES: Final = frozenset({"timestampNtz", "vacuumProtocolCheck", "v2Checkpoint"})


class _AddedFile(NamedTuple):
    path: str
    partition: dict[str, str | None]


class _FilePartition(InputPartition):
    """A file that was added."""

    def __init__(self, file: _AddedFile) -> None:
        super().__init__(file)
        self.file = file


class DeltaEvents(DataSource):
    """``spark.dataSource.register(DeltaEvents)``, then ``format("predicast-delta")``."""

    @classmethod
    def name(cls) -> str:
        """What ``format`` calls it."""
        return "predicast-delta"

    def schema(self) -> StructType:
        """That of the table."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(pa.schema(_opened(self._path()).schema().to_arrow()))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802  # Spark’s
        """Of all that there is, and then of what is added."""
        return _AddedRows(self._path())

    def _path(self) -> str:
        from predicast.errors import InvalidOptionError

        path = self.options.get("path")
        if path is None:
            raise InvalidOptionError("say where the Delta table is: load(path)", option="path")
        return path


class _AddedRows(DataSourceStreamReader):
    def __init__(self, path: str) -> None:
        self._path = path

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"version": _NOTHING}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:  # noqa: N802
        return {"version": int(_opened(self._path).version())}

    def partitions(
        self, start: Mapping[str, int], end: Mapping[str, int]
    ) -> Sequence[InputPartition]:
        before, after = start["version"], end["version"]
        if before == _NOTHING:
            files = _all_files(self._path, after)
        else:
            files = [
                file
                for version in range(before + 1, after + 1)
                for file in _added_files(self._path, version)
            ]
        return [_FilePartition(file) for file in files]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        assert isinstance(partition, _FilePartition)
        schema = pa.schema(_opened(self._path).schema().to_arrow())
        return _read(Path(self._path), partition.file, schema)


def _opened(path: str, version: int | None = None) -> DeltaTable:
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    from predicast.errors import PipelineError

    try:
        table = DeltaTable(path, version=version)
    except DeltaError as error:
        raise PipelineError(f"{path} cannot be read as a Delta table: {error}") from error
    protocol = table.protocol()
    features = set(protocol.reader_features or ())
    mapped = table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none"
    if mapped or (protocol.min_reader_version >= _READER and features - _FEATURES):
        raise PipelineError(
            f"the Delta table {path} has features that take more than its files to be read: "
            f"{', '.join(sorted(features - _FEATURES)) or 'renamed columns'}"
        )
    return table


def _all_files(path: str, version: int) -> list[_AddedFile]:
    import pyarrow as pa

    listed = pa.table(_opened(path, version).get_add_actions(flatten=False)).to_pylist()
    return [
        _AddedFile(each["path"], _texts(each.get("partition") or each.get("partition_values")))
        for each in listed
    ]


def _texts(partition: Mapping[str, Any] | None) -> dict[str, str | None]:
    return {
        name: None if value is None else str(value) for name, value in (partition or {}).items()
    }


def _added_files(path: str, version: int) -> Iterator[_AddedFile]:
    """What one commit has added."""
    from predicast.errors import PipelineError

    entry = Path(path) / "_delta_log" / f"{version:020}.json"
    try:
        actions = [json.loads(line) for line in entry.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise PipelineError(
            f"version {version} of the Delta table {path} cannot be read: {error}; a stream needs "
            "the log of all versions since its last batch"
        ) from error
    for action in actions:
        removed, added = action.get("remove"), action.get("add")
        if removed and removed.get("dataChange"):
            raise PipelineError(
                f"version {version} of the Delta table {path} removes or changes rows; a stream "
                "reads tables that rows are only added to"
            )
        if added and added.get("dataChange"):
            yield _AddedFile(added["path"], added.get("partitionValues") or {})


def _read(folder: Path, file: _AddedFile, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a file, with the columns that its place stands for."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pq.ParquetFile(folder / unquote(file.path))
    for batch in rows.iter_batches():
        columns = [
            _constant(file.partition[field.name], field.type, batch.num_rows)
            if field.name in file.partition
            else batch.column(field.name).cast(field.type)
            if field.name in batch.schema.names
            else pa.nulls(batch.num_rows, field.type)
            for field in schema
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _constant(value: str | None, kind: pa.DataType, rows: int) -> pa.Array:
    import pyarrow as pa

    return pa.array([value] * rows, pa.string()).cast(kind)
