"""``BatchLog``: which version of the subscriptions each batch of a stream was matched against.

Spark may ask for a batch twice: after a failure it repeats the last one. Then the answer must be
the same, so that the version and the time of arrival are noted, on disk, before the batch is
matched. All of it is one small file beside Spark's own checkpoint, written whole or not at all: a
file per batch could go missing without anybody noticing. It has a checksum, and the latest batches
only; what came before is summed up.
"""

from __future__ import annotations

import hashlib
import uuid
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from predicast.engine.snapshot.atomic import write_atomically
from predicast.errors import DamagedCheckpointError

_NAME: Final = "deliveries.json"
_FORMAT: Final = b"predicast-deliveries-1"
_KEPT: Final = 100  # batches, as many as Spark keeps in its own checkpoint

REMEDY: Final = (
    "restore the checkpoint from a copy, or begin a new stream with another checkpoint and empty "
    "sinks"
)


class Counts(msgspec.Struct, frozen=True):
    """What went in and came out."""

    events: int = 0
    matches: int = 0
    dead_letters: int = 0
    invalid: int = 0  # events with values that were taken for absent, or that were skipped

    def plus(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(
            self.events + other.events,
            self.matches + other.matches,
            self.dead_letters + other.dead_letters,
            self.invalid + other.invalid,
        )


class BatchRecord(msgspec.Struct, frozen=True):
    """One batch: what it is matched against, and once it is delivered what came of it."""

    batch: int
    version: int
    at: datetime  # when its events arrive, for subscriptions that ask now()
    events: str | None  # the digest of what Spark notes of the batch's events
    finished: bool = False
    counts: Counts = Counts()
    seconds: float = 0.0
    left_out: int = 0  # subscriptions that do not go with the events
    most_matched: tuple[tuple[str, int], ...] = ()
    placement: str = ""  # where subscriptions were held, and why there


class _Contents(msgspec.Struct, frozen=True):
    stream: str
    batches: int = 0
    totals: Counts = Counts()
    records: tuple[BatchRecord, ...] = ()


class BatchLog:
    """The log of one stream. It is read once, and written by whoever runs the batches."""

    def __init__(self, folder: Path, contents: _Contents) -> None:
        self._folder = folder
        self._contents = contents

    @staticmethod
    def exists(folder: Path) -> bool:
        """Whether there is one."""
        return (folder / _NAME).exists()

    @classmethod
    def created(cls, folder: Path) -> BatchLog:
        """That of a new stream."""
        folder.mkdir(parents=True, exist_ok=True)
        log = cls(folder, _Contents(uuid.uuid4().hex))
        log._write()
        return log

    @classmethod
    def read(cls, folder: Path) -> BatchLog:
        """That of a stream which has been running."""
        path = folder / _NAME
        try:
            data = path.read_bytes()
        except OSError as error:
            raise _damaged(path, f"cannot be read: {error.strerror}") from error
        head, _, body = data.partition(b"\n")
        if head != _head(body):
            raise _damaged(path, "is damaged: its checksum is another")
        try:
            return cls(folder, msgspec.json.decode(body, type=_Contents))
        except msgspec.MsgspecError as error:
            raise _damaged(path, f"cannot be read: {error}") from error

    @property
    def stream(self) -> str:
        """What the stream is known by to its sinks."""
        return self._contents.stream

    @property
    def records(self) -> tuple[BatchRecord, ...]:
        """The latest batches, in order."""
        return self._contents.records

    @property
    def batches(self) -> int:
        """How many batches were finished, ever."""
        return self._contents.batches

    @property
    def totals(self) -> Counts:
        """What came of all batches that were finished, ever."""
        return self._contents.totals

    @property
    def last(self) -> BatchRecord | None:
        """The latest batch, finished or not."""
        return self.records[-1] if self.records else None

    def find(self, batch: int) -> BatchRecord | None:
        """What is noted of a batch."""
        return next((each for each in reversed(self.records) if each.batch == batch), None)

    def begin(self, record: BatchRecord) -> None:
        """Note what a new batch is about to be matched against."""
        last = self.last
        if last is not None and record.batch <= last.batch:
            raise DamagedCheckpointError(
                f"Spark begins batch {record.batch}, and {self._folder / _NAME} has batch "
                f"{last.batch} already: the checkpoint has lost what came between; {REMEDY}",
                path=str(self._folder),
            )
        self._write(records=(*self.records, record)[-_KEPT:])

    def amend(self, record: BatchRecord) -> None:
        """Note what is known of a batch before it is delivered: afterwards nobody may count it."""
        self._write(records=self._with(record))

    def finish(self, record: BatchRecord) -> None:
        """Note that a batch is delivered."""
        begun = self.find(record.batch)
        assert begun is not None
        assert not begun.finished
        self._write(
            batches=self.batches + 1,
            totals=self.totals.plus(record.counts),
            records=self._with(msgspec.structs.replace(record, finished=True)),
        )

    def _with(self, record: BatchRecord) -> tuple[BatchRecord, ...]:
        return tuple(record if each.batch == record.batch else each for each in self.records)

    def _write(self, **changes: object) -> None:
        contents = msgspec.structs.replace(self._contents, **changes)
        body = msgspec.json.encode(contents)
        write_atomically(self._folder / _NAME, lambda file: file.write(_head(body) + b"\n" + body))
        self._contents = contents


def _head(body: bytes) -> bytes:
    return _FORMAT + b" " + hashlib.sha256(body).hexdigest().encode()


def _damaged(path: Path, what: str) -> DamagedCheckpointError:
    return DamagedCheckpointError(f"{path} {what}; {REMEDY}", path=str(path))
