"""``Neighbour``: one connection, and the task that sends on it what routers say."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from predicast.broker.links.connection import Connection
from predicast.broker.links.status import Traffic
from predicast.errors import NotConnectedError
from predicast.routing import Events, Message
from predicast.routing.codec import encode

# Streams allow so few messages in flight that only a neighbour that reads nothing gets there.
_MOST_WAITING: Final = 1_024


class Neighbour:
    """A neighbour that is connected."""

    def __init__(self, name: str, connection: Connection, traffic: Traffic) -> None:
        self.name = name
        self._connection = connection
        self._traffic = traffic
        self._waiting: asyncio.Queue[Message] = asyncio.Queue(_MOST_WAITING)
        self._task = asyncio.create_task(self._send_all())

    def send(self, message: Message) -> None:
        """Send it; where there is no room it is lost, and said again later."""
        with contextlib.suppress(asyncio.QueueFull):
            self._waiting.put_nowait(message)

    async def close(self) -> None:
        """End the connection."""
        self._task.cancel()
        await asyncio.wait([self._task])
        with contextlib.suppress(NotConnectedError, OSError):
            await self._connection.close()

    async def _send_all(self) -> None:
        while True:
            message = await self._waiting.get()
            data = encode(message)
            try:
                await self._connection.send(data)
            except NotConnectedError:
                return  # whoever reads from it has noticed too
            self._traffic.bytes_out += len(data)
            if isinstance(message, Events):
                self._traffic.events_out += len(message.events)
