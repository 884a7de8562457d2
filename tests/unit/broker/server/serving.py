"""A broker behind its web application, without a network."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
from fastapi import FastAPI

from predicast.broker import Broker
from predicast.broker.access import Access, Limits, TokenFile
from predicast.broker.embedded import EmbeddedBackend
from predicast.broker.server import make_app

T = TypeVar("T")
URL = "http://localhost:8080"


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the application while that runs."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url=URL) as client,
    ):
        yield client


def run(
    folder: Path,
    steps: Callable[[httpx.AsyncClient], Awaitable[T]],
    *,
    tokens: TokenFile | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> T:
    """Run the steps with a client of a new broker in the folder."""

    async def whole() -> T:
        broker = Broker(EmbeddedBackend(folder / "data"))
        access = Access(broker, tokens=tokens, limits=limits)
        async with served(make_app(broker, access, **options)) as client:
            return await steps(client)

    return asyncio.run(whole())
