"""``Connection``: frames to and from one neighbour, whatever carries them."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final, Protocol

from predicast.broker.links.settings import MAX_FRAME, Parent
from predicast.errors import NotAllowedError, NotConnectedError

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

_FORBIDDEN: Final = (401, 403)


class Connection(Protocol):
    """Both ways; a ``NotConnectedError`` says that it has ended."""

    async def send(self, data: bytes) -> None:
        """Send a frame; waits while the other side does not read."""

    async def receive(self) -> bytes:
        """The next frame."""

    async def close(self) -> None:
        """End it; nothing happens if it has ended."""


class DialledConnection:
    """A WebSocket connection that was made from here."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket

    async def send(self, data: bytes) -> None:
        """Send a frame."""
        from websockets.exceptions import ConnectionClosed

        try:
            await self._socket.send(data)
        except ConnectionClosed as error:
            raise NotConnectedError("the link was closed") from error

    async def receive(self) -> bytes:
        """The next frame."""
        from websockets.exceptions import ConnectionClosed

        try:
            data = await self._socket.recv(decode=False)
        except ConnectionClosed as error:
            raise NotConnectedError("the link was closed") from error
        return bytes(data)

    async def close(self) -> None:
        """End it."""
        await self._socket.close()


async def dialled(parent: Parent, timeout_s: float = 10.0) -> Connection:
    """A connection to a parent; a ``NotAllowedError`` if the token is not taken."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidStatus, WebSocketException

    headers = {} if parent.token is None else {"Authorization": f"Bearer {parent.token}"}
    try:
        socket = await connect(
            parent.address,
            additional_headers=headers,
            open_timeout=timeout_s,
            close_timeout=1.0,
            max_size=MAX_FRAME,
            ping_interval=None,  # routers send signs of life themselves
        )
    except InvalidStatus as error:
        status = error.response.status_code
        if status in _FORBIDDEN:
            raise NotAllowedError(
                f"{parent.url} does not take the token: it needs the scope 'link'", scope="link"
            ) from error
        raise NotConnectedError(
            f"{parent.url} answers {status} where links should be", url=parent.url
        ) from error
    except (OSError, TimeoutError, WebSocketException) as error:
        raise NotConnectedError(
            f"{parent.url} cannot be reached: {str(error) or 'no answer'}", url=parent.url
        ) from error
    return DialledConnection(socket)


class AcceptedConnection:
    """A WebSocket connection that was made to here, on the server's side."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._sending = asyncio.Lock()

    async def send(self, data: bytes) -> None:
        """Send a frame."""
        from starlette.websockets import WebSocketDisconnect

        try:
            async with self._sending:
                await self._socket.send_bytes(data)
        except (WebSocketDisconnect, RuntimeError, OSError) as error:
            raise NotConnectedError("the link was closed") from error

    async def receive(self) -> bytes:
        """The next frame."""
        from starlette.websockets import WebSocketDisconnect

        try:
            message = await self._socket.receive()
        except (WebSocketDisconnect, RuntimeError, OSError) as error:
            raise NotConnectedError("the link was closed") from error
        if message["type"] == "websocket.disconnect":
            raise NotConnectedError("the link was closed")
        data = message.get("bytes")
        return (message.get("text") or "").encode() if data is None else bytes(data)

    async def close(self) -> None:
        """End it."""
        from starlette.websockets import WebSocketDisconnect

        with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
            await self._socket.close()
