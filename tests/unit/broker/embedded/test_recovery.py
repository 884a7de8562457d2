"""What is found after a crash: all that was acknowledged, and nothing that was not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from predicast.broker.backend import Backend, Start
from predicast.broker.embedded import EmbeddedBackend, EmbeddedOptions, backlog_files
from predicast.errors import BackendError
from predicast.graph import Ontology
from predicast.protocol import (
    GRAPH,
    BodyForm,
    Definition,
    NewEvent,
    Put,
    Remove,
    Settings,
)
from predicast.testing.backend_histories import History
from predicast.testing.clocks import FakeClock
from tests.thorough import LONG
from tests.unit.broker.embedded.stores import BUSY, QUICK, TENANT, crashing, event, started


async def pass_time(clock: FakeClock, seconds: float) -> None:
    clock.advance(seconds)


@pytest.mark.parametrize("options", [QUICK, BUSY], ids=["quick", "busy"])
@pytest.mark.parametrize("seed", range(40 if LONG else 2))
def test_any_history_with_crashes(tmp_path: Path, seed: int, options: EmbeddedOptions) -> None:
    @asynccontextmanager
    async def begun(clock: FakeClock) -> AsyncIterator[Backend]:
        async with crashing(tmp_path / "store", options, clock) as backend:
            yield backend

    asyncio.run(History(seed, begun, pass_time).run(300 if LONG else 80))


@pytest.mark.parametrize("options", [QUICK, BUSY], ids=["quick", "busy"])
def test_a_replay_goes_on_after_a_crash(tmp_path: Path, options: EmbeddedOptions) -> None:
    async def run() -> None:
        folder = tmp_path / "store"
        async with crashing(folder, options) as backend:
            await backend.publish(TENANT, [event(n, n % 10) for n in range(2000)])
            await backend.change(TENANT, [Put(Definition("late", "price < 5"))])
            consumer = await backend.consumer(TENANT)
            await consumer.add(["late"], Start(after=0))
            early = await consumer.take(100, 30)
            for delivery in early:
                await consumer.acknowledge("late", [delivery.event.position])
        got = {delivery.event.position for delivery in early}
        async with started(folder, options) as backend:
            consumer = await backend.consumer(TENANT)
            await consumer.add(["late"])
            while len(got) < 1000:
                more = [each.event.position for each in await consumer.take(500, 30)]
                assert more
                assert not got & {*more}
                got |= {*more}
                await consumer.acknowledge("late", more)
            await backend.publish(TENANT, [event(5000, 1)])
            (last,) = await consumer.take(10, 30)
            assert last.event.position == 2001
        assert got == {1 + n for n in range(2000) if n % 10 < 5}

    asyncio.run(run())


def test_a_name_that_is_used_again_inherits_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        folder = tmp_path / "store"
        async with crashing(folder) as backend:
            await backend.change(TENANT, [Put(Definition("a", "price < 5"))])
            await backend.publish(TENANT, [event(1, 1)])
            consumer = await backend.consumer(TENANT)
            await consumer.add(["a"], Start(after=0))
            await backend.change(TENANT, [Remove("a"), Put(Definition("a", "price < 5"))])
            await backend.publish(TENANT, [event(2, 1)])
        async with started(folder) as backend:
            assert await backend.recipients(TENANT, 1) == {}
            assert await backend.recipients(TENANT, 2) == {"a": "waiting"}

    asyncio.run(run())


def test_dead_letters_and_drops_survive(tmp_path: Path) -> None:
    async def run() -> None:
        folder = tmp_path / "store"
        clock = FakeClock()
        settings = Settings(max_attempts=1, max_pending=2, ack_wait=1.0)
        async with crashing(folder, clock=clock) as backend:
            await backend.change(TENANT, [Put(Definition("a", "price < 5", settings=settings))])
            await backend.publish(TENANT, [event(n, 1) for n in range(3)])
            consumer = await backend.consumer(TENANT)
            await consumer.add(["a"])
            await consumer.take(1, 30)
            await consumer.give_back("a", 2, 0.0, "no")
            assert await backend.recipients(TENANT, 2) == {"a": "dead"}
        async with started(folder, clock=clock) as backend:
            states = [(await backend.recipients(TENANT, n))["a"] for n in (1, 2, 3)]
            assert states == ["dropped", "dead", "waiting"]
            (dead,) = await backend.dead_letters(TENANT)
            assert (dead.event.position, dead.reason) == (2, "no")

    asyncio.run(run())


async def saved(backend: EmbeddedBackend) -> None:
    """Have what waits written down, as it is from time to time."""
    await backend._tenants[TENANT].saving.save()


async def buried(backend: EmbeddedBackend) -> None:
    """A dead letter, after its delivery was written down."""
    settings = Settings(max_attempts=1)
    await backend.change(TENANT, [Put(Definition("a", "price < 5", settings=settings))])
    await backend.publish(TENANT, [event(1, 1)])
    consumer = await backend.consumer(TENANT)
    await consumer.add(["a"])
    await consumer.take(1, 30)
    await saved(backend)
    await consumer.give_back("a", 1, 0.0, "no")


@pytest.mark.parametrize("begun", [crashing, started], ids=["killed", "stopped"])
def test_what_becomes_of_dead_letters_is_in_the_checkpoint(tmp_path: Path, begun: Any) -> None:
    async def run() -> None:
        folder = tmp_path / "store"
        async with begun(folder) as backend:
            await buried(backend)
            await saved(backend)
        async with begun(folder) as backend:
            assert await backend.pending(TENANT) == {}
            assert await backend.recipients(TENANT, 1) == {"a": "dead"}
            await saved(backend)
            assert await backend.try_again(TENANT, "a", [1]) == 1
            await saved(backend)
        async with begun(folder) as backend:
            assert await backend.pending(TENANT) == {"a": 1}
            assert await backend.dead_letters(TENANT) == []

    asyncio.run(run())


@pytest.mark.parametrize("is_read", [False, True], ids=["unread", "read"])
def test_what_nobody_has_looked_at_is_all_there(tmp_path: Path, is_read: bool) -> None:
    async def run() -> None:
        folder = tmp_path / "store"
        definitions = [Definition(f"s{n}", f"price < {n}") for n in range(20)]
        async with crashing(folder) as backend:
            await backend.change(TENANT, [Put(each) for each in definitions])
            await backend.publish(TENANT, [event(n, n) for n in range(10)])
            await saved(backend)
            await backend.publish(TENANT, [event(n, n) for n in range(10, 20)])
            await backend.change(TENANT, [Remove("s7"), Remove("s19")])
            if is_read:
                consumer = await backend.consumer(TENANT)
                await consumer.add(["s12"])
                await consumer.take(3, 30)
                await saved(backend)
                await consumer.acknowledge("s12", [1, 3])
            expected = await backend.pending(TENANT)
            assert expected == {
                f"s{n}": n - 2 * (is_read and n == 12) for n in range(1, 19) if n != 7
            }
        async with started(folder) as backend:
            tenant = backend._tenants[TENANT]
            assert await backend.pending(TENANT) == expected
            assert await backend.pending(TENANT, ["s3", "s0", "s7"]) == {"s3": 3, "s0": 0}
            longest = {"s18": 18, "s17": 17, "s16": 16}
            assert await backend.longest(TENANT, 3) == (len(expected), longest)
            total = sum(expected.values())
            assert backend.statistics(TENANT)["deliveries_pending"] == total
            assert not tenant.queues.held
            await backend.publish(TENANT, [event(30, 17)])
            assert {*tenant.queues.held} == {"s18"}
            assert backend.statistics(TENANT)["deliveries_pending"] == total + 1
            consumer = await backend.consumer(TENANT)
            if is_read:  # what was delivered can be acknowledged before it is delivered again
                await consumer.acknowledge("s12", [2])
                assert await backend.pending(TENANT, ["s12"]) == {"s12": 9}
            await consumer.add(["s4"])
            got = await consumer.take(10, 30)
            assert [each.event.position for each in got] == [1, 2, 3, 4]
        async with started(folder) as backend:
            after = {**expected, "s18": expected["s18"] + 1}
            if is_read:
                after["s12"] -= 1
            assert await backend.pending(TENANT) == after

    asyncio.run(run())


def test_a_checkpoint_that_fails_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        folder = tmp_path / "store"
        async with crashing(folder) as backend:
            await backend.change(TENANT, [Put(Definition("a", "price < 5"))])
            await backend.publish(TENANT, [event(1, 1)])
            await saved(backend)
            await backend.publish(TENANT, [event(2, 1)])

            def full(*_: object) -> None:
                raise BackendError("there is no room")

            with monkeypatch.context() as patch:
                patch.setattr(backlog_files, "save", full)
                with pytest.raises(BackendError, match="no room"):
                    await saved(backend)
            await backend.publish(TENANT, [event(3, 1)])
            await saved(backend)
            await backend.publish(TENANT, [event(4, 1)])
        async with started(folder) as backend:
            consumer = await backend.consumer(TENANT)
            await consumer.add(["a"])
            assert [each.event.position for each in await consumer.take(9, 30)] == [1, 2, 3, 4]

    asyncio.run(run())


def test_one_process_to_a_folder(tmp_path: Path) -> None:
    async def run() -> None:
        async with started(tmp_path):
            with pytest.raises(BackendError, match="in use by another broker"):
                async with started(tmp_path):
                    pass
        async with started(tmp_path):
            pass

    asyncio.run(run())


SHOP = """
    @prefix : <http://shop.example/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Laptop rdfs:subClassOf :Computer .
"""
PATTERN = "PREFIX : <http://shop.example/> ASK { <urn:predicast:home> :target ?x . ?x a :Computer }"
SOLD = "@prefix : <http://shop.example/> . <urn:predicast:home> :target [ a :Laptop ] ."


def test_patterns_are_read_by_the_ontology_of_today(tmp_path: Path) -> None:
    sold = NewEvent(SOLD.encode(), SOLD, "1", "shop", BodyForm.TURTLE)

    async def run() -> None:
        plain = EmbeddedBackend(tmp_path, options=QUICK)
        await plain.start()
        await plain.change(TENANT, [Put(Definition("g", PATTERN, dialect=GRAPH))])
        await plain.publish(TENANT, [sold])
        assert await plain.recipients(TENANT, 1) == {}
        await plain.stop()
        informed = EmbeddedBackend(tmp_path, options=QUICK, ontology=Ontology.parse(SHOP))
        await informed.start()
        await informed.publish(TENANT, [sold._replace(id="2")])
        assert await informed.recipients(TENANT, 2) == {"g": "waiting"}
        consumer = await informed.consumer(TENANT)
        await consumer.add(["g"], Start(after=0))
        got: list[int] = []
        while len(got) < 2:
            got += [each.event.position for each in await consumer.take(2, 30)]
        assert got == [1, 2]
        await informed.stop()

    asyncio.run(run())
