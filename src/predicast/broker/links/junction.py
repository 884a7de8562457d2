"""``Junction``: where the events and wishes of one tenant meet the tree of brokers, without I/O.

A router has the neighbours as its interfaces, and the tenant itself as a host. Messages, wishes,
events and the time go in. What is to be sent, to be kept and to be published here comes out, and
has an order: events that arrived are published first (``arrivals``, ``arrived``), then what the
router has become is kept (``entry``), and only then anything is sent (``take_sends``). So a
neighbour hears that an event was taken when it cannot be lost any more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from predicast.engine import Operation
from predicast.routing import Events, Host, Message, Published, Router, RouterOptions, Send
from predicast.routing.journal import Entry, Journal
from predicast.routing.state import RouterState


class Junction:
    """A router, the tenant's host at it, and the journal of the two."""

    def __init__(
        self, options: RouterOptions, source: str, kept: RouterState | None = None
    ) -> None:
        """``source`` names the tenant's own log, whose positions are the sequences of its events.

        Whoever starts with another log comes under another name.
        """
        self.router = Router(options, kept)
        self.host = Host(source, options.name, epoch=options.epoch, options=options)
        self._journal = Journal(self.router)
        self._sends: list[Send] = []
        self._between: deque[Send] = deque()
        self._arrived: dict[tuple[int, int], Events] = {}  # by epoch and sequence, not kept yet

    # What goes in.

    def start(self, wishes: Sequence[Operation], now: float) -> None:
        """Begin, with all that is wanted here."""
        self._out(self.router.start(now))
        self._out(self.host.start_with(wishes, now))

    def offer_parent(self, name: str, now: float) -> None:
        """Here is a broker to attach to."""
        self._out(self.router.offer_parent(name, now))

    def attach(self, name: str, now: float) -> None:
        """There is a connection to a neighbour."""
        self._out(self.router.attach(name, now))

    def detach(self, name: str, now: float) -> None:
        """A neighbour is not waited for any longer."""
        self._out(self.router.detach(name, now))

    def receive_all(self, arrivals: Iterable[tuple[Message, str]], now: float) -> None:
        """Messages of neighbours, in the order in which they came, in one step of the router."""
        self._out(self.router.receive_all(arrivals, now))

    def announce(self, operations: Sequence[Operation], now: float) -> None:
        """What is wanted here has changed."""
        if operations:
            self._out(self.host.announce(operations, now))

    def publish(self, events: Sequence[Published], now: float) -> None:
        """Events of the tenant's log, for whoever wants them elsewhere."""
        self._out(self.host.publish_numbered(events, now))

    def next_timer(self) -> float | None:
        """When ``on_timer`` wants to be called."""
        due = [each for each in (self.router.next_timer(), self.host.next_timer()) if each]
        return min(due, default=None)

    def on_timer(self, now: float) -> None:
        """Do what is due."""
        due = self.next_timer()
        if due is not None and due <= now:
            self._out(self.router.on_timer(now))
            self._out(self.host.on_timer(now))

    # What comes out.

    def arrivals(self) -> list[Published]:
        """What came for subscribers here, in order, until it is said to be kept."""
        return [event for message in self._arrived.values() for event in message.events]

    def arrived(self, now: float) -> None:
        """All that came is kept: whoever sent it may forget it."""
        messages, self._arrived = list(self._arrived.values()), {}
        for message in messages:
            self._out(self.host.receive(message, now))
        self.host.deliveries()

    def entry(self) -> Entry:
        """What is to be kept of the router before anything is sent."""
        return self._journal.entry()

    def take_sends(self) -> list[Send]:
        """What goes to neighbours, once all else is kept."""
        sends, self._sends = self._sends, []
        return sends

    def _out(self, sends: list[Send]) -> None:
        """What router and host say to each other waits for its step, the rest to be sent."""
        own = (self.host.name, self.router.name)
        for each in sends:
            (self._between if each.interface in own else self._sends).append(each)

    def step(self, now: float) -> bool:
        """Hand on one message between the router and the host, if there is one.

        Each takes some hundredths of a second at most: there are many at the beginning, and whoever
        runs the junction has others to serve in between.
        """
        if not self._between:
            return False
        name, message = self._between.popleft()
        if name == self.router.name:
            self._out(self.router.receive(message, self.host.name, now))
        elif isinstance(message, Events):
            self._arrived[message.epoch, message.sequence] = message
        else:
            self._out(self.host.receive(message, now))
        return True

    @property
    def published_up_to(self) -> int:
        """The position up to which the router has taken the tenant's events."""
        return self.host.accepted

    @property
    def takes_more(self) -> bool:
        """Whether the router has taken all that it was given, so that it has room for more."""
        return self.host.is_acknowledged
