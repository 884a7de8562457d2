"""``format("predicast")``: the rows and the changes of a subscription table as DataFrames.

::

    spark.read.format("predicast").load(path)                              the latest version
    spark.read.format("predicast").option("version", 7).load(path)         another
    spark.read.format("predicast").option("since", 5).load(path)           what changed since
    spark.readStream.format("predicast").load(path)                        all of it, then changes

Columns are those of the table, then ``version`` and ``change``: ``subscribed``, ``changed``, or
``unsubscribed``, of which the row before is given. Of a version that is read as a whole all rows
are subscribed. A stream begins with the whole table, or after the version ``since``; each of its
batches is the net effect of the versions it spans. A batch that is replayed has the same rows.

Any reader of Delta tables can read the rows too. This one needs no JAR, and knows what changed.

PySpark imports this module by itself, whoever starts a session, to see which sources there are: it
imports no more than that takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.streaming.datasource import ReadLimit
    from pyspark.sql.types import StructType

    from predicast.spark.subscription_table.difference import RowChange
    from predicast.spark.subscription_table.files import DataFile
    from predicast.spark.subscription_table.log import TableLog

_SCHEMA: Final = (
    "id string, owner string, expression string, parameters string, dialect string, "
    "version bigint, change string"
)
_OPTIONS: Final = ("path", "version", "timestamp", "since")
_NOTHING: Final = -1  # the version before the first


class SubscriptionsSource(DataSource):
    """The data source: what is read, and how."""

    @classmethod
    def name(cls) -> str:
        """What ``format`` calls it."""
        return "predicast"

    def schema(self) -> str:
        """The columns of the table, and what became of each row."""
        return _SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        """Of a version, or of what changed up to it."""
        asked = _Asked(self.options)
        log = asked.log()
        version = asked.number("version")
        if asked.get("timestamp") is not None:
            version = asked.table().at(version, timestamp=asked.get("timestamp")).version
        version = log.latest_number() if version is None else version
        since = asked.number("since")
        if since is not None:
            return _ChangesReader(asked.path, since, version)
        return _RowsReader(asked.path, version, log.at(version).files)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802  # Spark’s
        """Of all that there is, and then of what changes."""
        asked = _Asked(self.options)
        asked.refuse("version", "timestamp")
        log, since = asked.log(), asked.number("since")
        if since is not None:
            log.at(since)  # refuses a version that is none
        return _ChangesStream(asked.path, since)


class _Asked:
    """The options, checked."""

    def __init__(self, options: Mapping[str, str]) -> None:
        from predicast.errors import InvalidOptionError, suggest

        self._options = {name.lower(): value for name, value in options.items()}
        for name in self._options:
            if name not in _OPTIONS:
                close = suggest(name, _OPTIONS)
                hint = f"; did you mean {close!r}?" if close else f": it has {', '.join(_OPTIONS)}"
                raise InvalidOptionError(
                    f"the source 'predicast' has no option {name!r}{hint}", option=name
                )
        if "path" not in self._options:
            raise InvalidOptionError(
                "say where the subscription table is: load(path)", option="path"
            )
        self.path = self._options["path"]

    def get(self, name: str) -> str | None:
        return self._options.get(name)

    def number(self, name: str) -> int | None:
        from predicast.errors import InvalidOptionError

        given = self.get(name)
        if given is None:
            return None
        try:
            return int(given)
        except ValueError:
            raise InvalidOptionError(
                f"{name} is the number of a version, not {given!r}", option=name
            ) from None

    def refuse(self, *names: str) -> None:
        from predicast.errors import InvalidOptionError

        for name in names:
            if name in self._options:
                raise InvalidOptionError(
                    f"a stream goes on for ever, so that it has no {name}; 'since' is the version "
                    "to begin after",
                    option=name,
                )

    def table(self) -> Any:
        from predicast.spark.subscription_table import SubscriptionTable

        return SubscriptionTable(self.path, create=False)

    def log(self) -> TableLog:
        from predicast.spark.subscription_table.log import TableLog

        return TableLog(self.table().path)


class _FilePartition(InputPartition):
    """One data file of a version."""

    def __init__(self, file: DataFile) -> None:
        super().__init__(file)
        self.file = file


class _RowsReader(DataSourceReader):
    """Reads a version, a task for each of its files."""

    def __init__(self, path: str, version: int, files: Sequence[DataFile]) -> None:
        self._path = path
        self._version = version
        self._files = files

    def partitions(self) -> Sequence[InputPartition]:
        return [_FilePartition(file) for file in self._files] or [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from predicast.spark.subscription_table.files import DataFiles, folder_of

        if not isinstance(partition, _FilePartition):
            return
        rows = DataFiles(folder_of(self._path)).read(partition.file)
        size = len(rows)
        number = pa.array([self._version] * size, pa.int64())
        rows = rows.append_column("version", number)
        rows = rows.append_column("change", pa.array(["subscribed"] * size, pa.string()))
        yield from rows.combine_chunks().to_batches()


class _ChangesPartition(InputPartition):
    """What changed between two versions."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__((before, after))
        self.before, self.after = before, after


class _ChangesReader(DataSourceReader):
    """Reads what changed between two versions."""

    def __init__(self, path: str, before: int, after: int) -> None:
        self._path = path
        self._between = _ChangesPartition(before, after)

    def partitions(self) -> Sequence[InputPartition]:
        return [self._between]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        assert isinstance(partition, _ChangesPartition)
        return _changes(self._path, partition.before, partition.after)


class _ChangesStream(DataSourceStreamReader):
    """Reads what changes, batch by batch; an offset is the version up to which all was read."""

    def __init__(self, path: str, since: int | None) -> None:
        self._path = path
        self._since = _NOTHING if since is None else since

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"version": self._since}

    def latestOffset(  # noqa: N802
        self, start: dict[str, int], limit: ReadLimit
    ) -> dict[str, int]:
        from predicast.spark.subscription_table.files import folder_of
        from predicast.spark.subscription_table.log import TableLog

        latest = TableLog(folder_of(self._path)).latest_number()
        return {"version": max(latest, start["version"])}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        if start == end:
            return []
        return [_ChangesPartition(start["version"], end["version"])]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        assert isinstance(partition, _ChangesPartition)
        return _changes(self._path, partition.before, partition.after)


def _changes(path: str, before: int, after: int) -> Iterator[tuple[Any, ...]]:
    """The rows of what changed."""
    from predicast.spark.subscription_table import SubscriptionTable

    table = SubscriptionTable(path, create=False)
    if before == _NOTHING:
        for row in table.at(after).rows():
            yield (*row, after, "subscribed")
        return
    for change in table.row_changes(before, after):
        yield _changed(change, after)


def _changed(change: RowChange, version: int) -> tuple[Any, ...]:
    before, after = change.before, change.after
    if after is None:
        assert before is not None
        return (*before, version, "unsubscribed")
    return (*after, version, "subscribed" if before is None else "changed")
