"""Linked brokers in one process, over pipes that a test can cut."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any, Self

import msgspec

from predicast.broker import Broker, Consumer, Tenant
from predicast.broker.embedded import EmbeddedBackend
from predicast.broker.links import Connection, Links, LinkSettings, Parent, SqliteLinkStore
from predicast.errors import NotAllowedError, NotConnectedError
from predicast.protocol.records import Definition, Delivery, NewEvent, Settings

LIMIT_S = 120.0  # for what should take a moment
TENANT = "default"


class Pipe:
    """One end of a connection in memory."""

    def __init__(self) -> None:
        self.other: Pipe | None = None
        self.is_open = True
        self.is_stuck = False  # frames go nowhere, and nobody is told
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def send(self, data: bytes) -> None:
        other = self.other
        if not self.is_open or other is None:
            raise NotConnectedError("the pipe was closed")
        if not self.is_stuck:
            other._frames.put_nowait(data)

    async def receive(self) -> bytes:
        data = await self._frames.get()
        if data is None:
            raise NotConnectedError("the pipe was closed")
        return data

    async def close(self) -> None:
        for end in (self, self.other):
            if end is not None and end.is_open:
                end.is_open = False
                end._frames.put_nowait(None)


def pipe() -> tuple[Pipe, Pipe]:
    one, other = Pipe(), Pipe()
    one.other, other.other = other, one
    return one, other


class LinkedBroker:
    """A broker with its links, in a folder of its own."""

    def __init__(self, network: Tree, name: str, settings: LinkSettings) -> None:
        self.network = network
        self.name = name
        self.settings = settings
        self.folder = network.folder / name
        self.pipes: list[Pipe] = []  # that it has dialled
        self.served: set[asyncio.Task[None]] = set()
        self._broker: Broker | None = None
        self._links: Links | None = None

    @property
    def tenant(self) -> Tenant:
        assert self._broker is not None
        return self._broker.tenant(TENANT)

    @property
    def links(self) -> Links:
        assert self._links is not None
        return self._links

    async def start(self) -> None:
        broker = Broker(EmbeddedBackend(self.folder))
        await broker.start()
        self._links = Links(
            broker,
            SqliteLinkStore(self.folder),
            [self.settings],
            dial=self._dial,
            chance=Random(1),
        )
        await self._links.start()
        self._broker = broker

    async def stop(self) -> None:
        if self._broker is None:
            return
        broker, self._broker = self._broker, None
        await self.links.stop()
        for each in self.served:
            each.cancel()
        await asyncio.gather(*self.served, return_exceptions=True)
        await broker.stop()

    @property
    def is_running(self) -> bool:
        return self._broker is not None

    async def _dial(self, parent: Parent) -> Connection:
        name = parent.url.removeprefix("ws://")
        other = self.network.brokers.get(name)
        if other is None or not other.is_running or (self.name, name) in self.network.cut:
            raise NotConnectedError(f"{name} cannot be reached", url=parent.url)
        if parent.token != self.network.tokens.get(name):
            raise NotAllowedError("the token is not known", scope="link")
        mine, theirs = pipe()
        self.pipes.append(mine)
        task = asyncio.create_task(other.links.accept(TENANT, theirs))
        other.served.add(task)
        task.add_done_callback(other.served.discard)
        return mine

    # What clients do.

    async def subscribe(self, id: str, expression: str, *, durable: bool = True) -> None:
        settings = Settings(durable=durable)
        await self.tenant.subscribe(Definition(id, expression, settings=settings))

    async def publish(self, numbers: Iterable[int], publisher: str = "p", **more: Any) -> None:
        await self.tenant.publish([event(number, publisher, **more) for number in numbers])

    async def settled(self) -> None:
        await until(lambda: self.links.is_settled(TENANT), f"{self.name} is settled")


class Tree:
    """Brokers by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.brokers: dict[str, LinkedBroker] = {}
        self.cut: set[tuple[str, str]] = set()
        self.tokens: dict[str, str] = {}

    async def add(
        self, name: str, *parents: str, token: str | None = None, **more: Any
    ) -> LinkedBroker:
        known = tuple(Parent(f"ws://{each}", token) for each in parents)
        quick = {"keep_alive_s": 0.2, "ttl_s": 60.0, "retry_s": 0.02, "retry_max_s": 0.1, **more}
        settings = LinkSettings(parents=known, name=name, **quick)
        made = self.brokers[name] = LinkedBroker(self, name, settings)
        await made.start()
        return made

    async def part(self, name: str, other: str) -> None:
        """Cut the pipes that one has dialled to another, until they are mended."""
        self.cut.add((name, other))
        for each in self.brokers[name].pipes:
            await each.close()

    def mend(self) -> None:
        self.cut.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for each in reversed(list(self.brokers.values())):
            await each.stop()


def event(number: int, publisher: str = "p", **more: Any) -> NewEvent:
    attributes = {"n": number, **more}
    return NewEvent(msgspec.json.encode(attributes), attributes, f"e{number}", publisher)


async def until(holds: Callable[[], bool], what: str) -> None:
    """Wait for a condition; the limit is for what never comes."""
    async with asyncio.timeout(LIMIT_S):
        while not holds():  # noqa: ASYNC110  # whatever it is
            await asyncio.sleep(0.01)
    assert holds(), what


async def received(consumer: Consumer, count: int) -> list[Delivery]:
    """So many deliveries, acknowledged, and then none for a moment."""
    found: list[Delivery] = []
    async with asyncio.timeout(LIMIT_S):
        while len(found) < count:
            found += await taken(consumer, wait=1.0)
    return found + await taken(consumer, wait=0.05)


async def taken(consumer: Consumer, wait: float) -> list[Delivery]:
    deliveries = await consumer.take(10_000, wait)
    positions: dict[str, list[int]] = {}
    for delivery in deliveries:
        for id in delivery.subscriptions:
            positions.setdefault(id, []).append(delivery.event.position)
    for id, those in positions.items():
        await consumer.acknowledge(id, those)
    return deliveries


async def reader(broker: LinkedBroker, *ids: str) -> Consumer:
    consumer = await broker.tenant.consumer()
    await consumer.add(ids)
    return consumer


def run(test: Callable[[Tree], Awaitable[None]], folder: Path) -> None:
    """Run a test with a tree of brokers."""

    async def body() -> None:
        async with Tree(folder) as tree:
            await test(tree)

    asyncio.run(body())
