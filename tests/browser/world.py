"""A broker and the console on it, for the browser's tests and the pictures.

As a program it serves one for which a token is needed, until its input ends; a line of input, and
the token is known no more.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import uvicorn
from fastapi import FastAPI

from predicast.broker import Broker
from predicast.broker.embedded import EmbeddedBackend
from predicast.console import Visitor, mount
from predicast.language.json_form import attributes_from_json
from predicast.protocol import Definition, NewEvent

T = TypeVar("T")
SECONDS = 60  # that anything may take on a machine that has much else to do


class Site:
    """A console that is being served, and its broker."""

    def __init__(self, broker: Broker, url: str, loop: asyncio.AbstractEventLoop) -> None:
        self.broker = broker
        self.url = url
        self._loop = loop

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Have the broker do something, from the thread of the tests."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS)

    def subscribe(self, id: str, expression: str, **fields: Any) -> None:
        self.run(self.broker.tenant().subscribe(Definition(id, expression, **fields)))

    def publish(self, *events: dict[str, Any], publisher: str = "shop") -> list[int]:
        new = [new_event(each, publisher) for each in events]
        return [each.position for each in self.run(self.broker.tenant().publish(new))]

    def give_up(self, id: str, reason: str) -> None:
        """Take what waits for a subscription, and fail until it is a dead letter."""
        self.run(self._give_up(id, reason))

    async def _give_up(self, id: str, reason: str) -> None:
        consumer = await self.broker.tenant().consumer()
        await consumer.add([id])
        while deliveries := await consumer.take(10, wait=0.5):
            for each in deliveries:
                await consumer.give_back(id, each.event.position, 0.0, reason)
        await consumer.close()

    def acknowledge(self, id: str, most: int) -> int:
        """Take what waits for a subscription, as its consumer would."""
        return self.run(self._acknowledge(id, most))

    async def _acknowledge(self, id: str, most: int) -> int:
        consumer = await self.broker.tenant().consumer()
        await consumer.add([id])
        positions = [each.event.position for each in await consumer.take(most, wait=1.0)]
        await consumer.acknowledge(id, positions)
        await consumer.close()
        return len(positions)


def new_event(document: dict[str, Any], publisher: str) -> NewEvent:
    body = json.dumps(document).encode()
    id = f"{publisher}-{hash(body) & 0xFFFFFFFF:08x}-{new_event.count}"  # type: ignore[attr-defined]
    new_event.count += 1  # type: ignore[attr-defined]
    return NewEvent(body, attributes_from_json(body), id, publisher)


new_event.count = 0  # type: ignore[attr-defined]


@contextmanager
def served(folder: Path, **options: Any) -> Iterator[Site]:
    """A broker on a folder with a console on loopback, in a thread of its own."""
    broker = Broker(EmbeddedBackend(folder))

    @asynccontextmanager
    async def running(app: FastAPI) -> Any:
        async with broker:
            yield

    app = FastAPI(lifespan=running)
    mount(app, broker, **options)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    started: list[asyncio.AbstractEventLoop] = []
    thread = threading.Thread(target=_serve, args=(server, started.append), daemon=True)
    thread.start()
    try:
        yield _site(server, broker, started, thread)
    finally:
        server.should_exit = True
        thread.join(SECONDS)


def _serve(server: uvicorn.Server, started: Callable[[asyncio.AbstractEventLoop], None]) -> None:
    async def serve() -> None:
        started(asyncio.get_running_loop())
        await server.serve()

    asyncio.run(serve())


def _site(
    server: uvicorn.Server,
    broker: Broker,
    started: list[asyncio.AbstractEventLoop],
    thread: threading.Thread,
) -> Site:
    pause = threading.Event()
    for _ in range(SECONDS * 20):
        if server.started:
            break
        assert thread.is_alive(), "the server has ended"
        pause.wait(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    return Site(broker, f"http://127.0.0.1:{port}", started[0])


if __name__ == "__main__":
    visitors = {"secret": Visitor("acme", frozenset({"publish"}))}
    with served(Path(sys.argv[1]), visitor_of=visitors.get) as served_site:
        sys.stdout.write(f"{served_site.url}\n")
        sys.stdout.flush()
        sys.stdin.readline()
        visitors.clear()
        sys.stdin.read()
