"""``FakeClock``: time that passes when a test says so."""

from __future__ import annotations


class FakeClock:
    """A clock for whatever takes one; the wall clock can be made to jump by itself."""

    def __init__(self, wall: float = 1_750_000_000.0) -> None:
        self._wall = wall
        self._steady = 0.0

    def wall(self) -> float:
        """Seconds since 1970."""
        return self._wall

    def steady(self) -> float:
        """Seconds since the clock was made."""
        return self._steady

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._wall += seconds
        self._steady += seconds

    def jump(self, seconds: float) -> None:
        """Set the wall clock ahead, or back."""
        self._wall += seconds
