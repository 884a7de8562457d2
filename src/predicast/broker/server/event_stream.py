"""Deliveries of a subscription as server-sent events.

What was written to the connection is acknowledged. A client that lost its connection says what it
saw last (``Last-Event-ID``), and is delivered anew what is kept after that: so nothing is lost that
was on its way, and a page in a browser does it by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Final

import msgspec
from starlette.types import Receive, Scope, Send

from predicast.broker.access.limited_tenant import LimitedTenant
from predicast.broker.backend import Consumer, Start
from predicast.broker.server.documents import KeptEvent
from predicast.broker.server.state import ServerState
from predicast.protocol.records import Delivery

_AT_ONCE: Final = 256
_QUIET_S: Final = 15.0  # after which a comment is sent, so that nobody in between hangs up
_HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class EventStream:
    """A response that does not end before its client, its token, its subscription or the server."""

    def __init__(
        self,
        state: ServerState,
        headers: Mapping[str, str],
        tenant: LimitedTenant,
        id: str,
        start: Start | None,
    ) -> None:
        self._state = state
        self._headers = headers
        self._tenant = tenant
        self._id = id
        self._start = start

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as an ASGI application."""
        with self._state.stream(self._tenant):
            consumer = await self._tenant.consumer()
            try:
                await consumer.add([self._id], self._start)
                await self._until_the_end(consumer, receive, send)
            finally:
                await consumer.close()

    async def _until_the_end(self, consumer: Consumer, receive: Receive, send: Send) -> None:
        """Send until one of them ends; the others are cancelled, and what they raise is seen."""
        tasks = [
            asyncio.ensure_future(self._send(consumer, send)),
            asyncio.ensure_future(_gone(receive)),
            asyncio.ensure_future(self._state.stopping.wait()),
            asyncio.ensure_future(self._state.access.until_revoked(self._headers)),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sending, gone, *_ = tasks
            ended, has_gone = sending.done(), gone.done()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if ended:
            sending.result()
        elif not has_gone:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send(self, consumer: Consumer, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        async for block in self._blocks(consumer):
            await send({"type": "http.response.body", "body": block, "more_body": True})

    async def _blocks(self, consumer: Consumer) -> AsyncIterator[bytes]:
        yield b": deliveries\n\n"
        while True:
            taken = await consumer.take(_AT_ONCE, _QUIET_S)
            dropped = consumer.take_drops().get(self._id, 0)
            lost = b'event: dropped\ndata: {"count":%d}\n\n' % dropped if dropped else b""
            yield lost + b"".join(map(_block, taken)) or b": nothing yet\n\n"
            if taken:  # and written, since whoever iterates has asked for more
                await consumer.acknowledge(self._id, [each.event.position for each in taken])


def _block(delivery: Delivery) -> bytes:
    data = msgspec.json.encode(KeptEvent.delivered(delivery))
    # JSON may have line ends between its tokens, where they mean nothing.
    lines = data.replace(b"\r", b"\n").replace(b"\n", b"\ndata: ")
    return b"id: %d\ndata: %b\n\n" % (delivery.event.position, lines)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
