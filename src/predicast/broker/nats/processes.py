"""``Processes``: which processes of the broker live.

Each writes its name into a bucket, again and again; one that is not heard of for the length of a
lease is gone, and others take over what it did. Times are those of whoever listens, so that clocks
need not agree.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Awaitable, Callable

from predicast.broker.nats.connection import MESSAGE_ID, Connection, Message, StreamMessage
from predicast.broker.nats.names import Bucket
from predicast.broker.nats.tail import Tail
from predicast.errors import BackendError


class Processes:
    """One process's picture of the others, itself included."""

    def __init__(self, connection: Connection, name: str) -> None:
        self.name = name
        self._connection = connection
        self._bucket = Bucket(f"{connection.options.prefix}_processes")
        self._lease_s = connection.options.lease_s
        self._heard: dict[str, float] = {}
        self._last_tick = 0.0
        self._tail: Tail | None = None

    async def open(self) -> None:
        """Be heard of, and hear of the others."""
        lease_ns = int(self._lease_s * 1e9)
        await self._connection.make_bucket(
            self._bucket, max_age=lease_ns, duplicate_window=lease_ns
        )
        stream = self._bucket.stream
        first = await self._connection.first_sequence(stream)
        self._tail = Tail(self._connection, stream, max(0, first - 1), self._came)
        self._tail.start()
        self._last_tick = asyncio.get_running_loop().time()
        await self._tail.reached(await self._beat(), self._connection.options.patience_s)

    async def close(self) -> None:
        """Say goodbye."""
        with contextlib.suppress(BackendError, TimeoutError):
            async with asyncio.timeout(2.0):
                await self._write(b"")
        if self._tail is not None:
            await self._tail.stop()

    async def tick(self) -> None:
        """Be heard of; called three times per lease."""
        now = asyncio.get_running_loop().time()
        if now - self._last_tick > self._lease_s / 2:
            # This process was held up, and may have missed that the others live.
            self._heard = dict.fromkeys(self._heard, now)
        self._last_tick = now
        await self._beat()

    def is_alive(self, name: str) -> bool:
        """Whether it was heard of lately."""
        heard = self._heard.get(name)
        return heard is not None and (asyncio.get_running_loop().time() - heard <= self._lease_s)

    def alive(self) -> list[str]:
        """All that were heard of lately, by name."""
        return sorted(name for name in self._heard if self.is_alive(name))

    async def each_that_is_gone(self, do: Callable[[str], Awaitable[None]]) -> None:
        """Do something for each process that is not heard of any more, once."""
        for name in [name for name in self._heard if not self.is_alive(name)]:
            await do(name)
            del self._heard[name]

    async def _beat(self) -> int:
        return await self._write(b"1")

    async def _write(self, data: bytes) -> int:
        subject = self._bucket.subject(self.name)
        message = Message(subject, data, {MESSAGE_ID: uuid.uuid4().hex})
        [written] = await self._connection.write([message])
        return written.sequence

    def _came(self, messages: list[StreamMessage]) -> None:
        now = asyncio.get_running_loop().time()
        for message in messages:
            name = self._bucket.key(message.subject)
            # Who says goodbye was heard of a lease ago.
            self._heard[name] = now if message.data else now - 2 * self._lease_s
