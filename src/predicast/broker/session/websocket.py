"""The asyncio shell of a session: a WebSocket on one side, a tenant on the other.

A slow connection harms nobody. What it does not read is not taken from the backend, whose queues
are bounded and say what they dropped; while its receipts are not read, its publishes are not.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import TYPE_CHECKING, Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from predicast.broker.clock import Clock, SystemClock
from predicast.broker.session.carrying_out import Neighbours, TenantRequests
from predicast.broker.session.requests import PublishEvents, Request
from predicast.broker.session.session import Session
from predicast.broker.session.terms import (
    DEFAULT_LIMITS,
    EVERYTHING,
    ConnectionLimits,
    Permissions,
)
from predicast.errors import PredicastError
from predicast.protocol.frames import FRAMINGS, JSON

if TYPE_CHECKING:
    from predicast.broker.backend import Consumer
    from predicast.broker.tenant import Tenant

_TAKEN_AT_ONCE: Final = 1000  # deliveries: enough that the costs of a frame do not count
_DROPS_EVERY_S: Final = 2.0  # how soon a consumer hears that it was too slow, if nothing comes
_STALLED_S: Final = 60.0  # a connection that takes nothing for so long is given up
_TOO_LARGE: Final = 1009  # the WebSocket's code for a message over the limit
_GOING_AWAY: Final = 1001


async def serve_websocket(
    websocket: WebSocket,
    tenant: Tenant,
    *,
    permissions: Permissions = EVERYTHING,
    limits: ConnectionLimits = DEFAULT_LIMITS,
    clock: Clock | None = None,
    neighbours: Neighbours = list,
) -> None:
    """Accept a connection whose token was checked, and serve it until it ends."""
    offered = websocket.scope.get("subprotocols", [])
    chosen = next((FRAMINGS[name] for name in offered if name in FRAMINGS), JSON)
    await websocket.accept(chosen.subprotocol if offered else None)
    session = Session(
        chosen,
        tenant=tenant.name,
        publisher=secrets.token_hex(16),
        permissions=permissions,
        limits=limits,
        deliveries=tenant.delivery_frames(chosen),
    )
    consumer = await tenant.consumer()
    try:
        at = clock or SystemClock()
        requests = TenantRequests(tenant, consumer, at, neighbours)
        shell = _Shell(websocket, session, requests, consumer, limits, at)
        await shell.run()
    finally:
        await consumer.close()


class _Shell:
    def __init__(
        self,
        websocket: WebSocket,
        session: Session,
        requests: TenantRequests,
        consumer: Consumer,
        limits: ConnectionLimits,
        clock: Clock,
    ) -> None:
        self._websocket = websocket
        self._session = session
        self._consumer = consumer
        self._limits = limits
        self._clock = clock
        self._requests = requests
        self._may_deliver = asyncio.Event()
        self._sending = asyncio.Lock()
        self._unanswered = asyncio.Semaphore(limits.unanswered)
        self._is_open = True

    async def run(self) -> None:
        """Until the other side goes, or takes nothing any more."""
        async with asyncio.TaskGroup() as tasks:
            delivering = tasks.create_task(self._deliver())
            try:
                await self._read(tasks)
            finally:
                self._is_open = False
                delivering.cancel()

    async def _read(self, tasks: asyncio.TaskGroup) -> None:
        while self._is_open:
            message = await self._websocket.receive()
            if message["type"] != "websocket.receive":
                return
            data = message.get("text")
            data = message["bytes"] if data is None else data
            self._session.receive(data, self._clock.steady())
            for request in self._session.requests():
                await self._start(request, tasks)
            await self._flush()
            if len(data) > self._limits.frame_bytes:
                await self._close(_TOO_LARGE)

    async def _start(self, request: Request, tasks: asyncio.TaskGroup) -> None:
        """Publishes overlap, so that many share a commit; all else comes one after the other."""
        if isinstance(request, PublishEvents):
            await self._unanswered.acquire()
            task = tasks.create_task(self._finish(request))
            task.add_done_callback(lambda _: self._unanswered.release())
        else:
            await self._finish(request)

    async def _finish(self, request: Request) -> None:
        try:
            result = await self._requests.carry_out(request)
        except PredicastError as error:
            self._session.refuse(request.request, error)
        else:
            self._session.answer(request, result)
        await self._flush()

    async def _deliver(self) -> None:
        while self._is_open:
            room = min(self._session.room, _TAKEN_AT_ONCE)
            if not room:
                self._may_deliver.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._may_deliver.wait(), _DROPS_EVERY_S)
            else:
                taken = await self._consumer.take(room, _DROPS_EVERY_S)
                self._session.deliver(taken)
            self._session.dropped(self._consumer.take_drops())
            await self._flush()

    async def _flush(self) -> None:
        """Send what the session has to say; one at a time, so that its order is kept."""
        if self._session.room:
            self._may_deliver.set()
        async with self._sending:
            for message in self._session.messages():
                if self._is_open:
                    await self._send(message)

    async def _send(self, message: bytes) -> None:
        try:
            async with asyncio.timeout(_STALLED_S):
                if self._session.framing.is_text:
                    await self._websocket.send_text(message.decode())
                else:
                    await self._websocket.send_bytes(message)
        except TimeoutError:
            await self._close(_GOING_AWAY)
        except (WebSocketDisconnect, RuntimeError, OSError):
            self._is_open = False  # it has gone in the meantime; receiving says so, too

    async def _close(self, code: int) -> None:
        self._is_open = False
        with contextlib.suppress(RuntimeError, OSError):
            await self._websocket.close(code)
