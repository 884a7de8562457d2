"""``Journal``: what a broker writes after each step, so that a step costs what it has changed.

::

    length crc crc | whole state      length crc crc | change      length crc crc | change    ...

A journal begins with the whole state; each entry that follows says what one step has changed. Once
the changes are longer than the state, the state is written anew and takes the place of all that.
The caller keeps the bytes: a whole entry is to *replace* what there is, in one act (a file that is
renamed), any other is to be added to it, and what the step wants to send goes out after that.

Checksums go over all entries so far, so that none can be altered, left out or exchanged without
being found out: then the journal is refused. An entry that was cut short at the very end is that of
a step which sent nothing, and is left out, as if the step had never been.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from predicast.errors import DamagedStateError
from predicast.routing.recovering import Recovering
from predicast.routing.router import Router
from predicast.routing.state import RouterState
from predicast.routing.state_codec import (
    change_from_bytes,
    change_to_bytes,
    state_from_bytes,
    state_to_bytes,
)

_BODY: Final = 18  # where a header's third number begins, the checksum of what follows
_HEADER: Final = 27  # bytes of a header: three numbers of eight digits, each with what follows it
_LEAST: Final = 1 << 16  # bytes of changes that are not worth another state, however small it is


class Entry(NamedTuple):
    """Bytes to be kept: in the place of all before, or after them."""

    data: bytes
    is_whole: bool


class Journal:
    """Writes down what becomes of one router."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._checksum = 0
        self._whole_size = 0
        self._changes_size: int | None = None  # nothing is written yet
        router.note_changes()

    def entry(self) -> Entry:
        """What is to be kept of the step that was just made; no bytes if it has changed nothing."""
        size = self._changes_size
        if size is None or size > max(_LEAST, self._whole_size):
            return self._whole_entry()
        change = self._router.changes()
        if change.is_empty:
            return Entry(b"", is_whole=False)
        data = self._framed(change_to_bytes(change))
        self._changes_size = size + len(data)
        return Entry(data, is_whole=False)

    def _whole_entry(self) -> Entry:
        self._router.changes()  # they are in there
        self._checksum = 0
        data = self._framed(state_to_bytes(self._router.state()))
        self._whole_size, self._changes_size = len(data), 0
        return Entry(data, is_whole=True)

    def _framed(self, body: bytes) -> bytes:
        header = _header(len(body), self._checksum)
        self._checksum = zlib.crc32(body, self._checksum)
        return header + b"%08x\n" % self._checksum + body


def recovered(data: bytes) -> RouterState:
    """The state after the last entry that is whole; a journal that was altered is refused."""
    bodies = _bodies(data)
    first = next(bodies, None)
    if first is None:
        raise DamagedStateError("a journal that was cut short before its first state")
    state = Recovering(state_from_bytes(first))
    for body in bodies:
        state.apply(change_from_bytes(body))
    return state.state()


def _bodies(data: bytes) -> Iterator[bytes]:
    begin = checksum = 0
    while begin + _HEADER <= len(data):
        header = data[begin : begin + _HEADER]
        if header == bytes(_HEADER) and not data[begin:].strip(b"\0"):
            return  # room that was set aside and never written to
        length = _length(header[:8])
        body = data[begin + _HEADER : begin + _HEADER + length]
        if header[:_BODY] != _header(length, checksum):
            raise DamagedStateError(f"at byte {begin} the journal has no entry: it was altered")
        if len(body) < length:
            return  # cut short
        checksum = zlib.crc32(body, checksum)
        if header[_BODY:] != b"%08x\n" % checksum:
            raise DamagedStateError(f"the journal's entry at byte {begin} was altered")
        yield body
        begin += _HEADER + length


def _header(length: int, checksum: int) -> bytes:
    """The first half: were a length altered unseen, what is whole might be taken for cut short."""
    digits = b"%08x" % length
    return digits + b" %08x " % zlib.crc32(digits, checksum)


def _length(digits: bytes) -> int:
    try:
        return int(digits, 16)
    except ValueError:
        return 0  # which has another checksum
