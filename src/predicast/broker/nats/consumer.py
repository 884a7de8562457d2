"""``NatsConsumer``: one reader of deliveries in this process."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from predicast.broker.backend import Start
from predicast.broker.nats.deliveries import Deliveries
from predicast.broker.nats.delivery_queue import DeliveryQueue
from predicast.broker.nats.replay import Replay
from predicast.errors import BackendError, PredicastError
from predicast.protocol.records import Delivery, Remove

_LOOK_S: Final = 0.1  # how often a clock that is not the loop's is looked at


class _Taken(NamedTuple):
    """A position that was handed out, to whom, and for which time."""

    position: int
    attempt: int
    ids: list[str]


class NatsConsumer:
    """Reads what it was told to."""

    def __init__(
        self,
        deliveries: Deliveries,
        replay: Replay,
        closed: Callable[[NatsConsumer], None],
    ) -> None:
        self._deliveries = deliveries
        self._replay = replay
        self._closed = closed
        self._ids: dict[str, None] = {}
        self._offered: dict[str, None] = {}  # ids of queues in which something may wait
        self._ready = asyncio.Event()
        self._is_closed = False

    async def add(self, ids: Collection[str], start: Start | None = None) -> None:
        """Read these, too."""
        self._check_open()
        registry, deliveries = self._deliveries.registry, self._deliveries
        if any(id not in registry.held for id in ids):
            await registry.catch_up()
        for id in ids:
            if id not in registry.held:
                raise registry.subscriptions.unknown(id)
        ephemeral = [id for id in ids if not registry.held[id].definition.settings.durable]
        if ephemeral:
            await registry.lease(ephemeral)
            await deliveries.listen(ephemeral)
        await deliveries.claim(ids)
        if start is not None and (start.after is not None or start.since is not None):
            await self._start([id for id in ids if id in deliveries.queues], start)
        for id in ids:
            self._ids[id] = None
            readers = deliveries.readers.setdefault(id, [])
            if self not in readers:
                readers.append(self)
            queue = deliveries.queue(id)
            if queue is not None:
                self.offer(queue)

    async def _start(self, ids: list[str], start: Start) -> None:
        for id in ids:
            if not self._deliveries.is_mine(self._deliveries.queues[id]):
                raise BackendError(
                    f"the subscription {id!r} is read at another process; it begins anew only "
                    "where it is read"
                )
        await self._replay.start(ids, start)

    async def remove(self, ids: Collection[str]) -> None:
        """Read these no longer.

        They may be read again in a moment: this process lets go of them a little later.
        """
        durable = [queue for queue in await self._leave(ids) if queue.settings.durable]
        self._deliveries.left(durable)

    async def _leave(self, ids: Collection[str]) -> list[DeliveryQueue]:
        """Read these no longer; those that nobody reads here now."""
        left = [id for id in ids if id in self._ids]
        at = self._deliveries.clock.wall()
        released = []
        for id in left:
            del self._ids[id]
            self._offered.pop(id, None)
            readers = self._deliveries.readers.get(id, [])
            readers.remove(self)
            queue = self._deliveries.queue(id)
            if queue is not None:
                queue.leave(self, at)
            if readers:
                if queue is not None:
                    self._deliveries.wake([queue])
                continue
            self._deliveries.readers.pop(id, None)
            if queue is not None and self._deliveries.is_mine(queue):
                released.append(queue)
        await self._end_ephemeral(released)
        return released

    async def _end_ephemeral(self, queues: list[DeliveryQueue]) -> None:
        for queue in queues:
            if not queue.settings.durable:
                self._deliveries.ephemeral.pop(queue.id, None)
                # It may have gone by itself.
                with contextlib.suppress(PredicastError):
                    await self._deliveries.registry.change([Remove(queue.id)])

    # Taking.

    def offer(self, queue: DeliveryQueue) -> None:
        """Something may wait in it."""
        if queue.waiting and not queue.settings.paused and self._deliveries.is_mine(queue):
            self._offered[queue.id] = None
            self._ready.set()

    async def take(self, most: int, wait: float | None = None) -> list[Delivery]:
        """At least one and at most that many, in order; none when the wait is over."""
        self._check_open()
        loop = asyncio.get_running_loop()
        end = None if wait is None else loop.time() + wait
        while True:
            self._ready.clear()
            await self._expire()
            taken = self._hand_out(most)
            if taken:
                found = await self._with_events(taken)
                if found:
                    self._deliveries.counts["deliveries_repeated"] += sum(
                        len(each.subscriptions) for each in found if each.attempt > 1
                    )
                    return found
                continue
            left = _LOOK_S if end is None else min(_LOOK_S, end - loop.time())
            if left <= 0:
                return []
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._ready.wait()
            self._check_open()

    async def _expire(self) -> None:
        now = self._deliveries.clock.steady()
        due = []
        for id in self._ids:
            queue = self._deliveries.queues.get(id)
            if queue is not None and queue.is_due(now):
                due.append(queue)
        if due:
            await self._deliveries.expire(due)

    def _hand_out(self, most: int) -> list[_Taken]:
        heads = []
        for id in list(self._offered):
            queue = self._deliveries.queue(id)
            if queue is None or not queue.waiting or not self._may_take(queue):
                del self._offered[id]
            else:
                heads.append((queue.waiting[0], id))
        heapq.heapify(heads)
        taken: dict[tuple[int, int], _Taken] = {}
        now = self._deliveries.clock.steady()
        while heads:
            position, id = heads[0]
            queue = self._deliveries.queue(id)
            assert queue is not None
            key = (position, queue.next_attempt())
            if key not in taken and len(taken) == most:
                break
            queue.hand_out(position, self, now)
            taken.setdefault(key, _Taken(*key, [])).ids.append(id)
            if queue.waiting:
                heapq.heapreplace(heads, (queue.waiting[0], id))
            else:
                heapq.heappop(heads)
                del self._offered[id]
        return list(taken.values())

    def _may_take(self, queue: DeliveryQueue) -> bool:
        return not queue.settings.paused and self._deliveries.is_mine(queue)

    async def _with_events(self, taken: list[_Taken]) -> list[Delivery]:
        try:
            events = await self._deliveries.events([each.position for each in taken])
        except BaseException:
            self._take_back(taken)
            raise
        found = []
        for position, attempt, ids in taken:
            event = events.get(position)
            if event is not None:
                found.append(Delivery(event, tuple(ids), attempt))
                continue
            for id in ids:  # retention was quicker
                queue = self._deliveries.queue(id)
                if queue is not None:
                    queue.lose(position)
        return found

    def _take_back(self, taken: Iterable[_Taken]) -> None:
        for position, _, ids in taken:
            for id in ids:
                queue = self._deliveries.queue(id)
                if queue is not None:
                    queue.take_back([position], self)
                    self.offer(queue)

    # Answering.

    async def acknowledge(self, subscription: str, positions: Sequence[int]) -> None:
        """These need not come again."""
        await self.acknowledge_all({subscription: positions})

    async def acknowledge_all(self, positions: Mapping[str, Sequence[int]]) -> None:
        """Nor these, by subscription."""
        changed = []
        for id, mine in positions.items():
            queue = self._deliveries.queues.get(id)
            if queue is not None and (count := queue.acknowledge(mine)):
                self._deliveries.counts["deliveries_acknowledged"] += count
                changed.append(queue)
        await self._deliveries.keep(changed)

    async def acknowledge_up_to(self, subscription: str, position: int) -> None:
        """Nor these: all that were delivered, up to that one."""
        queue = self._deliveries.queues.get(subscription)
        if queue is not None:
            await self.acknowledge(subscription, queue.handed_up_to(position))

    async def give_back(self, subscription: str, position: int, delay: float, why: str) -> None:
        """This one failed: again after the delay, or among the dead letters if it was the last."""
        queue = self._deliveries.queues.get(subscription)
        if queue is None:
            return
        clock = self._deliveries.clock
        if queue.give_back(position, clock.steady() + max(0.0, delay), why, clock.wall()):
            self._deliveries.counts["deliveries_dead"] += 1
            await self._deliveries.keep([queue])

    def put_back(self, subscription: str, positions: Sequence[int]) -> None:
        """These were taken and not tried."""
        queue = self._deliveries.queues.get(subscription)
        if queue is not None:
            queue.take_back(positions, self)
            self._deliveries.wake([queue])

    def take_drops(self) -> Mapping[str, int]:
        """How many were dropped since this was last asked, by subscription."""
        drops = {}
        for id in self._ids:
            queue = self._deliveries.queue(id)
            if queue is not None and queue.drops:
                drops[id], queue.drops = queue.drops, 0
        return drops

    async def close(self) -> None:
        """Read no more."""
        if self._is_closed:
            return
        self._is_closed = True
        self._ready.set()
        self._closed(self)
        left = await self._leave(list(self._ids))
        durable = [queue for queue in left if queue.settings.durable]
        self._deliveries.left(durable)  # if they cannot be let go of now
        await self._deliveries.release(durable)

    def _check_open(self) -> None:
        if self._is_closed:
            raise BackendError("the consumer is closed")
