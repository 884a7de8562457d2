"""Where deliveries and dead letters go, each batch once.

A sink takes the files of a batch in one step that either happens or does not, and can tell whether
it has a batch already; a batch that is repeated after a failure is then left alone.

=================  =============================================================================
``ParquetSink``    a folder per batch, which takes its name when it is complete
 … ``by_owner``    a folder per owner, and in it one per batch; each owner's in one step
``DeltaSink``      a commit per batch, which names the batch (an application transaction)
``KafkaSink``      records that name stream and batch; after a failure some may come twice
a function         called with the batch's number and a frame; after a failure perhaps once more
=================  =============================================================================

The last two are given a frame that is read from files: it holds the same rows however often it is
looked at, and nothing is matched again.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from predicast.engine.snapshot.atomic import write_atomically
from predicast.errors import InvalidOptionError, SinkError
from predicast.spark.delivery.drafts import DraftFile
from predicast.spark.delivery.places import folder, put_on_disk

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Receiver: TypeAlias = "Callable[[int, DataFrame], object]"

_DRAFTS: Final = "_drafts"  # Spark looks into no folder whose name begins so
_OWNERSHIP: Final = "_predicast.json"


class Batch(NamedTuple):
    """A batch of a stream, as a sink knows it."""

    stream: str
    number: int


class Written(NamedTuple):
    """What workers have written for a sink: the files that count, in the sink's draft."""

    batch: Batch
    version: int
    draft: Path
    files: tuple[DraftFile, ...]
    frame: Callable[[], DataFrame]  # the rows of these files


class Sink(ABC):
    """One place that batches go to."""

    by_owner: bool = False

    @abstractmethod
    def open(self, stream: str) -> None:
        """Refuse what is another stream's, and remove what a failure left behind."""

    @abstractmethod
    def has(self, batch: Batch) -> bool:
        """Whether the batch is here, whole."""

    @abstractmethod
    def draft(self, batch: Batch, scratch: Path) -> Path:
        """A new folder for workers to write to; ``scratch`` is for sinks without one."""

    @abstractmethod
    def commit(self, written: Written) -> None:
        """Take the batch, in one step."""


@dataclass(frozen=True)
class ParquetSink(Sink):
    """A folder of Parquet files, with a folder ``batch=N`` for each batch that has any rows.

    ``by_owner`` puts them into folders of their subscriptions' owners, ``owner=alice/batch=N``;
    those of subscriptions without one are under Spark's name for null.
    """

    path: str | os.PathLike[str]
    by_owner: bool = False
    _root: Path = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_root", folder("path", self.path))

    def open(self, stream: str) -> None:
        """Make the folder this stream's, unless it is another's."""
        self._root.mkdir(parents=True, exist_ok=True)
        taken = self._ownership()
        if taken is None:
            if any(each.name.startswith(("batch=", "owner=")) for each in self._root.iterdir()):
                raise SinkError(
                    f"{self._root} has batches, and {_OWNERSHIP}, which says of which stream, is "
                    "missing; deliver into an empty folder",
                    path=str(self._root),
                )
            self._take_over({"stream": stream, "batch": -1})
        elif taken["stream"] != stream:
            raise SinkError(
                f"{self._root} has the deliveries of another stream; this one would repeat or mix "
                "them. Go on with that stream's checkpoint, or deliver into an empty folder",
                path=str(self._root),
            )
        shutil.rmtree(self._root / _DRAFTS, ignore_errors=True)

    def has(self, batch: Batch) -> bool:
        """Whether the folder has the batch; of one without rows nothing is kept."""
        if not self.by_owner:
            return (self._root / _batch_folder(batch)).exists()
        taken = self._ownership()
        return taken is not None and taken["batch"] >= batch.number

    def draft(self, batch: Batch, scratch: Path) -> Path:
        """A folder beside the batches, so that a rename is one step."""
        return _new_folder(self._root / _DRAFTS, str(batch.number))

    def commit(self, written: Written) -> None:
        """Give the draft its name."""
        _keep_only(written.draft, written.files)
        if written.files and self.by_owner:
            for each in sorted(written.draft.iterdir()):
                (self._root / each.name).mkdir(exist_ok=True)
                _rename(each, self._root / each.name / _batch_folder(written.batch))
            put_on_disk(self._root)
        elif written.files:
            _rename(written.draft, self._root / _batch_folder(written.batch))
        if self.by_owner:
            self._take_over({"stream": written.batch.stream, "batch": written.batch.number})
        shutil.rmtree(written.draft, ignore_errors=True)

    def _ownership(self) -> dict[str, Any] | None:
        path = self._root / _OWNERSHIP
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise SinkError(
                f"{path}, which says whose the folder is, cannot be read: {error}; restore it, or "
                "deliver into an empty folder",
                path=str(path),
            ) from error
        return dict(found)

    def _take_over(self, ownership: Mapping[str, Any]) -> None:
        text = json.dumps(ownership).encode()
        write_atomically(self._root / _OWNERSHIP, lambda file: file.write(text))


@dataclass(frozen=True)
class FunctionSink(Sink):
    """A function of the batch's number and its frame."""

    receive: Receiver

    def open(self, stream: str) -> None:
        """Nothing is known of what a function does."""

    def has(self, batch: Batch) -> bool:
        """It is for the function to know a batch that it has seen."""
        return False

    def draft(self, batch: Batch, scratch: Path) -> Path:
        """A folder that is removed once the function has returned."""
        return _new_folder(scratch, str(batch.number))

    def commit(self, written: Written) -> None:
        """Call the function."""
        self.receive(written.batch.number, written.frame())
        shutil.rmtree(written.draft, ignore_errors=True)


@dataclass(frozen=True)
class KafkaSink(Sink):
    """A topic, through Spark's own connector; ``options`` are that connector's.

    A record's key is ``key``, the subscription unless told otherwise, its value the row as JSON,
    its headers ``predicast-stream`` and ``predicast-batch``: a batch that was repeated can be told.
    """

    topic: str
    options: Mapping[str, str]
    key: str = "subscription"

    def open(self, stream: str) -> None:
        """Refuse options without a broker, which would be noticed at the first batch only."""
        if "kafka.bootstrap.servers" not in self.options:
            raise InvalidOptionError(
                "KafkaSink needs options={'kafka.bootstrap.servers': 'host:port'}",
                option="options",
            )

    def has(self, batch: Batch) -> bool:
        """Spark's connector has no transactions."""
        return False

    def draft(self, batch: Batch, scratch: Path) -> Path:
        """A folder that is removed once the records are sent."""
        return _new_folder(scratch, str(batch.number))

    def commit(self, written: Written) -> None:
        """Send the records."""
        from pyspark.errors import PySparkException

        writer = self.records(written).write.format("kafka").option("topic", self.topic)
        try:
            writer.options(**self.options).save()
        except PySparkException as error:
            if "kafka" in str(error) and "DATA_SOURCE" in (error.getCondition() or ""):
                raise SinkError(
                    f"this Spark has no connector for Kafka; start it with {_connector()}"
                ) from error
            raise
        shutil.rmtree(written.draft, ignore_errors=True)

    def records(self, written: Written) -> DataFrame:
        """The rows as Spark's connector takes them."""
        frame = written.frame()
        told = {"stream": written.batch.stream, "batch": str(written.batch.number)}
        headers = ", ".join(
            f"struct('predicast-{name}' AS key, CAST('{value}' AS BINARY) AS value)"
            for name, value in told.items()
        )
        key = "`" + self.key.replace("`", "``") + "`"
        return frame.selectExpr(
            f"CAST({key} AS STRING) AS key",
            "to_json(struct(*)) AS value",
            f"array({headers}) AS headers",
        )


Sinkable: TypeAlias = "Sink | Receiver | str | os.PathLike[str]"


def sinks_of(option: str, given: Sinkable | Sequence[Sinkable]) -> tuple[Sink, ...]:
    """The sinks that an option names: those that know their batches first, functions last."""
    several = given if isinstance(given, list | tuple) else [given]
    sinks = tuple(_sink(option, each) for each in several)
    if not sinks:
        raise InvalidOptionError(f"{option} names no sink", option=option)
    return tuple(sorted(sinks, key=lambda sink: isinstance(sink, FunctionSink | KafkaSink)))


def _sink(option: str, given: object) -> Sink:
    if isinstance(given, Sink):
        return given
    if isinstance(given, str | os.PathLike):
        return ParquetSink(given)
    if callable(given):
        return FunctionSink(given)
    raise InvalidOptionError(
        f"{option} is a sink such as DeltaSink(path) or ParquetSink(path), the path of a folder of "
        f"Parquet files, or a function of a batch's number and a frame, not {given!r}",
        option=option,
    )


def _connector() -> str:
    import pyspark

    version = pyspark.__version__
    return f"--packages org.apache.spark:spark-sql-kafka-0-10_2.13:{version}"


def _batch_folder(batch: Batch) -> str:
    return f"batch={batch.number}"


def _new_folder(parent: Path, name: str) -> Path:
    """A folder of one attempt's own: of an earlier one some worker may still be writing."""
    made = parent / f"{name}-{uuid.uuid4().hex}"
    made.mkdir(parents=True)
    return made


def _keep_only(draft: Path, files: Sequence[DraftFile]) -> None:
    """Remove the files of attempts that failed."""
    named = {draft / file.name for file in files}
    for each in draft.rglob("*.parquet"):
        if each not in named:
            each.unlink(missing_ok=True)
    for each in draft.iterdir():
        if each.is_dir():
            with suppress(OSError):  # it has files that count
                each.rmdir()


def _rename(draft: Path, final: Path) -> None:
    """Give a complete folder its name, for good. One that has it is complete, and left alone."""
    if final.exists():
        return
    put_on_disk(draft)
    draft.rename(final)
    put_on_disk(final.parent)
