"""A driver that writes a subscription's deliveries into a Delta table, and may fall on the way.

As a program it falls as a machine does: ``python -m tests.spark.broker_driver URL FOLDER before 1``
ends without a word before the second batch is written, ``after`` when it is, but Spark has not
committed it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from pyspark.sql import DataFrame, SparkSession

SUBSCRIPTION = "large"
_APPLICATION = "deliveries"


def positions(folder: Path) -> list[int]:
    """What the table has."""
    found = DeltaTable(folder / "table").to_pyarrow_table(columns=["position"])
    return sorted(found["position"].to_pylist())


def deliver(
    spark: SparkSession,
    url: str,
    folder: Path,
    most: int,
    fall: Callable[[str, int], None],
) -> None:
    """Write all that waits, batch by batch, each in one transaction with the batch's number."""

    def write(frame: DataFrame, batch: int) -> None:
        fall("before", batch)
        table = folder / "table"
        last = None
        if DeltaTable.is_deltatable(str(table)):
            last = DeltaTable(table).transaction_version(_APPLICATION)
        if last is None or last < batch:
            done = CommitProperties(app_transactions=[Transaction(_APPLICATION, batch)])
            rows = frame.select("position", "id", "body").toArrow()
            write_deltalake(table, rows, mode="append", commit_properties=done)
        fall("after", batch)

    stream = spark.readStream.format("predicast").option("url", url)
    stream = stream.option("subscription", SUBSCRIPTION).option("maxEventsPerTrigger", most)
    writer = stream.load().writeStream.foreachBatch(write)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()


def main(url: str, folder: str, when: str, which: str) -> None:
    def fall(now: str, batch: int) -> None:
        if (now, batch) == (when, int(which)):
            os.kill(os.getpid(), signal.SIGKILL)

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # which has this package
    settings: dict[str, Any] = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1"}
    session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    deliver(session, url, Path(folder), 3, fall)


if __name__ == "__main__":
    main(*sys.argv[1:])
