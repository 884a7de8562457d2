"""``HeldTenant``: everything that is kept for one tenant, put together."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from predicast.broker.clock import Clock
from predicast.broker.embedded import (
    chunks,
    dead_letters,
    definitions,
    queue_states,
    retention,
    settlement_log,
    snapshots,
)
from predicast.broker.embedded.catching_up import CatchingUp
from predicast.broker.embedded.changes import touched_after
from predicast.broker.embedded.journal import Kind, Settlement
from predicast.broker.embedded.options import EmbeddedOptions
from predicast.broker.embedded.publishing import Publishing
from predicast.broker.embedded.queues import TenantQueues
from predicast.broker.embedded.readers import Readers
from predicast.broker.embedded.registry import Registry
from predicast.broker.embedded.saving_queues import SavingQueues
from predicast.broker.embedded.seals import damaged
from predicast.broker.embedded.settlement_log import SettlementLog
from predicast.broker.embedded.writer import Writer
from predicast.errors import PredicastError
from predicast.protocol.records import DeadLetter, StoredEvent

if TYPE_CHECKING:
    from predicast.graph import Ontology


class Shared:
    """What all tenants of a backend have in common."""

    def __init__(
        self,
        folder: Path,
        writer: Writer,
        readers: Readers,
        clock: Clock,
        options: EmbeddedOptions,
        ontology: Ontology | None,
    ) -> None:
        self.folder = folder
        self.writer = writer
        self.readers = readers
        self.clock = clock
        self.options = options
        self.ontology = ontology
        self.retention_clock = retention.RetentionClock(clock)
        self.failure: PredicastError | None = None


class HeldTenant:
    """One tenant's."""

    def __init__(self, number: int, name: str, shared: Shared) -> None:
        self.number = number
        self.name = name
        self._shared = shared
        self.clock = shared.clock
        self.writer = shared.writer
        self.readers = shared.readers
        self.ontology = shared.ontology
        self.settlements = SettlementLog(number, shared.writer, shared.clock)
        self.publishing = Publishing(
            number, name, shared.writer, shared.readers, shared.clock, shared.options
        )
        self.registry = Registry(
            number,
            name,
            shared.writer,
            shared.readers,
            shared.ontology,
            lambda: self.publishing.next_position,
        )
        self.queues = TenantQueues(self.settlements, self.registry.terms_of)
        self.registry.queues = self.publishing.queues = self.queues
        self.registry.settlements = self.settlements
        self.publishing.registry = self.registry
        self.catching_up = CatchingUp(self)
        self.saving = SavingQueues(self, shared.folder, shared.options.settled_in_log)
        self.acknowledged = 0
        self.first = 1  # position that is kept
        self._oldest_at: float | None = None  # when that one came
        self._is_busy = False  # with a checkpoint

    # Recovering.

    def recover(self, connection: sqlite3.Connection, expected: int) -> None:
        """Be what was kept; in a thread, before anything else."""
        self._recover_registry(connection, expected)
        self._recover_events(connection)
        self._recover_queues(connection)

    def _recover_registry(self, connection: sqlite3.Connection, expected: int) -> None:
        folder = self._shared.folder / snapshots.FOLDER
        row = snapshots.find(connection, self.number)
        held = self.registry.subscriptions
        touched: dict[str, None] = {}
        if row is not None:
            touched |= dict.fromkeys(snapshots.load(folder, row, held))
            self.registry.last_change = row.change
        for number, ids in touched_after(connection, self.number, self.registry.last_change):
            self.registry.last_change = number
            touched |= dict.fromkeys(ids)
        self.registry.restore(touched)
        self.registry.logged = len(touched)
        snapshots.tidy(folder, self.number, row)
        found = definitions.count(connection, self.number)
        if not found == expected == len(held.durable):
            damaged(
                f"the definitions of {self.name!r}",
                f"are {found} in the table and {len(held.durable)} in the engines, "
                f"and should be {expected}",
            )

    def _recover_events(self, connection: sqlite3.Connection) -> None:
        publishing = self.publishing
        checkpoint = queue_states.read_checkpoint(connection, self.number)
        oldest = next(chunks.oldest(connection, self.number), None)
        if oldest is not None:
            self.first, self._oldest_at = oldest[0], oldest[2]
        publishing.head = max(checkpoint.position, chunks.last_position(connection, self.number))
        publishing.next_position = publishing.head + 1
        events, size = chunks.totals_after(connection, self.number, checkpoint.position)
        publishing.events = checkpoint.events + events
        publishing.size = checkpoint.size + size
        window = self._shared.options.repeat_window
        for position, id, publisher in chunks.names_before_end(connection, self.number, window):
            publishing.repeats.add(publisher, id, position)

    def _recover_queues(self, connection: sqlite3.Connection) -> None:
        self.queues.backlog, self.settlements.applied = queue_states.recovered(
            connection,
            self._shared.folder,
            self.number,
            lambda ids: definitions.since_of(connection, self.number, ids),
        )
        self.queues.cut(self.first)
        self.saving.recover(queue_states.read_checkpoint(connection, self.number))

    # Events.

    async def events_at(self, positions: Collection[int]) -> Mapping[int, StoredEvent]:
        """Those of the events that are kept."""
        recent = self.publishing.recent.by_position
        found = {position: recent[position] for position in positions if position in recent}
        missing = sorted(set(positions) - found.keys())
        if missing:
            found |= await self.readers.read(lambda c: _read_at(c, self.number, missing))
        return found

    # Deliveries.

    async def recipients(self, position: int) -> Mapping[str, str]:
        """Who matched a kept event, and what became of each delivery."""
        if not self.first <= position <= self.publishing.head:
            return {}

        def ask(connection: sqlite3.Connection) -> tuple[list[str], set[str], dict[str, int]]:
            ids = chunks.matches_of(connection, self.number, position) or []
            kept = definitions.find_all(connection, self.number, ids)
            since = {each.definition.id: each.since for each in kept}
            return ids, dead_letters.at(connection, self.number, position), since

        await self.settlements.settled()
        ids, dead, since = await self.readers.read(ask)
        self.queues.make(id for id in ids if id in since)
        return {
            id: "dead" if id in dead else queue.state_of(position)
            for id in ids
            if id in since
            and since[id] <= position
            and (queue := self.queues.held.get(id)) is not None
        }

    async def dead_letters(self, subscription: str | None, most: int) -> list[DeadLetter]:
        """Deliveries that were given up, the latest first."""
        if most <= 0:
            return []
        await self.settlements.settled()
        graves = await self.readers.read(
            lambda c: dead_letters.latest(c, self.number, subscription, most)
        )
        events = await self.events_at([grave.position for grave in graves])
        return [
            DeadLetter(events[each.position], each.id, each.attempts, each.reason, each.at)
            for each in graves
            if each.position in events
        ]

    async def try_again(self, subscription: str, positions: Sequence[int]) -> int:
        """Deliver dead letters once more; how many there were."""
        if not self.registry.subscriptions.is_durable(subscription):
            raise self.registry.subscriptions.unknown(subscription)
        await self.settlements.settled()
        outcome: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def done(result: tuple[list[int], int] | None, error: PredicastError | None) -> None:
            if result is not None:
                found, number = result
                self.settlements.applied = max(self.settlements.applied, number)
                queue = self.queues.get(subscription)
                if queue is not None:
                    queue.retry(found)
            if not outcome.done():
                if result is not None:
                    outcome.set_result(len(result[0]))
                elif error is not None:
                    outcome.set_exception(error)

        self.writer.submit(lambda c: _dug_up(c, self.number, subscription, positions), done)
        return await outcome

    def pending(self, ids: Collection[str] | None) -> Mapping[str, int]:
        """How many deliveries wait, by durable subscription."""
        if ids is None:
            return self.queues.pending()
        subscriptions = self.registry.subscriptions
        return {id: self.queues.count(id) for id in ids if subscriptions.is_durable(id)}

    # Upkeep.

    def tick(self) -> None:
        """Do what is due."""
        self.queues.tick(self.clock.steady())

    def fail(self, error: PredicastError) -> None:
        """Something in the background cannot be done: whoever asks next is told."""
        self._shared.failure = error

    async def tidy(self) -> None:
        """Write down what has piled up, and cut what is too old."""
        self.settlements.flush()
        if self._is_busy:
            return
        self._is_busy = True
        try:
            options = self._shared.options
            if self.registry.logged >= options.changes_in_log:
                await self.save_engines()
            if self.saving.is_due():
                await self.saving.save()
            await self._cut()
        finally:
            self._is_busy = False

    async def save_engines(self) -> None:
        """Take a snapshot of the engines, while they go on."""
        registry, folder = self.registry, self._shared.folder / snapshots.FOLDER
        change, before = registry.last_change, registry.logged
        registry.suspects = registry.being_changed()
        try:
            row = await self.readers.run(
                lambda: snapshots.save(folder, self.number, change, registry.subscriptions)
            )
        finally:
            suspects, registry.suspects = registry.suspects, None
        await self.writer.write(lambda c: snapshots.write(c, self.number, row, suspects))
        registry.logged -= before
        await self.readers.run(lambda: snapshots.tidy(folder, self.number, row))

    async def _cut(self) -> None:
        options, now = self._shared.options, self._shared.retention_clock.now()
        publishing = self.publishing
        if self._oldest_at is None and publishing.recent.by_position:
            self._oldest_at = next(iter(publishing.recent.by_position.values())).at
        size = publishing.size
        if not publishing.events or not retention.is_due(options, now, size, self._oldest_at):
            return
        cut = await self.writer.write(lambda c: retention.cut(c, self.number, options, now, size))
        if cut is not None:
            self.first, self._oldest_at = cut.first, cut.at
            publishing.events -= cut.events
            publishing.size -= cut.size
            publishing.recent.cut(cut.first)
            self.queues.cut(cut.first)

    async def stop(self) -> None:
        """Finish what was begun, and write down what is needed to begin again quickly."""
        await self.publishing.stop()
        await self.catching_up.stop()
        if self._shared.failure is not None:
            return  # what is in memory may not be what was written
        # What has no room now is read from the logs at the next start.
        with suppress(PredicastError):
            await self.settlements.settled()
            if self.registry.logged:
                await self.save_engines()
            await self.saving.save()

    def statistics(self) -> dict[str, float]:
        """Counts since the start and sizes now."""
        publishing, held = self.publishing, self.registry.subscriptions
        return {
            "events_published": publishing.kept,
            "events_repeated": publishing.repeated,
            "deliveries_acknowledged": self.acknowledged,
            "deliveries_repeated": self.queues.redelivered,
            "deliveries_dropped": self.settlements.dropped,
            "deliveries_dead": self.settlements.dead,
            "deliveries_pending": len(self.queues),
            "subscriptions_durable": len(held.durable),
            "subscriptions_ephemeral": len(held.ephemeral),
            "events_kept": publishing.events,
            "bytes_kept": publishing.size,
            "last_position": publishing.head,
        }


def _read_at(
    connection: sqlite3.Connection, tenant: int, positions: Sequence[int]
) -> dict[int, StoredEvent]:
    found: dict[int, StoredEvent] = {}
    last = -1
    events: dict[int, StoredEvent] = {}
    for position in positions:
        if position > last:
            events = {
                event.position: event for event in chunks.chunk_with(connection, tenant, position)
            }
            last = max(events, default=position)
        if position in events:
            found[position] = events[position]
    return found


def _dug_up(
    connection: sqlite3.Connection, tenant: int, id: str, positions: Sequence[int]
) -> tuple[list[int], int]:
    """Take dead letters out; which there were, and the number of the settlement."""
    found = dead_letters.dig_up(connection, tenant, id, positions)
    if not found:
        return [], 0
    record = Settlement(Kind.AGAIN, id, found)
    return found, settlement_log.append(connection, tenant, [record])
