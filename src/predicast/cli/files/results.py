"""Matches as people and programs want them: a table, JSON Lines or Parquet."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Final, Self

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from predicast.cli.files.matches import Matched, Matches
from predicast.cli.terminal import output, visible

if TYPE_CHECKING:
    from rich.console import Console

MATCHES: Final = pa.schema([("event", pa.int64()), ("subscription", pa.string())])
_SHOWN_IDS: Final = 10
_ROW_GROUP_ROWS: Final = 2**20


class Results(ABC):
    """Takes the matches of one batch after the other and counts them."""

    def __init__(self) -> None:
        self.events = 0
        self.matched_events = 0
        self.matches = 0

    @abstractmethod
    def add(self, matches: Matches) -> None:
        """Take the next batch."""

    def finish(self) -> None:  # noqa: B027  # often there is nothing
        """Write what is still to be written."""

    def close(self) -> None:  # noqa: B027
        """Let go of what is held, whether all went well or not."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            self.close()

    def summary(self) -> str:
        """What there was, in one line."""
        return (
            f"{_counted(self.events, 'event')}, {self.matched_events:,} of them matched, "
            f"{_counted(self.matches, 'match', 'matches')}"
        )


def _counted(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


class JsonLines(Results):
    """One line per event that matches, or per event."""

    def __init__(self, stream: BinaryIO, *, every_event: bool) -> None:
        super().__init__()
        self._stream = stream
        self._every_event = every_event

    def add(self, matches: Matches) -> None:
        lines = []
        expected = matches.first
        for event, ids in matches.per_event():
            if self._every_event:
                lines += [_line(missing, []) for missing in range(expected, event)]
            lines.append(_line(event, ids))
            expected = event + 1
            self.matched_events += 1
            self.matches += len(ids)
        self.events += matches.count
        if self._every_event:
            lines += [_line(missing, []) for missing in range(expected, self.events)]
        self._stream.write(b"".join(lines))
        self._stream.flush()


def _line(event: int, ids: list[str]) -> bytes:
    return msgspec.json.encode({"event": event, "subscriptions": ids}) + b"\n"


class Parquet(Results):
    """One row per match: ``event`` and ``subscription``."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._writer = pq.ParquetWriter(stream, MATCHES)
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0

    def add(self, matches: Matches) -> None:
        pairs = matches.pairs()
        self.events += matches.count
        self.matches += pairs.num_rows
        self.matched_events += len(pairs.column("event").unique())
        self._waiting.append(pairs)
        self._waiting_rows += pairs.num_rows
        if self._waiting_rows >= _ROW_GROUP_ROWS:
            self._write()

    def finish(self) -> None:
        self._write()

    def close(self) -> None:
        self._writer.close()

    def _write(self) -> None:
        if self._waiting:
            self._writer.write_table(
                pa.concat_tables(self._waiting), row_group_size=_ROW_GROUP_ROWS
            )
        self._waiting, self._waiting_rows = [], 0


class Table(Results):
    """The first events that match, drawn; the rest only counted."""

    def __init__(self, stream: BinaryIO | None, *, limit: int, every_event: bool) -> None:
        super().__init__()
        self._stream = stream
        self._limit = limit
        self._every_event = every_event
        self._rows: list[tuple[str, str, str]] = []

    def add(self, matches: Matches) -> None:
        for matched in self._listed(matches):
            if matched.ids:
                self.matched_events += 1
                self.matches += len(matched.ids)
            if len(self._rows) < self._limit:
                shown = visible(matches.shown(matched.event))
                self._rows.append((f"{matched.event:,}", shown, _ids(matched.ids)))
        self.events += matches.count

    def _listed(self, matches: Matches) -> Iterator[Matched]:
        if not self._every_event:
            return matches.per_event()
        found = {matched.event: matched for matched in matches.per_event()}
        numbers = range(matches.first, matches.first + matches.count)
        return (found.get(number) or Matched(number, []) for number in numbers)

    def finish(self) -> None:
        listed = self.events if self._every_event else self.matched_events
        more = f"; the first {len(self._rows):,} are shown" if listed > len(self._rows) else ""
        if self._stream is None:
            self._draw(output(), more)
            return
        from rich.console import Console

        text = io.TextIOWrapper(self._stream, encoding="utf-8", write_through=True)
        self._draw(Console(file=text, highlight=False, markup=False, emoji=False), more)
        text.detach()

    def _draw(self, console: Console, more: str) -> None:
        from rich import box
        from rich.table import Column
        from rich.table import Table as Drawing

        table = Drawing(
            Column("event", justify="right", overflow="fold"),
            Column("attributes", no_wrap=True, overflow="ellipsis", ratio=3),
            Column("matching subscriptions", overflow="fold", ratio=2),
            box=box.SIMPLE_HEAD,
            expand=True,
        )
        for row in self._rows:
            table.add_row(*row)
        if self._rows:
            console.print(table)
        console.print(f"{self.summary()}{more}.", soft_wrap=True)


def _ids(ids: list[str]) -> str:
    shown = ", ".join(map(visible, ids[:_SHOWN_IDS]))
    return f"{shown}, … {len(ids) - _SHOWN_IDS:,} more" if len(ids) > _SHOWN_IDS else shown or "–"
