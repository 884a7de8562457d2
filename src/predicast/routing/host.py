"""``Host``: the other end of a broker's interface, without its network, clock and disk.

It subscribes and publishes through the same messages as brokers do, and keeps its side of the
streams: what is not acknowledged is sent again, what comes twice is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from predicast.engine import Operation
from predicast.routing.messages import Message, Published, Refuse, Send


class Delivered(NamedTuple):
    """An event that came, and the ids of the subscriptions that it matches."""

    published: Published
    matched: tuple[str, ...]


class Host:
    """A subscriber and publisher at one broker. Every call returns what is to be sent."""

    def __init__(self, name: str, broker: str, *, epoch: int = 1, durable: bool = True) -> None:
        raise NotImplementedError

    def start(self, now: float) -> list[Send]:
        """Greet the broker."""
        raise NotImplementedError

    def announce(self, operations: Iterable[Operation], now: float) -> list[Send]:
        """Run a window of operations at the broker."""
        raise NotImplementedError

    def publish(self, events: Iterable[Mapping[str, Any]], now: float, at: int = 0) -> list[Send]:
        """Publish events, in one message; their sequences are counted on."""
        raise NotImplementedError

    def receive(self, message: Message, now: float) -> list[Send]:
        """Take a message from the broker."""
        raise NotImplementedError

    def deliveries(self) -> list[Delivered]:
        """What has come since this was asked last, in order, each event once."""
        raise NotImplementedError

    def refusals(self) -> list[Refuse]:
        """What the broker has refused since this was asked last."""
        raise NotImplementedError

    @property
    def is_settled(self) -> bool:
        """Whether all that was announced so far is in force everywhere."""
        raise NotImplementedError

    @property
    def is_acknowledged(self) -> bool:
        """Whether all that was published and announced so far has been taken by the broker."""
        raise NotImplementedError

    def detach(self, now: float) -> None:
        """The connection is gone; ``start`` greets the broker again."""
        raise NotImplementedError

    def next_timer(self) -> float | None:
        """When ``on_timer`` wants to be called."""
        raise NotImplementedError

    def on_timer(self, now: float) -> list[Send]:
        """Do what is due: repetitions and signs of life."""
        raise NotImplementedError
