"""The steps that tests of backends are made of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeAlias

from predicast.broker.backend import Backend, Consumer
from predicast.protocol.records import Definition, Delivery, NewEvent, Put, Settings
from predicast.testing.clocks import FakeClock

MakeBackend: TypeAlias = Callable[[FakeClock], Backend]

TENANT: Final = "acme"
LONG: Final = 30.0  # seconds to wait for what must come
SHORT: Final = 0.05  # for what must not
ACK_WAIT: Final = 0.5


class BackendSteps:
    """What is done with a backend, again and again."""

    async def pass_time(self, clock: FakeClock, seconds: float) -> None:
        """Let time pass for the backend."""
        clock.advance(seconds)

    def run(self, make: MakeBackend, run: Callable[[Backend], Coroutine[Any, Any, None]]) -> None:
        self.run_timed(make, lambda backend, _: run(backend))

    def run_timed(
        self,
        make: MakeBackend,
        run: Callable[[Backend, FakeClock], Coroutine[Any, Any, None]],
    ) -> None:
        async def whole() -> None:
            clock = FakeClock()
            async with started(make, clock) as backend:
                self._sent = 0
                await run(backend, clock)

        asyncio.run(whole())

    async def subscribe(
        self, backend: Backend, settings: Settings | None = None, **limits: int
    ) -> None:
        """Subscriptions by name, to prices below a limit."""
        settings = settings or Settings(ack_wait=ACK_WAIT)
        window = [
            Put(Definition(id, f"price < {limit}", settings=settings))
            for id, limit in limits.items()
        ]
        await backend.change(TENANT, window)

    async def publish(self, backend: Backend, prices: Sequence[int]) -> list[int]:
        """Publish events with these prices; their positions."""
        events = []
        for price in prices:
            self._sent = getattr(self, "_sent", 0) + 1
            events.append(event(self._sent, price))
        receipts = await backend.publish(TENANT, events)
        return [receipt.position for receipt in receipts]

    async def consumer(self, backend: Backend, ids: Sequence[str]) -> Consumer:
        consumer = await backend.consumer(TENANT)
        await consumer.add(ids)
        return consumer

    async def taken(self, consumer: Consumer, count: int) -> list[Delivery]:
        """So many deliveries, however they come."""
        got: list[Delivery] = []
        while len(got) < count:
            more = await consumer.take(count - len(got), LONG)
            assert more, f"{len(got)} of {count} deliveries came"
            got += more
        return got

    async def positions(self, consumer: Consumer, count: int) -> list[int]:
        return [each.event.position for each in await self.taken(consumer, count)]

    async def taken_for(
        self, backend: Backend, ids: Sequence[str], prices: Sequence[int]
    ) -> list[tuple[str, int]]:
        """For whom events with these prices come."""
        consumer = await self.consumer(backend, ids)
        sent = dict(zip(await self.publish(backend, prices), prices, strict=True))
        got = await self.taken(consumer, len(prices))
        return [(id, sent[each.event.position]) for each in got for id in each.subscriptions]


def event(number: int, price: int) -> NewEvent:
    """An event of the shop's."""
    return NewEvent(b'{"price": %d}' % price, {"price": price}, str(number), "shop")


@asynccontextmanager
async def started(make: MakeBackend, clock: FakeClock) -> AsyncIterator[Backend]:
    """A backend that is stopped in the end."""
    backend = make(clock)
    await backend.start()
    try:
        yield backend
    finally:
        await backend.stop()
