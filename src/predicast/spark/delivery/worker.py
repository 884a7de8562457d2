"""What runs in Spark's Python workers to deliver: match, write to drafts, say what was written.

::

    replicated    events ── Delivering ──────────────────────────────────────────> summaries

    in shards     events ── RoutingDeliveries ── events, each for a shard ──┐
                              │                                             ├─ DeliveringShards
                              └───────────────── summaries ─────────────────┘       └─> summaries

A batch passes through the workers once, in shards twice, and nothing but a few numbers comes back,
so that the driver holds no event and no delivery.

In shards the first pass decides all that is about an event as a whole: whether the source could
read it, whether it can be compared, and that it is one event, however many shards it visits. It
writes the dead letters, and sends a summary along with its events, as one more row; the second pass
hands that on. So a batch is one query, and what it sums up comes from attempts that count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.engine import Engine
from predicast.spark.answers import IDS, Answer
from predicast.spark.delivery.drafts import Recipients, Writers, stored_columns
from predicast.spark.delivery.intake import Intake
from predicast.spark.delivery.job import Job
from predicast.spark.delivery.summary import Summary, sent_back
from predicast.spark.image import EngineFile, EngineImage
from predicast.spark.workers import SHARDS, by_shard, in_shard, shards_of

_ROWS: Final = 1 << 16  # deliveries that are made at a time: each repeats its event's columns
# Packed: Spark takes ten times as long to send rows with a column of structs of lists, all null.
_SUMMARY: Final = pa.field("summary", pa.binary())


@dataclass(frozen=True, slots=True)
class Delivering:
    """Matches events and writes what they match, and what cannot be matched."""

    image: EngineImage | EngineFile
    job: Job

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        summary = Summary()
        with self.image.lent() as answers, Writers(self.job.drafts) as writers:
            intake = Intake(self.job, answers, writers, summary)
            outlet = _Outlet(self.job, writers, summary)
            for batch in batches:
                for events, answer in intake.answered(batch):
                    outlet.deliver(events, answer, answers.engine)
            yield sent_back(summary.told(writers.finished()))


@dataclass(frozen=True, slots=True)
class RoutingDeliveries:
    """Adds to events the shards that they visit; the last row of a task is its summary."""

    router: EngineImage
    job: Job

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        summary = Summary()
        schema: pa.Schema | None = None
        with self.router.lent() as answers, Writers(self.job.drafts, "dead letters") as writers:
            intake = Intake(self.job, answers, writers, summary)
            for batch in batches:
                schema = schema or _routed_schema(batch.schema)
                for events, answer in intake.answered(batch):
                    added = [shards_of(answer), pa.nulls(len(events), _SUMMARY.type)]
                    yield pa.RecordBatch.from_arrays([*events.columns, *added], schema=schema)
            if schema is not None:
                packed = msgspec.json.encode(summary.told(writers.finished()))
                added = [pa.array([[0]], SHARDS.type), pa.array([packed], _SUMMARY.type)]
                nothing = [pa.nulls(1, each.type) for each in schema][: -len(added)]
                yield pa.RecordBatch.from_arrays([*nothing, *added], schema=schema)


def _routed_schema(events: pa.Schema) -> pa.Schema:
    """That of the events, which may be null in the row of a summary, and what is added to it."""
    return pa.schema([*(field.with_nullable(True) for field in events), SHARDS, _SUMMARY])


@dataclass(frozen=True, slots=True)
class DeliveringShards:
    """Matches events against the shard that their last column names, and writes what they match.

    The column before has the summaries of those who sent them.
    """

    images: tuple[EngineImage | EngineFile, ...]
    job: Job

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        summary = Summary()
        with Writers(self.job.drafts, "deliveries") as writers:
            outlet = _Outlet(self.job, writers, summary)
            for batch in batches:
                *_, packed, shard = batch.columns
                if packed.null_count < len(packed):
                    yield sent_back(*map(msgspec.json.decode, packed.drop_null().to_pylist()))
                    shard = pc.if_else(packed.is_null(), shard, None)
                for number, events in by_shard(batch, shard):
                    if number is not None:
                        self._deliver(number, events, outlet)
            yield sent_back(summary.told(writers.finished()))

    def _deliver(self, number: int, events: pa.RecordBatch, outlet: _Outlet) -> None:
        attributes, asked = self.job.reader.attributes(events), in_shard(self.job.asked)
        with self.images[number].lent() as answers:
            for answer in answers.of(attributes, asked, self.job.bounds):
                piece = events.slice(answer.first, answer.end - answer.first)
                outlet.deliver(piece, answer, answers.engine)


class _Outlet:
    """Writes what events match."""

    def __init__(self, job: Job, writers: Writers, summary: Summary) -> None:
        self._job = job
        self._writers = writers
        self._summary = summary
        self._names = [job.names[place] for place in job.delivered]

    def deliver(self, piece: pa.RecordBatch, answer: Answer, engine: Engine) -> None:
        """Write the matches of some events in an engine."""
        self._summary.count(answer.ids)
        columns = [piece.column(place) for place in self._job.delivered]
        if self._job.output == "array":
            self._write_lists(columns, answer)
            return
        events = np.repeat(np.arange(piece.num_rows), np.diff(answer.offsets))
        for first in range(0, len(events), _ROWS):
            rows = pa.array(events[first : first + _ROWS])
            ids = answer.ids.slice(first, _ROWS)
            taken = [column.take(rows) for column in columns]
            table = stored_columns([*self._names, "subscription"], [*taken, ids])
            self._writers.write("deliveries", table, Recipients(ids, engine))

    def _write_lists(self, columns: list[Any], answer: Answer) -> None:
        rows = pa.array(np.flatnonzero(answer.has_any()))
        if not len(rows):
            return
        taken = [column.take(rows) for column in columns]
        lists = answer.lists_of_some().cast(IDS)
        table = stored_columns([*self._names, "subscriptions"], [*taken, lists])
        self._writers.write("deliveries", table, None)
