"""A client in the simulated network: a host at one broker, and what it writes into the ledger."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

from predicast.engine import Operation, Unsubscribe
from predicast.language import to_subscription
from predicast.model import Event
from predicast.routing import Host, Message, Send
from predicast.routing.options import EPOCH_BITS
from predicast.routing.simulation.clock import Clock
from predicast.routing.simulation.ledger import Ledger

_WINDOW: Final = 1_000  # operations announced at once
_BEGIN: Final = 1 << EPOCH_BITS  # what a publisher's sequences are counted from in its first epoch


class Client:
    """One host. It never falls: what becomes of clients that do is not a broker's business."""

    def __init__(
        self,
        number: int,
        host: Host,
        clock: Clock,
        ledger: Ledger,
        send: Callable[[str, str, Message], None],
    ) -> None:
        self.number = number
        self.host = host
        self.name = host.name
        self._clock = clock
        self._ledger = ledger
        self._send = send
        self._windows: deque[list[int]] = deque()  # versions announced and not yet in force
        self._settled = 0
        self._accepted = 0
        self._wake: float | None = None
        self.refused: list[str] = []
        self.received = 0  # events

    def start(self) -> None:
        """Greet the broker."""
        self._step(self.host.start(self._clock.now))

    def announce(self, operations: Sequence[Operation]) -> None:
        """Ask for something else from now on."""
        now, left = self._clock.now, iter(operations)
        while window := list(islice(left, _WINDOW)):
            self._windows.append([self._stated(each, now) for each in window])
            self._step(self.host.announce(window, now))

    def publish(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Publish events, all at once."""
        now = self._clock.now
        read = [Event(event) for event in events]
        for event in read:
            self._ledger.publishes(self.number, event, now)
        self._step(self.host.publish(read, now))

    def receive(self, sender: str, message: Message) -> None:
        """Take a message; only its broker sends it any."""
        assert sender == self.host.broker, sender
        self._step(self.host.receive(message, self._clock.now))

    @property
    def is_served(self) -> bool:
        """Whether all that it asked for is in force, and all that it published is safe."""
        return self.host.is_settled and self.host.is_acknowledged

    @property
    def waits_for(self) -> str:
        """What it has not been told yet."""
        return "what it asked for" if self.host.is_acknowledged else "what it sent"

    def _stated(self, operation: Operation, now: float) -> int:
        states = None
        if not isinstance(operation, Unsubscribe):
            assert operation.expression is not None, "worlds say what they want, not parameters"
            states = to_subscription(operation.expression)
        return self._ledger.stated(self.number, operation.id, states, now)

    def _step(self, sends: list[Send]) -> None:
        for interface, message in sends:
            self._send(self.name, interface, message)
        self._note()
        due = self.host.next_timer()
        if due is not None and (self._wake is None or due < self._wake):
            self._wake = due
            self._clock.at(due, partial(self._timer, due))

    def _note(self) -> None:
        """Write down what the host has learned."""
        host, now = self.host, self._clock.now
        while self._settled < host.settled:
            self._settled += 1
            self._ledger.acknowledged(self._windows.popleft(), now)
        accepted = host.accepted - _BEGIN
        if self._accepted < accepted:
            self._accepted = accepted
            self._ledger.accepted(self.number, accepted, now)
        delivered, ledger = host.deliveries(), self._ledger
        self.received += len(delivered)
        for published, matched in delivered:
            publisher = int(published.publisher[1:])  # c7 is client 7
            ledger.delivered(self.number, publisher, published.sequence - _BEGIN, matched, now)
        self.refused += [f"{each.error}: {each.reason}" for each in host.refusals()]

    def _timer(self, due: float) -> None:
        if due != self._wake:
            return
        self._wake = None
        self._step(self.host.on_timer(self._clock.now))
