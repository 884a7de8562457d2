"""Files of what waits: a backlog's columns one after the other, read in one go at the next start.

::

    count       of positions, 8 bytes
    positions   8 bytes each
    about       MessagePack: ids, how many of the positions are whose, what is special about some

A file is put on disk before a checkpoint names it, and is never changed. The checkpoint has its
checksum.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import IO, Final, NamedTuple

import msgspec
import numpy as np

from predicast.broker.embedded.backlog import Backlog, Contents, Special
from predicast.broker.embedded.database import told
from predicast.broker.embedded.seals import damaged
from predicast.engine.snapshot.atomic import write_atomically

FOLDER: Final = "queues"


class _About(msgspec.Struct, frozen=True, array_like=True):
    ids: list[str]
    counts: bytes
    special: dict[int, Special]


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(_About).decode


class BacklogFile(NamedTuple):
    """A file, by its name in the folder, and the checksum of what is in it."""

    name: str
    checksum: int


def save(folder: Path, name: str, contents: Contents) -> BacklogFile:
    """Write a file, and put it on disk."""
    about = _encode(
        _About([*contents.ids], contents.counts.astype("<i8").tobytes(), {**contents.special})
    )
    positions = contents.positions.astype("<i8", copy=False).tobytes()
    parts = [len(contents.positions).to_bytes(8, "little"), positions, about]
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)

    def write(file: IO[bytes]) -> None:
        file.writelines(parts)

    with told(FOLDER):
        folder.mkdir(exist_ok=True)
        write_atomically(folder / name, write)
    return BacklogFile(name, checksum)


def load(folder: Path, file: BacklogFile) -> Backlog:
    """What a file says."""
    where = f"{FOLDER}/{file.name}"
    if not (folder / file.name).exists():
        damaged(where, "is not there")
    with told(where):
        content = (folder / file.name).read_bytes()
    if zlib.crc32(content) != file.checksum:
        damaged(where, "is not what was written")
    count = int.from_bytes(content[:8], "little")
    about = _decode(memoryview(content)[8 + 8 * count :])
    return Backlog(
        about.ids,
        np.frombuffer(about.counts, "<i8"),
        np.frombuffer(content, "<i8", count, offset=8),
        about.special,
    )


def tidy(folder: Path, tenant: int, name: str | None) -> None:
    """Remove files of the tenant's that are not this one, finished or not."""
    if folder.exists():
        for path in (*folder.glob(f"{tenant}-*"), *folder.glob(f".{tenant}-*")):
            if path.name != name:
                path.unlink(missing_ok=True)
