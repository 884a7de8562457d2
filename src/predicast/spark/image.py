"""``EngineImage``: an engine on its way to the executors.

An image is the engine's snapshot, compressed, under its digest. The first Python worker of a host
that needs it unpacks it into a file (``unpacked_files.py``), and all of them load that file
mapped into memory: they share its pages. A worker keeps the engine for the batches and tasks that
follow, since Spark reuses its workers.

Cost: each host holds the whole engine once, each worker only what it writes to. A host on which no
such file can be written holds it once per worker. Limits: on Spark Connect an image is part of the
query's plan, of which a server takes up to 128 MB unless configured otherwise.
"""

from __future__ import annotations

import hashlib
import threading
import zlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.engine import Engine
from predicast.errors import SnapshotError
from predicast.spark.unpacked_files import unpacked_file

if TYPE_CHECKING:
    from predicast.spark.answers import Answers

_MAX_ENGINES: Final = 4  # engines that one worker keeps: a query or two, before and after a change
_FAST: Final = 1  # zlib's level: most of the gain at a fraction of the time


class EngineImage(NamedTuple):
    """An engine as it travels: small to send, and known by its digest."""

    digest: str
    packed: bytes

    @classmethod
    def of(cls, engine: Engine) -> EngineImage:
        """The image of an engine as it is now."""
        snapshot = engine.to_bytes()
        return cls(hashlib.sha256(snapshot).hexdigest(), zlib.compress(snapshot, _FAST))

    def unpacked(self) -> Engine:
        """A new engine, as it was."""
        return Engine.from_bytes(zlib.decompress(self.packed))

    def mapped(self) -> Engine:
        """The same, its memory shared with the other processes of this host where that is possible.

        A file that is damaged is written anew, once.
        """
        for again in (False, True):
            try:
                path = unpacked_file(self.digest, self._write, anew=again)
                return Engine.load(path)
            except SnapshotError:
                continue
            except OSError:  # no directory, no room, or removed before it was opened
                break
        return self.unpacked()

    def _write(self) -> bytes:
        return zlib.decompress(self.packed)

    def shared(self) -> Engine:
        """The one engine of this image in this process, built at the first call."""
        return self.answers().engine

    def answers(self) -> Answers:
        """The same, with what it takes to answer with sorted ids."""
        from predicast.spark.answers import Answers  # PyArrow takes its time

        with _engines_lock:
            answers = _engines.get(self.digest)
            if answers is None:
                answers = _engines[self.digest] = Answers(self.mapped())
                if len(_engines) > _MAX_ENGINES:
                    _engines.popitem(last=False)
            _engines.move_to_end(self.digest)
            return answers


_engines: Final[OrderedDict[str, Answers]] = OrderedDict()
_engines_lock: Final = threading.Lock()
