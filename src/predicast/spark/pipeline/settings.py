"""What a pipeline's file says, checked: every mistake is told with its line.

::

    [source]        what events are read from: format, path, schema, options
    [table]         the subscriptions: path
    [[sinks]]       where deliveries go: format, path, by_owner, topic, ...
    [dead_letters]  where events go that cannot be matched: format, path
    [stream]        checkpoint, every, columns, output, on_invalid, ...
    [spark]         master or remote, and settings

Paths are relative to the file.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec

from predicast.errors import InputFileError, suggest
from predicast.spark.pipeline.toml_lines import line_of, lines_of
from predicast.spark.placement import HOST_BYTES

_POSITION: Final = re.compile(r"line (\d+), column (\d+)")
_AT: Final = re.compile(r" - at `\$(.*)`$")
_STEP: Final = re.compile(r"\.([\w-]+)|\[(\d+|\.\.\.)\]")
_NAMED: Final = re.compile(r"field `([^`]*)`")


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class _Source(_Section, tag_field="format", frozen=True, kw_only=True):
    options: dict[str, str | int | float | bool] = {}


class JsonSource(_Source, tag="json", frozen=True, kw_only=True):
    """A folder of files of JSON lines."""

    path: str
    schema: str


class CsvSource(_Source, tag="csv", frozen=True, kw_only=True):
    """A folder of CSV files."""

    path: str
    schema: str


class ParquetSource(_Source, tag="parquet", frozen=True, kw_only=True):
    """A folder of Parquet files; the schema is theirs unless told."""

    path: str
    schema: str | None = None


class DeltaSource(_Source, tag="delta", frozen=True, kw_only=True):
    """A Delta table that rows are added to."""

    path: str


class KafkaSource(_Source, tag="kafka", frozen=True, kw_only=True):
    """Topics whose records are JSON, through Spark's own connector."""

    servers: str
    topic: str
    schema: str


class RateSource(_Source, tag="rate", frozen=True, kw_only=True):
    """Spark's own: so many rows a second, of ``timestamp`` and ``value``."""

    rows_per_second: int = 1


Source = JsonSource | CsvSource | ParquetSource | DeltaSource | KafkaSource | RateSource


class _Sink(_Section, tag_field="format", frozen=True, kw_only=True):
    pass


class ParquetTarget(_Sink, tag="parquet", frozen=True, kw_only=True):
    """A folder of Parquet files."""

    path: str
    by_owner: bool = False


class DeltaTarget(_Sink, tag="delta", frozen=True, kw_only=True):
    """A Delta table."""

    path: str
    shared: bool = False


class KafkaTarget(_Sink, tag="kafka", frozen=True, kw_only=True):
    """A topic."""

    servers: str
    topic: str
    key: str = "subscription"
    options: dict[str, str] = {}


Target = ParquetTarget | DeltaTarget | KafkaTarget


class TableSettings(_Section, frozen=True, kw_only=True):
    """Where the subscriptions are."""

    path: str


class PartitionSettings(_Section, frozen=True, kw_only=True):
    """How subscriptions are divided."""

    shards: int | None = None
    host_bytes: int = HOST_BYTES


class StreamSettings(_Section, frozen=True, kw_only=True):
    """The options of ``deliver``."""

    checkpoint: str
    every: str | None = None  # between the begins of two batches; without, as soon as it can
    columns: list[str] | None = None
    intervals: dict[str, str | Annotated[tuple[str, ...], msgspec.Meta(min_length=2)]] = {}
    output: Literal["rows", "array"] = "rows"
    on_invalid: Literal["raise", "absent", "skip"] | None = None
    on_invalid_subscription: Literal["raise", "quarantine"] = "raise"
    strategy: Literal["auto", "replicate", "partition"] | PartitionSettings = "auto"


class SparkSettings(_Section, frozen=True, kw_only=True):
    """Which Spark, and how it is set."""

    master: str = "local[*]"
    remote: str | None = None
    settings: dict[str, str] = {}


class Settings(_Section, frozen=True, kw_only=True):
    """A pipeline's file."""

    source: Source
    table: TableSettings
    sinks: list[Target]
    stream: StreamSettings
    dead_letters: Target | None = None
    spark: SparkSettings = SparkSettings()


class PipelineFile:
    """A file, what it says, and where it says so."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise InputFileError(f"{path}: {why}", path=str(path)) from error
        try:
            document = tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as error:
            raise self._not_toml(str(error)) from error
        self._lines = lines_of(self._text)
        try:
            self.settings = msgspec.convert(document, Settings)
        except msgspec.ValidationError as error:
            raise self._mistaken(str(error), document) from error
        if not self.settings.sinks:
            raise self.mistake(("sinks",), "there is no sink; deliveries have to go somewhere")

    def folder(self, given: str) -> Path:
        """A path that the file names, which is relative to the file."""
        return (self.path.absolute().parent / given).resolve()

    def mistake(self, key: tuple[str | int, ...], why: str) -> InputFileError:
        """An error that points at a key."""
        line = line_of(self._lines, key)
        where = f"{self.path}, line {line}" if line else str(self.path)
        return InputFileError(f"{where}: {why}", path=str(self.path), line=line)

    def _not_toml(self, why: str) -> InputFileError:
        position = _POSITION.search(why)
        line = int(position[1]) if position else self._text.count("\n") + 1
        return InputFileError(f"{self.path}, line {line}: {why}", path=str(self.path), line=line)

    def _mistaken(self, message: str, document: dict[str, Any]) -> InputFileError:
        """What msgspec refused, in words for people who write such files."""
        at = _AT.search(message)
        # Of a key that the file chose only "..." is told.
        steps = [each for each in _STEP.findall(at[1] if at else "") if each[1] != "..."]
        way = tuple(name or int(place) for name, place in steps)
        what = message[: at.start()] if at else message
        named = _NAMED.search(what)
        section = ".".join(map(str, way)) or "the file"
        if named and "unknown" in what:
            close = suggest(named[1], _known_at(way, document))
            hint = f"; did you mean {close!r}?" if close else ""
            return self.mistake((*way, named[1]), f"{section} has no {named[1]!r}{hint}")
        if named and "missing" in what:
            return self.mistake(way, f"{section} needs {named[1]!r}")
        return self.mistake(way, f"{section}: {what[:1].lower()}{what[1:]}")


_SECTIONS: Final[dict[str, tuple[type[msgspec.Struct], ...]]] = {
    "source": (JsonSource, CsvSource, ParquetSource, DeltaSource, KafkaSource, RateSource),
    "sinks": (ParquetTarget, DeltaTarget, KafkaTarget),
    "dead_letters": (ParquetTarget, DeltaTarget, KafkaTarget),
    "table": (TableSettings,),
    "stream": (StreamSettings,),
    "stream.strategy": (PartitionSettings,),
    "spark": (SparkSettings,),
}


def _known_at(way: tuple[str | int, ...], document: dict[str, Any]) -> list[str]:
    """The keys that a section has, given which kind of section it is."""
    if not way:
        return list(Settings.__struct_fields__)
    kinds = _SECTIONS.get(".".join(map(str, way)), _SECTIONS.get(str(way[0]), ()))
    section: Any = document
    for step in way:
        section = section[step]
    chosen = section.get("format") if isinstance(section, dict) else None
    return [
        name
        for kind in kinds
        if len(kinds) == 1 or kind.__struct_config__.tag == chosen
        for name in kind.__struct_fields__
    ]
