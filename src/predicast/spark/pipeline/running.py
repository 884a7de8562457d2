"""A pipeline's file carried out: its Spark, its stream, its delivery."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from predicast.engine.lint.costs import Cost, cost_of
from predicast.errors import InvalidOptionError, PipelineError
from predicast.spark.compiled import compile as compiled_from
from predicast.spark.delivery.deliver import check_strategy, deliver
from predicast.spark.delivery.delta_sink import DeltaSink
from predicast.spark.delivery.running import RunningDelivery
from predicast.spark.delivery.sinks import KafkaSink, ParquetSink, Sink
from predicast.spark.pipeline.settings import (
    DeltaTarget,
    KafkaTarget,
    ParquetTarget,
    PartitionSettings,
    PipelineFile,
    Target,
)
from predicast.spark.pipeline.sources import stream_of, unreadable_column
from predicast.spark.placement import Partition, Strategy
from predicast.spark.sessions import session_of
from predicast.spark.subscription_table import SubscriptionTable
from predicast.spark.table_rows import InvalidSubscription

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LOOKED_AT: Final = 10_000  # subscriptions at most, each time that they change


class Dear(NamedTuple):
    """A subscription that is tested with every event, and why it is."""

    id: str
    why: str


class Checked(NamedTuple):
    """What was found out of a pipeline before it runs."""

    version: int
    subscriptions: int
    unfit: tuple[InvalidSubscription, ...]  # that do not go with the events
    columns: tuple[str, ...]
    dearest: tuple[Dear, ...]


class Pipeline:
    """The pipeline that a file describes."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.file = PipelineFile(Path(path))
        settings = self.file.settings
        self.table = self._table()
        self.sinks = [
            self._sink(target, ("sinks", place)) for place, target in enumerate(settings.sinks)
        ]
        dead = settings.dead_letters
        self.dead_letters = None if dead is None else self._sink(dead, ("dead_letters",))
        if dead is not None and settings.stream.on_invalid is not None:
            raise self.file.mistake(
                ("stream", "on_invalid"),
                "on_invalid is for streams without dead_letters: with them, an event that cannot "
                "be matched goes there",
            )

        self.strategy = self._strategy()
        self._dearest: dict[int, list[Dear]] = {}  # of the version that was last asked about

    @contextmanager
    def session(self) -> Iterator[SparkSession]:
        """The Spark that the file names, or the one that there is; ours ends with the block."""
        spark = self.file.settings.spark
        with session_of(
            "predicast pipeline", spark.master, spark.remote, spark.settings
        ) as session:
            yield session

    def start(self, session: SparkSession, *, until_done: bool = False) -> RunningDelivery:
        """Start it; ``until_done`` ends it when all that there is now is delivered."""
        stream = self.file.settings.stream
        trigger: dict[str, Any] | None = None
        if until_done:
            trigger = {"availableNow": True}
        elif stream.every is not None:
            trigger = {"processingTime": stream.every}
        return deliver(
            stream_of(session, self.file),
            self.table,
            self.sinks,
            checkpoint=self.file.folder(stream.checkpoint),
            dead_letters=self.dead_letters,
            unreadable=unreadable_column(self.file),
            columns=stream.columns,
            intervals=stream.intervals,
            output=stream.output,
            on_invalid=stream.on_invalid,
            on_invalid_subscription=stream.on_invalid_subscription,
            strategy=self.strategy,
            trigger=trigger,
        )

    def check(self, session: SparkSession) -> Checked:
        """Read the schema of the source, and see which subscriptions go with it."""
        events = stream_of(session, self.file)
        view = self.table.at()
        compiled = compiled_from(
            view.engine(),
            events=events,
            intervals=self.file.settings.stream.intervals,
            on_invalid="quarantine",
            strategy="replicate",
        )
        unread = unreadable_column(self.file)
        columns = tuple(name for name in events.columns if name != unread)
        dearest = tuple(self.dearest(view.version))
        return Checked(view.version, len(compiled), compiled.invalid_rows, columns, dearest)

    def dearest(self, version: int) -> list[Dear]:
        """The subscriptions of a version that are tested with every event, sorted by id.

        A matcher works for all subscriptions at once, so that no part of its time is that of one:
        what can be told is which of them no condition keeps apart from other events. Each is looked
        at for that; of a large table none is.
        """
        if version not in self._dearest:
            view = self.table.at(version=version)
            dear: list[Dear] = []
            if len(view) <= _LOOKED_AT:
                engine = view.engine()
                for each in engine.subscriptions():
                    cost, why, _ = cost_of(each.subscription, engine.absent)
                    dear += [Dear(each.id, why)] if cost is Cost.HIGH else []
            self._dearest = {version: sorted(dear)}
        return self._dearest[version]

    def _strategy(self) -> Strategy:
        stream = self.file.settings.stream
        given = stream.strategy
        strategy: Strategy = (
            Partition(given.shards, given.host_bytes)
            if isinstance(given, PartitionSettings)
            else given
        )
        try:
            check_strategy(strategy, stream.output)
        except InvalidOptionError as error:
            raise self.file.mistake(("stream", "strategy"), error.message) from error
        return strategy

    def _table(self) -> SubscriptionTable:
        path = self.file.folder(self.file.settings.table.path)
        try:
            return SubscriptionTable(path, create=False)
        except PipelineError as error:
            raise self.file.mistake(("table", "path"), error.message) from error

    def _sink(self, target: Target, key: tuple[str | int, ...]) -> Sink:
        if isinstance(target, ParquetTarget):
            if target.by_owner and key[0] == "dead_letters":
                raise self.file.mistake((*key, "by_owner"), "dead letters have no owner")
            return ParquetSink(self.file.folder(target.path), by_owner=target.by_owner)
        if isinstance(target, DeltaTarget):
            return DeltaSink(self.file.folder(target.path), shared=target.shared)
        assert isinstance(target, KafkaTarget)
        options = {"kafka.bootstrap.servers": target.servers, **target.options}
        return KafkaSink(target.topic, options, target.key)
