"""Subscriptions as workers have them, kept on the driver from version to version.

``Packed`` is what was packed at some version and what changed since. Packing costs as much as the
table is large, a change no more than itself: it travels beside what was packed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from predicast.engine import Engine
from predicast.model.vocabulary import Vocabulary
from predicast.spark.compiled import CompiledSubscriptions, described
from predicast.spark.image import EngineImage
from predicast.spark.placement import Placement, Strategy, chosen
from predicast.spark.subscription_table.difference import RowChange, joined, operations
from predicast.spark.subscription_table.packed_shards import PackedShards


class Packed(Protocol):
    """Subscriptions in one piece, or in several."""

    @property
    def vocabulary(self) -> Vocabulary | None:
        """What names in rows mean, if anything was said of that."""

    def __len__(self) -> int: ...

    def __contains__(self, id: object) -> bool: ...

    def change(self, step: Sequence[RowChange]) -> None:
        """Go on to the next version. What raises is no use any more."""

    def touched(self) -> int:
        """How many ids are not as they were packed."""

    def compiled(self) -> CompiledSubscriptions:
        """As they are now."""

    def whole(self) -> Engine | None:
        """All of them in one engine, if there is one."""


class PackedWhole:
    """One engine, of which every host is to have a copy."""

    def __init__(self, engine: Engine, image: EngineImage, placement: Placement) -> None:
        self._engine = engine
        self._image = image
        self._placement = placement
        self._changes: dict[str, RowChange] = {}

    @property
    def vocabulary(self) -> Vocabulary | None:
        """That of the engine."""
        return self._engine.vocabulary

    def __len__(self) -> int:
        return len(self._engine)

    def __contains__(self, id: object) -> bool:
        return id in self._engine

    def change(self, step: Sequence[RowChange]) -> None:
        """Go on to the next version."""
        self._engine.apply(operations(step))
        self._changes = joined(self._changes, step)

    def touched(self) -> int:
        """How many ids are not as they were packed."""
        return len(self._changes)

    def compiled(self) -> CompiledSubscriptions:
        """As they are now."""
        image = self._image.changed(operations(self._changes.values()))
        return replace(described(image, self._engine), placement=self._placement)

    def whole(self) -> Engine:
        """The engine."""
        return self._engine


def packed(engine: Engine, strategy: Strategy) -> Packed:
    """The subscriptions of an engine, which is given away, as a strategy has them."""
    snapshot = engine.to_bytes()
    parts, reason = chosen(len(snapshot), strategy)
    if parts is None:
        image = EngineImage.of_snapshot(snapshot)
        return PackedWhole(engine, image, Placement("replicate", reason))
    return PackedShards(engine, parts, reason)
