"""What clients do, turn by turn: what they want, what they publish. Brokers are not known here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from random import Random
from typing import Any, ClassVar, NamedTuple

from predicast.engine.operations import Operation


class Wish(NamedTuple):
    """What a client asks its broker for: one step of a window of changes."""

    client: int
    operation: Operation


class Publication(NamedTuple):
    """An event that a client publishes."""

    client: int
    event: Mapping[str, Any]


class Turn(NamedTuple):
    """What happens at one moment: wishes first."""

    wishes: list[Wish]
    publications: list[Publication]


class Workload(ABC):
    """A world with clients in it."""

    name: ClassVar[str]

    def __init__(
        self, *, clients: int, subscriptions: int, changes: float, batch: int, random: Random
    ) -> None:
        self._clients = clients
        self._changes = changes  # the share of subscriptions that change in a turn
        self._batch = batch
        self._subscriptions = subscriptions
        self._random = random

    @abstractmethod
    def begin(self) -> list[Wish]:
        """The subscriptions with which the clients begin."""

    @abstractmethod
    def turn(self, events: int) -> Turn:
        """The next turn, with so many events in it."""

    def nearness(self, client: int) -> float:
        """Where the client is, from 0 to 1: those near each other share a broker.

        A world without places has its clients anywhere.
        """
        return self._random.random()

    def _publishers(self, events: int) -> list[int]:
        """Who publishes each event; one client publishes a whole batch."""
        found: list[int] = []
        while len(found) < events:
            found += [self._random.randrange(self._clients)] * self._batch
        return found[:events]
