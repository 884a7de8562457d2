"""The clock of a simulation: what is due happens in order, and no time passes in between.

What is due at the same moment happens in the order in which it was asked for, so that a run depends
on nothing but its options.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import TypeAlias

Action: TypeAlias = Callable[[], None]


class Clock:
    """Virtual time, in seconds from the beginning of the run."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, int, Action]] = []
        self._asked = 0

    def __len__(self) -> int:
        return len(self._due)

    def at(self, time_s: float, action: Action) -> None:
        """Do this at that time, or now if it has passed."""
        self._asked += 1
        heappush(self._due, (max(time_s, self.now), self._asked, action))

    def after(self, delay_s: float, action: Action) -> None:
        """Do this when so much time has passed."""
        self.at(self.now + delay_s, action)

    def run_until(self, time_s: float) -> None:
        """Do all that is due up to that time, and what comes of it."""
        due = self._due
        while due and due[0][0] <= time_s:
            self.now, _, action = heappop(due)
            action()
        self.now = max(self.now, time_s)
