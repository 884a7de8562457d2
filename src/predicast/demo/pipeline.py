"""One world through the pipeline: Parquet in, ``predicast.spark``, Parquet out.

Each world gets a folder: ``events.parquet`` and ``subscriptions.parquet`` are what goes in,
``deliveries`` is what comes out, one row for each event and subscription that match, with the
event's columns.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from predicast import spark as ps
from predicast.demo.progress import Advance, following_tasks
from predicast.demo.world import SUBSCRIPTION, Outcome, World

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROW_GROUPS: Final = 16  # Spark reads a file in parallel by its row groups


def write_inputs(world: World, folder: Path) -> None:
    """Write the world's events and subscriptions."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = max(1, -(-world.events.num_rows // _ROW_GROUPS))
    pq.write_table(world.events, folder / "events.parquet", row_group_size=rows)
    subscriptions = {
        "id": list(world.subscriptions),
        "expression": list(world.subscriptions.values()),
    }
    pq.write_table(pa.table(subscriptions), folder / "subscriptions.parquet")


def deliver(session: SparkSession, world: World, folder: Path, advance: Advance) -> Outcome:
    """Match the events of the folder against its subscriptions and write the deliveries."""
    started = time.perf_counter()
    subscriptions = ps.compile(session.read.parquet(_path(folder / "subscriptions.parquet")))
    deliveries = ps.match(
        session.read.parquet(_path(folder / "events.parquet")),
        subscriptions,
        event_id=world.event_id,
        intervals=world.intervals,
    )
    with following_tasks(session, advance):
        deliveries.write.mode("overwrite").parquet(_path(folder / "deliveries"))
    seconds = time.perf_counter() - started
    written = pq.read_table(folder / "deliveries", columns=[world.event_id, SUBSCRIPTION])
    return Outcome(world, written, seconds)


def warm_up(session: SparkSession) -> None:
    """Match one event, so that the first world does not pay for the start of Python workers."""
    ps.match(session.range(1), {"all": "id >= 0"}).collect()


def _path(path: Path) -> str:
    return str(path.resolve())
