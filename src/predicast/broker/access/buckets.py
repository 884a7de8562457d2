"""``TokenBucket``: how many events may come, over time."""

from __future__ import annotations

from predicast.errors import LimitReachedError


class TokenBucket:
    """Fills at a rate up to a burst, and is emptied by what comes.

    A batch that is larger than what is left is taken if anything is, and the debt paid off before
    the next one: so that a batch larger than the burst is slowed down, and not refused for ever.
    """

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._level = float(burst)
        self._at: float | None = None

    def spend(self, count: int, now: float) -> None:
        """Take so many out, at that steady time; raises if nothing is left."""
        if self._at is not None:
            filled = self._level + (now - self._at) * self._rate
            self._level = min(self._burst, filled)
        self._at = now
        if self._level <= 0:
            wait = (1 - self._level) / self._rate
            raise LimitReachedError(
                f"too many events: {self._rate:g} a second are allowed; try again in {wait:.1f} s",
                what="events per second",
                limit=self._rate,
                wait_s=wait,
            )
        self._level -= count
