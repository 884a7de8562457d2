"""The file that results go to: it appears whole or not at all.

What is written goes to a draft beside the target, which takes the target's name when all is done. A
target that exists and is not a regular file (``/dev/null``, a pipe) is written to directly.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from predicast.cli.interrupts import stop_if_interrupted


@contextlib.contextmanager
def result_stream(path: str | None) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears when the block ends well."""
    if path is None:
        with _whole_writes(sys.stdout.buffer) as stream:
            yield stream
        return
    with _new_file(Path(path)) as file:
        if path.endswith(".gz"):
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as compressed:
                yield cast("BinaryIO", compressed)
        else:
            yield file


def sequential(stream: BinaryIO) -> BinaryIO:
    """The stream with a place that can be told, which a pipe's cannot: writers of columns ask."""
    return cast("BinaryIO", _Counting(stream))


class _Counting(io.RawIOBase):
    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(data)
        size = len(memoryview(data).cast("B"))
        self._written += size
        return size

    def tell(self) -> int:
        return self._written


@contextlib.contextmanager
def _whole_writes(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The stream such that all of what is written is, or an error is raised.

    Where Python does not buffer (``python -u``, ``PYTHONUNBUFFERED``), standard output is raw, and
    a write to it may end early without an error: as when whoever reads a pipe closes it.
    """
    if not isinstance(stream, io.RawIOBase):
        yield stream
        return
    buffered = io.BufferedWriter(stream)
    try:
        yield buffered
    finally:
        buffered.detach()  # which writes what is left; the stream is not ours to close


@contextlib.contextmanager
def _new_file(target: Path) -> Iterator[BinaryIO]:
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:  # from here on: an interrupt may come as soon as there is a draft
        with _opened(draft, target) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        stop_if_interrupted()
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _opened(draft: Path, target: Path) -> BinaryIO:
    try:
        return draft.open("xb")
    except OSError as error:  # the user knows the target's name, not the draft's
        raise OSError(error.errno, error.strerror, str(target)) from None
