"""Load for a broker, and what came of it.

Open loop: with a rate, events are sent when they are due, whatever the broker does, and latencies
count from that moment on; a broker that falls behind cannot hide it by slowing the sender down.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from predicast.cli.batches import batches
from predicast.protocol.records import Definition, Remove, Settings

if TYPE_CHECKING:
    from predicast.client import Client, Stream
    from predicast.protocol.records import Receipt

_WINDOW: Final = 20_000  # subscriptions that are made at once: some megabytes
_AHEAD: Final = 32  # batches without receipts; without a rate, no more are sent until one has its


class Load(NamedTuple):
    """What is asked of the broker."""

    subscriptions: int
    fan_out: int  # subscriptions that an event matches
    events: int
    batch: int = 100
    rate: float = 0.0  # events per second; 0 for as many as it takes
    durable: bool = False


class Measured(NamedTuple):
    """What came of it; latencies in seconds, from publish to delivery, sorted."""

    published_s: float
    delivered_s: float
    deliveries: int
    latencies: list[float]

    def quantile(self, share: float) -> float:
        """The latency that this share of events did not exceed."""
        place = min(int(share * len(self.latencies)), len(self.latencies) - 1)
        return self.latencies[place]


def definitions(load: Load, name: str) -> list[Definition]:
    """Subscriptions in groups: an event matches those of one group, by its content."""
    settings = Settings(durable=load.durable)
    return [
        Definition(
            f"{name}-{number}",
            f"run = '{name}' AND topic = {number // load.fan_out} AND price < 1000",
            settings=settings,
        )
        for number in range(load.subscriptions)
    ]


async def measure(
    sender: Client,
    readers: Sequence[Client],
    load: Load,
    mark: Callable[[], None] = lambda: None,
) -> Measured:
    """Subscribe, publish, receive, and note when; what was made for it is removed again.

    The subscriptions of a group are dealt out to the readers: an event comes to each that has one.
    ``mark`` is called before the first event and after the last.
    """
    name = f"bench-{uuid.uuid4().hex[:12]}"
    made = definitions(load, name)
    async with AsyncExitStack() as stack:
        streams = [
            await stack.enter_async_context(await reader.subscribe_many(some))
            for place, reader in enumerate(readers)
            for some in batches(_dealt(made, load, place, len(readers)), _WINDOW)
        ]
        sent = [0.0] * load.events
        expected = load.events * min(load.fan_out, len(readers))
        receiving = asyncio.create_task(_receive_all(streams, sent, expected))
        mark()
        began = time.perf_counter()
        await _publish(sender, load, name, sent)
        published = time.perf_counter() - began
        deliveries, latencies = await receiving
        delivered = time.perf_counter() - began
        mark()
    if load.durable:
        for some in batches(made, _WINDOW):
            await readers[0].apply([Remove(each.id) for each in some])
    return Measured(published, delivered, deliveries, sorted(latencies))


def _dealt(made: list[Definition], load: Load, place: int, readers: int) -> Iterator[Definition]:
    for number, definition in enumerate(made):
        if number % load.fan_out % readers == place:
            yield definition


async def _publish(sender: Client, load: Load, name: str, sent: list[float]) -> None:
    groups = max(1, load.subscriptions // load.fan_out)
    outstanding: set[asyncio.Task[list[Receipt]]] = set()
    began = time.perf_counter()
    for first in range(0, load.events, load.batch):
        numbers = range(first, min(first + load.batch, load.events))
        # A prime away from each other, so that neighbours are of different groups.
        bodies = [
            msgspec.json.encode({"run": name, "topic": n * 7919 % groups, "price": n % 1000})
            for n in numbers
        ]
        due = time.perf_counter()
        if load.rate:
            due = began + first / load.rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
        for number in numbers:
            sent[number] = due
        ids = [f"{name}-{number}" for number in numbers]
        outstanding.add(asyncio.create_task(sender.publish(bodies, ids=ids)))
        if not load.rate and len(outstanding) >= _AHEAD:
            _, outstanding = await asyncio.wait(outstanding, return_when=asyncio.FIRST_COMPLETED)
    await asyncio.gather(*outstanding)


async def _receive_all(
    streams: Sequence[Stream], sent: list[float], expected: int
) -> tuple[int, list[float]]:
    """Deliveries to subscriptions, and how long each event took to each reader."""
    deliveries = 0
    latencies: list[float] = []
    done = asyncio.Event()

    async def receive(stream: Stream) -> None:
        nonlocal deliveries
        while True:
            batch = await stream.take()
            now = time.perf_counter()
            for each in batch:
                deliveries += len(each.subscriptions)
                latencies.append(now - sent[int(each.id.rpartition("-")[2])])
            if len(latencies) >= expected:
                done.set()

    reading = [asyncio.create_task(receive(stream)) for stream in streams]
    await done.wait()
    for task in reading:
        task.cancel()
    return deliveries, latencies
