"""Redis: arrays of strings, each with its length before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bench.broker.clients.connection import Batch, Client, Message
from predicast.protocol.records import Definition

_AT_ONCE: Final = 1000  # topics of one request


class RedisClient(Client):
    """Events that nobody keeps; each is answered with how many have received it."""

    def __init__(self) -> None:
        super().__init__()
        self._confirmed = 0
        self._listens = False

    async def subscribe(self, groups: int, definitions: Sequence[Definition]) -> None:
        for first in range(0, groups, _AT_ONCE):
            topics = [b"run.%d" % group for group in range(first, min(first + _AT_ONCE, groups))]
            await self.write(_array([b"SUBSCRIBE", *topics]))
        await self.until(lambda: self._confirmed >= groups)
        self._listens = True

    def batch(self, messages: Sequence[Message]) -> Batch:
        parts = [_array([b"PUBLISH", b"run.%d" % group, payload]) for group, payload in messages]
        return Batch(b"".join(parts), len(messages))

    def taken(self, data: bytes) -> int:
        if self._listens:
            return self.listened(data)
        size = data.rfind(b"\n") + 1
        told = data[:size]
        self._confirmed += told.count(b"subscribe\r\n")
        self.receipts += told.count(b":")
        if b"-ERR" in told:
            self.failure = told.decode(errors="replace")
        return size


def _array(parts: Sequence[bytes]) -> bytes:
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(p), p) for p in parts)
