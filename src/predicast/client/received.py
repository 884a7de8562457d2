"""``ReceivedDelivery``: an event that came to a client."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

from predicast.protocol.bodies import attributes_of
from predicast.protocol.frames import Acknowledge, ClientFrame, GiveBack
from predicast.protocol.records import Delivery, StoredEvent

Saying: TypeAlias = Callable[[ClientFrame], None]


class ReceivedDelivery:
    """An event, the subscriptions of a stream that it matched, and what is to become of it.

    ``acknowledge`` and ``give_back`` are sent and not waited for: what is lost on the way is
    delivered again.
    """

    def __init__(
        self, delivery: Delivery, say: Saying, durable: bool = True, *, is_all: bool = False
    ) -> None:
        self.event: StoredEvent = delivery.event
        self.subscriptions = delivery.subscriptions
        self.attempt = delivery.attempt
        self.is_settled = not durable  # nobody waits to hear of an ephemeral one
        self._say = say
        self._is_all = is_all  # all that it came with, so that they need not be named

    def __repr__(self) -> str:
        return f"ReceivedDelivery({self.event!r}, {self.subscriptions!r}, {self.attempt})"

    @property
    def position(self) -> int:
        """Where the event stands in what the broker has taken."""
        return self.event.position

    @property
    def id(self) -> str:
        """The event's id, by which its publisher's repeats are known."""
        return self.event.id

    @cached_property
    def attributes(self) -> Mapping[str, Any] | str:
        """What the event says: its attributes, or the text of a graph."""
        return attributes_of(self.event.form, self.event.body)

    def say_through(self, post: Callable[[Saying, ClientFrame], None]) -> None:
        """Have what is said handed over by ``post``, to the thread that can send it."""
        say = self._say
        self._say = lambda frame: post(say, frame)

    def acknowledge(self) -> None:
        """It need not come again."""
        if not self.is_settled:
            self.is_settled = True
            ids = None if self._is_all else list(self.subscriptions)
            self._say(Acknowledge(positions=[self.position], subscriptions=ids))

    def give_back(self, delay: float = 0.0, why: str = "") -> None:
        """It failed: again after so many seconds, or among the dead letters if it was the last."""
        if not self.is_settled:
            self.is_settled = True
            for id in self.subscriptions:
                self._say(
                    GiveBack(position=self.position, subscription=id, delay=float(delay), why=why)
                )
