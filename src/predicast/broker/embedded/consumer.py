"""``EmbeddedConsumer``: one reader of deliveries, as the broker sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from predicast.broker.backend import Start
from predicast.broker.embedded.journal import Kind, Settlement
from predicast.broker.embedded.queue import Queue
from predicast.broker.embedded.reader import Taken
from predicast.errors import BackendError
from predicast.protocol.records import Delivery

if TYPE_CHECKING:
    from predicast.broker.embedded.held_tenant import HeldTenant


class EmbeddedConsumer:
    """Reads what it was told to."""

    def __init__(self, tenant: HeldTenant, closed: Callable[[EmbeddedConsumer], None]) -> None:
        self._tenant = tenant
        self._closed = closed
        self._reader = tenant.queues.reader()
        self._ready = asyncio.Event()
        self._reader.wake = self._ready.set
        self._is_closed = False
        self.taken = 0

    async def add(self, ids: Collection[str], start: Start | None = None) -> None:
        """Read these, too."""
        if any(id in self._tenant.registry.ephemeral for id in ids):
            await self._tenant.registry.changed()  # they may be about to end with another consumer
        self._check_open()
        for id in ids:
            if id not in self._tenant.registry.subscriptions:
                raise self._tenant.registry.subscriptions.unknown(id)
        self._tenant.queues.make(ids)
        if start is not None and (start.after is not None or start.since is not None):
            await self._tenant.catching_up.start(ids, start)
        for id in ids:
            queue = self._tenant.queues.held.get(id)
            if queue is not None:
                self._reader.attach(queue)
                self._tenant.catching_up.look(queue)

    async def remove(self, ids: Collection[str]) -> None:
        """Read these no longer."""
        gone = [queue for id in ids if (queue := self._reader.detach(id)) is not None]
        await self._end_ephemeral(gone)

    async def take(self, most: int, wait: float | None = None) -> list[Delivery]:
        """At least one and at most that many, in order; none when the wait is over."""
        loop = asyncio.get_running_loop()
        end = None if wait is None else loop.time() + wait
        while True:
            self._check_open()
            self._ready.clear()
            self._tenant.tick()
            taken = self._reader.take(most, self._tenant.clock.steady())
            if taken:
                deliveries = await self._deliveries(taken)
                if deliveries:
                    return deliveries
                continue
            if end is not None and loop.time() >= end:
                return []
            try:
                async with asyncio.timeout_at(end):
                    await self._ready.wait()
            except TimeoutError:
                return []

    async def _deliveries(self, taken: list[Taken]) -> list[Delivery]:
        recent = self._tenant.publishing.recent.by_position
        try:
            deliveries = [
                Delivery(recent[position], tuple(ids), attempt) for position, attempt, ids in taken
            ]
        except KeyError:
            deliveries = await self._read(taken)
        self._tenant.catching_up.go_on()
        self.taken += len(deliveries)
        return deliveries

    async def _read(self, taken: list[Taken]) -> list[Delivery]:
        """Some events are not at hand; those that are no longer kept are passed over."""
        found = await self._tenant.events_at([each.position for each in taken])
        return [
            Delivery(found[position], tuple(ids), attempt)
            for position, attempt, ids in taken
            if position in found
        ]

    async def acknowledge(self, subscription: str, positions: Sequence[int]) -> None:
        """These need not come again."""
        await self.acknowledge_all({subscription: positions})

    async def acknowledge_all(self, positions: Mapping[str, Sequence[int]]) -> None:
        """Nor these, by subscription, all at once."""
        self._check_open()
        find = self._tenant.queues.find
        await self._done(
            [
                (queue, queue.delivered(some))
                for id, some in positions.items()
                if (queue := find(id)) is not None and queue.is_durable
            ]
        )

    async def acknowledge_up_to(self, subscription: str, position: int) -> None:
        """Nor these: all that were delivered, up to that one."""
        queue = self._durable(subscription)
        if queue is not None:
            await self._done([(queue, queue.delivered_up_to(position))])

    async def _done(self, done: list[tuple[Queue, list[int]]]) -> None:
        records = [
            Settlement(Kind.ACKNOWLEDGED, queue.id, positions)
            for queue, positions in done
            if positions
        ]
        if records:
            await self._tenant.settlements.keep(records, lambda: self._acknowledged(done))

    def _acknowledged(self, done: list[tuple[Queue, list[int]]]) -> None:
        count = 0
        for queue, positions in done:
            count += queue.settle(positions)
            if queue.cursor is not None:
                self._tenant.catching_up.look(queue)
        self._tenant.acknowledged += count

    async def give_back(self, subscription: str, position: int, delay: float, why: str) -> None:
        """This one failed: again after the delay, or among the dead letters if it was the last."""
        queue = self._durable(subscription)
        if queue is None:
            return
        if queue.give_back(position, self._tenant.clock.steady() + max(0.0, delay), why):
            self._tenant.queues.watch(queue)
            self._tenant.tick()
            await self._tenant.settlements.settled()

    def put_back(self, subscription: str, positions: Sequence[int]) -> None:
        """These were taken and not tried."""
        queue = self._tenant.queues.held.get(subscription)
        if queue is not None:
            queue.put_back(positions, self._reader)

    def take_drops(self) -> Mapping[str, int]:
        """How many were dropped since this was last asked, by subscription."""
        drops, self._reader.drops = self._reader.drops, {}
        return drops

    async def close(self) -> None:
        """Read no more."""
        if self._is_closed:
            return
        self.shut()
        await self._end_ephemeral(self._reader.close())
        self._closed(self)

    def shut(self) -> None:
        """Wake whoever takes, to be told that there is no more."""
        self._is_closed = True
        self._ready.set()

    async def _end_ephemeral(self, queues: Collection[Queue]) -> None:
        over = [queue.id for queue in queues if not (queue.is_durable or queue.readers)]
        if over:
            await self._tenant.registry.end_unread(over)

    def _durable(self, id: str) -> Queue | None:
        self._check_open()
        queue = self._tenant.queues.find(id)
        return queue if queue is not None and queue.is_durable else None

    def _check_open(self) -> None:
        if self._is_closed:
            raise BackendError("the consumer is closed")
