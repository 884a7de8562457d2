"""How far subscriptions are, as other processes and later ones find it."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from predicast.broker.nats import NatsBackend, NatsOptions, progress_log
from predicast.broker.nats.tail import read_between
from predicast.errors import BackendError
from predicast.protocol.records import Definition, Put, Remove
from tests.nats_servers import NatsServer
from tests.unit.broker.nats.test_processes import LONG_S, TENANT, die, event, processes, until

IDS = [f"s{n}" for n in range(20)]


@pytest.fixture(autouse=True)
def few_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that logs come round in these tests."""
    monkeypatch.setattr(progress_log, "SLOTS", 3)


async def subscribe(backend: NatsBackend) -> None:
    await backend.change(TENANT, [Put(Definition(id, "x >= 0")) for id in IDS])


async def progress_keys(backend: NatsBackend) -> int:
    """How many messages there are in the bucket of progress."""
    connection, names = backend._running(), (await backend._tenant(TENANT)).names
    return (await connection.sizes(names.progress.stream))["messages"]


def test_a_log_that_has_come_round_many_times_says_how_far_each_is(
    server: NatsServer, options: NatsOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One subscription acknowledges all, others less and less; a fresh process goes on with it."""

    async def run() -> None:
        left: dict[str, set[int]] = {}
        async with processes(server, options) as (one, other):
            await subscribe(one)
            consumer = await one.consumer(TENANT)
            await consumer.add(IDS)
            sent = await one.publish(TENANT, [event(n, x=n) for n in range(len(IDS))])
            taken = 0
            while taken < len(IDS):
                taken += len(await consumer.take(100, LONG_S))
            for number, id in enumerate(IDS):
                done = [receipt.position for receipt in sent[: len(IDS) - number]]
                for position in done:
                    await consumer.acknowledge(id, [position])
                left[id] = {receipt.position for receipt in sent} - set(done)
            # An entry by which each is delivered, and three slots.
            assert await progress_keys(one) == len(IDS) + 3

            async def has_heard() -> bool:
                return await other.pending(TENANT) == {id: len(left[id]) for id in IDS if left[id]}

            await until(has_heard)
            await die(one)
            async with processes(server, options, 1) as (fresh,):
                assert await fresh.pending(TENANT) == {id: len(left[id]) for id in IDS if left[id]}
                deliveries = (await fresh._tenant(TENANT)).deliveries
                monkeypatch.setattr(
                    deliveries, "_is_alive", lambda name: name == deliveries.process
                )
                reader = await fresh.consumer(TENANT)
                await reader.add(IDS)
                got: dict[str, set[int]] = {id: set() for id in IDS}
                while got != left:
                    for delivery in await reader.take(100, LONG_S):
                        for id in delivery.subscriptions:
                            got[id].add(delivery.event.position)
                    assert all(got[id] <= left[id] for id in IDS)

    asyncio.run(run())


def test_a_subscription_of_an_id_that_was_used_before_is_delivered_anywhere(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        async with processes(server, options) as (one, other):
            for number in range(2):
                await one.change(TENANT, [Put(Definition("a", "x >= 0"))])
                consumer = await other.consumer(TENANT)
                await consumer.add(["a"])
                await one.publish(TENANT, [event(number, x=number)])
                (delivery,) = await consumer.take(10, LONG_S)
                assert delivery.event.id == str(number)
                await consumer.acknowledge("a", [delivery.event.position])
                await consumer.close()
                await one.change(TENANT, [Remove("a")])

    asyncio.run(run())


def test_what_a_process_that_was_replaced_acknowledges_changes_nothing(
    server: NatsServer, options: NatsOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have been paused; here the other one is made to think so."""

    async def run() -> None:
        async with processes(server, options) as (one, other):
            await one.change(TENANT, [Put(Definition("a", "x >= 0"))])
            consumer, second = await one.consumer(TENANT), await other.consumer(TENANT)
            await consumer.add(["a"])
            (sent,) = await one.publish(TENANT, [event(1, x=1)])
            assert len(await consumer.take(10, LONG_S)) == 1
            monkeypatch.setattr(
                (await other._tenant(TENANT)).deliveries, "_is_alive", lambda _: False
            )
            await second.add(["a"])
            (again,) = await second.take(10, LONG_S)
            assert again.event.position == sent.position
            with contextlib.suppress(BackendError):  # unless it has heard of it already
                await consumer.acknowledge("a", [sent.position])
            assert await other.pending(TENANT) == {"a": 1}
            await second.acknowledge("a", [sent.position])
            assert await other.pending(TENANT) == {}

    asyncio.run(run())


def test_the_log_of_a_process_that_is_gone_is_cleared_and_what_it_said_stays(
    server: NatsServer, options: NatsOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with processes(server, options) as (one, other):
            await subscribe(one)
            consumer = await one.consumer(TENANT)
            await consumer.add(IDS)
            sent = await one.publish(TENANT, [event(1, x=1), event(2, x=2)])
            taken = 0
            while taken < 2:
                taken += len(await consumer.take(100, LONG_S))
            for id in IDS:
                await consumer.acknowledge(id, [sent[0].position])
            assert await progress_keys(one) == len(IDS) + 3
            await die(one)
            deliveries = (await other._tenant(TENANT)).deliveries
            monkeypatch.setattr(deliveries, "_is_alive", lambda name: name == deliveries.process)
            await deliveries.clear_logs()
            assert await progress_keys(other) == len(IDS)
            async with processes(server, options, 1) as (fresh,):
                assert await fresh.pending(TENANT) == dict.fromkeys(IDS, 1)

    asyncio.run(run())


def test_what_stood_last_in_a_stream_and_was_removed_keeps_nobody_waiting(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        async with processes(server, options, 1) as (one,):
            sent = await one.publish(TENANT, [event(n, x=n) for n in range(3)])
            connection, names = one._running(), (await one._tenant(TENANT)).names
            last = sent[-1].position
            await connection.delete(names.events, last)
            found = await read_between(connection, names.events, 0, last, LONG_S)
            assert [each.sequence for each in found] == [each.position for each in sent[:-1]]

    asyncio.run(run())
