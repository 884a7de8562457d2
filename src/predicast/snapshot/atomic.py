"""Files that are written whole or not at all.

What is to be written goes to a temporary file beside the target, ``.NAME.xxxxxxxx.saving``, which
takes the target's name when it is complete and on disk. A process that is killed leaves its
temporary file behind, and the next save of the same target removes it. To tell such a file from one
that is being written, a writer holds a lock on its own, which ends with the process; where there
are no such locks, nothing is removed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_SUFFIX: Final = ".saving"


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> None:
    """Have a file written: after a crash ``path`` holds all of it or what it held before."""
    target = Path(path)
    remove_stale(target)
    file, temporary = _locked(target)
    try:
        with file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # the lock holds until the file has its name
                temporary.replace(target)
        if fcntl is None:  # an open file cannot be renamed there
            temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    for directory in _opened(target.parent):
        os.fsync(directory)  # the rename itself


def remove_stale(target: Path) -> None:
    """Remove what writers of this target left behind when they were killed."""
    if fcntl is None:
        return
    prefix = f".{target.name}."
    with suppress(OSError):  # nothing depends on it
        for each in target.parent.iterdir():
            if each.name.startswith(prefix) and each.name.endswith(_SUFFIX):
                _remove_unless_locked(each)


def _remove_unless_locked(path: Path) -> None:
    with suppress(OSError), path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()


def _locked(target: Path) -> tuple[IO[bytes], Path]:
    """A new temporary file that others can tell is in use."""
    while True:
        descriptor, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=_SUFFIX
        )
        file, temporary = os.fdopen(descriptor, "wb"), Path(name)
        if fcntl is None:
            return file, temporary
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        if temporary.exists():
            return file, temporary
        file.close()  # removed before it was locked: somebody took it for a stale one


def _opened(directory: Path) -> Iterator[int]:
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:  # Windows cannot open directories, and does not need to
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)
