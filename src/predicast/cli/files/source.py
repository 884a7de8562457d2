"""``Source``: a file named on the command line, its form, and its errors.

The form is what the suffix says, unless it was stated: ``.jsonl``, ``.ndjson`` and ``.json`` are
JSON Lines, ``.csv`` is CSV, ``.tsv`` is CSV with tabs, ``.parquet`` is Parquet; ``.arrow``,
``.ipc`` and ``.feather`` are Arrow, as a file or as a stream. The text forms may be compressed
(``.csv.gz``). ``-`` is standard input, as JSON Lines unless stated otherwise.
Subscriptions may also be YAML (``SUBSCRIPTION_FORMS``). Where graphs are read there are also RDF,
in any of its formats, and SPARQL (``GRAPH_FORMS``). What a dialect has a form of its own for is
read by it, under the suffixes that it names; its subscriptions may also be all such files of a
folder.
"""

from __future__ import annotations

import codecs
import enum
import gzip
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, Self, cast

from predicast.cli.interrupts import interrupts_held
from predicast.errors import InputFileError


class Form(enum.StrEnum):
    """How a file is written, under the name that options have for it."""

    JSON_LINES = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    ARROW = "arrow"
    YAML = "yaml"
    RDF = "rdf"
    SPARQL = "sparql"
    OWN = "own"  # of the dialect


CELLS: Final = frozenset({Form.CSV, Form.TSV})
OF_COLUMNS: Final = frozenset({Form.PARQUET, Form.ARROW})
FORMS: Final = {
    ".jsonl": Form.JSON_LINES,
    ".ndjson": Form.JSON_LINES,
    ".json": Form.JSON_LINES,
    ".csv": Form.CSV,
    ".tsv": Form.TSV,
    ".parquet": Form.PARQUET,
    ".arrow": Form.ARROW,
    ".ipc": Form.ARROW,
    ".feather": Form.ARROW,
}
SUBSCRIPTION_FORMS: Final = FORMS | {".yaml": Form.YAML, ".yml": Form.YAML}
GRAPH_FORMS: Final = SUBSCRIPTION_FORMS | {
    ".ttl": Form.RDF,
    ".turtle": Form.RDF,
    ".nt": Form.RDF,
    ".rdf": Form.RDF,
    ".owl": Form.RDF,
    ".xml": Form.RDF,
    ".jsonld": Form.RDF,
    ".nq": Form.RDF,
    ".trig": Form.RDF,
    ".n3": Form.RDF,
    ".rq": Form.SPARQL,
    ".sparql": Form.SPARQL,
}
_STANDARD_INPUT: Final = "standard input"
_CONVERTED: Final = "iconv -f WINDOWS-1252 -t UTF-8 converts it"


def form_of(path: str, known: Mapping[str, Form] = GRAPH_FORMS) -> tuple[Form | None, bool]:
    """The form that a name's suffix stands for, if any, and whether it is compressed."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compressed = suffixes[-1:] == [".gz"]
    form = known.get("".join(suffixes[-2:-1] if compressed else suffixes[-1:]))
    return (None if compressed and form in OF_COLUMNS else form), compressed


class OpenFile(NamedTuple):
    """An open file, and how many bytes of it have been read (compressed ones as they are)."""

    stream: BinaryIO
    position: Callable[[], int]


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read from; ``path`` is what messages call it."""

    path: str
    form: Form
    compressed: bool = False
    delimiter: str | None = None  # of CSV; None if its first line is to tell
    is_live: bool = False  # standard input, where more may come later
    dialect: str | None = None  # of what does not say otherwise
    files: tuple[str, ...] = ()  # of a folder
    copy: str | None = None  # a file that holds what came from a pipe

    @classmethod
    def of(
        cls,
        path: str,
        stated: Form | None = None,
        *,
        delimiter: str | None = None,
        known: Mapping[str, Form] = FORMS,
        dialect: str | None = None,
    ) -> Self:
        """The source with this name, of the form that was stated or that its suffix says.

        ``known`` are the forms that can be read here, by suffix.
        """
        if stated is not None and stated not in known.values():
            raise _unexpected(path, stated, known)
        if path == "-":
            form = stated or Form.JSON_LINES
            return cls(
                _STANDARD_INPUT,
                form,
                delimiter=_delimiter(form, delimiter),
                is_live=True,
                dialect=dialect,
            )
        if Path(path).is_dir() and Form.OWN in known.values():
            return cls(path, Form.OWN, dialect=dialect, files=tuple(_files_in(path, known)))
        suggested, compressed = form_of(path, {**GRAPH_FORMS, **known})
        chosen = stated or suggested
        if chosen is not None and chosen not in known.values():
            raise _unexpected(path, chosen, known)
        if chosen is None:
            if Path(path).is_dir():
                raise InputFileError(f"{path}: is a directory", path=path)
            listed = ", ".join(known)
            raise InputFileError(
                f"{path}: the name must end in one of {listed} (text also with .gz); "
                "otherwise --events-format and --subscriptions-format state what a file holds",
                path=path,
            )
        return cls(path, chosen, compressed, _delimiter(chosen, delimiter), dialect=dialect)

    def size(self) -> int | None:
        """Its bytes, if that can be told."""
        if self.is_live and self.copy is None:
            return None
        try:
            if self.files:
                return sum(Path(file).stat().st_size for file in self.files)
            return Path(self.copy or self.path).stat().st_size or None
        except OSError as error:
            raise self._unreadable(error) from error

    @contextmanager
    def opened(self) -> Iterator[OpenFile]:
        """The file, open; what goes wrong with reading it becomes an ``InputFileError``."""
        if self.is_live and self.copy is None:
            if sys.stdin is None:
                raise self.refuse("closed")
            yield OpenFile(sys.stdin.buffer, lambda: 0)
            return
        try:
            with Path(self.copy or self.path).open("rb") as file:
                stream = gzip.GzipFile(fileobj=file) if self.compressed else file
                yield OpenFile(cast("BinaryIO", stream), file.tell)
        except (OSError, EOFError, zlib.error) as error:
            raise self._unreadable(error) from error

    @contextmanager
    def kept(self) -> Iterator[Self]:
        """The same, to be opened as often as one likes: what a pipe brings is copied to a file."""
        if not self.is_live and (Path(self.path).is_file() or not Path(self.path).exists()):
            yield self
            return
        with ExitStack() as stack:
            with interrupts_held():  # or a file may be left behind that nobody knows of
                file = stack.enter_context(tempfile.NamedTemporaryFile(prefix="predicast-"))
            with self.opened() as opened:
                shutil.copyfileobj(opened.stream, file)
            file.flush()
            yield replace(self, copy=file.name, compressed=False)

    def refuse(self, why: str, line: int | None = None) -> InputFileError:
        """The error for something in this file; ``line`` is a row in a file of columns."""
        where = self.path if line is None else f"{self.path}, {self.counted} {line}"
        return InputFileError(f"{where}: {why}", path=self.path, line=line)

    @property
    def counted(self) -> str:
        """What the places in it are."""
        return "row" if self.form in OF_COLUMNS else "line"

    def check_start(self, start: bytes) -> None:
        """Refuse text that begins as UTF-16 does, which some programs on Windows write."""
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise self.refuse("is UTF-16; convert it to UTF-8, as iconv -f UTF-16 -t UTF-8 does")

    def not_utf8(self, line: int | None) -> InputFileError:
        """The error for text in another encoding: most often the one that Windows has."""
        return self.refuse("not UTF-8; if it is, say, Windows-1252: " + _CONVERTED, line)

    def text_of(self, opened: OpenFile) -> str:
        """All of a file that is text."""
        content = opened.stream.read()
        self.check_start(content)
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise self.not_utf8(line) from None

    def _unreadable(self, error: Exception) -> InputFileError:
        reason = getattr(error, "strerror", None) or str(error)
        return self.refuse(reason[:1].lower() + reason[1:])


def _files_in(folder: str, known: Mapping[str, Form]) -> Iterator[str]:
    """The files of a folder, and of those in it, that are of a dialect's own form."""
    suffixes = {suffix for suffix, form in known.items() if form is Form.OWN}
    found = [path for path in Path(folder).rglob("*") if path.suffix.lower() in suffixes]
    if not found:
        listed = ", ".join(sorted(suffixes))
        raise InputFileError(f"{folder}: has no file that ends in {listed}", path=folder)
    yield from (str(path) for path in sorted(found) if path.is_file())


def _delimiter(form: Form, given: str | None) -> str | None:
    return "\t" if form is Form.TSV else given


def _unexpected(path: str, form: Form, known: Mapping[str, Form]) -> InputFileError:
    listed = ", ".join(dict.fromkeys(known.values()))
    return InputFileError(f"{path}: {form} cannot be read here, only {listed}", path=path)
