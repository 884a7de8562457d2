"""Reading the rows of a table of subscriptions: on the driver, or, of a large one, on executors.

What a row says is checked and read once; the valid ones make a snapshot, of which an engine is made
(``engine/snapshot/parts.py``). A DataFrame of many rows is cut by ranges of ids, so that rows with
the same id meet; each executor reads a range and sends back its snapshot and what is invalid in it.
The snapshots follow each other in the order of the ids: what comes of them is the same, to the last
byte, as if all rows had been read in one place. Texts in a dialect are read on the driver, where it
is registered.

Before that the rows are counted, which is a job of its own. Spark also draws a sample of the ids to
find the ranges, so the DataFrame is evaluated up to three times; whoever computes it at length
caches it first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from predicast.engine import Engine
from predicast.engine.snapshot.contents import Snapshot, decode, to_bytes
from predicast.engine.snapshot.parts import SnapshotPart, joined
from predicast.errors import ParseError, PredicastError
from predicast.language import Readable
from predicast.language.class_tests import reading_with
from predicast.language.dialect_registry import stated_in
from predicast.language.reading import WHERE, ReadText, as_held, looks_like_a_pattern, stated_by
from predicast.language.time_zones import implied_zone, reading_in
from predicast.model import Absent
from predicast.model.outline import Stated
from predicast.model.vocabulary import Vocabulary
from predicast.spark.portable import portable
from predicast.spark.table_rows import InvalidSubscription, TableRow, TableRows, fill, table_rows
from predicast.spark.tables import chosen, rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from predicast.spark.event_schemas import EventSchema

LARGE: Final = 500_000  # rows that executors read: it pays with a few cores, on two it costs little
_PART: Final = 50_000  # rows that one of them reads at a time
_INVALID: Final = "invalid array<struct<id: string, expression: string, error: string>>"


class ReadRow(NamedTuple):
    """What a row states; its text, if that means the same elsewhere; its dialect, if it has one."""

    stated: Stated
    text: str | None
    dialect: str | None = None

    def subscribed(self) -> Readable:
        """The row's expression for an engine that is to hold it."""
        if self.text is None:
            return self.stated
        return self.text if self.dialect is None else ReadText(self.text, self.dialect, self.stated)


class ReadRows(NamedTuple):
    """What became of the rows of a table."""

    snapshot: Snapshot
    invalid: list[InvalidSubscription]
    rows: int  # all of them


@dataclass(frozen=True)
class RowReading:
    """How rows are read, and for which engine; it travels to executors."""

    matcher: str
    absent: Absent
    vocabulary: Vocabulary | None = None
    time_zone: str | None = None
    events: EventSchema | None = None
    dialect: str | None = None  # of rows that name none

    def here(self, rows: list[TableRow]) -> ReadRows:
        """Read rows in this process."""
        part, count = SnapshotPart(), len(rows)
        reading = TableRows(rows, self.read)
        with self.settings():
            for _, row, read in reading:
                part.add(row.id, row.owner, *read)
        snapshot = part.snapshot(self.matcher, self.absent, self.vocabulary)
        return ReadRows(snapshot, reading.refused(), count)

    def on_executors(self, table: DataFrame, rows: int) -> ReadRows:
        """Read the rows of a table, so many, in Spark's workers."""
        from pyspark.sql.functions import coalesce, col, lit, spark_partition_id

        # Where TableRows has them too: a row without an id is invalid, and is told of in its place.
        id = coalesce(col("id"), lit("None"))
        ranges = table.repartitionByRange(-(-rows // _PART), id)
        parts = ranges.select(spark_partition_id().alias("part"), *table.columns)
        read = parts.mapInArrow(
            portable(_ReadingParts(self)), f"part int, snapshot binary, count long, {_INVALID}"
        ).toArrow()
        return _put_together([ReadRows(*_received(row)) for row in _in_order(read)], self)

    def read(self, row: TableRow) -> ReadRow:
        """What a row states, checked, and its text, which explanations need."""
        read = self._stated(row)
        if self.events is not None:
            self.events.check(read.stated)
        return read

    def _stated(self, row: TableRow) -> ReadRow:
        expression = as_held(row.expression)
        is_text = isinstance(expression, str)
        dialect = self.dialect if row.dialect is None else row.dialect
        if is_text and dialect not in {None, WHERE}:
            return ReadRow(stated_in(dialect, expression), expression, dialect)
        try:
            stated, _ = stated_by(expression)
        except ParseError as error:
            if is_text and looks_like_a_pattern(expression):
                error.message += (
                    "\n  it looks like a graph pattern; if events are graphs, say graphs=True"
                )
            raise
        return ReadRow(stated, expression if is_text and implied_zone() is UTC else None)

    def settings(self) -> ExitStack:
        """Have texts read in the time zone and by the names that were given, within a block."""
        with ExitStack() as stack:
            stack.enter_context(reading_in(self.time_zone))
            stack.enter_context(reading_with(self.vocabulary))
            return stack.pop_all()


@dataclass(frozen=True)
class _ReadingParts:
    """What runs in Spark's workers: the rows of a range in, one row with all that was read out."""

    reading: RowReading

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        part, rows = 0, list[TableRow]()
        for batch in batches:
            if batch.num_rows:
                part = batch.column(0)[0].as_py()
                rows += [TableRow(*row) for row in rows_of(batch.columns[1:])]
        if not rows:
            return
        snapshot, invalid, count = self.reading.here(rows)
        names = ["part", "snapshot", "count", "invalid"]
        text = pa.string()
        kind = pa.list_(pa.struct([("id", text), ("expression", text), ("error", text)]))
        arrays = [
            pa.array([part], pa.int32()),
            pa.array([to_bytes(snapshot)], pa.binary()),
            pa.array([count], pa.int64()),
            pa.array([[each._asdict() for each in invalid]], kind),
        ]
        yield pa.RecordBatch.from_arrays(arrays, names=names)


class EngineOfTable(NamedTuple):
    """An engine with the valid rows of a table."""

    engine: Engine
    invalid: list[InvalidSubscription]
    rows: int  # all of them
    session: SparkSession | None  # in which they were a DataFrame


class ReadTable(NamedTuple):
    """A DataFrame with the names of its columns, an engine or pairs."""

    subscriptions: Any
    id: str
    expression: str
    owner: str | None
    dialect: str | None

    def read(self, reading: RowReading) -> EngineOfTable:
        """An engine of the rows that are valid; where the matcher refuses some, of the others."""
        none = Engine(matcher=reading.matcher, absent=reading.absent, ontology=reading.vocabulary)
        read, session = self._rows(reading)
        try:
            engine = Engine.from_bytes(to_bytes(read.snapshot))
        except PredicastError:  # the matcher's, of any one of them: which, and what of the others?
            rows, session = table_rows(*self)
            with reading.settings():
                invalid = fill(none, rows, lambda row: reading.read(row).subscribed())
            return EngineOfTable(none, invalid, len(rows), session)
        return EngineOfTable(engine, read.invalid, read.rows, session)

    def _rows(self, reading: RowReading) -> tuple[ReadRows, SparkSession | None]:
        from pyspark.sql import DataFrame

        if isinstance(self.subscriptions, DataFrame) and self._is_where(reading):
            table = chosen(*self)
            count = table.count()
            if count >= LARGE:
                return reading.on_executors(table, count), table.sparkSession
        rows, session = table_rows(*self)
        return reading.here(rows), session

    def _is_where(self, reading: RowReading) -> bool:
        """Whether all texts are of the language that executors know; of others they may not."""
        return self.dialect is None and reading.dialect in {None, WHERE}


def _in_order(read: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read.to_pylist()
    return sorted(rows, key=lambda row: int(row["part"]))


def _received(row: dict[str, Any]) -> tuple[Snapshot, list[InvalidSubscription], int]:
    # Copied: what was sent cannot be written to, and nobody says that nobody will.
    snapshot = decode(np.frombuffer(row["snapshot"], np.uint8).copy())
    return snapshot, [InvalidSubscription(**each) for each in row["invalid"]], row["count"]


def _put_together(parts: list[ReadRows], reading: RowReading) -> ReadRows:
    """All parts as one; the table may have become empty since its rows were counted."""
    if not parts:
        return reading.here([])
    invalid = [each for part in parts for each in part.invalid]
    snapshots = [part.snapshot for part in parts]
    return ReadRows(joined(snapshots), invalid, sum(part.rows for part in parts))
