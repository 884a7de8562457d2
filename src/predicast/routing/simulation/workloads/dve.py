"""A distributed virtual environment: beings that move about a world, and see what is near them.

Each client is a being. It publishes where it is as a *region event*, the box in which it moved; it
subscribes to boxes around itself, one for each kind of being that it looks out for. As it moves,
its boxes move with it: these are the vector changes of the papers. Who is near whom in the world is
near in the network, too, as worlds are divided among servers.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Final

from predicast.engine.operations import Change, Subscribe
from predicast.model import Interval
from predicast.routing.simulation.options import SimulationOptions
from predicast.routing.simulation.workloads.workload import Publication, Turn, Wish, Workload

_ROOM: Final = 70.0  # the side of the square that each being has on average
_KINDS: Final = ("tank", "truck", "plane", "soldier")
_SPEED: Final = 4.0  # how far a being goes in a turn


@dataclass(slots=True)
class _Being:
    kind: str
    x: float
    y: float
    dx: float
    dy: float

    def move(self, side: float) -> None:
        self.x, self.dx = _bounced(self.x + self.dx, self.dx, side)
        self.y, self.dy = _bounced(self.y + self.dy, self.dy, side)

    def sight(self, kind: str, reach: float) -> str:
        x, y = self.x, self.y
        return (
            f"kind = '{kind}' AND x BETWEEN {x - reach:.1f} AND {x + reach:.1f} "
            f"AND y BETWEEN {y - reach:.1f} AND {y + reach:.1f}"
        )


class VirtualEnvironment(Workload):
    """Beings that see each other."""

    name = "dve"

    def __init__(self, options: SimulationOptions, random: Random) -> None:
        super().__init__(options, random)
        self._side = side = _ROOM * sqrt(options.clients)
        self._beings = [
            _Being(
                random.choice(_KINDS),
                random.uniform(0, side),
                random.uniform(0, side),
                random.uniform(-_SPEED, _SPEED),
                random.uniform(-_SPEED, _SPEED),
            )
            for _ in range(options.clients)
        ]
        self._sights: list[tuple[int, str, float]] = [
            (number % options.clients, random.choice(_KINDS), random.uniform(20, 120))
            for number in range(options.subscriptions)
        ]

    def begin(self) -> list[Wish]:
        return [
            Wish(client, Subscribe(f"d{number}", self._beings[client].sight(kind, reach)))
            for number, (client, kind, reach) in enumerate(self._sights)
        ]

    def turn(self, events: int) -> Turn:
        for being in self._beings:
            being.move(self._side)
        # Those who move look around anew, at different times.
        moved = {client for client in range(self._clients) if self._random.random() < self._changes}
        wishes = [
            Wish(client, Change(f"d{number}", self._beings[client].sight(kind, reach)))
            for number, (client, kind, reach) in enumerate(self._sights)
            if client in moved
        ]
        return Turn(wishes, [self._seen(client) for client in self._publishers(events)])

    def nearness(self, client: int) -> float:
        """Along a curve that visits each part of the world before it goes on to the next."""
        being = self._beings[client]
        return _along_the_curve(being.x / self._side, being.y / self._side)

    def _seen(self, client: int) -> Publication:
        being = self._beings[client]
        event = {
            "kind": being.kind,
            "x": _between(being.x - being.dx, being.x),
            "y": _between(being.y - being.dy, being.y),
        }
        return Publication(client, event)


def _between(one: float, other: float) -> Interval:
    return Interval(round(min(one, other), 1), round(max(one, other), 1))


def _bounced(place: float, speed: float, side: float) -> tuple[float, float]:
    if 0 <= place <= side:
        return place, speed
    return min(max(place, 0.0), side), -speed


def _along_the_curve(x: float, y: float) -> float:
    """Where a point of the unit square lies on the curve that visits quarters, again and again."""
    found, size = 0.0, 1.0
    for _ in range(8):
        x, y, size = 2 * x, 2 * y, size / 4
        right, upper = x >= 1, y >= 1
        found += size * (2 * upper + right)
        x, y = x - right, y - upper
    return found
