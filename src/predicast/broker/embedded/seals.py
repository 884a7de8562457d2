"""Checksums of rows: a row that is not what was written is found when it is read.

SQLite checks the shape of its pages, not what stands in them. Every row here carries a checksum of
all its columns, its key included, so that a row in the wrong place is found as well.
"""

from __future__ import annotations

import zlib
from typing import Final, NoReturn

import msgspec

from predicast.errors import DamagedStoreError

Column = int | float | str | bytes | None

_encode: Final = msgspec.msgpack.Encoder().encode


def seal(*columns: Column) -> int:
    """The checksum of a row's columns, of their types and of where each ends."""
    return zlib.crc32(_encode(columns))


def check(found: object, where: str, *columns: Column) -> None:
    """Refuse a row whose checksum is not that of its columns."""
    try:
        is_whole = seal(*columns) == found
    except (TypeError, ValueError, OverflowError):  # a column that nobody has written
        is_whole = False
    if not is_whole:
        damaged(where, "is not what was written")


def damaged(where: str, what: str) -> NoReturn:
    """Say which part of the store cannot be trusted."""
    raise DamagedStoreError(
        f"the store is damaged: {where} {what}; restore it from a copy", where=where
    )
