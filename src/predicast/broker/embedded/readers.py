"""``Readers``: threads that read, each with a connection of its own."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from predicast.broker.embedded.database import connect, told

R = TypeVar("R")

_READING: Final = 4  # a long search leaves some for others
_WORKING: Final = 8


class Readers:
    """``read`` runs a question in a thread; ``run`` whatever needs no file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reading = ThreadPoolExecutor(_READING, thread_name_prefix="predicast-reader")
        self._working = ThreadPoolExecutor(_WORKING, thread_name_prefix="predicast-work")
        self._own = threading.local()
        self._connections: list[sqlite3.Connection] = []

    async def read(self, question: Callable[[sqlite3.Connection], R]) -> R:
        """The answer, from a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._reading, self.ask, question)

    async def run(self, work: Callable[[], R]) -> R:
        """What comes of some work, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._working, work)

    def ask(self, question: Callable[[sqlite3.Connection], R]) -> R:
        """The answer, from the thread that asks."""
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = connect(self._path, is_reader=True)
            self._connections.append(connection)
        with told(self._path.name):
            return question(connection)

    async def stop(self) -> None:
        """Wait for what runs, and close the connections."""
        for pool in (self._working, self._reading):
            await asyncio.to_thread(pool.shutdown)
        for connection in self._connections:
            connection.close()
        self._connections.clear()
