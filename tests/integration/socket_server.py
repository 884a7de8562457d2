"""A broker's WebSocket on a real port of this machine, in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from predicast.broker import Broker
from predicast.broker.embedded import EmbeddedBackend
from predicast.broker.session import serve_websocket


@contextmanager
def socket_server(folder: Path) -> Iterator[str]:
    """The address of a broker, while the block runs."""
    addresses: list[str] = []
    is_up = threading.Event()
    stop: list[uvicorn.Server] = []

    async def serve() -> None:
        async with Broker(EmbeddedBackend(folder)) as broker:

            async def endpoint(websocket: WebSocket) -> None:
                await serve_websocket(websocket, broker.tenant())

            app = Starlette(routes=[WebSocketRoute("/ws", endpoint)])
            config = uvicorn.Config(
                app, port=0, log_level="error", lifespan="off", ws="websockets-sansio"
            )
            server = uvicorn.Server(config)
            stop.append(server)
            running = asyncio.create_task(server.serve())
            while not server.started:
                await asyncio.wait([running], timeout=0.01)  # uvicorn tells nobody
            [listening] = server.servers
            port = listening.sockets[0].getsockname()[1]
            addresses.append(f"http://127.0.0.1:{port}")
            is_up.set()
            await running

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert is_up.wait(60)
    try:
        yield addresses[0]
    finally:
        stop[0].should_exit = True
        thread.join()
