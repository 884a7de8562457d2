"""What all clients have in common: a socket, and what is made of the bytes that come."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, cast

from predicast.protocol.records import Definition

_NUMBER: Final = re.compile(rb'"number":(\d+)}')  # the last thing in every payload

Receive = Callable[[list[bytes]], None]


class Message(NamedTuple):
    """An event: its group of subscribers, and what is sent of it."""

    group: int
    payload: bytes


class Batch(NamedTuple):
    """Messages as one write, and how many receipts they come to."""

    data: bytes
    receipts: int


class Client(asyncio.Protocol):
    """One connection.

    A receiver hands the numbers of the events that came to ``receive``; a sender counts receipts.
    """

    def __init__(self) -> None:
        self.receive: Receive | None = None
        self.receipts = 0  # as many as batches come to, when the broker has taken them
        self.failure: str | None = None
        self._rest = b""
        self._heard = asyncio.Event()
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._transport: asyncio.Transport

    # For whoever measures.

    async def start(self) -> None:
        """Say what has to be said first."""

    async def subscribe(self, groups: int, definitions: Sequence[Definition]) -> None:
        """Receive what comes for all groups; Predicast is told so by these definitions."""
        raise NotImplementedError

    def batch(self, messages: Sequence[Message]) -> Batch:
        """What publishes the messages."""
        raise NotImplementedError

    async def write(self, data: bytes) -> None:
        """Send some bytes, as soon as the socket takes them."""
        await self._may_write.wait()
        self.check()
        self._transport.write(data)

    async def heard(self) -> None:
        """Wait until something comes; an error if that is a refusal or the end."""
        self._heard.clear()
        self.check()
        await self._heard.wait()
        self.check()

    def close(self) -> None:
        """End the connection."""
        self._transport.abort()

    # For the protocols.

    def taken(self, data: bytes) -> int:
        """How many bytes of what came are dealt with; the others come again, with more."""
        raise NotImplementedError

    def found(self, data: bytes) -> int:
        """Hand on the events in some bytes; how many there are."""
        assert self.receive is not None
        numbers = _NUMBER.findall(data)
        if numbers:
            self.receive(numbers)
        return len(numbers)

    def listened(self, data: bytes) -> int:
        """``taken`` of what has nothing but events in it, and what stands before each."""
        self.found(data)
        return data.rfind(b"}") + 1

    async def until(self, is_there: Callable[[], bool]) -> None:
        """Wait until something has come."""
        while not is_there():
            await self.heard()

    def check(self) -> None:
        """Raise what has gone wrong, if anything has."""
        if self.failure is not None:
            raise RuntimeError(self.failure)

    # For the loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one by its methods

    def data_received(self, data: bytes) -> None:
        data = self._rest + data if self._rest else data
        self._rest = data[self.taken(data) :]
        self._heard.set()

    def connection_lost(self, problem: Exception | None) -> None:
        self.failure = self.failure or f"the connection ended: {problem}"
        self._heard.set()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()
