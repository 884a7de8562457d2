"""The file: a prologue, a header in JSON, and arrays that are used where they lie.

::

    0    "predicast engine"        16 bytes
    16   version                   u32
    20   flags                     u32, 0
    24   length of the header      u64
    32   length of the whole       u64
    40   SHA-256 of all the rest   32 bytes: of the prologue up to here, the header, the data
    72   header                    JSON
         data                      from the next multiple of 64 on
           array 0 | array 1 | …   each from a multiple of 64 on, little-endian

The header lists the arrays (type, offset in the data, number of entries) and says what each is for.
A file is mapped copy-on-write: its pages are the same memory in all processes that read it, except
those that a process writes to. What is wrong with a file is found before anything is used:
magic, version, lengths, checksum, then the header's shape, then each array's place and type. The
checksum is against accidents, not against an enemy: whoever can forge it can make the compiled
loops read where they should not, since those trust the contents of arrays. Load only files
from where you would load code.

Cost: reading is one pass over the file for the checksum. A file must not be cut short while it is
mapped; saving anew puts another file in its place and leaves the mapped one whole.

Rejected: Arrow IPC, which would align and check arrays likewise, but knows neither a checksum of
the whole nor arrays that may be written to where they lie.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from predicast.arrays import Array
from predicast.errors import DamagedSnapshotError, SnapshotError, SnapshotVersionError

Bytes = npt.NDArray[np.uint8]
H = TypeVar("H")

VERSION: Final = 4
# Version 2 has 32 bits for where each id begins; version 3 knows neither any and all nor rests.
_READ: Final = (2, 3, 4)
_MAGIC: Final = b"predicast engine"
_FIELDS: Final = struct.Struct("<16sIIQQ")  # the prologue without the checksum
_DIGEST: Final = hashlib.sha256().digest_size
_PROLOGUE: Final = _FIELDS.size + _DIGEST
_ALIGNMENT: Final = 64

_TYPES: Final = {"bool": np.dtype("bool")} | {
    name: np.dtype(f"<{name}") for name in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f8")
}
_NAMES: Final = {dtype: name for name, dtype in _TYPES.items()}

INTEGERS: Final = ("u1", "i1", "u2", "i2", "u4", "i4", "i8")
UNSIGNED: Final = ("u1", "u2", "u4")


class Place(msgspec.Struct, array_like=True, forbid_unknown_fields=True, frozen=True):
    """Where an array is: its type, its offset in the data, how many entries it has."""

    type: str
    offset: int
    length: int


class ArraysOut:
    """Arrays on their way into a file."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self._pieces: list[Array] = []
        self._end = 0

    def add(self, *pieces: Array) -> int:
        """Take in an array, perhaps in several pieces that follow each other; its number."""
        dtype = pieces[0].dtype
        self._pad()
        length = sum(map(len, pieces))
        self.places.append(Place(_NAMES[dtype], self._end, length))
        self._pieces += [np.ascontiguousarray(piece) for piece in pieces]
        self._end += length * dtype.itemsize
        return len(self.places) - 1

    def finished(self, header: msgspec.Struct) -> Iterator[memoryview | bytes]:
        """The file, piece by piece, the prologue last; it belongs in front."""
        self._pad()
        text = msgspec.json.encode(header)
        start = _aligned(_PROLOGUE + len(text))
        fields = _FIELDS.pack(_MAGIC, VERSION, 0, len(text), start + self._end)
        digest = hashlib.sha256(fields)
        text += bytes(start - _PROLOGUE - len(text))
        digest.update(text)
        yield text
        for piece in self._pieces:
            if len(piece):
                raw = piece.data.cast("B")
                digest.update(raw)
                yield raw
        yield fields + digest.digest()

    def _pad(self) -> None:
        end = _aligned(self._end)
        self._pieces.append(np.zeros(end - self._end, np.uint8))
        self._end = end


def prologue_size() -> int:
    """How many bytes come before the first of those that ``finished`` gives."""
    return _PROLOGUE


class ArraysIn:
    """The arrays of a file, by number."""

    def __init__(self, data: Bytes, places: Sequence[Place]) -> None:
        self._data, self._places = data, places

    def get(self, number: int, *types: str) -> Array:
        """An array that is of one of these types, as it lies in the file."""
        if not 0 <= number < len(self._places):
            raise damaged(f"names array {number} of {len(self._places)}")
        place = self._places[number]
        if place.type not in types:
            raise damaged(f"has {place.type!r} in array {number}, not {' or '.join(types)}")
        dtype = _TYPES[place.type]
        room = len(self._data) - place.offset
        if place.offset < 0 or place.offset % _ALIGNMENT or place.length < 0:
            raise damaged(f"has array {number} at no place for one")
        if place.length * dtype.itemsize > room:
            raise damaged(f"ends before its array {number}")
        return self._data[place.offset : place.offset + place.length * dtype.itemsize].view(dtype)


def opened(file: Bytes) -> tuple[bytes, Bytes]:
    """The header and the data of a file that is whole."""
    if len(file) < _PROLOGUE:
        if bytes(file[: len(_MAGIC)]) != _MAGIC[: len(file)]:
            raise damaged("is not a snapshot of an engine")
        raise damaged("is too short to be a snapshot")
    magic, version, flags, header, total = _FIELDS.unpack(file[: _FIELDS.size].tobytes())
    if magic != _MAGIC:
        raise damaged("is not a snapshot of an engine")
    if version not in _READ:
        read = " and ".join(map(str, _READ))
        raise SnapshotVersionError(
            f"the snapshot has version {version}; this Predicast reads {read}", version=version
        )
    if len(file) != total:
        raise damaged(f"holds {len(file)} bytes where {total} were written")
    start = _aligned(_PROLOGUE + header)
    if flags or start > total:
        raise damaged("has a prologue that makes no sense")
    digest = hashlib.sha256(file[: _FIELDS.size].data)
    digest.update(file[_PROLOGUE:].data)
    if digest.digest() != file[_FIELDS.size : _PROLOGUE].tobytes():
        raise damaged("does not match its checksum")
    return file[_PROLOGUE : _PROLOGUE + header].tobytes(), file[start:]


def read_header(text: bytes, kind: type[H], lack: str) -> H:
    """The header in a file's text; ``lack`` says what a file without has or has not."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise damaged(f"{lack}: {error}") from error


def whole(pieces: Iterable[memoryview | bytes]) -> bytes:
    """The bytes of a file, of which the prologue comes last."""
    *others, prologue = pieces
    return b"".join([prologue, *others])


def mapped(path: str | os.PathLike[str]) -> Bytes:
    """The bytes of a file, mapped: shared with other processes until written to."""
    if Path(path).is_fifo():  # to open it would be to wait for whoever writes to it
        raise DamagedSnapshotError(f"{path} is a pipe, not a file", path=os.fspath(path))
    with Path(path).open("rb") as file:
        return mapped_file(file)


def mapped_file(file: IO[bytes]) -> Bytes:
    """The bytes of an open file likewise; they stay when it is closed."""
    if not os.fstat(file.fileno()).st_size:
        return np.zeros(0, np.uint8)  # nothing can be mapped
    return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), np.uint8)


def ascends(numbers: Array, *, strictly: bool) -> bool:
    """Whether each is larger than the one before, or equal; differences might overflow."""
    before, after = numbers[:-1], numbers[1:]
    return bool((after > before if strictly else after >= before).all())


@contextmanager
def naming(path: str | None) -> Iterator[None]:
    """Have an error that is raised here name the file, if it is one."""
    try:
        yield
    except SnapshotError as error:
        if path is not None:
            error.path, error.message = path, error.message.replace("the snapshot", path, 1)
        raise


def damaged(why: str) -> DamagedSnapshotError:
    """The error for a snapshot that is not as it should be."""
    return DamagedSnapshotError(f"the snapshot {why}")


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
