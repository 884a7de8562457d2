"""``NatsBackend``: streams and buckets of NATS JetStream, shared by many processes."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from predicast.broker.backend import Longest, Watcher
from predicast.broker.clock import Clock, SystemClock
from predicast.broker.nats.connection import Connection, servers_of
from predicast.broker.nats.consumer import NatsConsumer
from predicast.broker.nats.options import NatsOptions, read_address
from predicast.broker.nats.processes import Processes
from predicast.broker.nats.tasks import ended
from predicast.broker.nats.tenant import NatsTenant
from predicast.broker.sinks import NATS_SINK
from predicast.broker.subscriptions import Subscriptions
from predicast.engine import Report
from predicast.errors import BackendError
from predicast.protocol.records import (
    DeadLetter,
    Definition,
    NewEvent,
    Receipt,
    RegistryOperation,
    StoredEvent,
)

if TYPE_CHECKING:
    from predicast.graph import Ontology

_TICK_S: Final = 1.0


class NatsBackend:
    """One process of a broker whose processes share NATS.

    ``url`` is ``nats://host:4222``, with commas between the servers of a cluster; it may state
    options behind a question mark, which those that are given here override.
    """

    own_sinks: Collection[str] = (NATS_SINK,)

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        options: NatsOptions | None = None,
        ontology: Ontology | None = None,
    ) -> None:
        self._url, stated = read_address(url)
        servers_of(self._url)  # what is no address is refused at once
        self._clock = clock or SystemClock()
        self._options = options or stated
        self._ontology = ontology
        self._connection: Connection | None = None
        self._processes: Processes | None = None
        self._tenants: dict[str, NatsTenant] = {}
        self._consumers: set[NatsConsumer] = set()
        self._watchers: list[Watcher] = []
        self._upkeep: asyncio.Task[None] | None = None

    # Coming and going.

    async def start(self) -> None:
        """Connect, and read what is kept; raises a ``BackendError`` if that cannot be."""
        if self._connection is not None:
            raise BackendError("the backend is running already")
        name = uuid.uuid4().hex
        connection = Connection(self._url, self._options, f"predicast {name}")
        await connection.open()
        self._connection = connection
        self._processes = Processes(connection, name)
        try:
            await self._processes.open()
            await self._open_all()
        except BaseException:
            await self.stop()
            raise
        self._upkeep = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Finish what was begun and let go of it all."""
        if self._connection is None or self._processes is None:
            return
        await ended(self._upkeep)
        for consumer in list(self._consumers):
            # Without a connection, others find that this process is gone.
            with contextlib.suppress(BackendError):
                await consumer.close()
        for tenant in self._tenants.values():
            await tenant.close()
        await self._processes.close()
        connection, self._connection = self._connection, None
        await connection.close()
        self._tenants.clear()

    async def _run(self) -> None:
        """Look after leases and queues, again and again."""
        assert self._processes is not None
        every = min(_TICK_S, self._options.lease_s / 4)
        while True:
            await asyncio.sleep(every)
            # What cannot be written now is tried again at the next turn.
            with contextlib.suppress(BackendError):
                await self._processes.tick()
                await self._processes.each_that_is_gone(self._end)
                await self._open_all()
                for tenant in list(self._tenants.values()):
                    if tenant.is_open:
                        await tenant.tick()

    async def _open_all(self) -> None:
        """Also tenants that another process has made: their events may visit this one."""
        for name in await self.tenants():
            await self._tenant(name)

    async def _end(self, process: str) -> None:
        for tenant in list(self._tenants.values()):
            if tenant.is_open:
                await tenant.registry.remove_orphans(process)

    async def tenants(self) -> list[str]:
        """Those that have ever subscribed or published."""
        prefix = self._options.prefix
        names = await self._running().streams(f"{prefix}.*.events")
        return sorted(
            name.removeprefix(f"{prefix}_").removesuffix("_events")
            for name in names
            if name.startswith(f"{prefix}_") and name.endswith("_events")
        )

    def _running(self) -> Connection:
        if self._connection is None:
            raise BackendError("the backend is not running")
        return self._connection

    def _known(self, name: str) -> NatsTenant:
        connection = self._running()
        assert self._processes is not None
        if name not in self._tenants:
            self._tenants[name] = NatsTenant(
                name, connection, self._processes, self._clock, self._ontology, self._changed
            )
        return self._tenants[name]

    async def _tenant(self, name: str) -> NatsTenant:
        return await self._known(name).opened()

    # What is wanted.

    def subscriptions(self, tenant: str) -> Subscriptions:
        """What is wanted there, for whoever asks and explains."""
        return self._known(tenant).registry.subscriptions

    async def change(self, tenant: str, window: Sequence[RegistryOperation]) -> Report:
        """Run a window, all or nothing. Every process matches its next event by what then holds."""
        return await (await self._tenant(tenant)).change(window)

    async def definition(self, tenant: str, id: str) -> Definition:
        """The subscription, or an ``UnknownIdError``."""
        return (await self._tenant(tenant)).definition(id)

    async def definitions(
        self,
        tenant: str,
        *,
        owner: str | None = None,
        text: str | None = None,
        after: str | None = None,
        most: int = 100,
    ) -> list[Definition]:
        """Those of the owner whose id or expression has the text in it, by id, after that one."""
        return (await self._tenant(tenant)).definitions(owner, text, after, most)

    async def with_sinks(self, tenant: str) -> list[Definition]:
        """Those whose deliveries are sent somewhere."""
        return (await self._tenant(tenant)).with_sinks()

    def watch(self, watcher: Watcher) -> None:
        """Tell one more about changes; those of this process are among them."""
        self._watchers.append(watcher)

    def _changed(self, tenant: str, changed: Mapping[str, Definition | None]) -> None:
        for watcher in self._watchers:
            watcher(tenant, changed)

    # What happens.

    async def publish(self, tenant: str, events: Sequence[NewEvent]) -> list[Receipt]:
        """Keep the events, in this order, match and deliver them."""
        return await (await self._tenant(tenant)).publish(events)

    async def consumer(self, tenant: str) -> NatsConsumer:
        """A reader, of nothing yet."""
        consumer = (await self._tenant(tenant)).consumer(self._consumers.discard)
        self._consumers.add(consumer)
        return consumer

    async def events(
        self, tenant: str, *, after: int = 0, since: float | None = None, most: int = 100
    ) -> list[StoredEvent]:
        """What is kept, by position: after that one, or from that time on."""
        return await (await self._tenant(tenant)).events(after, since, most)

    async def latest(self, tenant: str, most: int) -> list[StoredEvent]:
        """The last events that are kept, by position."""
        return await (await self._tenant(tenant)).latest(most)

    async def recipients(self, tenant: str, position: int) -> Mapping[str, str]:
        """Durable subscriptions that matched a kept event, and what became of each delivery."""
        return await (await self._tenant(tenant)).recipients(position)

    async def dead_letters(
        self, tenant: str, *, subscription: str | None = None, most: int = 100
    ) -> list[DeadLetter]:
        """Deliveries that were given up, the latest first."""
        return await (await self._tenant(tenant)).dead_letters(subscription, most)

    async def try_again(self, tenant: str, subscription: str, positions: Sequence[int]) -> int:
        """Deliver dead letters once more; how many there were."""
        return await (await self._tenant(tenant)).try_again(subscription, positions)

    # How it does.

    async def pending(self, tenant: str, ids: Collection[str] | None = None) -> Mapping[str, int]:
        """How many deliveries wait, by durable subscription; of all that have any, if not told."""
        return await (await self._tenant(tenant)).pending(ids)

    async def longest(self, tenant: str, most: int) -> Longest:
        """The longest queues of durable subscriptions."""
        waiting = await self.pending(tenant)
        return Longest.of(len(waiting), waiting.items(), most)

    def statistics(self, tenant: str | None = None) -> Mapping[str, float]:
        """Counts since the start and sizes now, by names that metrics can carry."""
        self._running()
        if tenant is not None:
            return self._known(tenant).statistics()
        total: dict[str, float] = {}
        for each in self._tenants.values():
            for name, value in each.statistics().items():
                if name != "last_position":
                    total[name] = total.get(name, 0) + value
        assert self._processes is not None
        return {
            **total,
            "tenants": len(self._tenants),
            "consumers": len(self._consumers),
            "processes": len(self._processes.alive()),
        }
