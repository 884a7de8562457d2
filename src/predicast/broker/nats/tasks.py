"""The end of a task."""

from __future__ import annotations

import asyncio
from typing import Any


async def ended(task: asyncio.Task[Any] | None) -> None:
    """Cancel a task, and return when it has ended.

    More than once: ``asyncio.wait_for``, which nats-py is built on, forgets a cancellation that
    comes together with what it waits for (before Python 3.12).
    """
    while task is not None and not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=0.1)
