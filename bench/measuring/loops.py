"""The event loop that measurements run in: uvloop's, where it is installed."""

from __future__ import annotations

import asyncio


def quick_loop() -> asyncio.AbstractEventLoop:
    """A new loop."""
    try:
        import uvloop
    except ModuleNotFoundError:  # on Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
