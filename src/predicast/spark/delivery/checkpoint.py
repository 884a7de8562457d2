"""Spark's checkpoint of a stream, as far as exactly-once depends on it.

Spark notes what is in a batch (``offsets/N``) before it runs the batch, that it has run
(``commits/N``), and for files which of them it has seen (``sources/0/…``). If some of that is lost
Spark does not always notice: it may number another batch N, or take up all files again. Deliveries
would then be lost or doubled. So before a stream goes on its checkpoint is compared with our own
log, and each batch with what was noted when it first began.

Limits: the format is Spark's own, of version 4.3. What is not understood is not judged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from predicast.errors import DamagedCheckpointError
from predicast.spark.delivery.batch_log import REMEDY, BatchLog

_COMPACT: Final = ".compact"  # a file that has in it what all files before it had
_LOG: Final = "predicast"


class Checkpoint:
    """The folder of a checkpoint."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log_folder = path / _LOG

    def opened_log(self, running: int | None = None) -> BatchLog:
        """The log of the stream, a new one if the stream is new."""
        return self.check(running) or BatchLog.created(self.log_folder)

    def check(self, running: int | None = None) -> BatchLog | None:
        """The log of a stream that has been running, if it can go on; ``None`` if it is new.

        ``running`` is the batch that Spark has just begun, if it has started the stream.
        """
        if BatchLog.exists(self.log_folder):
            log = BatchLog.read(self.log_folder)
            self._check(log)
            return log
        begun = _numbers(self.path / "offsets")
        if begun and not begun[-1] == running == 0:
            raise DamagedCheckpointError(
                f"{self.path} is the checkpoint of a stream that has begun batch {begun[-1]}, "
                f"and there is no log of their deliveries in {self.log_folder}: it is lost, or "
                f"another query's checkpoint; {REMEDY}",
                path=str(self.log_folder),
            )
        return None

    def events_of(self, batch: int) -> str | None:
        """The digest of what Spark notes of a batch's events; ``None`` if it cannot be read."""
        try:
            noted = (self.path / "offsets" / str(batch)).read_bytes()
        except OSError:
            return None
        # The second line has the time of the batch and settings: another attempt may differ there.
        lines = noted.split(b"\n")
        return hashlib.sha256(b"\n".join(lines[:1] + lines[2:])).hexdigest()

    def _check(self, log: BatchLog) -> None:
        begun = _numbers(self.path / "offsets")
        last = log.last
        if last is not None and (not begun or begun[-1] < last.batch):
            lost = f"offsets/{last.batch}"
            raise self._lost(lost, f"batch {last.batch} has begun, and {lost} is missing")
        if begun and begun[-1] > (0 if last is None else last.batch + 1):
            there = "no batch" if last is None else f"batch {last.batch}"
            raise self._lost(
                "offsets",
                f"it has batch {begun[-1]}, and the log of deliveries ends with {there}",
            )
        if begun:
            self._check_files_of_lines("metadata")
            for number in _numbers(self.path / "commits")[-2:]:
                self._check_files_of_lines(f"commits/{number}", heads=1)
            for number in range(max(begun[-1] - 1, 0), begun[-1] + 1):  # what Spark looks at
                self._check_source_files(number)

    def _check_source_files(self, batch: int) -> None:
        """Refuse to go on if Spark no longer knows all the files that it has seen."""
        for number, offset in enumerate(self._offsets(batch)):
            seen = offset.get("logOffset") if isinstance(offset, dict) else None
            if isinstance(seen, int) and seen >= 0:
                self._check_seen(self.path / "sources" / str(number), seen)

    def _offsets(self, batch: int) -> Iterator[Any]:
        name = f"offsets/{batch}"
        try:
            lines = (self.path / name).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise self._lost(name, f"{name} cannot be read: {error}") from error
        if len(lines) < 3 or not lines[0].startswith("v"):
            raise self._lost(name, f"{name} is cut short")
        for line in lines[2:]:
            try:
                yield json.loads(line)
            except ValueError as error:
                raise self._lost(name, f"{name} is damaged: {error}") from error

    def _check_seen(self, folder: Path, last: int) -> None:
        """The files that list what was seen, from the last that sums them up."""
        name = folder.relative_to(self.path).as_posix()
        first = max((n for n in _numbers(folder, _COMPACT) if n <= last), default=0)
        for number in range(first, last + 1):
            found = [folder / f"{number}{end}" for end in ("", _COMPACT)]
            there = [each for each in found if each.exists()]
            if not there:
                raise self._lost(name, f"{name}/{number} is missing")
            for each in there:
                self._check_files_of_lines(each.relative_to(self.path).as_posix(), heads=1)

    def _check_files_of_lines(self, name: str, heads: int = 0) -> None:
        """Refuse a file that is missing or damaged: JSON line by line, after a head."""
        try:
            lines = (self.path / name).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise self._lost(name, f"{name} cannot be read: {error}") from error
        try:
            whole = [json.loads(line) for line in lines[heads:] if line]
        except ValueError:
            whole = []
        if not whole or not all(line.startswith("v") for line in lines[:heads]):
            raise self._lost(name, f"{name} is damaged")

    def _lost(self, name: str, what: str) -> DamagedCheckpointError:
        return DamagedCheckpointError(
            f"the checkpoint {self.path} is damaged: {what}; {REMEDY}", path=str(self.path / name)
        )


def _numbers(folder: Path, ending: str = "") -> list[int]:
    """The numbers that files of a folder are called by, ascending."""
    try:
        names = [each.name for each in folder.iterdir()]
    except OSError:
        return []
    return sorted(
        int(name.removesuffix(ending))
        for name in names
        if name.endswith(ending) and name.removesuffix(ending).isdigit()
    )
