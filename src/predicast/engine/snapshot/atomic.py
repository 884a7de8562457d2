"""Files that are written whole or not at all.

What is to be written goes to a temporary file beside the target, ``.NAME.xxxxxxxx.saving``, which
takes the target's name when it is complete, checked and on disk. A link is followed: what it leads
to is replaced, and the link stays. The new file has the mode of the old one, and its owner and
group where the system permits; where there was none, the umask decides.

A process that is killed leaves its temporary file behind, and the next save of the same target
removes it. To tell such a file from one that is being written, a writer holds a lock on its own,
which ends with the process; where there are no such locks, nothing is removed.

Limits: a file that has other names (hard links) is refused, since these would go on naming the
old content; so is whatever is not a regular file. Access lists and extended attributes are not
carried over.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_SUFFIX: Final = ".saving"
_SHOWN: Final = 50  # characters of the target's name: all that it may have leave no room for more

Step = Callable[[IO[bytes]], object]


def write_atomically(path: str | os.PathLike[str], write: Step, check: Step | None = None) -> None:
    """Have a file written: after a crash ``path`` holds all of it or what it held before.

    ``check`` is shown what was written, and raises if it must not take the old file's place.
    """
    target = Path(os.path.realpath(path))
    replaced = _replaceable(target)
    remove_stale(target)
    file, temporary = _locked(target, replaced)
    try:
        with file:
            write(file)
            file.flush()
            if check is not None:
                check(file)
            os.fsync(file.fileno())
            if fcntl is not None:  # the lock holds until the file has its name
                temporary.replace(target)
        if fcntl is None:  # an open file cannot be renamed there
            temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # Windows cannot, nor can every file system: the name is there anyway
        _put_on_disk(target.parent)  # the rename itself


def remove_stale(target: Path) -> None:
    """Remove what writers of this target left behind when they were killed."""
    if fcntl is None:
        return
    prefix = _prefix(target)
    with suppress(OSError):  # nothing depends on it
        for each in target.parent.iterdir():
            if each.name.startswith(prefix) and each.name.endswith(_SUFFIX):
                _remove_unless_locked(each)


def _replaceable(target: Path) -> os.stat_result | None:
    """What is known of the file at the target, if there is one and another may take its place."""
    try:
        found = target.stat()
    except FileNotFoundError:
        if not target.parent.exists():
            raise OSError(errno.ENOENT, f"there is no folder {target.parent}") from None
        return None
    if stat.S_ISDIR(found.st_mode):
        raise OSError(errno.EISDIR, "it is a folder; name a file in it")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file, and only such a one is replaced")
    if found.st_nlink > 1:
        why = f"it has {found.st_nlink} names (hard links), and would be replaced under one only"
        raise OSError(errno.EMLINK, why)
    return found


def _remove_unless_locked(path: Path) -> None:
    with suppress(OSError), path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()


def _locked(target: Path, replaced: os.stat_result | None) -> tuple[IO[bytes], Path]:
    """A new temporary file that others can tell is in use."""
    while True:
        temporary = target.with_name(f"{_prefix(target)}{secrets.token_hex(4)}{_SUFFIX}")
        with suppress(FileExistsError):
            file = _made(temporary, replaced)
            if fcntl is None:
                return file, temporary
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
            if temporary.exists():
                return file, temporary
            file.close()  # removed before it was locked: somebody took it for a stale one


def _prefix(target: Path) -> str:
    return f".{target.name[:_SHOWN]}."


def _made(temporary: Path, replaced: os.stat_result | None) -> IO[bytes]:
    """A new file that nobody may read who could not read the one that it will replace."""
    mode = 0o666 if replaced is None else 0o600  # of the first, the umask takes some away
    file = open(temporary, "x+b", opener=partial(os.open, mode=mode))  # noqa: SIM115
    if replaced is not None and hasattr(os, "fchown"):
        _take_after(replaced, file.fileno())
    return file


def _take_after(replaced: os.stat_result, descriptor: int) -> None:
    """Give a new file owner, group and mode of the one that it will replace, where possible."""
    for owner, group in ((-1, replaced.st_gid), (replaced.st_uid, -1)):
        with suppress(OSError):  # only root may give files away; some file systems know no owners
            os.fchown(descriptor, owner, group)
    mode = stat.S_IMODE(replaced.st_mode) & 0o777
    if os.fstat(descriptor).st_gid != replaced.st_gid:
        mode &= ~stat.S_IRWXG  # what one group might do is not for another
    with suppress(OSError):  # a file system without modes
        os.fchmod(descriptor, mode)


def _put_on_disk(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
