"""How much of the log is kept: whole chunks go, the oldest first, by age and by size."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from predicast.broker.clock import Clock
from predicast.broker.embedded import chunks, dead_letters, queue_states
from predicast.broker.embedded.options import EmbeddedOptions


class RetentionClock:
    """The time by which events grow old.

    A wall clock that jumps ahead must not have everything cut at once. So time passes here no
    faster than by the steady clock, since the process began; where the wall clock goes back, so
    does this, and more is kept.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = clock.wall() - clock.steady()

    def now(self) -> float:
        """Seconds since 1970, by the more careful of two clocks."""
        return min(self._clock.wall(), self._clock.steady() + self._ahead)


class Cut(NamedTuple):
    """Where the log begins after a cut, since when, and what went."""

    first: int
    at: float
    events: int
    size: int


def is_due(options: EmbeddedOptions, now: float, size: int, oldest: float | None) -> bool:
    """Whether a chunk of that time, or so many bytes in all, is more than should be kept."""
    is_old = options.keep_for is not None and oldest is not None and oldest < now - options.keep_for
    return is_old or (options.keep_bytes is not None and size > options.keep_bytes)


def cut(
    connection: sqlite3.Connection, tenant: int, options: EmbeddedOptions, now: float, size: int
) -> Cut | None:
    """Remove what is more than should be kept, of so many bytes.

    The newest chunk stays always, and with it the last position.
    """
    last = chunks.last_position(connection, tenant)
    checkpoint = queue_states.read_checkpoint(connection, tenant)
    found = None
    events = gone = 0
    for begin, count, at, own in chunks.oldest(connection, tenant):
        found = Cut(begin, at, events, gone)
        if begin + count > last or not is_due(options, now, size - gone, at):
            break
        events += count
        gone += own
        if begin <= checkpoint.position:
            checkpoint = checkpoint._replace(
                events=checkpoint.events - count, size=checkpoint.size - own
            )
    if found is not None and found.events:
        chunks.cut(connection, tenant, found.first)
        dead_letters.cut(connection, tenant, found.first)
        if checkpoint.file is not None:
            queue_states.write_checkpoint(connection, tenant, checkpoint)
    return found
