"""Compiled subscriptions of one version after another, at the price of what changed.

Packing subscriptions costs as much as the table is large. So a table packs them now and then, and
sends the changes since along with that (``packed.py``); when they have become a sizeable part of
the table, it packs anew. What changed is noted by id, from version to version::

    version 7 packed      {}
    version 8             {a: its row now}
    version 9             {a: its row now, b: gone}

Cost: a row per id that was touched since something was packed, and an engine. One set is kept for
each of the latest two strategies that were asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from predicast.errors import PredicastError
from predicast.locks import new_lock
from predicast.spark.compiled import CompiledSubscriptions
from predicast.spark.placement import Strategy
from predicast.spark.subscription_table.difference import Unclear, for_engine, row_changes
from predicast.spark.subscription_table.engines import BuiltEngine
from predicast.spark.subscription_table.files import DataFiles
from predicast.spark.subscription_table.log import Version
from predicast.spark.subscription_table.packed import Packed, packed
from predicast.spark.subscription_table.reading import located
from predicast.spark.subscription_table.rows import InvalidRow
from predicast.spark.table_rows import InvalidSubscription

_SHARE: Final = 8  # changes of one part in so many are worth packing
_KEPT: Final = 2  # strategies


class _Latest(NamedTuple):
    """The version that was compiled last."""

    version: Version
    packed: Packed
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
        self._latest: dict[Strategy, _Latest] = {}

    def of(self, version: Version, strategy: Strategy) -> CompiledSubscriptions:
        """A version, compiled."""
        with self._lock:
            latest = self._latest.pop(strategy, None)  # whatever happens on the way, it is used up
            if latest is not None and latest.version.table_id == version.table_id:
                latest = self._advanced(latest, version, strategy)
            if latest is None:
                built = self._build(version)
                errors = built.errors()
                if errors is None:
                    return _without(packed(built.engine, strategy).compiled(), built.invalid)
                latest = _Latest(version, packed(built.engine, strategy), errors)
            while len(self._latest) >= _KEPT:
                del self._latest[next(iter(self._latest))]
            self._latest[strategy] = latest
            invalid = located(self._files, version, latest.errors)
            return _without(latest.packed.compiled(), invalid)

    def _advanced(self, latest: _Latest, version: Version, strategy: Strategy) -> _Latest | None:
        """From one version to another; ``None`` if it is no use."""
        if latest.version.number == version.number:
            return latest
        held = latest.packed
        try:
            differing = row_changes(self._files, latest.version, version)
            step, errors = for_engine(held, differing, latest.errors)
            if errors and not self._quarantines:
                return None
            held.change(step)
        except (Unclear, PredicastError):  # whoever reads the whole version learns why
            return None
        if held.touched() * _SHARE > len(held):
            whole = held.whole()
            if whole is None:
                return None
            held = packed(whole, strategy)
        return _Latest(version, held, errors)


def _without(compiled: CompiledSubscriptions, invalid: list[InvalidRow]) -> CompiledSubscriptions:
    return replace(
        compiled,
        left_out=len(invalid),
        invalid_rows=tuple(InvalidSubscription(*each[:3]) for each in invalid),
    )
