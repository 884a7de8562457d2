"""Embedded backends for tests: started, crashed, and filled with what can be checked again."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from predicast.broker.clock import Clock
from predicast.broker.embedded import EmbeddedBackend, EmbeddedOptions
from predicast.protocol import NewEvent
from predicast.testing.clocks import FakeClock

TENANT = "acme"
QUICK = EmbeddedOptions(tick=0.005)
# Everything that happens seldom happens often here, and hardly anything is at hand.
BUSY = EmbeddedOptions(tick=0.005, changes_in_log=1, settled_in_log=1, recent_bytes=1)


@asynccontextmanager
async def started(
    folder: Path, options: EmbeddedOptions = QUICK, clock: Clock | None = None
) -> AsyncIterator[EmbeddedBackend]:
    """A backend that is stopped in the end."""
    backend = EmbeddedBackend(folder, clock=clock or FakeClock(), options=options)
    await backend.start()
    try:
        yield backend
    finally:
        await backend.stop()


@asynccontextmanager
async def crashing(
    folder: Path, options: EmbeddedOptions = QUICK, clock: Clock | None = None
) -> AsyncIterator[EmbeddedBackend]:
    """A backend of whose folder is left what was there at the end, as if it had been killed."""
    async with started(folder, options, clock) as backend:
        yield backend
        left = folder.with_name(f"{folder.name}-left")
        # While the one thread that writes does this, nothing is being written.
        assert backend._shared is not None
        await backend._shared.writer.write(lambda _: _copy(folder, left))
    shutil.rmtree(folder)
    left.rename(folder)


def _copy(folder: Path, to: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        target = to / path.relative_to(folder)
        if path.is_dir():
            target.mkdir()
            continue
        with suppress(FileNotFoundError):  # an older snapshot that is being removed
            shutil.copyfile(path, target)


def event(number: int, price: int) -> NewEvent:
    return NewEvent(b'{"price": %d}' % price, {"price": price}, str(number), "shop")
