"""``Source``: a file named on the command line, its form by its suffix, and its errors.

``.jsonl``, ``.ndjson`` and ``.json`` are JSON Lines, ``.csv`` is CSV, ``.parquet`` is Parquet; the
text forms may be compressed (``.csv.gz``). ``-`` is standard input, as JSON Lines.
"""

from __future__ import annotations

import enum
import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, Self, cast

from predicast.errors import InputFileError


class Form(enum.Enum):
    """How a file is written."""

    JSON_LINES = "JSON Lines"
    CSV = "CSV"
    PARQUET = "Parquet"


FORMS: Final = {
    ".jsonl": Form.JSON_LINES,
    ".ndjson": Form.JSON_LINES,
    ".json": Form.JSON_LINES,
    ".csv": Form.CSV,
    ".parquet": Form.PARQUET,
}


def form_of(path: str) -> tuple[Form | None, bool]:
    """The form that a name's suffix stands for, if any, and whether it is compressed."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compressed = suffixes[-1:] == [".gz"]
    form = FORMS.get("".join(suffixes[-2:-1] if compressed else suffixes[-1:]))
    return (None if compressed and form is Form.PARQUET else form), compressed


class Reading(NamedTuple):
    """An open file, and how many bytes of it have been read (compressed ones as they are)."""

    stream: BinaryIO
    position: Callable[[], int]


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read from."""

    path: str
    form: Form
    compressed: bool = False

    @classmethod
    def of(cls, path: str) -> Self:
        """The source with this name, by its suffix."""
        if path == "-":
            return cls("standard input", Form.JSON_LINES)
        form, compressed = form_of(path)
        if form is None:
            known = ", ".join(FORMS)
            raise InputFileError(
                f"{path}: the name must end in one of {known} (all but .parquet also with .gz), "
                "or be - for JSON Lines on standard input",
                path=path,
            )
        return cls(path, form, compressed)

    @property
    def is_live(self) -> bool:
        """Whether it is standard input, where more may come later."""
        return self.path == "standard input"

    def size(self) -> int | None:
        """Its bytes, if that can be told."""
        try:
            return None if self.is_live else Path(self.path).stat().st_size or None
        except OSError as error:
            raise self._unreadable(error) from error

    @contextmanager
    def opened(self) -> Iterator[Reading]:
        """The file, open; what goes wrong with reading it becomes an ``InputFileError``."""
        if self.is_live:
            if sys.stdin is None:
                raise self.refuse("closed")
            yield Reading(sys.stdin.buffer, lambda: 0)
            return
        try:
            with Path(self.path).open("rb") as file:
                stream = gzip.GzipFile(fileobj=file) if self.compressed else file
                yield Reading(cast("BinaryIO", stream), file.tell)
        except (OSError, EOFError, zlib.error) as error:
            raise self._unreadable(error) from error

    def refuse(self, why: str, line: int | None = None) -> InputFileError:
        """The error for something in this file; ``line`` is a row if it is Parquet."""
        counted = "row" if self.form is Form.PARQUET else "line"
        where = self.path if line is None else f"{self.path}, {counted} {line}"
        return InputFileError(f"{where}: {why}", path=self.path, line=line)

    def _unreadable(self, error: Exception) -> InputFileError:
        reason = getattr(error, "strerror", None) or str(error)
        return self.refuse(reason[:1].lower() + reason[1:])
