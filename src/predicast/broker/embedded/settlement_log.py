"""``SettlementLog``: what became of deliveries, written down in one row for each commit.

What somebody waits for, such as an acknowledgement, is handed to the writer at once, together with
all that comes until that gets to it. The rest, such as drops, goes along, or by itself soon: if it
is lost in a crash, deliveries come again.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from predicast.broker.clock import Clock
from predicast.broker.embedded import dead_letters
from predicast.broker.embedded.journal import Kind, Settlement
from predicast.broker.embedded.seals import check, damaged, seal
from predicast.broker.embedded.writer import Writer
from predicast.errors import PredicastError

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[Settlement]).decode


class _Kept(NamedTuple):
    """Records that somebody waits for, and what follows from them once they are on disk."""

    records: Sequence[Settlement]
    effect: Callable[[], None]
    outcome: asyncio.Future[None]


class _Batch:
    """Records that will be one row."""

    def __init__(self) -> None:
        self.noted: list[Settlement] = []
        self.buried: list[dead_letters.Grave] = []
        self.kept: list[_Kept] = []
        self.is_closed = False


class SettlementLog:
    """One tenant's. ``applied`` is the last row whose records the queues have heard of."""

    def __init__(self, tenant: int, writer: Writer, clock: Clock) -> None:
        self._tenant = tenant
        self._writer = writer
        self._clock = clock
        self._lock = threading.Lock()  # between the event loop and the writer, for a moment
        self._open: _Batch | None = None
        self._noted: list[Settlement] = []
        self._buried: list[dead_letters.Grave] = []
        self._last_drops: dict[str, Settlement] = {}
        self.applied = 0
        self.dead = 0
        self.dropped = 0

    # What nobody waits for.

    def note(self, settlement: Settlement) -> None:
        """Write this down soon."""
        if settlement.kind == Kind.DROPPED:
            before = self._last_drops.get(settlement.id)
            if before is not None and before.positions[0] == settlement.positions[0]:
                before.positions[1] = settlement.positions[1]
                return
            self._last_drops[settlement.id] = settlement
        self._noted.append(settlement)

    def bury(self, id: str, position: int, attempts: int, reason: str) -> None:
        """Put a delivery among the dead letters."""
        self.dead += 1
        self._buried.append(dead_letters.Grave(id, position, attempts, reason, self._clock.wall()))
        self.note(Settlement(Kind.DEAD, id, [position]))

    def flush(self) -> None:
        """Hand in what was noted."""
        if self._noted:
            self._hand_in(None)

    # What somebody waits for.

    async def keep(self, records: Sequence[Settlement], effect: Callable[[], None]) -> None:
        """Write these down, and wait until they are on disk and have had their effect."""
        outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._hand_in(_Kept(records, effect, outcome))
        await outcome

    async def settled(self) -> None:
        """Wait until all that was noted is on disk."""
        self.flush()
        if self._open is not None:
            await self._writer.write(lambda _: None)

    def _hand_in(self, kept: _Kept | None) -> None:
        with self._lock:
            batch = self._open
            if batch is None or batch.is_closed:
                batch = self._open = _Batch()
                self._writer.submit(self._work(batch), self._done(batch))
            batch.noted += self._noted
            batch.buried += self._buried
            if kept is not None:
                batch.kept.append(kept)
        self._noted, self._buried = [], []
        self._last_drops.clear()

    def _work(self, batch: _Batch) -> Callable[[sqlite3.Connection], int]:
        def work(connection: sqlite3.Connection) -> int:
            with self._lock:
                batch.is_closed = True
            dead_letters.bury(connection, self._tenant, batch.buried)
            kept = [record for kept in batch.kept for record in kept.records]
            return append(connection, self._tenant, [*batch.noted, *kept])

        return work

    def _done(self, batch: _Batch) -> Callable[[Any, PredicastError | None], None]:
        def done(number: Any, error: PredicastError | None) -> None:
            if self._open is batch:
                self._open = None
            if error is None:
                self.applied = number
            else:  # nobody is told of these: they must not be lost
                self._noted[:0] = batch.noted
                self._buried[:0] = batch.buried
            for _, effect, outcome in batch.kept:
                if error is None:
                    effect()
                if outcome.done():
                    continue  # whoever asked has gone
                if error is None:
                    outcome.set_result(None)
                else:
                    outcome.set_exception(error)

        return done


def append(connection: sqlite3.Connection, tenant: int, records: Iterable[Settlement]) -> int:
    """Write a row of records; its number."""
    number = 1 + max(
        connection.execute("SELECT coalesce(max(number), 0) FROM settlements").fetchone()[0],
        connection.execute("SELECT coalesce(max(settlement), 0) FROM checkpoints").fetchone()[0],
    )
    content = _encode([*records])
    connection.execute(
        "INSERT INTO settlements VALUES (?, ?, ?, ?)",
        (number, tenant, content, seal(number, tenant, content)),
    )
    return int(number)


def records_after(
    connection: sqlite3.Connection, tenant: int, number: int
) -> Iterator[tuple[int, list[Settlement]]]:
    """Rows behind a number, in order."""
    rows = connection.execute(
        "SELECT number, records, seal FROM settlements WHERE tenant = ? AND number > ? "
        "ORDER BY number",
        (tenant, number),
    )
    for found, content, sealed in rows:
        where = f"what became of deliveries, record {found}"
        check(sealed, where, found, tenant, content)
        try:
            yield found, _decode(content)
        except msgspec.MsgspecError:
            damaged(where, "cannot be read")
