r"""CSV as rows of text, with the delimiter that its first line shows.

Programs write commas where numbers have points, and semicolons where numbers have commas; exports
of databases often have tabs or vertical bars. Which it is can be told from the names of the
columns: it is the one of the four that occurs most often in the first line outside of quotes, and
a comma if none does. A wrong guess does not pass in silence: rows that then have another number of
cells than the first line are refused.

Spreadsheets write, and heed, a line ``sep=;`` before the names; then it is that one. People write
``id, price, city``: where a space stands before each name but the first, spaces at the start of a
cell are not part of it.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from predicast.cli.files.source import OpenFile, Source

if TYPE_CHECKING:
    from typing_extensions import Buffer

_DELIMITERS: Final = ",;\t|"
_ROWS: Final = 1_024  # written at a time
_QUOTED: Final = re.compile(r'"[^"]*(?:"|\Z)')
_NAMES: Final = {"\t": "tabs"}
_STATED: Final = re.compile(rf'"?sep=([{re.escape(_DELIMITERS)}])"?[\r\n]*')


def delimiter_in(header: str) -> str:
    """The delimiter between the columns' names; of equally frequent ones the first."""
    return max(_DELIMITERS, key=_QUOTED.sub("", header).count)


def guess_hint(source: Source, delimiter: str) -> str:
    """What to add to an error that a wrong guess may have led to."""
    if source.delimiter is not None or delimiter == ",":
        return ""
    shown = _NAMES.get(delimiter, repr(delimiter))
    return f" (cells are taken to be separated by {shown}, as the first line shows)"


class Lines(Protocol):
    """What ``csv.reader`` gives."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


class CsvText:
    """An open CSV file: its rows, the names of the columns first, and what lies between cells."""

    def __init__(self, source: Source, text: io.TextIOWrapper, *, strict: bool) -> None:
        self.text = text
        leading = list(_up_to_the_first_not_blank(text))
        self.skipped = 0  # lines before that with the names, if one of them states the delimiter
        stated = _STATED.fullmatch(leading[-1]) if leading else None
        if stated is not None:
            self.skipped, leading[-1] = len(leading), "\n"  # as many lines as before
            leading += _up_to_the_first_not_blank(text)
        header = leading[-1] if leading else ""
        source.check_start(header.encode(errors="surrogateescape"))
        stated_delimiter = stated[1] if stated is not None else delimiter_in(header)
        self.delimiter = source.delimiter or stated_delimiter
        self.is_spaced = _is_spaced(header, self.delimiter)
        self.rows: Lines = csv.reader(
            itertools.chain(leading, text),
            delimiter=self.delimiter,
            skipinitialspace=self.is_spaced,
            strict=strict,
        )


class PlainCsv(io.RawIOBase):
    """The same rows again as bytes, without blank lines and without spaces before cells."""

    def __init__(self, file: CsvText) -> None:
        super().__init__()
        self._rows = filter(None, file.rows)
        self._delimiter = file.delimiter
        self._waiting = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        if not self._waiting:
            self._waiting = memoryview(self._next())
        room = memoryview(buffer)
        count = min(len(room), len(self._waiting))
        room[:count] = self._waiting[:count]
        self._waiting = self._waiting[count:]
        return count

    def _next(self) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self._delimiter, lineterminator="\n")
        writer.writerows(itertools.islice(self._rows, _ROWS))
        return text.getvalue().encode(errors="surrogateescape")


def _is_spaced(header: str, delimiter: str) -> bool:
    """Whether every name but the first has a space before it."""
    names = _QUOTED.sub("", header).split(delimiter)[1:]
    return bool(names) and all(name.startswith(" ") for name in names)


def _up_to_the_first_not_blank(text: io.TextIOWrapper) -> Iterator[str]:
    for line in text:
        yield line
        if line.strip("\r\n"):
            return


@contextmanager
def csv_text(source: Source, opened: OpenFile, *, strict: bool = False) -> Iterator[CsvText]:
    """The stream as CSV. What is not UTF-8 becomes surrogates: a decoder that fails would do so
    some lines ahead of the line at fault.
    """
    text = io.TextIOWrapper(
        opened.stream, encoding="utf-8-sig", errors="surrogateescape", newline=""
    )
    try:
        yield CsvText(source, text, strict=strict)
    finally:
        text.detach()  # the stream is not ours to close
