"""Servers that are killed and paused under a running process; the long run is ``tests.faults``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from predicast.broker.nats import NatsBackend, NatsOptions
from predicast.errors import BackendError
from predicast.protocol.records import Adjust, Definition, Put
from tests.faults.broker.run import BACKENDS, run
from tests.nats_servers import NatsServer, nats_server
from tests.thorough import LONG
from tests.unit.broker.nats.test_processes import LONG_S, TENANT, event

OPTIONS = NatsOptions(lease_s=5.0, patience_s=LONG_S)


def kill(server: NatsServer) -> None:
    server.kill()
    server.start()


def pause(server: NatsServer) -> None:
    server.pause()
    server.resume()


@pytest.mark.parametrize("fault", [kill, pause])
def test_nothing_that_was_acknowledged_is_lost_with_the_server(
    fault: Callable[[NatsServer], None], tmp_path: Path
) -> None:
    async def publish(backend: NatsBackend, number: int) -> int:
        await backend.change(TENANT, [Adjust("a", {"least": -number})])
        (receipt,) = await backend.publish(TENANT, [event(number, x=number)])
        return receipt.position

    async def whole(server: NatsServer) -> None:
        backend = NatsBackend(server.url, options=OPTIONS)
        await backend.start()
        definition = Definition("a", "x >= :least", parameters={"least": 0})
        await backend.change(TENANT, [Put(definition)])
        consumer = await backend.consumer(TENANT)
        await consumer.add(["a"])
        acknowledged = [await publish(backend, number) for number in range(5)]
        under_way = asyncio.create_task(publish(backend, 5))
        await asyncio.to_thread(fault, server)
        acknowledged.append(await under_way)
        acknowledged += [await publish(backend, number) for number in range(6, 10)]
        got: dict[int, str] = {}
        while len(got) < 10:
            for delivery in await consumer.take(100, LONG_S):
                got[delivery.event.position] = delivery.event.id
                await consumer.acknowledge("a", [delivery.event.position])
        assert got == {place: str(n) for n, place in enumerate(acknowledged)}
        await backend.stop()

        again = NatsBackend(server.url, options=OPTIONS)
        await again.start()
        assert [each.position for each in await again.events(TENANT)] == acknowledged
        assert (await again.definition(TENANT, "a")).parameters == {"least": -9}
        assert await again.pending(TENANT) == {}
        await again.stop()

    with nats_server(tmp_path) as server:
        asyncio.run(whole(server))


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with nats_server(tmp_path) as server:
        url = server.url.replace("nats://", "nats://user:secret@")
    with pytest.raises(BackendError, match=f"127.0.0.1:{server.port}") as caught:
        asyncio.run(NatsBackend(url, options=NatsOptions(patience_s=0.5)).start())
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("backend", BACKENDS if LONG else ["embedded", "nats"])
def test_nothing_is_lost_with_processes(backend: str, tmp_path: Path) -> None:
    record, counts = run(backend, tmp_path, seconds=60.0 if LONG else 0.1, seed=1)
    assert record.check() == []
    assert record.counts["events"] > 0
    assert sum(counts.values()) > 0
