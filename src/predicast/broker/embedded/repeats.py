"""``Repeats``: which events a tenant's publishers have sent before. No I/O.

Two generations: when the newer one is full it takes the older one's place. So at least ``window``
of the last events are known, and at most twice as many, without looking for the oldest one by one.
"""

from __future__ import annotations


class Repeats:
    """Positions by publisher and id."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._newer: dict[tuple[str, str], int] = {}
        self._older: dict[tuple[str, str], int] = {}

    def position(self, publisher: str, id: str) -> int | None:
        """Where the event is, if it came before."""
        key = (publisher, id)
        found = self._newer.get(key)
        return self._older.get(key) if found is None else found

    def add(self, publisher: str, id: str, position: int) -> None:
        """An event that comes for the first time."""
        if len(self._newer) >= self._window:
            self._older, self._newer = self._newer, {}
        self._newer[publisher, id] = position

    def forget(self, publisher: str, id: str, position: int) -> None:
        """An event that was not kept in the end."""
        for known in (self._newer, self._older):
            if known.get((publisher, id)) == position:
                del known[publisher, id]
