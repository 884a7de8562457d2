"""``Clock``: the time, passed in wherever a decision depends on it."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Two readings, because the wall clock may jump and the other may not."""

    def wall(self) -> float:
        """Seconds since 1970, for people: when an event came, how old it is."""

    def steady(self) -> float:
        """Seconds since some moment, for waiting: it never goes back."""


class SystemClock:
    """The machine's."""

    def wall(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def steady(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()
