"""Engines of a table's versions, kept beside the table and built from what changed.

::

    _predicast/<the table's id>/columnar-fails/00000000000000000012.engine

Each is a snapshot (``Engine.save``): written whole or not at all, with a checksum, and mapped into
memory by whoever opens it. An engine of another version is made of the nearest one and the
difference between the two (``difference.py``), and is saved in turn when that difference has become
a sizeable part of the table: so the bytes written stay in proportion to what changes, and opening
any recent version is quick. A snapshot that is missing, damaged or of another Predicast is done
without; a few of them are kept.

Delta Lake's readers take no notice of a folder whose name begins with ``_``, nor does vacuum.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from predicast.engine import Engine, Operation
from predicast.errors import PredicastError, SnapshotError
from predicast.model import Absent
from predicast.spark.subscription_table.difference import Unclear, operations, row_changes
from predicast.spark.subscription_table.files import DataFiles
from predicast.spark.subscription_table.log import TableLog, Version
from predicast.spark.subscription_table.reading import fill, placed_rows
from predicast.spark.subscription_table.rows import InvalidRow

FOLDER: Final = "_predicast"
_SUFFIX: Final = ".engine"
_KEPT: Final = 4  # snapshots per table and kind of engine
_SHARE: Final = 8  # a difference of one part in so many is worth a snapshot


class BuiltEngine(NamedTuple):
    """An engine of a version, and the rows that are not in it because they are no subscriptions."""

    engine: Engine
    invalid: list[InvalidRow]


class Engines:
    """Makes engines of one table's versions, all with the same matcher."""

    def __init__(self, log: TableLog, files: DataFiles, matcher: str, absent: Absent) -> None:
        self._log = log
        self._files = files
        self._matcher = matcher
        self._absent = absent

    def of(self, version: Version) -> BuiltEngine:
        """A new engine of a version, which is the caller's to change."""
        folder = self._folder(version)
        for number, path in _nearest(folder, version.number):
            engine = self._advanced(path, number, version)
            if engine is not None:
                return BuiltEngine(engine, [])
        engine = self._empty()
        invalid = fill(engine, placed_rows(self._files, version))
        if not invalid:
            self._keep(engine, folder, version.number)
        return BuiltEngine(engine, invalid)

    def _empty(self) -> Engine:
        return Engine(matcher=self._matcher, absent=self._absent)

    def _folder(self, version: Version) -> Path:
        kind = f"{self._matcher}-{self._absent}"
        return self._log.folder / FOLDER / version.table_id / kind

    def _advanced(self, path: Path, number: int, version: Version) -> Engine | None:
        """The engine of a snapshot, brought to another version; ``None`` if that cannot be done."""
        try:
            engine = Engine.load(path)
        except SnapshotError:
            with suppress(OSError):  # a folder that only others can write to
                path.unlink(missing_ok=True)
            return None
        except OSError:
            return None
        if number == version.number:
            return engine
        try:
            changes = operations(row_changes(self._files, self._log.at(number), version))
            _apply(engine, changes)
        except (Unclear, PredicastError):
            # Rows of no subscription, or a file of either version that is gone. Reading the
            # whole version says which, or finds that this one has all it needs.
            return None
        if len(changes) * _SHARE > len(engine):
            self._keep(engine, path.parent, version.number)
        return engine

    def _keep(self, engine: Engine, folder: Path, number: int) -> None:
        """Save an engine for the next one who asks; who cannot, builds it again."""
        with suppress(OSError):  # no room, or a table that is only read: SnapshotNotSavedError
            folder.mkdir(parents=True, exist_ok=True)
            engine.save(folder / f"{number:020}{_SUFFIX}")
            for path in sorted(folder.glob(f"*{_SUFFIX}"), key=_age)[:-_KEPT]:
                path.unlink(missing_ok=True)


def _age(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _nearest(folder: Path, number: int) -> Iterator[tuple[int, Path]]:
    """Snapshots with their versions: this one's, then earlier ones, then later ones."""
    found = [(int(path.stem), path) for path in folder.glob(f"*{_SUFFIX}") if path.stem.isdigit()]
    earlier = sorted((each for each in found if each[0] <= number), reverse=True)
    later = sorted(each for each in found if each[0] > number)
    # The second best of a kind is tried only if the best one is damaged.
    yield from (*earlier, *later)


def _apply(engine: Engine, changes: list[Operation]) -> None:
    left = iter(changes)
    while window := list(islice(left, Engine.max_window)):
        engine.apply(window)
