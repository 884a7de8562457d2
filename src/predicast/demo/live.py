"""A world as it happens: events arrive in parts, subscriptions come and go, deliveries come out.

The events of a world are put into a folder part by part, and before each part some subscriptions of
a table are withdrawn and others made. A stream delivers: each part is matched against the version
that holds when it arrives. It ends by itself when the last part is delivered. Its folder is
``live``: ``events`` and ``subscriptions`` go in, ``deliveries`` (a Delta table) comes out.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow.parquet as pq

from predicast import spark as ps
from predicast.demo.progress import Advance
from predicast.demo.world import World
from predicast.engine import Operation, Subscribe, Unsubscribe
from predicast.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTS: Final = 6
_TURNOVER: Final = 10  # one subscription in so many goes with each part, and another comes
_LOOK_S: Final = 0.1
_PATIENCE_S: Final = 300  # for one part


class StreamPart(NamedTuple):
    """What one part of the events came to."""

    version: int
    changes: int
    events: int
    matches: int
    seconds: float  # from its arrival to its delivery


class LiveOutcome(NamedTuple):
    """A stream that has ended."""

    world: World
    parts: list[StreamPart]


def deliver_live(
    session: SparkSession, world: World, folder: Path, advance: Advance
) -> LiveOutcome:
    """Have a world happen, part by part."""
    shutil.rmtree(folder, ignore_errors=True)
    events = folder / "events"
    events.mkdir(parents=True)
    table = ps.SubscriptionTable(folder / "subscriptions")
    turnover = _changes(world)
    table.apply(next(turnover))
    rows = -(-world.events.num_rows // PARTS)
    _arrive(world, events, folder, range(rows))
    delivery = ps.deliver(
        session.readStream.schema(session.read.parquet(str(events)).schema)
        .option("maxFilesPerTrigger", "1")
        .parquet(str(events)),
        table,
        ps.DeltaSink(folder / "deliveries"),
        checkpoint=folder / "checkpoint",
        intervals=world.intervals,
    )
    parts: list[StreamPart] = []
    changes = 0
    try:
        for number in range(PARTS):
            if number:
                window = next(turnover)
                changes = len(window)
                table.apply(window)
                _arrive(world, events, folder, range(number * rows, (number + 1) * rows))
            parts.append(_delivered(delivery, parts, changes))
            advance((number + 1) / PARTS)
    finally:
        delivery.stop()
    return LiveOutcome(world, parts)


def _arrive(world: World, events: Path, folder: Path, rows: range) -> None:
    """Put a part of the events where the stream finds it, whole."""
    draft = folder / "part.parquet"
    pq.write_table(world.events.slice(rows.start, len(rows)), draft)
    draft.rename(events / f"{rows.start:08}.parquet")


def _delivered(delivery: ps.RunningDelivery, before: list[StreamPart], changes: int) -> StreamPart:
    """Wait for the next part."""
    started = time.monotonic()
    progress = delivery.progress()
    while progress.batches <= len(before):
        delivery.wait(_LOOK_S)  # raises if the stream has failed
        progress = delivery.progress()
        if time.monotonic() - started > _PATIENCE_S:
            raise PipelineError(f"nothing was delivered within {_PATIENCE_S} seconds")
    assert progress.version is not None
    return StreamPart(
        version=progress.version,
        changes=changes,
        events=progress.events - sum(part.events for part in before),
        matches=progress.matches - sum(part.matches for part in before),
        seconds=time.monotonic() - started,
    )


def _changes(world: World) -> Iterator[list[Operation]]:
    """The subscriptions to begin with, and what comes and goes before each part."""
    ids = list(world.subscriptions)
    step = max(1, len(ids) // _TURNOVER // 2)
    waiting = ids[-step * (PARTS - 1) :]
    held = ids[: -len(waiting)]
    yield [Subscribe(id, world.subscriptions[id]) for id in held]
    for part in range(PARTS - 1):
        going = held[part * step : (part + 1) * step]
        coming = waiting[part * step : (part + 1) * step]
        yield [
            *(Unsubscribe(id) for id in going),
            *(Subscribe(id, world.subscriptions[id]) for id in coming),
        ]
