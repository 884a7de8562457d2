"""How much is kept, and what time has to do with it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from predicast.broker.backend import Start
from predicast.broker.embedded import EmbeddedBackend, EmbeddedOptions
from predicast.protocol import Definition, Put, Settings
from predicast.testing.clocks import FakeClock
from tests.unit.broker.embedded.stores import TENANT, event, started

HOUR = 3600.0


async def eventually(question: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is the case."""
    async with asyncio.timeout(30):
        while True:
            if await question():
                return
            await asyncio.sleep(0.005)


async def positions(backend: EmbeddedBackend) -> list[int]:
    return [each.position for each in await backend.events(TENANT, most=1000)]


def test_by_age(tmp_path: Path) -> None:
    async def run() -> None:
        clock = FakeClock()
        options = EmbeddedOptions(tick=0.005, keep_for=HOUR)
        async with started(tmp_path, options, clock) as backend:
            settings = Settings(max_attempts=1)
            await backend.change(TENANT, [Put(Definition("a", "price < 9", settings=settings))])
            consumer = await backend.consumer(TENANT)
            await consumer.add(["a"])
            await backend.publish(TENANT, [event(0, 1)])
            await consumer.take(1, 30)
            await consumer.give_back("a", 1, 0.0, "no")  # before time passes, and with it the event
            clock.advance(0.4 * HOUR)
            for number in range(1, 4):
                await backend.publish(TENANT, [event(number, 1)])
                clock.advance(0.4 * HOUR)

            async def is_cut() -> bool:
                return await positions(backend) == [3, 4]

            await eventually(is_cut)
            await eventually(lambda: _says(backend, {"a": 2}))
            assert consumer.take_drops() == {"a": 1}
            assert await backend.dead_letters(TENANT) == []
            assert await backend.recipients(TENANT, 2) == {}
            assert backend.statistics(TENANT)["events_kept"] == 2
            clock.advance(10 * HOUR)

            async def is_last() -> bool:
                return await positions(backend) == [4]

            await eventually(is_last)  # which stays, so that positions go on
            await consumer.add(["a"], Start(after=0))
            assert [each.event.position for each in await consumer.take(9, 30)] == [4]
        async with started(tmp_path, options, clock) as backend:
            (receipt,) = await backend.publish(TENANT, [event(10, 1)])
            assert receipt.position == 5

            async def is_alone() -> bool:
                kept = backend.statistics(TENANT)["events_kept"]
                return kept == 1 and await positions(backend) == [5]

            await eventually(is_alone)

    asyncio.run(run())


async def _says(backend: EmbeddedBackend, pending: dict[str, int]) -> bool:
    return await backend.pending(TENANT) == pending


def test_by_size(tmp_path: Path) -> None:
    async def run() -> None:
        options = EmbeddedOptions(tick=0.005, keep_bytes=60, keep_for=None)
        async with started(tmp_path, options) as backend:
            for number in range(20):
                await backend.publish(TENANT, [event(number, 1)])

            async def is_small() -> bool:
                return backend.statistics(TENANT)["bytes_kept"] <= 60

            await eventually(is_small)
            assert await positions(backend) == [16, 17, 18, 19, 20]
        async with started(tmp_path, options) as backend:
            assert await positions(backend) == [16, 17, 18, 19, 20]
            assert backend.statistics(TENANT)["bytes_kept"] == 60

    asyncio.run(run())


def test_a_clock_that_jumps_harms_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        clock = FakeClock()
        options = EmbeddedOptions(tick=0.005, keep_for=HOUR)
        async with started(tmp_path, options, clock) as backend:
            settings = Settings(ack_wait=10.0)
            await backend.change(TENANT, [Put(Definition("a", "price < 9", settings=settings))])
            consumer = await backend.consumer(TENANT)
            await consumer.add(["a"])
            await backend.publish(TENANT, [event(1, 1), event(2, 1)])
            await consumer.take(2, 30)
            clock.jump(1000 * HOUR)
            await backend.publish(TENANT, [event(3, 1)])
            commits = backend.statistics()["commits"]
            assert [each.event.position for each in await consumer.take(9, 30)] == [3]
            clock.jump(-2000 * HOUR)
            await backend.publish(TENANT, [event(4, 1), event(1, 1)])
            assert backend.statistics()["commits"] > commits
            assert await positions(backend) == [1, 2, 3, 4]
            clock.advance(10.0)
            again = await consumer.take(9, 30)
            assert [each.event.position for each in again[:3]] == [1, 2, 3]
        async with started(tmp_path, options, clock) as backend:
            assert await positions(backend) == [1, 2, 3, 4]
            assert await backend.pending(TENANT) == {"a": 4}

    asyncio.run(run())
