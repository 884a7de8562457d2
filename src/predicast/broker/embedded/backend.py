"""``EmbeddedBackend``: a SQLite file beside the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from predicast.broker.backend import Longest, Watcher
from predicast.broker.clock import Clock, SystemClock
from predicast.broker.embedded import chunks, tenants
from predicast.broker.embedded.consumer import EmbeddedConsumer
from predicast.broker.embedded.database import FILE, flaws, told
from predicast.broker.embedded.folder_mark import FolderMark
from predicast.broker.embedded.held_tenant import HeldTenant, Shared
from predicast.broker.embedded.options import EmbeddedOptions
from predicast.broker.embedded.readers import Readers
from predicast.broker.embedded.seals import damaged
from predicast.broker.embedded.writer import Writer
from predicast.broker.subscriptions import Subscriptions
from predicast.engine import Report
from predicast.errors import BackendError, DamagedStoreError, PredicastError
from predicast.protocol.records import (
    DeadLetter,
    Definition,
    NewEvent,
    Receipt,
    RegistryOperation,
    StoredEvent,
)

if TYPE_CHECKING:
    import os

    from predicast.graph import Ontology


_SMALL: Final = 32 << 20  # bytes that are looked at before anything else


class EmbeddedBackend:
    """Keeps everything in one folder, which is made if need be."""

    own_sinks: Collection[str] = ()

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        clock: Clock | None = None,
        options: EmbeddedOptions | None = None,
        ontology: Ontology | None = None,
    ) -> None:
        self._folder = Path(folder)
        self._clock = clock or SystemClock()
        self._options = options or EmbeddedOptions()
        self._ontology = ontology
        self._mark = FolderMark(self._folder)
        self._tenants: dict[str, HeldTenant] = {}
        self._consumers: set[EmbeddedConsumer] = set()
        self._shared: Shared | None = None
        self._upkeep: asyncio.Task[None] | None = None
        self._inspection: asyncio.Task[None] | None = None

    # Coming and going.

    async def start(self) -> None:
        """Recover what was kept; raises a ``BackendError`` if that is damaged or in use."""
        if self._shared is not None:
            raise BackendError("the backend is running already")
        with told(str(self._folder)):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._mark.take()
        path = self._folder / FILE
        writer, readers = Writer(path, self._mark, self._fail), Readers(path)
        try:
            writer.start()
            await self._inspect(path, readers)
            shared = Shared(
                self._folder, writer, readers, self._clock, self._options, self._ontology
            )
            for row in await readers.read(tenants.all_of):
                held = self._tenants[row.name] = HeldTenant(row.number, row.name, shared)
                await readers.read(partial(held.recover, expected=row.definitions))
        except BaseException:
            self._tenants.clear()
            await writer.stop()
            await readers.stop()
            self._mark.release()
            raise
        self._shared = shared
        self._upkeep = asyncio.create_task(self._run())

    async def _inspect(self, path: Path, readers: Readers) -> None:
        """Look for pages that make no sense: at once if that is quick, else meanwhile."""

        async def inspect() -> None:
            found = await readers.read(flaws)
            if found is not None:
                damaged(path.name, f"has pages that make no sense ({found})")

        if await readers.run(lambda: path.stat().st_size) <= _SMALL:
            await inspect()
        else:
            self._inspection = asyncio.create_task(inspect())

    async def stop(self) -> None:
        """Finish what was begun and let go of it all."""
        shared, self._shared = self._shared, None
        if shared is None:
            return
        assert self._upkeep is not None
        await self._end(self._upkeep)
        if self._inspection is not None:
            await self._end(self._inspection)
        try:
            for consumer in [*self._consumers]:
                await consumer.close()
            for tenant in self._tenants.values():
                await tenant.stop()
        finally:
            await shared.writer.stop()
            await shared.readers.stop()
            self._tenants.clear()
            self._mark.release()

    async def _end(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        """Look at what is due, again and again."""
        for tenant in [*self._tenants.values()]:
            await tenant.readers.run(tenant.queues.backlog.find_rows)
        while True:
            await asyncio.sleep(self._options.tick)
            self._check_there()
            if self._shared is None or self._shared.failure is not None:
                return
            for tenant in [*self._tenants.values()]:
                tenant.tick()
                try:
                    await tenant.tidy()
                except DamagedStoreError as error:
                    tenant.fail(error)
                except PredicastError:
                    pass  # what has no room now may have some later; who writes is told by then
                except Exception as error:  # noqa: BLE001 - nobody else would hear of it
                    tenant.fail(BackendError(f"the store cannot be tidied up: {error!r}"))

    def _check_there(self) -> None:
        """Notice when the file is removed: what is written to it then is lost with the process."""
        if not (self._folder / FILE).exists():
            self._fail(DamagedStoreError("the store is damaged: its file was removed", where=FILE))

    async def tenants(self) -> list[str]:
        """Those that have ever subscribed or published."""
        rows = await self._running().readers.read(tenants.all_of)
        return sorted(row.name for row in rows)

    def _fail(self, error: PredicastError) -> None:
        """From now on, whoever asks is told of this."""
        if self._shared is not None and self._shared.failure is None:
            self._shared.failure = error

    def _running(self) -> Shared:
        if self._shared is None:
            raise BackendError("the backend is not running")
        if self._shared.failure is not None:
            raise self._shared.failure
        if self._inspection is not None and self._inspection.done():
            self._inspection.result()
        return self._shared

    def _tenant(self, name: str) -> HeldTenant:
        shared = self._running()
        held = self._tenants.get(name)
        if held is None:
            number = 1 + max((each.number for each in self._tenants.values()), default=0)
            held = self._tenants[name] = HeldTenant(number, name, shared)
        return held

    # What is wanted.

    def subscriptions(self, tenant: str) -> Subscriptions:
        """What is wanted there, for whoever asks and explains."""
        return self._tenant(tenant).registry.subscriptions

    async def change(self, tenant: str, window: Sequence[RegistryOperation]) -> Report:
        """Run a window, all or nothing."""
        return await self._tenant(tenant).registry.change(window)

    async def definition(self, tenant: str, id: str) -> Definition:
        """The subscription, or an ``UnknownIdError``."""
        return await self._tenant(tenant).registry.definition(id)

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
        return await self._tenant(tenant).registry.definitions(
            owner=owner, text=text, after=after, most=most
        )

    async def with_sinks(self, tenant: str) -> list[Definition]:
        """Those whose deliveries are sent somewhere."""
        try:
            return await self._tenant(tenant).registry.with_sinks()
        except DamagedStoreError as error:
            self._fail(error)  # who looks them up is nobody who asks: others must hear of it
            raise

    def watch(self, watcher: Watcher) -> None:
        """Nobody else has the folder: there is nothing to tell."""

    # What happens.

    async def publish(self, tenant: str, events: Sequence[NewEvent]) -> list[Receipt]:
        """Keep the events, in this order, match and deliver them."""
        return await self._tenant(tenant).publishing.publish(events)

    async def consumer(self, tenant: str) -> EmbeddedConsumer:
        """A reader, of nothing yet."""
        consumer = EmbeddedConsumer(self._tenant(tenant), self._consumers.discard)
        self._consumers.add(consumer)
        return consumer

    async def events(
        self, tenant: str, *, after: int = 0, since: float | None = None, most: int = 100
    ) -> list[StoredEvent]:
        """What is kept, by position: after that one, or from that time on."""
        held = self._tenant(tenant)
        if most <= 0:
            return []
        return await held.readers.read(
            lambda c: chunks.events_after(c, held.number, max(0, after), since=since, most=most)
        )

    async def latest(self, tenant: str, most: int) -> list[StoredEvent]:
        """The last events that are kept, by position."""
        held = self._tenant(tenant)
        return await held.readers.read(lambda c: chunks.latest(c, held.number, most))

    async def recipients(self, tenant: str, position: int) -> Mapping[str, str]:
        """Durable subscriptions that matched a kept event, and what became of each delivery."""
        return await self._tenant(tenant).recipients(position)

    async def dead_letters(
        self, tenant: str, *, subscription: str | None = None, most: int = 100
    ) -> list[DeadLetter]:
        """Deliveries that were given up, the latest first."""
        return await self._tenant(tenant).dead_letters(subscription, most)

    async def try_again(self, tenant: str, subscription: str, positions: Sequence[int]) -> int:
        """Deliver dead letters once more; how many there were."""
        return await self._tenant(tenant).try_again(subscription, positions)

    # How it does.

    async def pending(self, tenant: str, ids: Collection[str] | None = None) -> Mapping[str, int]:
        """How many deliveries wait, by durable subscription; of all that have any, if not told."""
        return self._tenant(tenant).pending(ids)

    async def longest(self, tenant: str, most: int) -> Longest:
        """The longest queues of durable subscriptions; quick where there are many."""
        return self._tenant(tenant).queues.longest(most)

    def statistics(self, tenant: str | None = None) -> Mapping[str, float]:
        """Counts since the start and sizes now, by names that metrics can carry."""
        shared = self._running()
        if tenant is not None:
            held = self._tenants.get(tenant)
            return HeldTenant(0, tenant, shared).statistics() if held is None else held.statistics()
        total: dict[str, float] = {}
        for each in self._tenants.values():
            for name, value in each.statistics().items():
                if name != "last_position":
                    total[name] = total.get(name, 0) + value
        return {
            **total,
            "tenants": len(self._tenants),
            "consumers": len(self._consumers),
            "commits": shared.writer.commits,
        }
