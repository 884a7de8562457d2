"""Files that the workers of one host share: snapshots, unpacked once, under their digests.

They lie in a directory of the user's own under the system's temporary one. A directory of that name
that belongs to somebody else, or that others can write to, is not used: whoever can write a
snapshot can make whoever loads it read anything. A few files are kept; the oldest go. Removing one
that is in use does no harm, since what is mapped stays until nobody has it mapped.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from predicast.engine.snapshot.atomic import write_atomically

_KEPT: Final = 6  # a few queries, before and after a change


def unpacked_file(digest: str, unpack: Callable[[], bytes], *, anew: bool = False) -> Path:
    """The file with what ``unpack`` gives, made if there is none or ``anew``.

    It raises ``OSError`` if there is no place for one.
    """
    path = _directory() / digest
    if anew or not path.exists():
        write_atomically(path, lambda file: file.write(unpack()))
        remove_all_but_latest([path], _KEPT)
    else:
        with suppress(OSError):  # it may have been removed since
            os.utime(path)
    return path


def _directory() -> Path:
    """The directory, if it is ours alone."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    directory = Path(tempfile.gettempdir()) / f"predicast-engines-{user}"
    directory.mkdir(mode=0o700, exist_ok=True)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(f"{directory} is not a directory")
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
        raise PermissionError(f"{directory} is open to others")
    return directory


def remove_all_but_latest(in_use: Collection[Path], kept: int) -> None:
    """Remove the files beside some that were used the longest ago; what cannot be removed stays."""
    by_age: list[tuple[float, Path]] = []
    for folder in {each.parent for each in in_use}:
        for each in folder.iterdir():
            with suppress(OSError):
                if not each.name.startswith(".") and each not in in_use:
                    by_age.append((each.stat().st_mtime, each))
    by_age.sort(reverse=True)
    for _, each in by_age[max(kept - len(in_use), 0) :]:
        with suppress(OSError):
            each.unlink()
