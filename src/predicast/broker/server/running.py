"""A broker's application on a socket, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import uvicorn

from predicast.broker.server.garbage import leave_out_what_is_there, seldom_collected
from predicast.broker.server.preloading import preload_in_background
from predicast.errors import InvalidOptionError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from predicast.broker.server.state import ServerState

_GRACE_S: Final = 10  # for requests that are under way when the server is told to stop
_BACKLOG: Final = 2048
_ROOM: Final = 1 << 16  # so that a session can answer a frame that is a little too large
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Listening(NamedTuple):
    """Where a server listens; port 0 is any that is free."""

    host: str
    port: int
    certificate: str | None = None  # files, for TLS
    key: str | None = None


def run_app(app: FastAPI, listening: Listening, ready: Callable[[str], None]) -> None:
    """Serve until the process is told to stop; ``ready`` is told the address when it listens."""
    check_tls(listening)
    state: ServerState = app.state.server
    listener = _listener(listening)
    address = _address(listening, listener)
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,  # logging is whoever's who runs the process
        backlog=_BACKLOG,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
        ws="websockets-sansio",
        ws_max_size=state.access.limits.body_bytes + _ROOM,
        ws_per_message_deflate=False,
        ssl_certfile=listening.certificate,
        ssl_keyfile=listening.key,
    )
    server = _Server(config, state, lambda: ready(address))
    with (
        contextlib.closing(listener),
        seldom_collected(),
        _without_tracebacks_of(state),
        asyncio.Runner(loop_factory=config.get_loop_factory()) as run,
    ):
        try:
            run.run(server.serve(sockets=[listener]))
        except SystemExit:
            if state.failure is not None:
                raise state.failure from None
            raise


@contextlib.contextmanager
def _without_tracebacks_of(state: ServerState) -> Iterator[None]:
    """Keep uvicorn from telling at length why it could not start: the error is raised."""

    def is_told(record: logging.LogRecord) -> bool:
        return state.failure is None

    log = logging.getLogger("uvicorn.error")
    log.addFilter(is_told)
    try:
        yield
    finally:
        log.removeFilter(is_told)


class _Server(uvicorn.Server):
    """Tells when it is ready, and ends streams of deliveries when it is to stop."""

    def __init__(
        self, config: uvicorn.Config, state: ServerState, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._state = state
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        leave_out_what_is_there()
        self._ready()
        preload_in_background()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop when told to; told twice, at once."""
        loop = asyncio.get_running_loop()
        try:
            for each in _SIGNALS:
                loop.add_signal_handler(each, self._stop)
        except NotImplementedError:  # on Windows
            with super().capture_signals():
                yield
            return
        try:
            yield
        finally:
            for each in _SIGNALS:
                loop.remove_signal_handler(each)

    def _stop(self) -> None:
        self._state.stopping.set()
        self.force_exit = self.should_exit
        self.should_exit = True


def check_tls(listening: Listening) -> None:
    """Refuse files that no connection could be made with."""
    if (listening.certificate is None) != (listening.key is None):
        raise InvalidOptionError(
            "TLS needs both a certificate and its key: --tls-cert FILE --tls-key FILE",
            option="tls-cert",
        )
    if listening.certificate is None:
        return
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(listening.certificate, listening.key)
    except FileNotFoundError:
        files = (listening.certificate, str(listening.key))
        missing = next((each for each in files if not Path(each).exists()), files[0])
        raise InvalidOptionError(
            f"there is no file {missing}, for --tls-cert or --tls-key", option="tls-cert"
        ) from None
    except ssl.SSLError as error:
        raise InvalidOptionError(
            f"{listening.certificate} and {listening.key} are not a certificate and its key, "
            f"in PEM: {error.reason or error}",
            option="tls-cert",
        ) from None


def _listener(listening: Listening) -> socket.socket:
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    try:
        return socket.create_server((listening.host, listening.port), family=family)
    except (OSError, OverflowError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).partition(" (while ")[0]
        raise InvalidOptionError(
            f"cannot listen on {listening.host}, port {listening.port}: {reason}; "
            "say another one by --host or --port",
            option="port",
        ) from None


def _address(listening: Listening, listener: socket.socket) -> str:
    scheme = "http" if listening.certificate is None else "https"
    name = f"[{listening.host}]" if ":" in listening.host else listening.host
    return f"{scheme}://{name}:{listener.getsockname()[1]}"
