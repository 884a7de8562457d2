"""What clients do, turn by turn: what they want, what they publish. Brokers are not known here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from random import Random
from typing import Any, ClassVar, NamedTuple

from predicast.engine.operations import Operation, Subscribe, Unsubscribe
from predicast.routing.simulation.options import SimulationOptions


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

    def __init__(self, options: SimulationOptions, random: Random) -> None:
        self._clients = options.clients
        self._changes = options.changes  # the share of subscriptions that change in a turn
        self._batch = options.batch
        self._subscriptions = options.subscriptions
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


class ComingAndGoing(Workload):
    """A world in which anybody may want anything, gives it up, and wants something else."""

    def __init__(self, options: SimulationOptions, random: Random) -> None:
        super().__init__(options, random)
        self._held: dict[str, int] = {}  # whose each subscription is
        self._given = 0

    def begin(self) -> list[Wish]:
        return [self._new() for _ in range(self._subscriptions)]

    def turn(self, events: int) -> Turn:
        return Turn(
            self._wishes(), [self._publication(client) for client in self._publishers(events)]
        )

    @abstractmethod
    def _wanted(self) -> str:
        """What somebody wants."""

    @abstractmethod
    def _wishes(self) -> list[Wish]:
        """What changes in a turn."""

    @abstractmethod
    def _publication(self, client: int) -> Publication:
        """What a client publishes."""

    def _new(self) -> Wish:
        client = self._random.randrange(self._clients)
        id = f"{self.name[0]}{self._given}"
        self._given += 1
        self._held[id] = client
        return Wish(client, Subscribe(id, self._wanted()))

    def _renewed(self, id: str) -> list[Wish]:
        """One that is given up, and another."""
        return [Wish(self._held.pop(id), Unsubscribe(id)), self._new()]
