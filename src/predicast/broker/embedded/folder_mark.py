"""``FolderMark``: a small file that says whose the folder is, and how much was committed in it.

It is locked by the process that has the folder; the lock ends with the process, however that ends.

After each commit its number is written here. SQLite cannot tell a log that was cut, or damaged in
the middle, from one whose end was being written: it goes on with what comes before. A store that
has fewer commits than were marked has lost some that were acknowledged, and is refused. The mark
itself is not put on disk by force: after a power failure it may be behind, never ahead.
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import Any, Final

from predicast.broker.embedded.seals import damaged
from predicast.errors import BackendError

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

FILE: Final = "mark"
_FORM: Final = struct.Struct("<QI")


class FolderMark:
    """Held between ``take`` and ``release``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: int | None = None

    def take(self) -> None:
        """Take the folder, or be refused."""
        file = os.open(self._folder / FILE, os.O_RDWR | os.O_CREAT, 0o666)
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(file)
                raise BackendError(
                    f"{self._folder} is in use by another broker: "
                    "stop that one, or give this one a folder of its own"
                ) from None
        self._file = file

    def release(self) -> None:
        """Give it back."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def write(self, commits: int) -> None:
        """Say how many commits there were."""
        assert self._file is not None
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, _FORM.pack(commits, zlib.crc32(commits.to_bytes(8))))

    def check(self, commits: int) -> None:
        """Refuse a store that has fewer commits than were marked."""
        assert self._file is not None
        os.lseek(self._file, 0, os.SEEK_SET)
        found = os.read(self._file, _FORM.size + 1)
        if not found:
            return
        if len(found) != _FORM.size:
            damaged(FILE, "has not the size that it should have")
        marked, crc = _FORM.unpack(found)
        if crc != zlib.crc32(marked.to_bytes(8)):
            damaged(FILE, "is not what was written")
        if commits < marked:
            damaged(
                "broker.db",
                f"has {commits} of {marked} commits: what was written last is gone",
            )
