"""Snapshots: an engine as bytes, and files that are written whole or not at all.

::

    "predicast engine" 16 bytes | version u32 | length u64 | SHA-256 of the payload, 32 bytes |
    payload

The payload is JSON Lines: one line of settings, then one line per subscription in its JSON form.
Whatever does not check out (magic, version, length, digest, a line) is refused with an error,
never read in part.
"""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from predicast.errors import DamagedSnapshotError, PredicastError, SnapshotVersionError
from predicast.language import subscription_from_document, subscription_to_json
from predicast.model import Subscription

VERSION: Final = 1
_MAGIC: Final = b"predicast engine"
_HEADER: Final = struct.Struct("<16sIQ32s")


class Record(NamedTuple):
    """One subscription of an engine."""

    id: str
    owner: str | None
    subscription: Subscription


class Snapshot(NamedTuple):
    """What an engine is made of, apart from its matcher's structures."""

    settings: dict[str, Any]
    records: list[Record]


def encode(settings: dict[str, Any], records: Iterable[Record]) -> bytes:
    """The snapshot as bytes."""
    lines = [msgspec.json.encode(settings)]
    for id, owner, subscription in records:
        document = msgspec.Raw(subscription_to_json(subscription).encode())
        lines.append(msgspec.json.encode({"id": id, "owner": owner, "subscription": document}))
    payload = b"\n".join(lines)
    digest = hashlib.sha256(payload).digest()
    return _HEADER.pack(_MAGIC, VERSION, len(payload), digest) + payload


def decode(data: bytes, path: str | None = None) -> Snapshot:
    """The snapshot in these bytes; ``path`` is only for the error."""
    if len(data) < _HEADER.size:
        raise _damaged(path, "is too short to be a snapshot")
    magic, version, length, digest = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise _damaged(path, "is not a snapshot of an engine")
    if version != VERSION:
        raise SnapshotVersionError(
            f"{path or 'the snapshot'} has version {version}; this Predicast reads {VERSION}",
            path=path,
            version=version,
        )
    payload = data[_HEADER.size :]
    if len(payload) != length:
        raise _damaged(path, f"holds {len(payload)} bytes where {length} were written")
    if hashlib.sha256(payload).digest() != digest:
        raise _damaged(path, "does not match its checksum")
    settings, *lines = payload.split(b"\n")
    try:
        return Snapshot(msgspec.json.decode(settings), list(map(_record, lines)))
    except (msgspec.DecodeError, PredicastError, KeyError, TypeError) as error:
        raise _damaged(path, f"cannot be read: {error}") from error


def _record(line: bytes) -> Record:
    document = msgspec.json.decode(line)
    subscription = subscription_from_document(document["subscription"])
    return Record(document["id"], document["owner"], subscription)


def _damaged(path: str | None, why: str) -> DamagedSnapshotError:
    return DamagedSnapshotError(f"{path or 'the snapshot'} {why}", path=path)


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Put the bytes under the name ``path``: after a crash it holds all of them or the old ones."""
    target = Path(path)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    for directory in _opened(target.parent):
        os.fsync(directory)  # the rename itself


def _opened(directory: Path) -> Iterator[int]:
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:  # Windows cannot open directories, and does not need to
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)
