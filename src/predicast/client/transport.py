"""The WebSocket of a client, behind the few calls that the client makes."""

from __future__ import annotations

import ssl
from typing import Any, Final, Protocol

from predicast.errors import NotAllowedError, NotConnectedError, ProtocolError
from predicast.protocol.frames import Framing

_LARGEST: Final = 64 << 20  # bytes of a message: an event can be large
_REFUSED: Final = frozenset({401, 403})


class Transport(Protocol):
    """One connection."""

    async def send(self, message: bytes) -> None:
        """Send it; an ``OSError`` if the connection is gone."""

    async def receive(self) -> bytes | str | None:
        """The next message; nothing when the connection has ended."""

    async def close(self) -> None:
        """End it."""


class _WebSocketTransport:
    def __init__(self, connection: Any, *, is_text: bool) -> None:
        self._connection = connection
        self._is_text = is_text

    async def send(self, message: bytes) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            await self._connection.send(message, text=self._is_text)
        except ConnectionClosed as error:
            raise ConnectionResetError(str(error)) from error

    async def receive(self) -> bytes | str | None:
        from websockets.exceptions import ConnectionClosed

        try:
            return await self._connection.recv(decode=False)  # type: ignore[no-any-return]
        except ConnectionClosed:
            return None

    async def close(self) -> None:
        await self._connection.close()


async def open_transport(url: str, token: str | None, framing: Framing) -> Transport:
    """Connect to a broker's WebSocket."""
    try:
        import websockets
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidStatus
    except ModuleNotFoundError:
        raise NotConnectedError(
            "clients of a broker need websockets, from the extra 'client'; predicast doctor says "
            "how",
            url=url,
        ) from None

    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        connection = await connect(
            url,
            subprotocols=[websockets.Subprotocol(framing.subprotocol)],
            additional_headers=headers,
            max_size=_LARGEST,
            compression=None,
            proxy=None,
        )
    except InvalidStatus as error:
        code = error.response.status_code
        if code in _REFUSED:
            hint = "does it want a token?" if token is None else "is the token right?"
            raise NotAllowedError(
                f"what answers at {url} lets nobody in ({code}): is that a broker's address, and "
                + hint
            ) from None
        raise NotConnectedError(
            f"what answers at {url} is no broker: it said {code}", url=url
        ) from None
    except websockets.WebSocketException as error:
        hint = "" if url.startswith("wss:") else "; if it wants TLS, say https://"
        raise NotConnectedError(
            f"what answers at {url} is no broker: {error}{hint}", url=url
        ) from None
    except ssl.SSLCertVerificationError as error:
        raise NotConnectedError(
            f"the certificate of {url} is not trusted: {error.verify_message}; name one of your "
            "own, or who signed it, by the variable SSL_CERT_FILE",
            url=url,
        ) from None
    except ssl.SSLError as error:
        raise NotConnectedError(
            f"what answers at {url} does not speak TLS as we do ({error.reason}); is it http://?",
            url=url,
        ) from None
    except (OSError, TimeoutError) as error:
        raise NotConnectedError(
            f"no broker answers at {url} ({error}); `predicast serve` starts one", url=url
        ) from None
    if connection.subprotocol != framing.subprotocol:
        await connection.close()
        raise ProtocolError(f"what answers at {url} does not know {framing.subprotocol}")
    return _WebSocketTransport(connection, is_text=framing.is_text)
