"""``NatsTenant``: everything of one tenant in one process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from predicast.broker.backend import Watcher
from predicast.broker.clock import Clock
from predicast.broker.nats.connection import Connection
from predicast.broker.nats.consumer import NatsConsumer
from predicast.broker.nats.deliveries import Deliveries
from predicast.broker.nats.event_messages import event_of
from predicast.broker.nats.inbox import Inbox
from predicast.broker.nats.names import TenantNames
from predicast.broker.nats.outbox import Outbox
from predicast.broker.nats.processes import Processes
from predicast.broker.nats.publishing import Publishing
from predicast.broker.nats.registry import Registry
from predicast.broker.nats.replay import Replay
from predicast.broker.nats.shares import Shares
from predicast.broker.nats.tasks import ended
from predicast.broker.subscriptions import Matched, Subscriptions
from predicast.engine import Report
from predicast.errors import BackendError
from predicast.protocol.records import (
    DeadLetter,
    Definition,
    NewEvent,
    Receipt,
    RegistryOperation,
    Remove,
    StoredEvent,
)

if TYPE_CHECKING:
    from predicast.graph import Ontology

_IN_THREAD: Final = 32  # events whose matching is worth another thread


class NatsTenant:
    """One tenant's streams, registry and queues."""

    def __init__(
        self,
        name: str,
        connection: Connection,
        processes: Processes,
        clock: Clock,
        ontology: Ontology | None,
        watcher: Watcher,
    ) -> None:
        self._watcher = watcher
        self._connection = connection
        self._processes = processes
        self.names = names = TenantNames(connection.options.prefix, name)

        def make() -> Subscriptions:
            return Subscriptions(ontology)

        self._shares = Shares(connection, names, self._match, self._reached)
        self.registry = Registry(
            connection,
            names,
            processes.name,
            make=make,
            holds=self._shares.holds,
            on_change=self._changed,
        )
        self.deliveries = Deliveries(
            connection,
            names,
            self.registry,
            processes.name,
            clock=clock,
            is_alive=processes.is_alive,
        )
        self._replay = Replay(connection, names, self.deliveries, make)
        self._publishing = Publishing(connection, names, self.registry, clock, self._shares.match)
        self._inbox = Inbox(connection, names, processes, self._publishing)
        self._outbox = Outbox(
            connection, names, self.deliveries, lambda: self.consumer(lambda _: None)
        )
        self._kept = {"messages": 0, "bytes": 0}  # as of the last tick
        self._opening: asyncio.Task[None] | None = None

    # Coming and going.

    async def opened(self) -> NatsTenant:
        """Itself, when all that is kept has been read."""
        if self._opening is None or (
            self._opening.done()
            and (self._opening.cancelled() or self._opening.exception() is not None)
        ):
            self._opening = asyncio.create_task(self._open())
        await asyncio.shield(self._opening)
        return self

    async def _open(self) -> None:
        subjects = [self.names.event_subject]
        await self._connection.make_event_stream(self.names.events, subjects)
        await self.registry.open()
        for process in self.registry.serving():
            if not self._processes.is_alive(process):
                await self.registry.remove_orphans(process)
        await self.deliveries.open()
        await self._inbox.open()
        await self._shares.open()

    async def close(self) -> None:
        """Let go of it all."""
        if self._opening is None:
            return
        await ended(self._opening)
        await self._inbox.close()
        await self._shares.close()
        await self._outbox.close()
        await self._publishing.close()
        with contextlib.suppress(BackendError):  # others find that this process is gone
            await self.registry.remove_orphans(self._processes.name)
        await self.deliveries.close()
        await self.registry.close()

    @property
    def is_open(self) -> bool:
        """Whether all that is kept has been read."""
        task = self._opening
        return task is not None and task.done() and not task.cancelled() and not task.exception()

    async def tick(self) -> None:
        """What is to be done now and then."""
        await self.deliveries.tick()
        await self._inbox.tick()
        await self._outbox.tick()
        self._kept = await self._connection.sizes(self.names.events)
        if self._processes.alive()[:1] == [self._processes.name]:
            await self.registry.fold()
            await self.deliveries.clear_logs()

    def _changed(self, ids: Collection[str]) -> None:
        self.deliveries.changed(ids)
        self._outbox.changed(ids)
        held = self.registry.held
        self._watcher(
            self.names.tenant, {id: held[id].definition if id in held else None for id in ids}
        )

    # What is wanted.

    async def change(self, window: Sequence[RegistryOperation]) -> Report:
        """Run a window, all or nothing."""
        report = await self.registry.change(window)
        gone = {step.id for step in window if isinstance(step, Remove)}
        await self.deliveries.forget(id for id in gone if id not in self.registry.held)
        return report

    def definition(self, id: str) -> Definition:
        """The subscription, or an ``UnknownIdError``."""
        held = self.registry.held.get(id)
        if held is None:
            raise self.registry.subscriptions.unknown(id)
        return held.definition

    def with_sinks(self) -> list[Definition]:
        """Those whose deliveries are sent somewhere."""
        held = [each.definition for each in self.registry.held.values()]
        return [each for each in held if each.settings.sink is not None]

    def definitions(
        self, owner: str | None, text: str | None, after: str | None, most: int
    ) -> list[Definition]:
        """Those of the owner whose id or expression has the text in it, by id, after that one."""
        found: list[Definition] = []
        for id in sorted(self.registry.held):
            if len(found) >= most:
                break
            definition = self.registry.held[id].definition
            if (
                (after is None or id > after)
                and (owner is None or definition.owner == owner)
                and (not text or text in id or text in definition.expression)
            ):
                found.append(definition)
        return found

    # What happens.

    async def publish(self, events: Sequence[NewEvent]) -> list[Receipt]:
        """Keep the events, in this order, match and deliver them."""
        return await self._publishing.publish(events)

    async def _reached(self, as_of: int) -> None:
        await self.registry.reached(as_of)

    async def _match(self, events: Sequence[NewEvent]) -> list[Matched]:
        subscriptions = self.registry.subscriptions
        if len(events) < _IN_THREAD:
            return subscriptions.match(events)
        return await asyncio.to_thread(subscriptions.match, events)

    def consumer(self, closed: Callable[[NatsConsumer], None]) -> NatsConsumer:
        """A reader, of nothing yet."""
        return NatsConsumer(self.deliveries, self._replay, closed)

    async def caught_up(self) -> None:
        """Return when all that was published here has been looked at."""
        await self.deliveries.reached(self._publishing.position)

    async def events(self, after: int, since: float | None, most: int) -> list[StoredEvent]:
        """What is kept, by position: after that one, or from that time on."""
        found: list[StoredEvent] = []
        end = await self._connection.last_sequence(self.names.events)
        async for events in self._replay.events(max(0, after), end):
            found += [event for event in events if since is None or event.at >= since]
            if len(found) >= most:
                break
        return found[:most]

    async def latest(self, most: int) -> list[StoredEvent]:
        """The last events that are kept, by position."""
        end = await self._connection.last_sequence(self.names.events)
        return (await self.events(max(0, end - most), None, most))[-most:]

    async def recipients(self, position: int) -> Mapping[str, str]:
        """Durable subscriptions that matched a kept event, and what became of each delivery."""
        await self.caught_up()
        message = await self._connection.get(self.names.events, position)
        if message is None:
            return {}
        queues = self.deliveries.queues
        durable = event_of(message).durable
        return {id: queues[id].state_of(position) for id in durable if id in queues}

    async def dead_letters(self, subscription: str | None, most: int) -> list[DeadLetter]:
        """Deliveries that were given up, the latest first."""
        queues = self.deliveries.queues
        ids: Iterable[str] = queues if subscription is None else [subscription]
        dead = [(given, id) for id in ids if id in queues for given in queues[id].dead.values()]
        latest = sorted(dead, key=lambda each: each[0].at, reverse=True)[:most]
        events = await self.deliveries.events([given.position for given, _ in latest])
        return [
            DeadLetter(events[given.position], id, given.attempts, given.reason, given.at)
            for given, id in latest
            if given.position in events
        ]

    async def try_again(self, subscription: str, positions: Sequence[int]) -> int:
        """Deliver dead letters once more; how many there were."""
        if subscription not in self.deliveries.queues:
            raise self.registry.subscriptions.unknown(subscription)
        return await self.deliveries.try_again(subscription, positions)

    # How it does.

    async def pending(self, ids: Collection[str] | None) -> Mapping[str, int]:
        """How many deliveries wait, by durable subscription."""
        await self.caught_up()
        queues = self.deliveries.queues
        if ids is None:
            return {id: len(queue) for id, queue in queues.items() if len(queue)}
        return {id: len(queues[id]) for id in ids if id in queues}

    def statistics(self) -> dict[str, float]:
        """Counts since the start and sizes now."""
        queues, held = self.deliveries.queues.values(), self.registry.subscriptions
        return {
            **self._publishing.counts,
            **self.deliveries.counts,
            "deliveries_dropped": sum(queue.all_drops for queue in queues),
            "deliveries_pending": sum(map(len, queues)),
            "subscriptions_durable": len(held.durable),
            "subscriptions_ephemeral": len(held.ephemeral),
            "events_unreadable": self._inbox.unreadable,
            "events_kept": self._kept["messages"],
            "bytes_kept": self._kept["bytes"],
            "last_position": max(self.deliveries.position, self._publishing.position),
        }
