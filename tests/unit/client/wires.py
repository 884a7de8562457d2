"""A client and a broker in one process: WebSockets made of queues, which can be cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.websockets import WebSocket

from predicast.broker import Broker
from predicast.broker.embedded import EmbeddedBackend
from predicast.broker.session import serve_websocket
from predicast.client import Client
from predicast.errors import NotConnectedError
from predicast.protocol import frames


class Wire:
    """One connection, both ends."""

    def __init__(self, framing: frames.Framing) -> None:
        self.framing = framing
        self.to_broker: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.to_client: asyncio.Queue[bytes | str | None] = asyncio.Queue()
        self.is_cut = False
        self.is_stalled = False  # nothing of the broker's gets through until it is cut
        self._gone = asyncio.Event()
        self.close_code: int | None = None
        self.to_broker.put_nowait({"type": "websocket.connect"})

    # The client's end.

    async def send(self, message: bytes) -> None:
        if self.is_cut:
            raise ConnectionResetError
        text = self.framing.is_text
        data = {"text": message.decode()} if text else {"bytes": message}
        self.to_broker.put_nowait({"type": "websocket.receive", **data})

    async def receive(self) -> bytes | str | None:
        return await self.to_client.get()

    async def close(self) -> None:
        self.cut()

    def cut(self) -> None:
        if not self.is_cut:
            self.is_cut = True
            self._gone.set()
            self.to_broker.put_nowait({"type": "websocket.disconnect", "code": 1006})
            self.to_client.put_nowait(None)

    # The broker's end.

    def websocket(self) -> WebSocket:
        scope = {"type": "websocket", "subprotocols": [self.framing.subprotocol]}
        return WebSocket(scope, self.to_broker.get, self._from_broker)

    async def _from_broker(self, message: Any) -> None:
        if self.is_stalled:
            await self._gone.wait()
        if message["type"] == "websocket.close":
            self.close_code = message.get("code")
            self.cut()
        elif message["type"] == "websocket.send" and not self.is_cut:
            data = message.get("text")
            self.to_client.put_nowait(message.get("bytes") if data is None else data)


class Place:
    """A broker, and the wires to it."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.wires: list[Wire] = []
        self.is_down = False
        self.serving: set[asyncio.Task[None]] = set()
        self.options: dict[str, Any] = {}

    async def open(self, framing: frames.Framing) -> Wire:
        if self.is_down:
            raise NotConnectedError("it is down", url="here")
        wire = Wire(framing)
        self.wires.append(wire)
        work = serve_websocket(wire.websocket(), self.broker.tenant(), **self.options)
        self.serving.add(asyncio.create_task(work))
        return wire

    @asynccontextmanager
    async def client(
        self, framing: frames.Framing = frames.MSGPACK, **options: Any
    ) -> AsyncIterator[Client]:
        client = Client("here", lambda: self.open(framing), framing, **options)
        await client.start()
        try:
            yield client
        finally:
            await client.close()

    def cut(self) -> None:
        """End all connections, as a network would."""
        for wire in self.wires:
            wire.cut()


@asynccontextmanager
async def place(folder: Path) -> AsyncIterator[Place]:
    async with Broker(EmbeddedBackend(folder)) as broker:
        made = Place(broker)
        try:
            yield made
        finally:
            made.cut()
            await asyncio.gather(*made.serving)  # raises what went wrong there
