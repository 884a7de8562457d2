"""A network of brokers and hosts in one process, with a clock and whatever faults are asked.

Small and plain, for the tests of the router itself. Every message passes through a queue ordered by
time; the seed decides what is lost, repeated or late.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from predicast.routing import Delivered, Host, Message, Router, RouterOptions, RouterState, Send

QUICK: dict[str, Any] = {
    "keep_alive_s": 1.0,
    "ttl_s": 3.5,
    "forget_after_s": 60.0,
    "retransmit_s": 0.2,
    "retransmit_max_s": 1.0,
    "matcher": "brute-force",
}


@dataclass(frozen=True)
class Faults:
    """How likely a message is lost, comes twice, or is late by up to so many seconds."""

    loss: float = 0.0
    duplicate: float = 0.0
    delay_s: float = 0.0


class Network:
    """Brokers and hosts by name, and the messages on their way."""

    def __init__(self, seed: int = 0, faults: Faults | None = None) -> None:
        self.now = 0.0
        self.faults = faults or Faults()
        self.routers: dict[str, Router] = {}
        self.hosts: dict[str, Host] = {}
        self.delivered: dict[str, list[Delivered]] = {}
        self.sent: list[tuple[str, Send]] = []
        self.crashed: dict[str, tuple[RouterOptions, RouterState]] = {}
        self.cut: set[frozenset[str]] = set()  # pairs that cannot reach each other
        self.records = False
        self._random = Random(seed)
        self._queue: list[tuple[float, int, str, str, Message]] = []
        self._numbered = 0
        self._timers: list[tuple[float, str]] = []
        self._noted: dict[str, float] = {}

    # Making it.

    def broker(self, name: str, *candidates: str, level: int = 0, **options: Any) -> Router:
        made = RouterOptions(name=name, level=level, candidates=candidates, **{**QUICK, **options})
        router = self.routers[name] = Router(made)
        self.post(name, router.start(self.now))
        return router

    def host(self, name: str, broker: str, **options: Any) -> Host:
        quick = {key: value for key, value in QUICK.items() if key != "matcher"}
        from predicast.routing.options import LinkOptions

        limits = options.pop("limits", {})
        made = Host(name, broker, options=LinkOptions(**quick, **limits), **options)
        self.hosts[name] = made
        self.delivered[name] = []
        self.post(name, made.start(self.now))
        return made

    def announce(self, name: str, operations: Iterable[Any]) -> None:
        self.post(name, self.hosts[name].announce(operations, self.now))

    def publish(self, name: str, events: Iterable[Mapping[str, Any]]) -> None:
        self.post(name, self.hosts[name].publish(events, self.now))

    # Faults.

    def crash(self, name: str) -> None:
        """The broker stops; what it had to keep was kept."""
        router = self.routers.pop(name)
        self.crashed[name] = (router.options, router.state())

    def restart(self, name: str, *, forgets: bool = False) -> None:
        options, state = self.crashed.pop(name)
        if forgets:
            from dataclasses import replace

            options = replace(options, epoch=options.epoch + 1)
        router = self.routers[name] = Router(options, None if forgets else state)
        self.post(name, router.start(self.now))

    def sever(self, one: str, other: str) -> None:
        self.cut.add(frozenset((one, other)))

    def mend(self, one: str, other: str) -> None:
        self.cut.discard(frozenset((one, other)))

    # Running it.

    def post(self, sender: str, sends: Iterable[Send]) -> None:
        found = self._end(sender)
        self._note_timer(sender, None if found is None else found.next_timer())
        for send in sends:
            if self.records:
                self.sent.append((sender, send))
            for _ in range(1 + (self._random.random() < self.faults.duplicate)):
                if self._random.random() >= self.faults.loss:
                    late = self._random.random() * self.faults.delay_s
                    self._numbered += 1
                    heapq.heappush(
                        self._queue,
                        (self.now + 0.01 + late, self._numbered, sender, send[0], send[1]),
                    )

    def run(self, seconds: float) -> None:
        """Let so much time pass."""
        end = self.now + seconds
        while True:
            timer, name = self._next_timer(end)
            arrival = self._queue[0][0] if self._queue else end + 1
            at = max(min(timer, arrival), self.now)
            if at > end:
                break
            self.now = at
            if arrival <= timer:
                _, _, sender, receiver, message = heapq.heappop(self._queue)
                self._arrive(sender, receiver, message)
            else:
                found = self._end(name)
                assert found is not None
                heapq.heappop(self._timers)
                del self._noted[name]
                self.post(name, found.on_timer(self.now))
        self.now = end

    def _end(self, name: str) -> Router | Host | None:
        return self.routers.get(name) or self.hosts.get(name)

    def _next_timer(self, end: float) -> tuple[float, str]:
        while self._timers:
            at, name = self._timers[0]
            if self._noted.get(name) == at:
                found = self._end(name)
                due = None if found is None else found.next_timer()
                if due is not None and due <= at:
                    return at, name
                del self._noted[name]
                self._note_timer(name, due)
            heapq.heappop(self._timers)
        return end + 1, ""

    def _note_timer(self, name: str, due: float | None) -> None:
        if due is not None and due < self._noted.get(name, float("inf")):
            self._noted[name] = due
            heapq.heappush(self._timers, (due, name))

    def _arrive(self, sender: str, receiver: str, message: Message) -> None:
        if frozenset((sender, receiver)) in self.cut:
            return
        if receiver in self.routers:
            self.post(receiver, self.routers[receiver].receive(message, sender, self.now))
        elif receiver in self.hosts:
            host = self.hosts[receiver]
            self.post(receiver, host.receive(message, self.now))
            self.delivered[receiver] += host.deliveries()

    def received(self, name: str) -> list[tuple[str, int]]:
        """The events that a host got, by publisher and count."""
        return [
            (each.published.publisher, each.published.sequence) for each in self.delivered[name]
        ]
