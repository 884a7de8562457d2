"""``RunningDelivery``: a stream that is running, and how it fares."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.spark.delivery.batch_log import BatchLog, BatchRecord
from predicast.spark.delivery.checkpoint import Checkpoint
from predicast.spark.delivery.stopped import is_not_connected, told

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from predicast.spark.delivery.batches import VersionedTable

_RECENT: Final = 10  # batches that rates are taken from
_STARTS: Final = 3  # of a stream whose Python is not there in time


class Progress(NamedTuple):
    """How a stream fares: the latest batch, all so far, and rates over the last few batches."""

    active: bool
    batch: int | None  # the latest that was delivered
    version: int | None  # the table's, that it was matched against
    versions_behind: int | None  # how many the table has had since
    lag_s: float | None  # how long events have waited, or did, from their batch's begin to delivery
    batches: int
    events: int
    matches: int
    dead_letters: int
    invalid: int
    left_out: int
    events_per_s: float | None
    matches_per_s: float | None
    most_matched: tuple[tuple[str, int], ...]  # over the last few batches, the most first
    placement: str | None  # where subscriptions are held, and why there


class RunningDelivery:
    """A stream of deliveries; what ``deliver`` returns. ``query`` is Spark's own handle."""

    def __init__(self, query: StreamingQuery, checkpoint: Path, table: VersionedTable) -> None:
        self.query = query
        self._log_folder = Checkpoint(checkpoint).log_folder
        self._table = table

    @property
    def is_active(self) -> bool:
        """Whether it is running."""
        return bool(self.query.isActive)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it ends, and tell whether it has; raise what made it fail."""
        from pyspark.errors import StreamingQueryException

        try:
            if timeout_s is None:
                self.query.awaitTermination()
                return True
            return bool(self.query.awaitTermination(timeout_s))  # type: ignore[arg-type]
        except StreamingQueryException as error:
            raise told(error) from error

    def stop(self) -> None:
        """End it. What is delivered stays whole, and the next start goes on from there."""
        self.query.stop()

    def progress(self) -> Progress:
        """How it fares, from the log of its batches.

        With Spark Connect the log is the server's; where it cannot be seen from here there are no
        figures.
        """
        log = BatchLog.read(self._log_folder) if BatchLog.exists(self._log_folder) else None
        records = () if log is None else log.records
        finished = [each for each in records if each.finished]
        last = finished[-1] if finished else None
        recent = finished[-_RECENT:]
        seconds = sum(each.seconds for each in recent)
        most: Counter[str] = Counter()
        for each in recent:
            most.update(dict(each.most_matched))
        totals = None if log is None else log.totals
        return Progress(
            active=self.is_active,
            batch=None if last is None else last.batch,
            version=None if last is None else last.version,
            versions_behind=None if last is None else self._table.version - last.version,
            lag_s=_lag(records),
            batches=0 if log is None else log.batches,
            events=0 if totals is None else totals.events,
            matches=0 if totals is None else totals.matches,
            dead_letters=0 if totals is None else totals.dead_letters,
            invalid=0 if totals is None else totals.invalid,
            left_out=0 if last is None else last.left_out,
            events_per_s=sum(e.counts.events for e in recent) / seconds if seconds else None,
            matches_per_s=sum(e.counts.matches for e in recent) / seconds if seconds else None,
            most_matched=tuple(most.most_common(10)),
            placement=last.placement or None if last is not None else None,
        )


def _lag(records: tuple[BatchRecord, ...]) -> float | None:
    if not records:
        return None
    last = records[-1]
    return last.seconds if last.finished else (datetime.now(UTC) - last.at).total_seconds()


def started(writer: DataStreamWriter) -> StreamingQuery:
    """Start a stream.

    On Spark Connect the Python that runs batches has ten seconds to be there, which no setting
    changes, and on a busy machine takes longer to import PySpark. No batch has begun by then, so it
    is tried again.
    """
    from pyspark.errors import PySparkException

    for left in reversed(range(_STARTS)):
        try:
            return writer.start()
        except PySparkException as error:
            if not (left and is_not_connected(error)):
                raise told(error) from error
    raise AssertionError("the last start is answered or raises")
