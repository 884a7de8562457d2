"""Requests to sinks: to addresses that may be called, and to no others.

A name is resolved once per connection, all of its addresses are looked at, and one of these very
addresses is connected to: there is no second look-up that could say something else. Redirects are
not followed, no proxy of the environment's is used, and nothing a sink sets is sent to another.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import httpcore

from predicast.broker.sinks import Sink, check_public
from predicast.broker.webhooks.messages import Message
from predicast.errors import NotAllowedError

Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]

_TIMEOUT_S: Final = 15.0  # for the whole of a request, however slowly it drips
_CONNECT_S: Final = 5.0
_ANSWER: Final = 1 << 16  # bytes of an answer's body that are read, and thrown away
_MOST_WAIT_S: Final = 3600.0


class SinkAnswer(NamedTuple):
    """What a sink said; without a status it said nothing, and ``why`` tells why."""

    status: int | None
    why: str = ""
    wait_s: float | None = None  # that the sink asked for

    @property
    def is_good(self) -> bool:
        """Whether it has taken the events."""
        return self.status is not None and 200 <= self.status < 300


class Sender(Protocol):
    """Sends requests to sinks."""

    async def send(self, sink: Sink, message: Message) -> SinkAnswer:
        """What became of a request; it raises nothing."""

    async def close(self) -> None:
        """Let go of connections."""


class HttpSender:
    """Sends them over the network."""

    def __init__(self, *, allow_private: bool = False, resolve: Resolve | None = None) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl.create_default_context(),
            max_connections=256,
            max_keepalive_connections=64,
            keepalive_expiry=30.0,
            network_backend=_CheckedNetwork(resolve or resolved, allow_private=allow_private),
        )

    async def send(self, sink: Sink, message: Message) -> SinkAnswer:
        """What became of a request."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                return await self._sent(sink, message)
        except TimeoutError:
            return SinkAnswer(None, f"{sink.host} did not answer within {_TIMEOUT_S:g} s")
        except NotAllowedError as error:
            return SinkAnswer(None, error.message)
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
            return SinkAnswer(
                None, f"{sink.host} cannot be reached: {str(error) or type(error).__name__}"
            )
        except (OSError, UnicodeError) as error:
            return SinkAnswer(None, f"{sink.host} cannot be reached: {error}")

    async def close(self) -> None:
        """Let go of connections."""
        await self._pool.aclose()

    async def _sent(self, sink: Sink, message: Message) -> SinkAnswer:
        timeouts = {"connect": _CONNECT_S, "read": _TIMEOUT_S, "write": _TIMEOUT_S}
        async with self._pool.stream(
            "POST",
            sink.origin + sink.target,
            headers=[(name.encode(), value.encode()) for name, value in message.headers.items()],
            content=message.body,
            extensions={"timeout": {**timeouts, "pool": _TIMEOUT_S}},
        ) as response:
            left = _ANSWER
            async for chunk in response.aiter_stream():
                left -= len(chunk)
                if left < 0:
                    break
            why = "" if 200 <= response.status < 300 else f"{sink.host} answered {response.status}"
            return SinkAnswer(response.status, why, _wait(response.headers))


def _wait(headers: Iterable[tuple[bytes, bytes]]) -> float | None:
    given = next((value for name, value in headers if name.lower() == b"retry-after"), b"")
    return min(float(given), _MOST_WAIT_S) if given.isdigit() and len(given) < 10 else None


class _CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Connections to addresses that were looked at."""

    def __init__(self, resolve: Resolve, *, allow_private: bool) -> None:
        self._resolve = resolve
        self._allow_private = allow_private
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # the interface has it
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await self._resolve(host, port)
        if not self._allow_private:
            check_public(host, addresses)
        for address in addresses[:-1]:
            try:
                return await self._network.connect_tcp(address, port, timeout)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._network.connect_tcp(addresses[-1], port, timeout)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def resolved(host: str, port: int) -> list[str]:
    """The addresses of a name, by the machine's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))
