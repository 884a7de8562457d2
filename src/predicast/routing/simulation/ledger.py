"""The ledger: what the clients asked for, published and were given, and when they knew of it.

It is written from the clients' side alone, so that no broker's mistake can find its way into it.
Subscriptions and publications have numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from predicast.model import Event, Subscription


@dataclass(slots=True)
class Version:
    """What a subscription states from some moment on; ``None`` is nothing any more."""

    subscription: int
    client: int
    states: Subscription | None
    sent: float
    acknowledged: float = inf
    superseded: float = inf  # when the next one was acknowledged


@dataclass(slots=True)
class Published:
    """An event, as its publisher sent it."""

    client: int
    sequence: int
    event: Event
    sent: float
    acknowledged: float = inf


class Delivery(NamedTuple):
    """An event that a client was given, for some of its subscriptions."""

    client: int
    publication: int
    ids: Sequence[str]
    time: float


class Ledger:
    """All that the checkers go by."""

    def __init__(self) -> None:
        self.versions: list[Version] = []
        self.published: list[Published] = []
        self.deliveries: list[Delivery] = []  # in the order in which they came
        self.strangers: list[str] = []  # deliveries of what nobody published
        self._latest: dict[str, int] = {}  # the number of an id's latest version
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._rows: dict[int, list[int]] = {}  # by publisher, in the order of the sequence

    @property
    def subscriptions(self) -> int:
        """How many there ever were."""
        return len(self._ids)

    def number_of(self, id: str) -> int:
        """A subscription's number, -1 if nobody has ever asked for it."""
        return self._numbers.get(id, -1)

    def id_of(self, subscription: int) -> str:
        """A subscription's name."""
        return self._ids[subscription]

    # What clients do.

    def stated(self, client: int, id: str, states: Subscription | None, now: float) -> int:
        """A client has asked for something; the number of this version."""
        number = self._numbers.get(id)
        if number is None:
            number = self._numbers[id] = len(self._ids)
            self._ids.append(id)
        version = len(self.versions)
        self.versions.append(Version(number, client, states, now))
        return version

    def acknowledged(self, versions: Iterable[int], now: float) -> None:
        """A client was told that these hold."""
        for number in versions:
            version = self.versions[number]
            version.acknowledged = min(version.acknowledged, now)
            id = self._ids[version.subscription]
            before = self._latest.get(id)
            if before is not None and before < number:
                earlier = self.versions[before]
                earlier.superseded = min(earlier.superseded, now)
            if before is None or before < number:
                self._latest[id] = number

    def publishes(self, client: int, event: Event, now: float) -> int:
        """A client has published; the event's sequence number, counted from 1 for each client."""
        rows = self._rows.setdefault(client, [])
        rows.append(len(self.published))
        self.published.append(Published(client, len(rows), event, now))
        return len(rows)

    def accepted(self, client: int, sequence: int, now: float) -> None:
        """A publisher was told that this event, and all of its events before, are safe."""
        rows = self._rows.get(client, ())
        for row in reversed(rows[:sequence]):
            if self.published[row].acknowledged < inf:
                break
            self.published[row].acknowledged = now

    # What clients are given.

    def delivered(
        self, client: int, publisher: int, sequence: int, ids: Sequence[str], now: float
    ) -> None:
        """A client was given an event for these subscriptions."""
        rows = self._rows.get(publisher, ())
        if not 0 < sequence <= len(rows):
            self.strangers.append(f"client {client} got event {sequence} of client {publisher}")
            return
        self.deliveries.append(Delivery(client, rows[sequence - 1], ids, now))
