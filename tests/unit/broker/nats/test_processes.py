"""Several processes on one NATS: what one is told, all go by; what one leaves, another takes up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from predicast.broker.nats import NatsBackend, NatsOptions
from predicast.errors import DuplicateIdError, LimitReachedError, UnknownIdError
from predicast.protocol.records import (
    Adjust,
    Definition,
    Delivery,
    NewEvent,
    Put,
    Remove,
    Settings,
)
from tests.nats_servers import NatsServer

TENANT = "acme"
LONG_S = 60.0
SOON_S = 5.0  # a process that is gone is missed after that


def event(number: int, **attributes: Any) -> NewEvent:
    return NewEvent(msgspec.json.encode(attributes), attributes, str(number), "probe")


@asynccontextmanager
async def processes(
    server: NatsServer, options: NatsOptions, count: int = 2, **others: Any
) -> AsyncIterator[list[NatsBackend]]:
    options = replace(options, **others)
    running = [NatsBackend(server.url, options=options) for _ in range(count)]
    try:
        for each in running:
            await each.start()
        yield running
    finally:
        for each in running:
            await each.stop()


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(LONG_S):
        while not await condition():  # noqa: ASYNC110 - nobody tells when
            await asyncio.sleep(0.05)


async def die(backend: NatsBackend) -> None:
    """As if it had been killed: it says nothing to anybody any more."""
    assert backend._connection is not None
    await backend._connection.client.close()


def test_a_change_holds_for_the_next_event_of_every_process(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        async with processes(server, options, 3) as running:
            await running[0].change(TENANT, [Put(Definition("a", "x = :x", parameters={"x": 0}))])
            for number in range(1, 31):
                changer, publisher = running[number % 3], running[(number + 1) % 3]
                await changer.change(TENANT, [Adjust("a", {"x": number})])
                events = [event(2 * number, x=number), event(2 * number + 1, x=number - 1)]
                first, second = await publisher.publish(TENANT, events)
                assert await publisher.recipients(TENANT, first.position) == {"a": "waiting"}
                assert await publisher.recipients(TENANT, second.position) == {}

    asyncio.run(run())


def test_of_two_windows_that_want_the_same_id_one_is_refused_everywhere(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        async with processes(server, options) as running:
            windows = [
                [Put(Definition("mine", f"x = {n}")), Put(Definition(f"other-{n}", "x = 9"))]
                for n in range(2)
            ]
            outcomes = await asyncio.gather(
                *(
                    each.change(TENANT, window)
                    for each, window in zip(running, windows, strict=True)
                ),
                return_exceptions=True,
            )
            refused = [each for each in outcomes if isinstance(each, DuplicateIdError)]
            assert len(refused) == 1
            winner = next(n for n in range(2) if not isinstance(outcomes[n], BaseException))
            for each in running:
                await each.publish(TENANT, [])
                found = await each.definitions(TENANT)
                if len(found) < 2:  # it has not heard of it yet
                    await each.change(TENANT, [Put(Definition("last", "x = 1"))])
                    await each.change(TENANT, [Remove("last")])
                    found = await each.definitions(TENANT)
                assert [one.id for one in found] == ["mine", f"other-{winner}"]
                assert found[0].expression == f"x = {winner}"

    asyncio.run(run())


def test_a_large_window_is_whole_or_not_there(server: NatsServer, options: NatsOptions) -> None:
    async def run() -> None:
        padding = " OR ".join(f"name = 'somebody-{n}'" for n in range(400))
        async with processes(server, options) as (one, other):
            window = [Put(Definition(f"s{n}", f"x = {n} OR {padding}")) for n in range(300)]
            await one.change(TENANT, window)
            with pytest.raises(UnknownIdError):
                await one.change(TENANT, [*(Remove(f"s{n}") for n in range(300)), Remove("s300")])
            (receipt,) = await other.publish(TENANT, [event(1, x=7)])
            assert await other.recipients(TENANT, receipt.position) == {"s7": "waiting"}
            assert len(other.subscriptions(TENANT)) == 300

    asyncio.run(run())


def test_what_a_killed_process_had_is_delivered_by_another(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        async with processes(server, options, lease_s=SOON_S) as (one, other):
            await one.change(TENANT, [Put(Definition("a", "x >= 0"))])
            consumer = await one.consumer(TENANT)
            await consumer.add(["a"])
            standby = await other.consumer(TENANT)
            await standby.add(["a"])
            sent = await one.publish(TENANT, [event(n, x=n) for n in range(4)])
            got = await consumer.take(10, LONG_S)
            assert len(got) == 4
            await consumer.acknowledge("a", [sent[1].position])
            await die(one)
            left: list[Delivery] = []
            while len(left) < 3:
                left += await standby.take(10, LONG_S)
            assert [each.event.position for each in left] == [sent[n].position for n in (0, 2, 3)]

    asyncio.run(run())


def test_what_a_process_lets_go_of_is_another_s_at_once(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        async with processes(server, options) as (one, other):
            await one.change(TENANT, [Put(Definition("a", "x >= 0"))])
            first, second = await one.consumer(TENANT), await other.consumer(TENANT)
            await first.add(["a"])
            await second.add(["a"])
            await one.publish(TENANT, [event(1, x=1)])
            assert [each.attempt for each in await first.take(10, LONG_S)] == [1]
            assert await second.take(10, 0.05) == []
            await first.close()
            assert [each.attempt for each in await second.take(10, LONG_S)] == [2]

    asyncio.run(run())


def test_dead_letters_are_tried_again_from_any_process(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        async with processes(server, options) as (one, other):
            settings = Settings(max_attempts=1)
            await one.change(TENANT, [Put(Definition("a", "x >= 0", settings=settings))])
            consumer = await one.consumer(TENANT)
            await consumer.add(["a"])
            (sent,) = await one.publish(TENANT, [event(1, x=1)])
            assert len(await consumer.take(1, LONG_S)) == 1
            await consumer.give_back("a", sent.position, 0.0, "it would not go")

            async def is_known() -> bool:
                return len(await other.dead_letters(TENANT)) == 1

            await until(is_known)
            (letter,) = await other.dead_letters(TENANT, subscription="a")
            assert (letter.reason, letter.event.id) == ("it would not go", "1")
            assert await other.try_again(TENANT, "a", [sent.position]) == 1
            (again,) = await consumer.take(1, LONG_S)
            await consumer.acknowledge("a", [again.event.position])
            assert await one.dead_letters(TENANT) == []
            assert await one.pending(TENANT) == {}

    asyncio.run(run())


def test_ephemeral_subscriptions_end_with_their_process(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        async with processes(server, options, lease_s=SOON_S) as (one, other):
            passing = Definition("passing", "x >= 0", settings=Settings(durable=False))
            await one.change(TENANT, [Put(passing), Put(Definition("lasting", "x >= 0"))])
            consumer = await one.consumer(TENANT)
            await consumer.add(["passing"])
            await other.publish(TENANT, [event(1, x=1)])
            (delivery,) = await consumer.take(10, LONG_S)
            assert delivery.subscriptions == ("passing",)
            await die(one)

            async def is_gone() -> bool:
                return [each.id for each in await other.definitions(TENANT)] == ["lasting"]

            await until(is_gone)

    asyncio.run(run())


def test_an_event_that_is_too_large_is_refused_and_others_are_taken(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        async with processes(server, options, 1) as (one,):
            await one.change(TENANT, [Put(Definition("a", "x >= 0"))])
            large = event(1, x=1, text="a" * 2_000_000)
            outcomes = await asyncio.gather(
                one.publish(TENANT, [event(2, x=2), large]),
                one.publish(TENANT, [event(3, x=3)]),
                return_exceptions=True,
            )
            assert isinstance(outcomes[0], LimitReachedError)
            assert [each.id for each in await one.events(TENANT)] == ["3"]

    asyncio.run(run())


def test_windows_are_folded_and_a_new_process_finds_what_they_came_to(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        async with processes(server, options) as (one, other):
            await one.change(
                TENANT, [Put(Definition(f"s{n}", "x = :n", parameters={"n": n})) for n in range(5)]
            )
            await other.change(TENANT, [Adjust("s1", {"n": 10}), Remove("s2")])
            with pytest.raises(DuplicateIdError):
                await one.change(
                    TENANT, [Put(Definition("s3", "x = 1")), Put(Definition("s9", "x = 1"))]
                )
            await one.change(TENANT, [Remove("s3"), Put(Definition("s5", "x = 50"))])
            registry = one._tenants[TENANT].registry
            await registry.fold(at=1, settled_s=0.0)
            await other.change(TENANT, [Put(Definition("s6", "x = 60")), Remove("s4")])
            await registry.catch_up()
            expected = await one.definitions(TENANT)
            assert [each.id for each in expected] == ["s0", "s1", "s5", "s6"]
            for _ in range(2):
                async with processes(server, options, 1) as (fresh,):
                    assert await fresh.definitions(TENANT) == expected
                    assert await fresh.definition(TENANT, "s1") == msgspec.structs.replace(
                        Definition("s1", "x = :n", parameters={"n": 10}), revision=2
                    )
                await registry.fold(at=1, settled_s=0.0)
            messages = await registry._connection.ask(f"STREAM.INFO.{registry._bucket.stream}")
            assert messages["state"]["messages"] == len(expected) + 2

    asyncio.run(run())


def test_retention_that_is_asked_for_holds_for_streams_that_are_there(
    server: NatsServer, options: NatsOptions
) -> None:
    async def limits(backend: NatsBackend) -> tuple[int, int]:
        connection = backend._running()
        name = (await backend._tenant(TENANT)).names.events
        held = (await connection.ask(f"STREAM.INFO.{name}"))["config"]
        return held["max_age"] // 10**9, held["max_bytes"]

    async def run() -> None:
        week, hour = 7 * 24 * 3600, 3600
        async with processes(server, options, 1) as (first,):
            await first.publish(TENANT, [event(1, x=1)])
            assert await limits(first) == (week, -1)
        shorter = replace(options, retention_s=float(hour), retention_bytes=1 << 20)
        async with processes(server, shorter, 1) as (second,):
            assert await limits(second) == (hour, 1 << 20)
            assert len(await second.events(TENANT)) == 1
        # Who asks for nothing changes nothing.
        async with processes(server, options, 1) as (third,):
            assert await limits(third) == (hour, 1 << 20)

    asyncio.run(run())
