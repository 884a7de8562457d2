"""Rows as events of a running broker, each published once however often a task is tried.

An event is named by the query, the batch, the partition and the row, so that what is sent again is
known to the broker for a repeat, as long as a task that is tried again has the same rows in the
same order. A write that is no stream has a name of its own in the place of query and batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from predicast.spark.broker_http import BrokerAt, HttpBroker

if TYPE_CHECKING:
    import pyarrow as pa

# What Spark calls them among a task's properties.
_QUERY: Final = "sql.streaming.queryId"
_BATCH: Final = "streaming.sql.batchId"


@dataclass(frozen=True, slots=True)
class Writing:
    """Where rows go, as whose, and how many at a time; ``name`` is for a write without a query."""

    at: BrokerAt
    publisher: str
    rows: int
    name: str


class EventsWriter(DataSourceArrowWriter):
    """Publishes the rows of a frame."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return _written(iterator, self._writing)


class EventsStreamWriter(DataSourceStreamArrowWriter):
    """Publishes the rows of a stream."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return _written(iterator, self._writing)


def _written(batches: Iterator[pa.RecordBatch], writing: Writing) -> WriterCommitMessage:
    from pyspark import TaskContext

    task = TaskContext.get()
    query = batch = None
    partition = 0
    if task is not None:
        query, batch = task.getLocalProperty(_QUERY), task.getLocalProperty(_BATCH)
        partition = task.partitionId()
    begin = writing.name if query is None or batch is None else f"{query}/{batch}"
    with HttpBroker(writing.at) as broker:
        for first, data in _portions(batches, writing.rows):
            broker.publish_arrow(data, f"{begin}/{partition}/{first}", writing.publisher)
    return WriterCommitMessage()


def _portions(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[tuple[int, bytes]]:
    """So many rows at a time, wherever record batches end, each with the number of its first."""
    import pyarrow as pa

    first, waiting = 0, None
    for batch in batches:
        table = pa.Table.from_batches([batch])
        waiting = table if waiting is None else pa.concat_tables([waiting, table])
        while len(waiting) >= rows:
            yield first, _stream(waiting.slice(0, rows))
            first, waiting = first + rows, waiting.slice(rows)
    if waiting is not None and len(waiting):
        yield first, _stream(waiting)


def _stream(table: pa.Table) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
