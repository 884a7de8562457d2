"""``BatchRunner``: what becomes of one micro-batch, the first time and every other time.

1. The log says against which version the batch is matched, and when its events arrived. If it is
   new, the latest version is noted, on disk.
2. Workers match the events and write what they match into drafts (``worker.py``).
3. The counts are noted.
4. Every sink that does not have the batch takes its draft, in one step each.
5. The batch is noted as finished.

Whatever happens in between, the batch is asked for again and comes out the same: 1 is decided once,
2 depends on nothing else, 4 is done once.

It runs on the driver, which with Spark Connect is a Python process of the server's, and it is
pickled to get there.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from predicast.engine.asking import OnInvalid
from predicast.errors import DamagedCheckpointError, SubscriptionTableError
from predicast.matching.batches.interval_columns import IntervalColumns
from predicast.spark.compiled import CompiledSubscriptions
from predicast.spark.compiled import compile as compiled_from
from predicast.spark.delivery.batch_log import REMEDY, BatchLog, BatchRecord, Counts
from predicast.spark.delivery.checkpoint import Checkpoint
from predicast.spark.delivery.columns import DeliveryColumns
from predicast.spark.delivery.passes import delivered
from predicast.spark.delivery.sinks import Batch, Sink, Written
from predicast.spark.matching import arrival_of, intervals_in, shipped
from predicast.spark.placement import Placement, Strategy
from predicast.spark.unpacked_files import remove_all_but_latest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from predicast.engine import Engine
    from predicast.spark.delivery.drafts import Content, Draft, DraftFile
    from predicast.spark.delivery.job import Output

OnInvalidSubscription: TypeAlias = Literal["raise", "quarantine"]

_log: Final = logging.getLogger(__name__)
_MOST_MATCHED = 20
_KEPT_VERSIONS = 2  # in files: some attempt of the batch before may still read one


class VersionView(Protocol):
    """The subscriptions of one version."""

    @property
    def version(self) -> int:
        """Its number."""

    def engine(self) -> Engine:
        """An engine with them."""

    def compiled(self, spark: SparkSession, *, strategy: Strategy) -> CompiledSubscriptions:
        """The same, ready to be matched on executors."""


class VersionedTable(Protocol):
    """Subscriptions whose every version can be had again."""

    @property
    def version(self) -> int:
        """The latest."""

    def at(self, version: int) -> VersionView:
        """One of them."""


class Choices(NamedTuple):
    """How events are read and matched; the options of ``deliver``."""

    columns: DeliveryColumns
    intervals: IntervalColumns
    output: Output
    on_invalid: OnInvalid
    on_invalid_subscription: OnInvalidSubscription
    strategy: Strategy
    now: datetime | str | None


class _Place(NamedTuple):
    """A sink, what it takes, and where workers write that."""

    sink: Sink
    content: Content
    folder: Path


@dataclass
class BatchRunner:
    """The function that Spark calls with each batch; what it keeps between two is not pickled."""

    table: VersionedTable
    sinks: tuple[Sink, ...]
    dead_letters: tuple[Sink, ...]
    checkpoint: Path
    choices: Choices
    _log: BatchLog | None = field(default=None, init=False, repr=False)
    _latest: tuple[int, CompiledSubscriptions] | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_log": None, "_latest": None}

    def __call__(self, events: DataFrame, number: int) -> None:
        log = self.opened(number)
        record = self._begun(log, number)
        if record.finished:
            return
        batch = Batch(log.stream, number)
        places = self._places(batch)
        if places:
            record, written = self._written(events, record, batch, places)
            log.amend(record)
            for place, each in zip(places, written, strict=True):
                place.sink.commit(each)
        log.finish(record)

    def opened(self, running: int | None = None) -> BatchLog:
        """The log, once all is found to be in order; ``running`` is a batch that has begun."""
        if self._log is None:
            log = Checkpoint(self.checkpoint).opened_log(running)
            for sink in (*self.sinks, *self.dead_letters):
                sink.open(log.stream)
            self._log = log
        return self._log

    def _begun(self, log: BatchLog, number: int) -> BatchRecord:
        """What is noted of a batch, now or when it first began."""
        events = Checkpoint(self.checkpoint).events_of(number)
        record = log.find(number)
        if record is None:
            version = self.table.version
            if log.last is not None and version < log.last.version:
                raise SubscriptionTableError(
                    f"the table of subscriptions is at version {version}, and batch "
                    f"{log.last.batch} was matched against version {log.last.version}: it has lost "
                    "its latest changes; restore it",
                )
            record = BatchRecord(number, version, datetime.now(UTC), events)
            log.begin(record)
        elif record.events != events:
            raise DamagedCheckpointError(
                f"batch {number} began with other events than those that Spark gives now: the "
                f"checkpoint {self.checkpoint} has lost some of its files; {REMEDY}",
                path=str(self.checkpoint),
            )
        return record

    def _places(self, batch: Batch) -> list[_Place]:
        """Where workers write, of every sink that does not have the batch."""
        scratch = Checkpoint(self.checkpoint).log_folder / "drafts"
        contents: list[tuple[Content, tuple[Sink, ...]]] = [
            ("dead letters", self.dead_letters),
            ("deliveries", self.sinks),
        ]
        return [
            _Place(sink, content, sink.draft(batch, scratch))
            for content, sinks in contents
            for sink in sinks
            if not sink.has(batch)
        ]

    def _written(
        self, events: DataFrame, record: BatchRecord, batch: Batch, places: Sequence[_Place]
    ) -> tuple[BatchRecord, list[Written]]:
        """Have workers match the events and write what they match."""
        from predicast.spark.delivery.drafts import Draft, DraftFile

        started = time.monotonic()
        session = events.sparkSession
        compiled = self._compiled(session, events.schema, record.version)
        drafts = tuple(
            Draft(str(place.folder), place.content, place.sink.by_owner) for place in places
        )
        done = self._run(events, compiled, record, drafts)
        most: Counter[str] = Counter()
        files: list[DraftFile] = []
        for row in done:
            most.update(dict(row["most_matched"]))
            files += [DraftFile(*file) for file in row["files"]]
        counts = Counts(*(sum(row[name] for row in done) for name in Counts.__struct_fields__))
        amended = msgspec.structs.replace(
            record,
            counts=counts,
            seconds=time.monotonic() - started,
            left_out=compiled.left_out,
            placement=compiled.placement.summary(),
            most_matched=tuple(most.most_common(_MOST_MATCHED)),
        )
        written = [
            self._for_sink(session, record, batch, place, position, files)
            for position, place in enumerate(places)
        ]
        return amended, written

    def _run(
        self,
        events: DataFrame,
        compiled: CompiledSubscriptions,
        record: BatchRecord,
        drafts: tuple[Draft, ...],
    ) -> list[Any]:
        from predicast.spark.answers import Asked
        from predicast.spark.delivery.job import Job
        from predicast.spark.workers import AttributeReader

        choices = self.choices
        columns = choices.columns
        now = choices.now or record.at
        kept = columns.kept
        intervals = intervals_in(columns.schema, compiled, choices.intervals)
        shipment = shipped(events, columns.schema, kept, compiled, intervals, now)
        in_order = choices.output == "array"
        job = Job(
            reader=AttributeReader(shipment.sources, intervals),
            names=columns.names,
            delivered=columns.delivered,
            unreadable=columns.unreadable,
            output=choices.output,
            asked=Asked(intervals, choices.on_invalid, arrival_of(compiled), in_order),
            drafts=drafts,
            sets_apart=bool(self.dead_letters),
        )
        done: list[Any] = delivered(shipment.columns, compiled, job).collect()
        return done

    def _compiled(
        self, session: SparkSession, schema: StructType, version: int
    ) -> CompiledSubscriptions:
        """The subscriptions of a version, kept for the batches that follow."""
        if self._latest is None or self._latest[0] != version:
            compiled = self._in_files(self._compiled_anew(session, schema, version))
            _log.info("version %d, %s", version, compiled.placement)
            self._latest = version, compiled
        return self._latest[1]

    def _compiled_anew(
        self, session: SparkSession, schema: StructType, version: int
    ) -> CompiledSubscriptions:
        choices = self.choices
        strategy = choices.strategy if choices.output == "rows" else "replicate"
        view = self.table.at(version=version)
        if choices.on_invalid_subscription == "quarantine":
            compiled = compiled_from(
                view.engine(),
                events=schema,
                intervals=choices.intervals,
                on_invalid="quarantine",
                strategy=strategy,
            )
        else:
            compiled = view.compiled(session, strategy=strategy)
        if strategy == choices.strategy:
            return compiled
        return replace(compiled, placement=Placement("replicate", "output='array' needs it"))

    def _in_files(self, compiled: CompiledSubscriptions) -> CompiledSubscriptions:
        """The same in files: a batch of a few events need not carry all subscriptions along."""
        try:
            held = compiled.in_folder(Checkpoint(self.checkpoint).log_folder / "engines")
        except OSError:  # no room, say; then they travel
            return compiled
        files = held.files()
        remove_all_but_latest(files, _KEPT_VERSIONS * len(files))
        return held

    def _for_sink(
        self,
        session: SparkSession,
        record: BatchRecord,
        batch: Batch,
        place: _Place,
        position: int,
        files: Sequence[DraftFile],
    ) -> Written:
        mine = tuple(file for file in files if file.draft == position)
        return Written(
            batch,
            record.version,
            place.folder,
            mine,
            self._frame(session, place, [str(place.folder / file.name) for file in mine]),
        )

    def _frame(
        self, session: SparkSession, place: _Place, paths: list[str]
    ) -> Callable[[], DataFrame]:
        schema = self.choices.columns.struct(place.content, self.choices.output)

        def frame() -> DataFrame:
            if not paths:
                return session.createDataFrame([], schema)
            return session.read.schema(schema).parquet(*paths)

        return frame
