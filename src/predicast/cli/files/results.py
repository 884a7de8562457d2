"""Matches as people and programs want them: a table, JSON Lines, CSV, Parquet or Arrow.

A limit is on the events that are listed. Whoever lists no more is *full*, and nothing need be read
for it any longer; only the table counts on.
"""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Self

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from predicast.cli.files.matches import Matches
from predicast.cli.files.output import sequential
from predicast.cli.terminal import output, visible

if TYPE_CHECKING:
    from rich.console import Console

    from predicast.cli.files.about import About

MATCHES: Final = pa.schema([("event", pa.int64()), ("subscription", pa.string())])
_SHOWN_IDS: Final = 10
_ROW_GROUP_ROWS: Final = 2**20


class Results(ABC):
    """Takes the matches of one batch after the other and counts them."""

    def __init__(self, limit: int | None = None) -> None:
        self.events = 0
        self.matched_events = 0
        self.matches = 0
        self.full = False
        self._limit = limit
        self._listed = 0

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
        """What there was, in one line; of a file that was not read to its end, what was listed."""
        if self.full:
            matches = _counted(self.matches, "match", "matches")
            return f"The first {_counted(self._listed, 'event')}, {matches}"
        return (
            f"{_counted(self.events, 'event')}, {self.matched_events:,} of them matched, "
            f"{_counted(self.matches, 'match', 'matches')}"
        )


def _counted(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


class JsonLines(Results):
    """One line per event that matches, or per event."""

    def __init__(
        self, stream: BinaryIO, about: About, *, limit: int | None, every_event: bool
    ) -> None:
        super().__init__(limit)
        self._stream = stream
        self._about = about
        self._every_event = every_event

    def add(self, matches: Matches) -> None:
        lines = []
        for event, ids in matches.listed(every_event=self._every_event):
            document: dict[str, Any] = {"event": event, "subscriptions": ids}
            if self._about:
                document |= self._about.document(ids)
            lines.append(msgspec.json.encode(document) + b"\n")
            self._listed += 1
            self.matched_events += bool(ids)
            self.matches += len(ids)
            if self._listed == self._limit:
                self.full = True
                break
        self.events += matches.count
        self._stream.write(b"".join(lines))
        self._stream.flush()


class Pairs(Results):
    """One row per match: ``event`` and ``subscription``."""

    def add(self, matches: Matches) -> None:
        pairs = matches.pairs()
        events = pairs.column("event").unique()
        if self._limit is not None and len(events) >= self._limit - self._listed:
            self.full = True
            beyond = events.slice(self._limit - self._listed)
            if len(beyond):
                first = np.searchsorted(pairs.column("event").to_numpy(), beyond[0].as_py())
                pairs = pairs.slice(0, int(first))
            events = pairs.column("event").unique()
        self._listed += len(events)
        self.matched_events += len(events)
        self.matches += pairs.num_rows
        self.events += matches.count
        self._write(pairs)

    @abstractmethod
    def _write(self, pairs: pa.Table) -> None: ...


class Cells(Pairs):
    """Pairs as CSV, or with tabs as TSV; cells are quoted where they must be."""

    def __init__(self, stream: BinaryIO, *, limit: int | None, delimiter: str) -> None:
        super().__init__(limit)
        self._stream = stream
        self._delimiter = delimiter
        # Not Python's csv, which before 3.13 lets a carriage return go without quotes.
        self._special = re.compile(f'["\r\n{re.escape(delimiter)}]')
        self._stream.write(delimiter.join(MATCHES.names).encode() + b"\n")

    def _write(self, pairs: pa.Table) -> None:
        events, ids = (column.to_pylist() for column in pairs.columns)
        lines = [
            f"{event}{self._delimiter}{self._cell(id)}\n"
            for event, id in zip(events, ids, strict=True)
        ]
        self._stream.write("".join(lines).encode())
        self._stream.flush()

    def _cell(self, id: str) -> str:
        if self._special.search(id) is None:
            return id
        doubled = id.replace('"', '""')
        return f'"{doubled}"'


class PairColumns(Pairs):
    """Pairs as Parquet, or as an Arrow file."""

    def __init__(self, stream: BinaryIO, *, limit: int | None, as_parquet: bool) -> None:
        super().__init__(limit)
        new_file = pq.ParquetWriter if as_parquet else pa.ipc.new_file
        self._writer = new_file(sequential(stream), MATCHES)
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0

    def _write(self, pairs: pa.Table) -> None:
        self._waiting.append(pairs)
        self._waiting_rows += pairs.num_rows
        if self._waiting_rows >= _ROW_GROUP_ROWS:
            self._write_group()

    def finish(self) -> None:
        self._write_group()

    def close(self) -> None:
        self._writer.close()

    def _write_group(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting), _ROW_GROUP_ROWS)
        self._waiting, self._waiting_rows = [], 0


class Table(Results):
    """The first events that match, drawn; the rest only counted."""

    def __init__(
        self, stream: BinaryIO | None, about: About, *, limit: int, every_event: bool
    ) -> None:
        super().__init__(limit)
        self._stream = stream
        self._about = about
        self._every_event = every_event
        self._rows: list[tuple[str, str, str]] = []

    def add(self, matches: Matches) -> None:
        for event, ids in matches.listed(every_event=self._every_event):
            self.matched_events += bool(ids)
            self.matches += len(ids)
            if self._listed != self._limit:
                self._listed += 1
                shown = visible(matches.shown(event))
                self._rows.append((f"{event:,}", shown, self._ids(ids)))
        self.events += matches.count

    def _ids(self, ids: list[str]) -> str:
        shown = ", ".join(visible(self._about.titled(id)) for id in ids[:_SHOWN_IDS])
        more = len(ids) - _SHOWN_IDS
        return f"{shown}, … {more:,} more" if more > 0 else shown or "–"

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
