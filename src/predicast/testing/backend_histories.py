"""``History``: random operations on a backend, beside a model of what must come of them.

The model knows which positions each subscription is owed: what matched since it was there, less
what was acknowledged. Nothing else may come, and all of it must, whatever happens in between:
deliveries that fail, consumers that leave, changes, restarts.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

from predicast.broker.backend import Backend, Consumer
from predicast.protocol.records import (
    Adjust,
    Definition,
    Delivery,
    NewEvent,
    Put,
    Remove,
    Settings,
)
from predicast.testing.clocks import FakeClock

_TENANT: Final = "random"
_IDS: Final = ("a", "b", "c", "d")
_SETTINGS: Final = Settings(ack_wait=0.5, max_attempts=10**6)
_LONG: Final = 30.0
_SHORT: Final = 0.02

Started = Callable[[FakeClock], AbstractAsyncContextManager[Backend]]
PassTime = Callable[[FakeClock, float], Awaitable[None]]


class History:
    """One of them, by its seed."""

    def __init__(self, seed: int, started: Started, pass_time: PassTime) -> None:
        self._random = random.Random(seed)
        self._started = started
        self._pass_time = pass_time
        self._clock = FakeClock()
        self._limits: dict[str, int] = {}
        self._owed: dict[str, set[int]] = {}
        self._prices: dict[int, int] = {}
        self._sent = 0
        self._out: list[tuple[str, int]] = []

    async def run(self, steps: int) -> None:
        """Make so many steps, with restarts among them, and see that all comes in the end."""
        while steps > 0:
            some = self._random.randint(5, 25)
            async with self._started(self._clock) as backend:
                consumers = [await backend.consumer(_TENANT) for _ in range(2)]
                for consumer in consumers:
                    await consumer.add([*self._limits])
                for _ in range(min(some, steps)):
                    await self._step(backend, consumers)
                await self._check(backend)
            self._out.clear()
            steps -= some
        async with self._started(self._clock) as backend:
            await self._drain(backend)

    async def _step(self, backend: Backend, consumers: list[Consumer]) -> None:
        consumer = self._random.choice(consumers)
        match self._random.randrange(10):
            case 0:
                await self._put(backend, consumers)
            case 1:
                await self._adjust(backend)
            case 2:
                await self._remove(backend)
            case 3 | 4 | 5:
                await self._publish(backend)
            case 6 | 7:
                await self._take(consumer)
            case 8:
                await self._finish(consumer)
            case _:
                await self._pass_time(self._clock, 0.6)

    async def _put(self, backend: Backend, consumers: list[Consumer]) -> None:
        id, limit = self._random.choice(_IDS), self._random.randrange(100)
        definition = Definition(id, "price < :most", parameters={"most": limit}, settings=_SETTINGS)
        await backend.change(_TENANT, [Put(definition, replace=True)])
        self._limits[id] = limit
        self._owed.setdefault(id, set())
        for consumer in consumers:
            await consumer.add([id])

    async def _adjust(self, backend: Backend) -> None:
        if self._limits:
            id, limit = self._random.choice([*self._limits]), self._random.randrange(100)
            await backend.change(_TENANT, [Adjust(id, {"most": limit})])
            self._limits[id] = limit

    async def _remove(self, backend: Backend) -> None:
        if self._limits and self._random.random() < 0.3:
            id = self._random.choice([*self._limits])
            await backend.change(_TENANT, [Remove(id)])
            del self._limits[id], self._owed[id]
            self._out = [(other, position) for other, position in self._out if other != id]

    async def _publish(self, backend: Backend) -> None:
        events = []
        for _ in range(self._random.randint(1, 5)):
            self._sent += 1
            price = self._random.randrange(100)
            body = b'{"price": %d}' % price
            events.append(NewEvent(body, {"price": price}, str(self._sent), "shop"))
        receipts = await backend.publish(_TENANT, events)
        for event, receipt in zip(events, receipts, strict=True):
            assert isinstance(event.attributes, dict)
            price = self._prices[receipt.position] = event.attributes["price"]
            for id, limit in self._limits.items():
                if price < limit:
                    self._owed[id].add(receipt.position)

    async def _take(self, consumer: Consumer) -> None:
        for delivery in await consumer.take(self._random.randint(1, 8), _SHORT):
            self._check_delivery(delivery)
            self._out += [(id, delivery.event.position) for id in delivery.subscriptions]

    async def _finish(self, consumer: Consumer) -> None:
        """Acknowledge some of what is out, or give it back."""
        self._random.shuffle(self._out)
        for id, position in self._out[:3]:
            if self._random.random() < 0.3:
                await consumer.give_back(id, position, self._random.random(), "no")
                continue
            await consumer.acknowledge(id, [position])
            self._owed[id].discard(position)
        del self._out[:3]

    def _check_delivery(self, delivery: Delivery) -> None:
        position = delivery.event.position
        assert delivery.event.body == b'{"price": %d}' % self._prices[position]
        for id in delivery.subscriptions:
            assert position in self._owed[id], f"{position} is not owed to {id!r}"

    async def _check(self, backend: Backend) -> None:
        pending = await backend.pending(_TENANT, [*self._limits])
        assert pending == {id: len(self._owed[id]) for id in self._limits}
        found = await backend.definitions(_TENANT)
        assert {each.id: (each.parameters or {})["most"] for each in found} == self._limits

    async def _drain(self, backend: Backend) -> None:
        consumer = await backend.consumer(_TENANT)
        await consumer.add([*self._limits])
        async for delivery in self._deliveries(consumer):
            self._check_delivery(delivery)
            for id in delivery.subscriptions:
                await consumer.acknowledge(id, [delivery.event.position])
                self._owed[id].discard(delivery.event.position)
        assert await consumer.take(1, _SHORT) == []
        await self._check(backend)

    async def _deliveries(self, consumer: Consumer) -> AsyncIterator[Delivery]:
        while any(self._owed.values()):
            await self._pass_time(self._clock, 1.1)  # whatever was given back is due
            got = await consumer.take(100, _LONG)
            assert got, f"never came: {self._owed}"
            for delivery in got:
                yield delivery
