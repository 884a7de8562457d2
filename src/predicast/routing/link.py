"""``Link``: one end of an interface. Greeting, streams, signs of life, and when each is due.

Brokers and hosts have the same one; what is said on it is theirs. It is handed messages and the
time, and hands out messages.

**Greeting.** Each side says hello until a hello of the other shows that it was heard. A hello is
answered by one that says so, and that is not answered. By what a hello says it has received, the
stream goes on where it stopped: after a lost connection, a partition or a restart with its state.

**Beginning anew.** If the other side knows nothing of our stream, or less than it has acknowledged,
it has lost its memory. Then the stream begins anew in a higher epoch: all subscriptions first,
``whole_at``, then the events that were not acknowledged. A hello that the network has kept for long
is not taken for that: whoever loses its memory comes with another epoch itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from predicast.engine import Operation
from predicast.errors import MalformedMessageError, WrongEpochError
from predicast.routing.life import LIFE, Happening, InterfaceState
from predicast.routing.messages import (
    Acknowledge,
    Hello,
    KeepAlive,
    Message,
    Numbered,
    PeerKind,
)
from predicast.routing.options import LinkOptions
from predicast.routing.stream import Incoming, Outgoing


@dataclass(frozen=True, slots=True)
class Identity:
    """Who says hello."""

    name: str
    kind: PeerKind
    level: int = 0


class Link:
    """One end of an interface to the peer of that name."""

    def __init__(
        self,
        me: Identity,
        peer: str,
        epoch: int,
        options: LinkOptions,
        now: float,
        *,
        durable: bool = True,
    ) -> None:
        self.me = me
        self.peer = peer
        self.durable = durable  # whether events are kept while it cannot be reached
        self.state = InterfaceState.PENDING
        self.outgoing = Outgoing(epoch, options)
        self.incoming = Incoming()
        self.settled = 0  # of what the peer has announced
        self.leaving = False  # what our hello says
        self.said_bye = False
        self.heard_bye = False
        self.is_known_there = False  # the peer has shown that it knows our stream
        self.closed_at = now
        self.was_detached = False
        self.owes_acknowledgement = False
        self._options = options
        self._heard_at = now
        self._sent_at = now
        self._hello_due: float | None = now
        self._hello_pause = options.retransmit_s

    # Its life.

    def happens(self, happening: Happening, now: float) -> None:
        """Go to the next state."""
        before, self.state = self.state, LIFE[self.state, happening]
        if self.state is before:
            return
        if self.state is InterfaceState.ACTIVE:
            self._hello_due = None
            self.outgoing.resume()
        elif self.state is InterfaceState.PENDING:
            self._greet_soon(now)
        else:
            self.closed_at = now
            self.outgoing.resume()
            self._hello_due = None

    def heard(self, now: float) -> None:
        """Something came that could be read: the peer lives."""
        self._heard_at = now
        self.was_detached = False
        self.happens(Happening.HEARD, now)

    def greet_again(self, now: float) -> None:
        """Say hello soon: the peer does not know us, or should come back."""
        self.happens(Happening.RESTARTED, now)
        self._greet_soon(now)

    def _greet_soon(self, now: float) -> None:
        self._heard_at = now  # a whole time to live to answer in
        self._hello_due, self._hello_pause = now, self._options.retransmit_s

    # Hello.

    def hello(self, *, answer: bool = False) -> Hello:
        """What we say of ourselves."""
        return Hello(
            self.me.name,
            self.me.kind,
            self.outgoing.epoch,
            self.incoming.epoch,
            self.incoming.received,
            self.outgoing.whole_at,
            self.me.level,
            self.durable,
            self.leaving,
            answer,
        )

    def greeted(self, hello: Hello, now: float) -> bool:
        """Take a hello; whether the peer begins a stream anew, so that it has lost its memory."""
        if hello.epoch < self.incoming.epoch or hello.heard_epoch > self.outgoing.epoch:
            raise WrongEpochError(
                f"a hello of epoch {hello.epoch} that has heard of {hello.heard_epoch}; "
                f"known are {self.incoming.epoch} and {self.outgoing.epoch}",
                epoch=hello.epoch,
                expected=self.incoming.epoch,
            )
        if hello.heard_epoch == self.outgoing.epoch:
            if hello.received >= self.outgoing.next_sequence:
                raise MalformedMessageError(
                    f"a hello that has received {hello.received} of {self.outgoing.next_sequence}",
                    field="received",
                )
            knows = hello.received >= self.outgoing.acknowledged
        else:
            knows = False
        begins = hello.epoch > self.incoming.epoch
        if begins:
            self.incoming = Incoming(hello.epoch, hello.whole_at)
            self.settled = 0
        self.heard(now)
        if knows:
            self.outgoing.acknowledge(
                hello.received, min(self.outgoing.settled, hello.received), now
            )
            self.is_known_there = True
            self.happens(Happening.ACKNOWLEDGED, now)
            self._hello_due = None
        return begins

    def must_begin_anew(self, hello: Hello, begins: bool) -> bool:
        """Whether the peer, by its hello, has lost what it knew of our stream."""
        if hello.heard_epoch == self.outgoing.epoch:
            return begins and hello.received < self.outgoing.acknowledged
        return self.is_known_there and begins

    def begin_anew(
        self,
        epoch: int,
        whole: Sequence[Operation] | None,
        now: float,
        *,
        through: bool = False,
    ) -> None:
        """Another stream: what we want first, if it is said, then the events that were kept."""
        before = self.outgoing
        self.outgoing = Outgoing(epoch, self._options)
        self.is_known_there = False
        if whole is not None:
            self.say_whole(whole, through=through)
        events = before.kept_events()
        if events:
            with_ids = self.me.kind is PeerKind.BROKER and any(ids for _, ids in events)
            matched = [ids for _, ids in events] if with_ids else None
            self.outgoing.publish([event for event, _ in events], matched)
        if self.said_bye:
            self.outgoing.say_bye()
        self.greet_again(now)

    def say_whole(self, operations: Sequence[Operation], *, through: bool = False) -> None:
        """Announce all there is, at the beginning of a stream."""
        self.outgoing.announce(operations, through=through)
        self.outgoing.whole_at = self.outgoing.announced

    # Streams.

    def acknowledged(self, message: Acknowledge | KeepAlive, now: float) -> None:
        """The peer says how far it is."""
        if message.epoch > self.outgoing.epoch:
            raise WrongEpochError(
                f"acknowledges epoch {message.epoch}, and ours is {self.outgoing.epoch}",
                epoch=message.epoch,
                expected=self.outgoing.epoch,
            )
        self.heard(now)
        if message.epoch == self.outgoing.epoch:
            self.outgoing.acknowledge(message.received, message.settled, now)
            self.is_known_there = True

    def offered(self, message: Numbered, now: float) -> None:
        """A message of the peer's stream came."""
        self.incoming.offer(message, self._options.max_in_flight)
        self.owes_acknowledgement = True
        self.heard(now)

    def taken(self) -> None:
        """The message whose turn it was has been taken."""
        self.incoming.take()
        self.owes_acknowledgement = True

    @property
    def is_drained(self) -> bool:
        """Whether the peer has all that we had for it."""
        return len(self.outgoing) == 0

    # Sending.

    def flush(self, now: float) -> list[Message]:
        """What is to be sent right now."""
        messages: list[Message] = []
        if self.owes_acknowledgement and self.incoming.epoch:
            self.owes_acknowledgement = False
            messages.append(Acknowledge(self.incoming.epoch, self.incoming.received, self.settled))
        if self._hello_due is not None and self._hello_due <= now:
            messages.append(self._next_hello(now))
        if self.state is InterfaceState.ACTIVE:
            messages += self.outgoing.ready(now)
        if messages:
            self._sent_at = now
        return messages

    def _next_hello(self, now: float) -> Hello:
        self._hello_due = now + self._hello_pause
        self._hello_pause = min(2 * self._hello_pause, self._options.retransmit_max_s)
        return self.hello()

    def due(self) -> float | None:
        """When ``on_timer`` has something to do."""
        soonest = math.inf if self._hello_due is None else self._hello_due
        if self.state is not InterfaceState.CLOSED:
            soonest = min(soonest, self._heard_at + self._options.ttl_s)
        if self.state is InterfaceState.ACTIVE:
            soonest = min(soonest, self._sent_at + self._options.keep_alive_s)
            if self.outgoing.due is not None:
                soonest = min(soonest, self.outgoing.due)
        return None if soonest == math.inf else soonest

    def on_timer(self, now: float) -> list[Message]:
        """Do what is due; the interface may be Closed by it."""
        if self.state is not InterfaceState.CLOSED and now >= self._heard_at + self._options.ttl_s:
            self.happens(Happening.SILENT, now)
        messages = self.flush(now)
        if self.state is InterfaceState.ACTIVE:
            messages += self.outgoing.repeat(now)
            if not messages and now >= self._sent_at + self._options.keep_alive_s:
                messages.append(
                    KeepAlive(self.incoming.epoch, self.incoming.received, self.settled)
                )
        if messages:
            self._sent_at = now
        return messages

    def try_again(self, now: float) -> None:
        """Although Closed, go on saying hello, at growing distances."""
        if self._hello_due is None:
            self._hello_due = now + self._hello_pause
