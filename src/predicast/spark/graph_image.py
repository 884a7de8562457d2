"""``GraphImage``: an engine of graphs on its way to the executors.

As with other engines it is the snapshot, compressed, under its digest, and a worker keeps the
engine for the batches and tasks that follow (``shared_engines.py``). It is not unpacked into a file
that workers share: patterns are objects of Python's, of which each process has its own anyway.
"""

from __future__ import annotations

import hashlib
import zlib
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.spark.shared_engines import given, lent

if TYPE_CHECKING:
    from predicast.engine import Operation
    from predicast.graph import GraphEngine
    from predicast.spark.graph_answers import GraphAnswers

_FAST: Final = 1  # zlib's level, as of other engines


class GraphImage(NamedTuple):
    """An engine of graphs as it travels."""

    digest: str
    packed: bytes

    @classmethod
    def of(cls, engine: GraphEngine) -> GraphImage:
        """The image of an engine as it is now."""
        snapshot = engine.to_bytes()
        return cls(hashlib.sha256(snapshot).hexdigest(), zlib.compress(snapshot, _FAST))

    @property
    def packed_digest(self) -> str:
        """That of the snapshot, which is all there is."""
        return self.digest

    @property
    def changes(self) -> tuple[Operation, ...]:
        """None on top of it."""
        return ()

    def unpacked(self) -> GraphEngine:
        """A new engine, as it was."""
        from predicast.graph import GraphEngine

        return GraphEngine.from_bytes(zlib.decompress(self.packed))

    def answers(self) -> GraphAnswers:
        """The same, with what it takes to answer batches."""
        from predicast.spark.graph_answers import GraphAnswers

        return GraphAnswers(self.unpacked())

    def shared(self) -> GraphEngine:
        """The one engine of this image in this process, built at the first call."""
        return given(self).engine

    def lent(self) -> AbstractContextManager[GraphAnswers]:
        """The same, with what it takes to answer batches, for as long as a block takes."""
        return lent(self)
