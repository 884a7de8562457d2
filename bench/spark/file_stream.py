"""A stream that is given events file by file, and delivers each file as a batch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Self

import pyarrow as pa
import pyarrow.parquet as pq

from bench.measuring.processes import tree_seconds
from predicast import spark as ps

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class FileStream:
    """``deliver`` over a folder, with a table of subscriptions of its own."""

    def __init__(
        self, spark: SparkSession, folder: Path, columns: Sequence[str] | None = None
    ) -> None:
        self._spark, self._folder, self._columns = spark, folder, columns
        self._count = 0
        self._events = folder / "events"
        self._events.mkdir()
        self.table = ps.SubscriptionTable(folder / "subscriptions")
        self._delivery: ps.RunningDelivery | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._delivery is not None:
            self._delivery.stop()

    def deliver(self, events: pa.Table) -> tuple[float, float]:
        """Time on the clock and of processors until a batch of these events is delivered."""
        made = self._folder / f"{self._count:06}.parquet"
        pq.write_table(events, made)
        if self._delivery is None:
            self._delivery = self._started(made)
        before, start = tree_seconds(), perf_counter()
        made.rename(self._events / made.name)
        self._delivery.query.processAllAvailable()
        clock, after = perf_counter() - start, tree_seconds()
        self._count += 1
        return clock, clock if before is None or after is None else after - before

    def _started(self, like: Path) -> ps.RunningDelivery:
        schema = self._spark.read.parquet(str(like)).schema
        return ps.deliver(
            self._spark.readStream.schema(schema).parquet(str(self._events)),
            self.table,
            ps.ParquetSink(self._folder / "deliveries"),
            checkpoint=self._folder / "checkpoint",
            columns=self._columns,
            trigger={"processingTime": "0 seconds"},
        )

    def deliveries(self) -> pa.Table:
        """All that was delivered."""
        return pq.read_table(self._folder / "deliveries", partitioning=None)
