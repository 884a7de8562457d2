"""Folders that the driver and all workers see: on this machine, or mounted on every one.

Batches are made final by a rename, which is one step on a file system and is not in an object
store. So a place is a path, or a ``file:`` address of one; what cannot be renamed is refused.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from predicast.errors import InvalidOptionError

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def folder(option: str, given: object) -> Path:
    """The folder that an option names, absolute: workers may be started elsewhere."""
    if not isinstance(given, str | os.PathLike) or not os.fspath(given):
        raise InvalidOptionError(f"{option} is the path of a folder, not {given!r}", option=option)
    text = os.fsdecode(given)
    if not _ADDRESS.match(text):
        return Path(text).absolute()
    parts = urlsplit(text)
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
        raise InvalidOptionError(
            f"{option} is {text!r}, and only a folder of a file system that the driver and the "
            "workers share will do: what is delivered is made final by a rename",
            option=option,
        )
    return Path(unquote(parts.path))


def put_on_disk(directory: Path) -> None:
    """Make sure that the names in a folder outlive a loss of power."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:  # Windows cannot
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
