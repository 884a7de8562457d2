"""Saving: a file that loads takes the place of the old one, or everything stays as it was.

What was written is read back before it replaces anything, by the same code that loads it: whatever
``Engine.load`` would refuse is refused here, while there still is the old file. What loading leaves
for later is left here too: sets and patterns, and templates, are not parsed.

Cost: one pass over the new file, which is in the system's cache: about a quarter of the time that
writing it takes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import IO

from predicast.engine.snapshot.atomic import write_atomically
from predicast.engine.snapshot.contents import Snapshot, decode, encoded
from predicast.engine.snapshot.layout import mapped_file, prologue_size
from predicast.errors import SnapshotError, SnapshotNotSavedError
from predicast.matching import make_matcher


def save(snapshot: Snapshot, path: str | os.PathLike[str]) -> None:
    """Write a file, all of it or nothing."""
    save_pieces(encoded(snapshot), path, check_loads)


def save_pieces(
    pieces: Iterable[memoryview | bytes],
    path: str | os.PathLike[str],
    check: Callable[[IO[bytes]], None],
) -> None:
    """Write the pieces of a file, all of them or nothing; ``check`` refuses what cannot be read."""
    try:
        write_atomically(path, partial(_write, pieces), check)
    except (OSError, SnapshotError) as error:
        raise _not_saved(os.fspath(path), error) from error


def _write(pieces: Iterable[memoryview | bytes], file: IO[bytes]) -> None:
    """Write the pieces of a file, of which the last belongs in front."""
    file.seek(prologue_size())
    last: memoryview | bytes = b""
    for piece in pieces:
        file.write(last)
        last = piece
    file.seek(0)
    file.write(last)


def check_loads(file: IO[bytes]) -> None:
    """Refuse a file that could not be loaded."""
    saved = decode(mapped_file(file))
    matcher = make_matcher(saved.matcher, absent=saved.absent)
    if saved.structure is not None:
        matcher.restore(saved.structure, len(saved.ids.texts))


def _not_saved(path: str, error: OSError | SnapshotError) -> SnapshotNotSavedError:
    if isinstance(error, OSError):
        number, why = error.errno, error.strerror or str(error)
        if error.filename is not None:
            why = f"{why} ({error.filename})"
    else:
        number, why = None, f"it could not be loaded again, {error}"
    return SnapshotNotSavedError(f"{path} was not saved: {why}", path=path, errno=number)
