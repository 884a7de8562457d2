"""``format("predicast")``: a subscription table or a running broker as DataFrames.

::

    spark.read.format("predicast").load(path)                              the latest version
    spark.read.format("predicast").option("version", 7).load(path)         another
    spark.read.format("predicast").option("since", 5).load(path)           what changed since
    spark.readStream.format("predicast").load(path)                        all of it, then changes
    spark.read.format("predicast").option("url", broker).load()            events that are kept
    spark.readStream.format("predicast").option("url", broker)
        .option("subscription", "cheap").load()                            deliveries
    frame.write.format("predicast").option("url", broker).mode("append").save()

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
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.streaming.datasource import ReadLimit
    from pyspark.sql.types import StructType

    from predicast.spark.broker_sink import Writing
    from predicast.spark.subscription_table.difference import RowChange
    from predicast.spark.subscription_table.files import DataFile
    from predicast.spark.subscription_table.log import TableLog

_SCHEMA: Final = (
    "id string, owner string, expression string, parameters string, dialect string, "
    "version bigint, change string"
)
_OPTIONS: Final = ("path", "version", "timestamp", "since")
_BROKER_OPTIONS: Final = (
    *("url", "token", "subscription", "after"),
    *("maxeventspertrigger", "publisher", "batchsize"),
)
_SPARKS: Final = frozenset({"checkpointlocation", "path"})  # which Spark hands on from its own
_MOST: Final = 10_000  # events of a batch of a stream, unless it is said
_NOTHING: Final = -1  # the version before the first


class SubscriptionsSource(DataSource):
    """The data source: what is read, and how."""

    @classmethod
    def name(cls) -> str:
        """What ``format`` calls it."""
        return "predicast"

    def schema(self) -> str:
        """The columns of the table, and what became of each row; or those of events."""
        if _is_broker(self.options):
            from predicast.spark.broker_source import SCHEMA

            return SCHEMA
        return _SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        """Of a version, or of what changed up to it; or of the events that a broker keeps."""
        if _is_broker(self.options):
            from predicast.spark.broker_source import KeptEventsReader

            asked_broker = _AskedBroker(self.options)
            asked_broker.refuse("subscription", "deliveries are a stream; use readStream")
            return KeptEventsReader(asked_broker.at, asked_broker.number("after", 0))
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
        """Of all that there is, and then of what changes; or of a broker's events."""
        if _is_broker(self.options):
            return _AskedBroker(self.options).stream()
        asked = _Asked(self.options)
        asked.refuse("version", "timestamp")
        log, since = asked.log(), asked.number("since")
        if since is not None:
            log.at(since)  # refuses a version that is none
        return _ChangesStream(asked.path, since)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        """Of events, to a broker."""
        from predicast.spark.broker_sink import EventsWriter

        return EventsWriter(_AskedBroker(self.options).writing(overwrite=overwrite))

    def streamWriter(  # noqa: N802
        self, schema: StructType, overwrite: bool
    ) -> DataSourceStreamArrowWriter:
        """Of events, to a broker."""
        from predicast.spark.broker_sink import EventsStreamWriter

        return EventsStreamWriter(_AskedBroker(self.options).writing(overwrite=overwrite))


def _is_broker(options: Mapping[str, str]) -> bool:
    return any(name.lower() == "url" for name in options)


def _checked_names(options: Mapping[str, str], known: Sequence[str]) -> dict[str, str]:
    from predicast.errors import InvalidOptionError, suggest

    found = {name.lower(): value for name, value in options.items()}
    for name in found:
        if name not in known:
            close = suggest(name, known)
            hint = f"; did you mean {close!r}?" if close else f": it has {', '.join(known)}"
            raise InvalidOptionError(
                f"the source 'predicast' has no option {name!r}{hint}", option=name
            )
    return found


class _AskedBroker:
    """The options of a broker, checked."""

    def __init__(self, options: Mapping[str, str]) -> None:
        from predicast.errors import InvalidOptionError
        from predicast.spark.broker_http import BrokerAt

        ours = {name: value for name, value in options.items() if name.lower() not in _SPARKS}
        self._options = _checked_names(ours, _BROKER_OPTIONS)
        url = self._options.get("url", "")
        if not url.startswith(("http://", "https://")):
            raise InvalidOptionError(
                f'say where the broker is: option("url", "http://localhost:8642"), not {url!r}',
                option="url",
            )
        self.at = BrokerAt(url, self._options.get("token"))

    def number(self, name: str, otherwise: int, least: int = 0) -> int:
        from predicast.errors import InvalidOptionError

        given = self._options.get(name)
        if given is None:
            return otherwise
        if not (given.isascii() and given.isdecimal() and int(given[:18]) >= least):
            raise InvalidOptionError(
                f"{name} is a whole number from {least}, not {given!r}", option=name
            )
        return int(given[:18])

    def refuse(self, name: str, why: str) -> None:
        from predicast.errors import InvalidOptionError

        if name in self._options:
            raise InvalidOptionError(f"{name}: {why}", option=name)

    def stream(self) -> DataSourceStreamReader:
        from predicast.spark.broker_source import DeliveriesStream, KeptEventsStream

        after, most = self.number("after", 0), self.number("maxeventspertrigger", _MOST, 1)
        subscription = self._options.get("subscription")
        if subscription is None:
            return KeptEventsStream(self.at, after, most)
        return DeliveriesStream(self.at, subscription, after, min(most, _MOST))

    def writing(self, *, overwrite: bool) -> Writing:
        import secrets

        from predicast.errors import InvalidOptionError
        from predicast.spark.broker_sink import Writing

        if overwrite:
            raise InvalidOptionError(
                'events are added to what a broker has; use mode("append")', option="mode"
            )
        return Writing(
            self.at,
            self._options.get("publisher", "spark"),
            self.number("batchsize", 1_000, 1),
            secrets.token_hex(8),
        )


class _Asked:
    """The options, checked."""

    def __init__(self, options: Mapping[str, str]) -> None:
        from predicast.errors import InvalidOptionError

        self._options = _checked_names(options, _OPTIONS)
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
