"""``deliver``: the stream that matches events against a changing table of subscriptions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from predicast.engine.asking import OnInvalid
from predicast.errors import InvalidOptionError, UnsupportedTableError
from predicast.matching.batches.interval_columns import IntervalColumns
from predicast.spark.delivery.batches import (
    BatchRunner,
    Choices,
    OnInvalidSubscription,
    VersionedTable,
)
from predicast.spark.delivery.checkpoint import Checkpoint
from predicast.spark.delivery.columns import DeliveryColumns
from predicast.spark.delivery.places import folder
from predicast.spark.delivery.running import RunningDelivery, started
from predicast.spark.delivery.sinks import Sinkable, sinks_of
from predicast.spark.options import check_choice
from predicast.spark.placement import Strategy, checked_strategy, refuse_folder
from predicast.spark.shipping import check_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from predicast.spark.delivery.job import Output

_TRIGGERS: Final = ("availableNow", "once", "processingTime")


def deliver(  # noqa: PLR0913  # a stream has as many choices, all by keyword
    events: DataFrame,
    table: VersionedTable,
    sink: Sinkable | Sequence[Sinkable],
    *,
    checkpoint: str | os.PathLike[str],
    dead_letters: Sinkable | Sequence[Sinkable] | None = None,
    unreadable: str | None = None,
    columns: Sequence[str] | None = None,
    intervals: IntervalColumns | None = None,
    output: Output = "rows",
    on_invalid: OnInvalid | None = None,
    on_invalid_subscription: OnInvalidSubscription = "raise",
    strategy: Strategy = "auto",
    now: datetime | str | None = None,
    trigger: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> RunningDelivery:
    """Start a stream that delivers events to the subscriptions of a table, each match once.

    Each micro-batch is matched against one version of the table, the latest when the batch begins,
    which is noted in the ``checkpoint``: a batch that Spark repeats after a failure comes out the
    same. ``sink`` is where deliveries go, one or several of ``DeltaSink``, ``ParquetSink`` (also
    for the bare path of a folder), ``KafkaSink``, or a function of a batch's number and a frame.

    ``dead_letters`` are sinks for events that cannot be matched, with the ``reason``: those with a
    value that cannot be compared, and those that the source could not read, if ``unreadable`` names
    the column that tells (Spark's ``_corrupt_record``). Without such a sink ``on_invalid`` decides,
    as in ``match``, and what the source could not read stops the stream.

    ``columns``, ``intervals``, ``output`` (``"rows"`` or ``"array"``) and ``now``
    are as in ``match``; unless given, ``now()`` is when the batch begins. A subscription that does
    not go with the events, such as on a column that they lack, stops the stream, or is left out and
    counted: ``on_invalid_subscription="quarantine"``. ``trigger`` is Spark's, such as
    ``{"availableNow": True}`` or ``{"processingTime": "10 seconds"}``; ``name`` the query's.

    ``strategy`` says where subscriptions are held, as in ``compile``: on every host, or in shards
    that events are sent to, when they take more than a gigabyte or a ``Partition`` says so. Shards
    lie beside the checkpoint. What is delivered is the same; ``output="array"`` needs all that an
    event matches in one place, and goes with ``"auto"``, which then replicates.

    All folders are of a file system that the driver and all workers share.
    """
    check_frame(events)
    if not events.isStreaming:
        raise UnsupportedTableError(
            "deliver takes a stream, such as spark.readStream gives; for a DataFrame that is "
            "complete there is match",
            type="DataFrame",
        )
    check_choice("output", output, ("rows", "array"))
    check_choice("on_invalid_subscription", on_invalid_subscription, ("raise", "quarantine"))
    for each in trigger or ():
        check_choice("trigger", each, _TRIGGERS)
    check_strategy(strategy, output)
    sinks = sinks_of("sink", sink)
    dead = () if dead_letters is None else sinks_of("dead_letters", dead_letters)
    _check_by_owner(sinks, dead, output)
    kept = DeliveryColumns(
        events.schema,
        columns=columns,
        unreadable=unreadable,
        has_dead_letters=bool(dead),
        output=output,
    )
    policy = _policy(on_invalid, bool(dead))
    runner = BatchRunner(
        table,
        sinks,
        dead,
        folder("checkpoint", checkpoint),
        Choices(
            kept, dict(intervals or {}), output, policy, on_invalid_subscription, strategy, now
        ),
    )
    _check_state(events, runner)
    query = started(_writer(events, runner, trigger, name))
    return RunningDelivery(query, runner.checkpoint, table)


def check_strategy(strategy: Strategy, output: Output) -> None:
    """Refuse what cannot be had where subscriptions are to be held."""
    refuse_folder(checked_strategy(strategy))
    if output == "array" and strategy not in {"auto", "replicate"}:
        raise InvalidOptionError(
            "output='array' needs all that an event matches in one place, and shards have a part "
            "of it each: use output='rows', or strategy='replicate'",
            option="output",
        )


def _policy(on_invalid: OnInvalid | None, has_dead_letters: bool) -> OnInvalid:
    """What the engine does with a value that cannot be compared."""
    if not has_dead_letters:
        on_invalid = "raise" if on_invalid is None else on_invalid
        check_choice("on_invalid", on_invalid, ("raise", "absent", "skip"))
        return on_invalid
    if on_invalid is not None:
        raise InvalidOptionError(
            "on_invalid is for streams without dead_letters: with them, an event that cannot be "
            "matched goes there",
            option="on_invalid",
        )
    return "raise"  # workers look for the event, and set it apart


def _check_by_owner(sinks: Sequence[Any], dead: Sequence[Any], output: Output) -> None:
    if any(sink.by_owner for sink in dead):
        raise InvalidOptionError(
            "dead letters have no owner; their sink cannot be by_owner", option="dead_letters"
        )
    if output != "rows" and any(sink.by_owner for sink in sinks):
        raise InvalidOptionError(
            "a sink that is by_owner takes output='rows': an event may match several owners'",
            option="output",
        )


def _check_state(events: DataFrame, runner: BatchRunner) -> None:
    """Refuse to start on a damaged checkpoint, where that can be seen from here."""
    if _is_connect(events):
        Checkpoint(runner.checkpoint).check()  # the server does the rest: its disk may be another
    else:
        runner.opened()


def _is_connect(events: DataFrame) -> bool:
    return type(events).__module__.startswith("pyspark.sql.connect")


def _writer(
    events: DataFrame, runner: BatchRunner, trigger: Mapping[str, Any] | None, name: str | None
) -> DataStreamWriter:
    writer = events.writeStream.foreachBatch(runner).option(
        "checkpointLocation", runner.checkpoint.as_uri()
    )
    if trigger is not None:
        writer = writer.trigger(**trigger)
    return writer if name is None else writer.queryName(name)
