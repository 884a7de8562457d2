"""The broker's embedded store in one process: ``python -m bench.broker_store``.

Subscriptions are loaded in windows. Events come in batches, each for a given number of
subscriptions (the fan-out): first they are only queued, then what waits is taken and acknowledged
by one consumer, then both happen at once. Then events are published one at a time by many
publishers at once. At the end the store is stopped and started. Everything is on disk before it
counts. Rates are given by the clock and by processor time: on a machine that does other things as
well, the second says more.
"""

from __future__ import annotations

import asyncio
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from predicast.broker.backend import Consumer
from predicast.broker.embedded import EmbeddedBackend
from predicast.protocol import Definition, NewEvent, Put

TENANT = "bench"
WINDOW = 100_000
BATCH = 500
PUBLISHERS = 200


def main(
    subscriptions: Annotated[int, typer.Option(min=1)] = 10_000,
    deliveries: Annotated[int, typer.Option(min=1, help="For each step of a fan-out.")] = 200_000,
    fan_out: Annotated[list[int], typer.Option(min=1)] = [10, 100],  # noqa: B006
    singles: Annotated[int, typer.Option(min=1)] = 5_000,
    waiting: Annotated[
        int, typer.Option(min=0, help="Deliveries that are left in queues for the start.")
    ] = 0,
    seed: int = 1,
) -> None:
    """Measure the embedded store, and print what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        store = _Store(Path(folder), subscriptions, random.Random(seed))
        asyncio.run(store.measure(fan_out, deliveries, singles, waiting))


class _Store:
    """A store whose subscriptions each ask for one of many symbols."""

    def __init__(self, folder: Path, subscriptions: int, source: random.Random) -> None:
        self._folder = folder
        self._subscriptions = subscriptions
        self._source = source
        self._published = 0

    async def measure(
        self, fan_outs: list[int], deliveries: int, singles: int, waiting: int
    ) -> None:
        for fan_out in fan_outs:
            await self._measure_fan_out(fan_out, max(1, deliveries // fan_out))
        await self._measure_singles(singles)
        await self._measure_start(waiting)

    async def _measure_fan_out(self, fan_out: int, events: int) -> None:
        print(f"\n{self._subscriptions:,} subscriptions, {fan_out} for each event")
        backend = await self._loaded(f"fan-out-{fan_out}", fan_out)
        consumer = await backend.consumer(TENANT)
        await consumer.add(self._ids())
        await _publish(backend, self._events(BATCH, fan_out))  # what is compiled is ready then
        await _take_all(backend, consumer)
        some, more = self._events(events, fan_out), self._events(events, fan_out)
        with _timed("queued", "deliveries", events * fan_out):
            await _publish(backend, some)
        with _timed("taken and acknowledged", "deliveries", events * fan_out):
            await _take_all(backend, consumer)
        with _timed("both at once", "events", events):
            publishing = asyncio.create_task(_publish(backend, more))
            await _take_all(backend, consumer, publishing)
        await backend.stop()

    async def _measure_singles(self, events: int) -> None:
        print(f"\n{self._subscriptions:,} subscriptions, {PUBLISHERS} publishers of single events")
        backend = await self._loaded("singles", 5)
        alone = iter(self._events(events, 5))
        with _timed("on disk, and queued for 5 each", "events", events):
            await asyncio.gather(*(_publish_alone(backend, alone) for _ in range(PUBLISHERS)))
        await backend.stop()

    async def _measure_start(self, waiting: int) -> None:
        fan_out = 500
        print(f"\n{self._subscriptions:,} subscriptions, something waits for some")
        with _timed("loaded", "subscriptions", self._subscriptions):
            backend = await self._loaded("start", fan_out)
        if waiting:
            events = self._events(max(1, waiting // fan_out), fan_out)
            with _timed("queued", "deliveries", waiting):
                await _publish(backend, events)
        pending = await backend.pending(TENANT)
        print(f"{sum(pending.values()):,} deliveries wait in {len(pending):,} queues")
        with _timed("stop"):
            await backend.stop()
        again = EmbeddedBackend(self._folder / "start")
        with _timed("start"):
            await again.start()
        assert await again.pending(TENANT) == pending
        await again.stop()
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"most memory: {most / 1024:,.0f} MiB")

    async def _loaded(self, name: str, fan_out: int) -> EmbeddedBackend:
        backend = EmbeddedBackend(self._folder / name)
        await backend.start()
        for begin in range(0, self._subscriptions, WINDOW):
            numbers = range(begin, min(self._subscriptions, begin + WINDOW))
            await backend.change(TENANT, [self._put(number, fan_out) for number in numbers])
        return backend

    def _ids(self) -> list[str]:
        return [f"subscription-{number}" for number in range(self._subscriptions)]

    def _put(self, number: int, fan_out: int) -> Put:
        symbol = number % self._symbols(fan_out)
        return Put(Definition(f"subscription-{number}", f"symbol = 'S{symbol}' AND price < 1000"))

    def _symbols(self, fan_out: int) -> int:
        return max(1, self._subscriptions // fan_out)

    def _events(self, count: int, fan_out: int) -> list[NewEvent]:
        events = []
        for _ in range(count):
            self._published += 1
            symbol = f"S{self._source.randrange(self._symbols(fan_out))}"
            price = self._source.randrange(1000)
            body = f'{{"symbol": "{symbol}", "price": {price}}}'.encode()
            attributes = {"symbol": symbol, "price": price}
            events.append(NewEvent(body, attributes, str(self._published), "bench"))
        return events


async def _publish(backend: EmbeddedBackend, events: list[NewEvent]) -> None:
    batches = [events[at : at + BATCH] for at in range(0, len(events), BATCH)]
    await asyncio.gather(*(backend.publish(TENANT, batch) for batch in batches))


async def _publish_alone(backend: EmbeddedBackend, events: Iterator[NewEvent]) -> None:
    for event in events:
        await backend.publish(TENANT, [event])


async def _take_all(
    backend: EmbeddedBackend, consumer: Consumer, publishing: asyncio.Task[None] | None = None
) -> None:
    """Take and acknowledge until all is published, and nothing is left."""
    while True:
        is_all = publishing is None or publishing.done()
        deliveries = await consumer.take(1000, 0.0 if is_all else 0.01)
        if is_all and not deliveries and not await backend.pending(TENANT):
            return
        by_subscription: dict[str, list[int]] = {}
        for delivery in deliveries:
            for id in delivery.subscriptions:
                by_subscription.setdefault(id, []).append(delivery.event.position)
        await consumer.acknowledge_all(by_subscription)


@contextmanager
def _timed(what: str, of: str = "", count: int = 1) -> Iterator[None]:
    clock, processor = time.perf_counter(), time.process_time()
    yield
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    took = f"({clock:.2f} s, {processor:.2f} s processor)"
    if of:
        took = f"{count / clock:,.0f} {of}/s, {count / processor:,.0f}/s processor {took}"
    print(f"{what}: {took}", flush=True)


if __name__ == "__main__":
    typer.run(main)
