"""Engines of a table's versions, kept beside the table and built from what changed.

::

    _predicast/<the table's id>/columnar-fails/00000000000000000012.engine
                                               00000000000000000012.invalid

The second is there if some rows are no subscriptions, and says which.
Each is a snapshot (``Engine.save``): written whole or not at all, with a checksum, and mapped into
memory by whoever opens it. An engine of another version is made of the nearest one and the
difference between the two (``difference.py``), and is saved in turn when that difference has become
a sizeable part of the table, or takes reading as much as the table is: so the bytes written stay in
proportion to what changes, and opening any recent version is quick. A snapshot that is missing,
damaged or of another Predicast is done without; a few of them are kept.

Delta Lake's readers take no notice of a folder whose name begins with ``_``, nor does vacuum. A
checksum finds accidents, not forgeries: who may write there is trusted, as with any snapshot.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from predicast.engine import Engine
from predicast.engine.snapshot.atomic import write_atomically
from predicast.errors import PredicastError, SnapshotError
from predicast.model import Absent
from predicast.model.vocabulary import Vocabulary
from predicast.spark.image import apply_all
from predicast.spark.subscription_table.difference import (
    Unclear,
    for_engine,
    operations,
    row_changes,
    rows_between,
)
from predicast.spark.subscription_table.files import DataFiles
from predicast.spark.subscription_table.log import TableLog, Version
from predicast.spark.subscription_table.reading import fill, located, placed_rows
from predicast.spark.subscription_table.rows import InvalidRow

FOLDER: Final = "_predicast"
_SUFFIX: Final = ".engine"
_KEPT: Final = 4  # snapshots per table and kind of engine
_SHARE: Final = 8  # a difference of one part in so many is worth a snapshot


class BuiltEngine(NamedTuple):
    """An engine of a version, and the rows that are not in it because they are no subscriptions."""

    engine: Engine
    invalid: list[InvalidRow]

    def errors(self) -> dict[str, str] | None:
        """Why the latter are none, by id; ``None`` if one has no id to be known by."""
        found = {each.id: each.error for each in self.invalid if each.id is not None}
        return None if any(each.id is None for each in self.invalid) else found


class Engines:
    """Makes engines of one table's versions, all with the same matcher."""

    def __init__(
        self,
        log: TableLog,
        files: DataFiles,
        folder: Path,
        matcher: str,
        absent: Absent,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self._log = log
        self._kept_in = folder
        self._files = files
        self._matcher = matcher
        self._absent = absent
        self._vocabulary = vocabulary

    def of(self, version: Version) -> BuiltEngine:
        """A new engine of a version, which is the caller's to change."""
        folder = self._folder(version)
        for number, path in _nearest(folder, version.number):
            built = self._advanced(path, number, version)
            if built is not None:
                return built
        engine = self._empty()
        built = BuiltEngine(engine, fill(engine, placed_rows(self._files, version)))
        self._keep(built, folder, version.number)
        return built

    def _empty(self) -> Engine:
        return Engine(matcher=self._matcher, absent=self._absent, ontology=self._vocabulary)

    def _folder(self, version: Version) -> Path:
        kind = f"{self._matcher}-{self._absent}"
        if self._vocabulary is not None:  # the same rows may say something else by another one
            kind += f"-{self._vocabulary.digest()[:16]}"
        return self._kept_in / version.table_id / kind

    def _advanced(self, path: Path, number: int, version: Version) -> BuiltEngine | None:
        """The engine of a snapshot, brought to another version; ``None`` if that cannot be done."""
        try:
            errors = _errors_beside(path)
            engine = Engine.load(path)
        except (SnapshotError, ValueError):
            with suppress(OSError):  # a folder that only others can write to
                path.unlink(missing_ok=True)
            return None
        except OSError:
            return None
        try:
            if number == version.number:
                return BuiltEngine(engine, located(self._files, version, errors))
            before = self._log.at(number)
            differing = row_changes(self._files, before, version)
            clear, errors = for_engine(engine, differing, errors)
            changes = operations(clear)
            apply_all(engine, changes)
            built = BuiltEngine(engine, located(self._files, version, errors))
        except (Unclear, PredicastError):
            # Rows that cannot be told apart, or a file of either version that is gone. Reading
            # the whole version says which, or finds that this one has all it needs.
            return None
        if len(changes) * _SHARE > len(engine) or rows_between(before, version) > len(engine):
            self._keep(built, path.parent, version.number)
        return built

    def _keep(self, built: BuiltEngine, folder: Path, number: int) -> None:
        """Save an engine for the next one who asks; who cannot, builds it again."""
        errors = built.errors()
        if errors is None:
            return
        with suppress(OSError):  # no room, or a table that is only read: SnapshotNotSavedError
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{number:020}{_SUFFIX}"
            if errors:  # before the engine, which would be taken for one of all rows otherwise
                written = json.dumps(errors).encode()
                write_atomically(_beside(path), lambda file: file.write(written))
            built.engine.save(path)
            for old in sorted(folder.glob(f"*{_SUFFIX}"), key=_age)[:-_KEPT]:
                old.unlink(missing_ok=True)
                _beside(old).unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    """The file that says which rows an engine goes without, if any."""
    return path.with_suffix(".invalid")


def _errors_beside(path: Path) -> dict[str, str]:
    """Why the rows that an engine goes without are no subscriptions, by id."""
    try:
        found: dict[str, str] = json.loads(_beside(path).read_bytes())
    except FileNotFoundError:
        return {}
    return found


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
