"""Compiled subscriptions of one version after another, at the price of what changed.

Packing an engine costs as much as the table is large. So a table packs one now and then, and sends
the changes since along with it (``EngineImage.changed``); when they have become a sizeable part of
the table, it packs anew. What changed is noted by id, from version to version::

    version 7 packed      {}
    version 8             {a: its row now}
    version 9             {a: its row now, b: gone}

An engine of the table's own goes along, to say what of the events is looked at.

Cost: a row per id that was touched since something was packed, and an engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, NamedTuple

from predicast.engine import Engine
from predicast.errors import PredicastError
from predicast.locks import new_lock
from predicast.spark.compiled import CompiledSubscriptions, described
from predicast.spark.image import EngineImage
from predicast.spark.subscription_table.difference import (
    RowChange,
    Unclear,
    for_engine,
    operations,
    row_changes,
)
from predicast.spark.subscription_table.engines import BuiltEngine
from predicast.spark.subscription_table.files import DataFiles
from predicast.spark.subscription_table.log import Version
from predicast.spark.subscription_table.reading import located
from predicast.spark.subscription_table.rows import InvalidRow
from predicast.spark.table_rows import InvalidSubscription

_SHARE: Final = 8  # changes of one part in so many are worth packing


class _Latest(NamedTuple):
    """The version that was compiled last."""

    version: Version
    compiled: CompiledSubscriptions
    engine: Engine
    packed: EngineImage
    changes: dict[str, RowChange]  # since that
    errors: dict[str, str]  # of rows that are no subscriptions, by id


class Compiling:
    """Compiles versions of one table; quickest if they are near the one before."""

    def __init__(
        self, files: DataFiles, build: Callable[[Version], BuiltEngine], *, quarantines: bool
    ) -> None:
        self._files = files
        self._build = build
        self._quarantines = quarantines
        self._lock = new_lock()
        self._latest: _Latest | None = None

    def of(self, version: Version) -> CompiledSubscriptions:
        """A version, compiled."""
        with self._lock:
            latest, self._latest = self._latest, None  # whatever happens on the way, it is used up
            if latest is not None and latest.version.table_id == version.table_id:
                latest = self._advanced(latest, version)
            if latest is None:
                built = self._build(version)
                errors = built.errors()
                if errors is None:
                    return _without(_packed(version, built.engine, {}).compiled, built.invalid)
                latest = _packed(version, built.engine, errors)
            self._latest = latest
            return _without(latest.compiled, located(self._files, version, latest.errors))

    def _advanced(self, latest: _Latest, version: Version) -> _Latest | None:
        """From one version to another; ``None`` if it is no use."""
        if latest.version.number == version.number:
            return latest
        try:
            differing = row_changes(self._files, latest.version, version)
            step, errors = for_engine(latest.engine, differing, latest.errors)
            if errors and not self._quarantines:
                return None
            latest.engine.apply(operations(step))
        except (Unclear, PredicastError):  # whoever reads the whole version learns why
            return None
        changes = _together(latest.changes, step)
        if len(changes) * _SHARE > len(latest.engine):
            return _packed(version, latest.engine, errors)
        image = latest.packed.changed(operations(changes.values()))
        compiled = described(image, latest.engine)
        return _Latest(version, compiled, latest.engine, latest.packed, changes, errors)


def _together(before: dict[str, RowChange], step: Iterable[RowChange]) -> dict[str, RowChange]:
    """What changed in two steps, less what is as it was."""
    changes = dict(before)
    for id, old, new in step:
        first = changes[id].before if id in changes else old
        if first == new:
            del changes[id]
        else:
            changes[id] = RowChange(id, first, new)
    return changes


def _packed(version: Version, engine: Engine, errors: dict[str, str]) -> _Latest:
    image = EngineImage.of(engine)
    return _Latest(version, described(image, engine), engine, image, {}, errors)


def _without(compiled: CompiledSubscriptions, invalid: list[InvalidRow]) -> CompiledSubscriptions:
    return replace(
        compiled,
        left_out=len(invalid),
        invalid_rows=tuple(InvalidSubscription(*each[:3]) for each in invalid),
    )
