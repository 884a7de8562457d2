"""Load for a broker, and what came of it.

Open loop: with a rate, events are sent when they are due, whatever the broker does, and latencies
count from that moment on. Without one, a sender stays so many batches ahead of its receipts.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from bench.broker.clients.connection import Batch, Client, Message
from predicast.protocol.records import Definition, Settings

_AHEAD: Final = 16  # batches without receipts
_PRIME: Final = 7919  # from one event to the next, so that neighbours are of different groups
_PATIENCE_S: Final = 60.0  # without any event


class Held(NamedTuple):
    """What a broker holds: subscriptions, so many of which an event matches."""

    subscriptions: int
    fan_out: int

    @property
    def groups(self) -> int:
        """How many sets of subscriptions there are that match the same events."""
        return max(1, self.subscriptions // self.fan_out)

    def definitions(self, reader: int) -> list[Definition]:
        """One subscriber's: one subscription of each group, by content."""
        settings = Settings(durable=False)
        return [
            Definition(
                f"{reader}-{group}",
                f"run = 'bench' AND topic = {group} AND price < 1000",
                settings=settings,
            )
            for group in range(self.groups)
        ]


class Load(NamedTuple):
    """What is sent."""

    events: int
    batch: int
    rate: float = 0.0  # events per second; 0 for as many as it takes


class Measured(NamedTuple):
    """What came of it; latencies in seconds, from when an event was due, sorted."""

    clock_s: float  # from the first event to the last delivery
    deliveries: int
    latencies: npt.NDArray[np.float64]
    busy: float  # the share of the clock that the load generator's processor was at work

    def quantile(self, share: float) -> float:
        """The latency that this share of deliveries did not exceed."""
        place = min(int(share * len(self.latencies)), len(self.latencies) - 1)
        return float(self.latencies[place])


class _Tally:
    """What has come, in pieces: when, and which events."""

    def __init__(self) -> None:
        self._pieces: list[tuple[float, npt.NDArray[np.int32]]] = []
        self._left = 0
        self.done = asyncio.Event()

    def begin(self, expected: int) -> None:
        self._pieces = []
        self._left = expected
        self.done.clear()

    @property
    def left(self) -> int:
        """How many have not come."""
        return self._left

    def add(self, numbers: list[bytes]) -> None:
        now = time.perf_counter()
        self._pieces.append((now, np.array([*map(int, numbers)], dtype=np.int32)))
        self._left -= len(numbers)
        if self._left <= 0:
            self.done.set()

    def latencies(self, due: npt.NDArray[np.float64], times: int) -> npt.NDArray[np.float64]:
        """How long each took; an error unless every event has come so many times."""
        numbers = np.concatenate([each for _, each in self._pieces])
        if not np.array_equal(np.bincount(numbers, minlength=len(due)), [times] * len(due)):
            raise RuntimeError("events were lost, or came twice")
        came = np.repeat([now for now, _ in self._pieces], [len(each) for _, each in self._pieces])
        return np.sort(came - due[numbers])


class LoadGenerator:
    """One connection that sends and as many that receive as an event has subscribers."""

    def __init__(self, make: Callable[[], Client], port: int, held: Held) -> None:
        self._make = make
        self._port = port
        self._held = held
        self._tally = _Tally()
        self._sender: Client
        self._clients: list[Client] = []

    async def start(self) -> None:
        """Connect and subscribe."""
        self._sender = await self._connected()
        for number in range(self._held.fan_out):
            reader = await self._connected()
            reader.receive = self._tally.add
            await reader.subscribe(self._held.groups, self._held.definitions(number))

    async def _connected(self) -> Client:
        loop = asyncio.get_running_loop()
        _, client = await loop.create_connection(self._make, "127.0.0.1", self._port)
        self._clients.append(client)
        await client.start()
        return client

    def stop(self) -> None:
        """End all connections."""
        for client in self._clients:
            client.close()

    async def run(self, load: Load, mark: Callable[[], None] = lambda: None) -> Measured:
        """Publish, receive, and note when; ``mark`` is called before and after."""
        batches = [*self._batches(load)]
        due = np.zeros(load.events)
        self._tally.begin(load.events * self._held.fan_out)
        with _undisturbed():
            mark()
            began, spent = time.perf_counter(), time.process_time()
            await self._publish(load, batches, due)
            await self._received()
            clock, spent = time.perf_counter() - began, time.process_time() - spent
            mark()
        latencies = self._tally.latencies(due, self._held.fan_out)
        return Measured(clock, len(latencies), latencies, spent / clock)

    def _batches(self, load: Load) -> Iterator[Batch]:
        groups, encode = self._held.groups, msgspec.json.encode
        for first in range(0, load.events, load.batch):
            yield self._sender.batch(
                [
                    Message(
                        group := number * _PRIME % groups,
                        encode(
                            {
                                "run": "bench",
                                "topic": group,
                                "price": number % 1000,
                                "number": number,
                            }
                        ),
                    )
                    for number in range(first, min(first + load.batch, load.events))
                ]
            )

    async def _publish(
        self, load: Load, batches: Sequence[Batch], due: npt.NDArray[np.float64]
    ) -> None:
        sender, began = self._sender, time.perf_counter()
        asked = list(np.cumsum([each.receipts for each in batches]) + sender.receipts)
        for number, (data, _) in enumerate(batches):
            first = number * load.batch
            moment = time.perf_counter()
            if load.rate:
                moment = began + first / load.rate
                await asyncio.sleep(max(0.0, moment - time.perf_counter()))
            elif number >= _AHEAD:
                awaited = asked[number - _AHEAD]
                await sender.until(lambda awaited=awaited: sender.receipts >= awaited)  # type: ignore[misc]
            due[first : first + load.batch] = moment
            await sender.write(data)
        await sender.until(lambda: sender.receipts >= asked[-1])

    async def _received(self) -> None:
        while not self._tally.done.is_set():
            before = self._tally.left
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    await self._tally.done.wait()
            except TimeoutError:
                for client in self._clients:
                    client.check()
                if self._tally.left == before:
                    raise RuntimeError(f"{before:,} deliveries have not come") from None


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Without pauses of the load generator's own that look like the broker's."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
