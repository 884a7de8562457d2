"""The network: messages between names, each on its way for a while, some of them never to arrive.

A link is a pair of names. Without faults messages of one link arrive in the order in which they
were sent, and all take the same time. What of them is lost, comes twice, is held up or overtaken is
drawn when it is sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Generic, TypeAlias, TypeVar

from predicast.routing.simulation.clock import Clock
from predicast.routing.simulation.options import Faults

M = TypeVar("M")

Link: TypeAlias = tuple[str, str]  # from, to


class Network(Generic[M]):
    """Messages on their way; ``receive`` is called with sender, receiver and message."""

    def __init__(
        self,
        clock: Clock,
        link_s: float,
        faults: Faults,
        random: Random,
        receive: Callable[[str, str, M], None],
    ) -> None:
        self._clock = clock
        self._link_s = link_s
        self._faults = faults
        self._random = random
        self._receive = receive
        self._arrivals: dict[Link, float] = {}
        self._cut: Counter[Link] = Counter()
        self.in_flight = 0
        self.lost = 0
        self.calm = faults == Faults()

    def send(self, sender: str, receiver: str, message: M) -> None:
        """Put a message on its way."""
        link = (sender, receiver)
        if self.calm:
            self._carry(link, message, self._link_s)
            return
        faults, random = self._faults, self._random
        if self._cut[link] or random.random() < faults.loss:
            self.lost += 1
            return
        copies = 2 if random.random() < faults.duplicate else 1
        for _ in range(copies):
            held_up = random.random() * faults.delay_s
            overtaken = random.random() < faults.reorder
            self._carry(link, message, self._link_s + held_up, overtaken=overtaken)

    def cut(self, one: str, other: str) -> None:
        """Let nothing through between two, until it is mended as often as it was cut."""
        self._cut[one, other] += 1
        self._cut[other, one] += 1

    def mend(self, one: str, other: str) -> None:
        """Let messages through again."""
        for link in ((one, other), (other, one)):
            self._cut[link] = max(0, self._cut[link] - 1)

    def heal(self) -> None:
        """From now on nothing goes wrong; what is on its way arrives as it was to arrive."""
        self.calm = True
        self._cut.clear()

    def disturb(self) -> None:
        """Let things go wrong again."""
        self.calm = self._faults == Faults()

    def _carry(self, link: Link, message: M, delay_s: float, *, overtaken: bool = False) -> None:
        arrival = self._clock.now + delay_s
        if overtaken:
            arrival += self._random.random() * (self._link_s + self._faults.delay_s) * 2
        else:
            arrival = max(arrival, self._arrivals.get(link, 0.0))
            self._arrivals[link] = arrival
        self.in_flight += 1
        self._clock.at(arrival, partial(self._arrive, link, message))

    def _arrive(self, link: Link, message: M) -> None:
        self.in_flight -= 1
        self._receive(link[0], link[1], message)
