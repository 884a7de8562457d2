"""``Inbox``: what neighbours have said, until the turn in which the router hears it."""

from __future__ import annotations

import asyncio
from typing import Final

from predicast.routing import Announce, Message

_MOST: Final = 256  # that wait; then connections are not read


class Inbox:
    """Messages with whose they are, in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[tuple[Message, str]] = asyncio.Queue(_MOST)

    def __len__(self) -> int:
        return self._waiting.qsize()

    async def put(self, message: Message, name: str) -> None:
        """Add a message of a neighbour's; waits while there is no room."""
        await self._waiting.put((message, name))

    def take(self) -> list[tuple[Message, str]]:
        """What one step of the router takes: all, or up to the first window of subscriptions.

        Events of all neighbours are matched together, for little more than those of one. A window
        may take some hundredths of a second, and whoever takes them has others to serve in between.
        """
        taken: list[tuple[Message, str]] = []
        while self._waiting.qsize():
            taken.append(self._waiting.get_nowait())
            if isinstance(taken[-1][0], Announce):
                break
        return taken
