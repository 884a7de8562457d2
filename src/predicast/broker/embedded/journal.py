"""What becomes of deliveries, as records that are written down."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Protocol


class Kind(StrEnum):
    """What a record says of its positions."""

    ACKNOWLEDGED = "a"
    DEAD = "d"  # given up: they are among the dead letters
    DROPPED = "x"  # pairs: all of the queue's from one position to another
    AGAIN = "w"  # dead letters that wait again
    STARTED = "s"  # the queue is emptied and reads the log, after the position
    FETCHED = "f"  # the log was read up to the first position; the others wait
    LIVE = "l"  # what comes after the position goes to the queue by itself
    ENDED = "e"  # the subscription; another one may have its name now


class Settlement(NamedTuple):
    """One record."""

    kind: str
    id: str
    positions: list[int]
    since: float | None = None  # of those that read the log: only what came then or later


class Journal(Protocol):
    """Where queues say what must be remembered; nobody waits for it here."""

    dropped: int  # deliveries, of all queues

    def note(self, settlement: Settlement) -> None:
        """Write this down soon."""

    def bury(self, id: str, position: int, attempts: int, reason: str) -> None:
        """Put a delivery among the dead letters, and say so."""
