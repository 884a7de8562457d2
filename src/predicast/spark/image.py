"""``EngineImage``: an engine on its way to the executors.

An image is the engine's snapshot, compressed, under its digest. A Python worker unpacks an image
once and keeps the engine for the batches and tasks that follow, since Spark reuses its workers.

Cost: each Python worker holds the whole engine. Limits: on Spark Connect an image is part of the
query's plan, of which a server takes up to 128 MB unless configured otherwise.
"""

from __future__ import annotations

import hashlib
import threading
import zlib
from collections import OrderedDict
from typing import Final, NamedTuple

from predicast.engine import Engine

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

    def shared(self) -> Engine:
        """The one engine of this image in this process, built at the first call."""
        with _engines_lock:
            engine = _engines.get(self.digest)
            if engine is None:
                engine = _engines[self.digest] = self.unpacked()
                if len(_engines) > _MAX_ENGINES:
                    _engines.popitem(last=False)
            _engines.move_to_end(self.digest)
            return engine


_engines: Final[OrderedDict[str, Engine]] = OrderedDict()
_engines_lock: Final = threading.Lock()
