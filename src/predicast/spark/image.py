"""``EngineImage``: an engine on its way to the executors.

An image is the engine's snapshot, compressed, under its digest. The first Python worker of a host
that needs it unpacks it into a file (``unpacked_files.py``), and all of them load that file
mapped into memory: they share its pages. A worker keeps the engine for the batches and tasks that
follow (``shared_engines.py``), since Spark reuses its workers.

An image may have *changes* on top of the snapshot, in the engine's own unit of change. They stay
apart, so that a stream whose subscriptions change a little from batch to batch unpacks and packs
no snapshot each time: hosts have the file already, and workers apply a few operations.

Cost: each host holds the whole engine once, each worker only what it writes to. A host on which no
such file can be written holds it once per worker. An image is part of each query's plan, of which a
server of Spark Connect takes up to 128 MB unless configured otherwise; where there is a folder that
all hosts see, an ``EngineFile`` in it takes the image's place, and nothing travels but its name.
"""

from __future__ import annotations

import hashlib
import pickle
import zlib
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.bounded_cache import remembered
from predicast.engine import Engine, Operation, Unsubscribe
from predicast.engine.snapshot.atomic import write_atomically
from predicast.errors import MissingEngineFileError, SnapshotError
from predicast.language.dialect_registry import stated_in
from predicast.language.reading import ReadText
from predicast.spark.shared_engines import given, lent
from predicast.spark.unpacked_files import unpacked_file

if TYPE_CHECKING:
    from predicast.spark.answers import Answers

_MAX_BYTES: Final = 1 << 18  # of digests that are remembered: some hundred files
_FAST: Final = 1  # zlib's level: most of the gain at a fraction of the time


def apply_all(engine: Engine, operations: Iterable[Operation]) -> None:
    """Apply operations, however many, in as few windows as hold them."""
    left = iter(operations)
    while window := list(islice(left, Engine.max_window)):
        engine.apply(window)


class EngineImage(NamedTuple):
    """An engine as it travels: small to send, and known by its digest."""

    digest: str
    packed: bytes  # a snapshot, whose digest is
    packed_digest: str
    changes: tuple[Operation, ...] = ()  # to what the snapshot holds

    @classmethod
    def of(cls, engine: Engine) -> EngineImage:
        """The image of an engine as it is now."""
        return cls.of_snapshot(engine.to_bytes())

    @classmethod
    def of_snapshot(cls, snapshot: bytes) -> EngineImage:
        """The image of the engine in a snapshot."""
        digest = hashlib.sha256(snapshot).hexdigest()
        return cls(digest, zlib.compress(snapshot, _FAST), digest)

    def changed(self, changes: Iterable[Operation]) -> EngineImage:
        """The image of what the snapshot's engine becomes by these changes, and no others."""
        changes = tuple(map(_read_here, changes))
        if not changes:
            return self._replace(digest=self.packed_digest, changes=())
        written = self.packed_digest.encode() + pickle.dumps(changes)
        return self._replace(digest=hashlib.sha256(written).hexdigest(), changes=changes)

    def in_folder(self, folder: Path) -> EngineFile:
        """The same with its snapshot in a folder that all hosts see."""
        file = EngineFile.written(self.packed_digest, self._write, folder)
        return file._replace(digest=self.digest, changes=self.changes)

    def size(self) -> int:
        """The bytes that travel, changes apart."""
        return len(self.packed)

    def unpacked(self) -> Engine:
        """A new engine, as it was."""
        return self._with_changes(Engine.from_bytes(zlib.decompress(self.packed)))

    def mapped(self) -> Engine:
        """The same, its memory shared with the other processes of this host where that is possible.

        A file that is damaged is written anew, once.
        """
        for again in (False, True):
            try:
                path = unpacked_file(self.packed_digest, self._write, anew=again)
                return self._with_changes(Engine.load(path))
            except SnapshotError:
                continue
            except OSError:  # no directory, no room, or removed before it was opened
                break
        return self.unpacked()

    def _with_changes(self, engine: Engine) -> Engine:
        apply_all(engine, self.changes)
        return engine

    def _write(self) -> bytes:
        return zlib.decompress(self.packed)

    def answers(self) -> Answers:
        """The same, with what it takes to answer with sorted ids."""
        from predicast.spark.answers import Answers  # PyArrow takes its time

        return Answers(self.mapped())

    def shared(self) -> Engine:
        """The one engine of this image in this process, built at the first call."""
        return given(self).engine

    def lent(self) -> AbstractContextManager[Answers]:
        """The same, with what it takes to answer with sorted ids, for as long as a block takes.

        The next version may have the engine then.
        """
        return lent(self)


def _read_here(operation: Operation) -> Operation:
    """The same, if it is in a dialect read already: a worker may not know that."""
    if isinstance(operation, Unsubscribe) or operation.dialect is None:
        return operation
    text, dialect = operation.expression, operation.dialect
    assert isinstance(text, str)
    read = ReadText(text, dialect, stated_in(dialect, text))
    return replace(operation, expression=read, dialect=None)


def _digest_of(path: Path) -> str | None:
    """The digest of a file, if there is one; it is read again only if it has changed."""
    try:
        found = path.stat()
        return _digest_as_of(path, found.st_size, found.st_mtime_ns)
    except FileNotFoundError:
        return None


@remembered(_MAX_BYTES, lambda _, digest: 500 + len(digest))
def _digest_as_of(path: Path, size: int, changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class EngineFile(NamedTuple):
    """An engine whose snapshot is in a file that all hosts see; it need not travel."""

    digest: str
    path: Path
    packed_digest: str  # the snapshot's
    changes: tuple[Operation, ...] = ()  # to what the snapshot holds

    @classmethod
    def written(cls, digest: str, snapshot: Callable[[], bytes], folder: Path) -> EngineFile:
        """A snapshot, put into a folder under its digest unless it is there, undamaged."""
        path = folder.absolute() / f"{digest}.engine"
        if _digest_of(path) != digest:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, lambda file: file.write(snapshot()))
        return cls(digest, path, digest)

    @classmethod
    def of_snapshot(cls, snapshot: bytes, folder: Path) -> EngineFile:
        """A file of the engine in a snapshot."""
        return cls.written(hashlib.sha256(snapshot).hexdigest(), lambda: snapshot, folder)

    def in_folder(self, folder: Path) -> EngineFile:
        """The same in another folder."""
        file = EngineFile.written(self.packed_digest, self.path.read_bytes, folder)
        return file._replace(digest=self.digest, changes=self.changes)

    def size(self) -> int:
        """The bytes that travel, changes apart: nothing but a name."""
        return 0

    def unpacked(self) -> Engine:
        """A new engine, as it was."""
        if not self.path.exists():
            raise MissingEngineFileError(
                f"there is no file {self.path} on this host, which holds compiled subscriptions; "
                "compile them into a folder= that all hosts see",
                path=str(self.path),
            )
        engine = Engine.load(self.path)
        apply_all(engine, self.changes)
        return engine

    def mapped(self) -> Engine:
        """The same: a file is mapped wherever it is."""
        return self.unpacked()

    def answers(self) -> Answers:
        """The same, with what it takes to answer with sorted ids."""
        from predicast.spark.answers import Answers  # PyArrow takes its time

        return Answers(self.mapped())

    def shared(self) -> Engine:
        """The one engine of this file in this process."""
        return given(self).engine

    def lent(self) -> AbstractContextManager[Answers]:
        """The same, with what it takes to answer with sorted ids, for as long as a block takes."""
        return lent(self)
