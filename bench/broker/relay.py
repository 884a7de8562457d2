"""A broker that does nothing: whatever a sender writes goes to all who listen.

It knows no topics and keeps nothing. What it comes to is what the load generator and the
machine are capable of, and a latency that it shows is theirs.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Final, cast

from bench.broker.clients.connection import Batch, Client, Message
from bench.measuring.loops import quick_loop
from predicast.protocol.records import Definition

_LISTEN: Final = b"listen\n"
_END: Final = b"\n"  # of a batch


class RelayClient(Client):
    """A batch is taken when its end has come back."""

    def __init__(self) -> None:
        super().__init__()
        self._listens = False

    async def subscribe(self, groups: int, definitions: Sequence[Definition]) -> None:
        await self.write(_LISTEN)
        await self.until(lambda: self.receipts > 0)
        self._listens = True

    def batch(self, messages: Sequence[Message]) -> Batch:
        return Batch(b"".join([*(each.payload for each in messages), _END]), 1)

    def taken(self, data: bytes) -> int:
        if self._listens:
            return self.listened(data)
        self.receipts += data.count(_END)
        return len(data)


class _Relay(asyncio.Protocol):
    listening: Final[list[asyncio.Transport]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one by its methods

    def data_received(self, data: bytes) -> None:
        if data == _LISTEN:
            self.listening.append(self._transport)
        else:
            for each in self.listening:
                each.write(data)
        self._transport.write(_END * data.count(_END))

    def connection_lost(self, problem: Exception | None) -> None:
        if self._transport in self.listening:
            self.listening.remove(self._transport)


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(_Relay, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=quick_loop) as runner:
        runner.run(_serve(int(sys.argv[1])))
