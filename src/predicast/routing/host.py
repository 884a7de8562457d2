"""``Host``: the other end of a broker's interface, without its network, clock and disk.

It subscribes and publishes through the same messages as brokers do, and keeps its side of the
streams: what is not acknowledged is sent again, what comes twice is dropped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from predicast.engine import Change, Operation, Subscribe, Unsubscribe
from predicast.errors import PredicastError, UnknownInterfaceError
from predicast.language.dialect_registry import stated_in
from predicast.language.reading import WHERE
from predicast.model import Event
from predicast.routing.checking import check_message
from predicast.routing.life import Happening, InterfaceState
from predicast.routing.link import Identity, Link
from predicast.routing.messages import (
    Acknowledge,
    Announce,
    Bye,
    Events,
    Hello,
    KeepAlive,
    Message,
    Numbered,
    PeerKind,
    Published,
    Refuse,
    Send,
)
from predicast.routing.options import EPOCH_BITS, LinkOptions
from predicast.routing.repeats import Repeats

_MOST_REFUSALS: Final = 1_000  # that wait to be asked for


class Delivered(NamedTuple):
    """An event that came, and the ids of the subscriptions that it matches."""

    published: Published
    matched: tuple[str, ...]


class Host:
    """A subscriber and publisher at one broker. Every step returns what is to be sent.

    ``epoch`` has to grow whenever a host starts without its memory; sequences of events are then
    counted from there, so that they are new.
    """

    def __init__(
        self,
        name: str,
        broker: str,
        *,
        epoch: int = 1,
        durable: bool = True,
        options: LinkOptions | None = None,
    ) -> None:
        self.name = name
        self.broker = broker
        self._options = options or LinkOptions()
        self._next_epoch = epoch << EPOCH_BITS
        self._next_sequence = (epoch << EPOCH_BITS) + 1
        self._held: dict[str, Operation] = {}  # what makes each subscription what it is
        self._before: dict[int, dict[str, Operation | None]] = {}  # by window, if it is refused
        self._announced: deque[tuple[int, int]] = deque()  # epoch and sequence of windows
        self._settled = 0
        self._delivered: list[Delivered] = []
        self._refusals: deque[Refuse] = deque(maxlen=_MOST_REFUSALS)
        self._repeats = Repeats(self._options.max_publishers, self._options.max_remembered)
        me = Identity(name, PeerKind.HOST)
        self._link = Link(me, broker, self._new_epoch(), self._options, 0.0, durable=durable)
        self._sends: list[Send] = []

    # What there is.

    @property
    def state(self) -> InterfaceState:
        """How the interface does."""
        return self._link.state

    @property
    def is_settled(self) -> bool:
        """Whether all that was announced so far is in force everywhere."""
        return self._link.outgoing.settled >= self._link.outgoing.announced

    @property
    def settled(self) -> int:
        """How many windows are in force everywhere, of those announced so far."""
        outgoing = self._link.outgoing
        while self._announced:
            epoch, sequence = self._announced[0]
            # In a stream that began anew all is said again at its beginning.
            last = sequence if epoch == outgoing.epoch else outgoing.whole_at
            if outgoing.settled < last:
                break
            self._announced.popleft()
            self._settled += 1
        return self._settled

    @property
    def accepted(self) -> int:
        """The sequence up to which the broker has taken our events."""
        first = self._link.outgoing.first_event()
        return (self._next_sequence if first is None else first.sequence) - 1

    @property
    def is_acknowledged(self) -> bool:
        """Whether all that was published and announced so far has been taken by the broker."""
        return self._link.is_drained

    @property
    def is_gone(self) -> bool:
        """Whether both sides have said goodbye."""
        return self._link.said_bye and self._link.heard_bye and self._link.is_drained

    def deliveries(self) -> list[Delivered]:
        """What has come since this was asked last, in order, each event once."""
        delivered, self._delivered = self._delivered, []
        return delivered

    def refusals(self) -> list[Refuse]:
        """What the broker has refused since this was asked last; the latest of very many."""
        refusals = list(self._refusals)
        self._refusals.clear()
        return refusals

    # The steps.

    def start(self, now: float) -> list[Send]:
        """Greet the broker; also after the connection was lost."""
        self._link.greet_again(now)
        return self._flush(now)

    def start_with(self, operations: Iterable[Operation], now: float) -> list[Send]:
        """Greet the broker with all that is wanted: what it knows of before is replaced by that."""
        assert self._link.outgoing.next_sequence == 1, "all that is wanted comes first"
        window = list(map(_read, operations))
        for each in window:
            self._note(each)
        self._link.say_whole(window)
        self._announced.append((self._link.outgoing.epoch, self._link.outgoing.announced))
        return self.start(now)

    def announce(self, operations: Iterable[Operation], now: float) -> list[Send]:
        """Run a window of operations at the broker.

        What is in a dialect is read here: brokers know none.
        """
        self._say(list(map(_read, operations)))
        self._announced.append((self._link.outgoing.epoch, self._link.outgoing.announced))
        return self._flush(now)

    def _say(self, window: Sequence[Operation]) -> None:
        """Announce a window in as many messages as it takes, each of which may be refused."""
        most = self._options.max_window
        for begin in range(0, max(len(window), 1), most):
            part = window[begin : begin + most]
            before = {each.id: self._held.get(each.id) for each in part}
            self._before[self._link.outgoing.next_sequence] = before
            for each in part:
                self._note(each)
            self._link.outgoing.announce(part)

    def publish(
        self, events: Iterable[Mapping[str, Any] | Event | str], now: float, at: int = 0
    ) -> list[Send]:
        """Publish events, in one message; their sequences are counted on.

        A text is that of a graph, for brokers whose engines read graphs.
        """
        published = []
        for sequence, event in enumerate(events, self._next_sequence):
            read = event if isinstance(event, Event | str) else Event(event)
            published.append(Published(self.name, sequence, read, at))
        return self.publish_numbered(published, now)

    def publish_numbered(self, published: Sequence[Published], now: float) -> list[Send]:
        """Publish events whose sequences, which grow, are the caller's: positions in a log, say."""
        if published:
            self._next_sequence = published[-1].sequence + 1
            self._link.outgoing.publish(published)
        return self._flush(now)

    def leave(self, now: float) -> list[Send]:
        """Say goodbye: all subscriptions end, and what was kept for us comes."""
        if not self._link.said_bye:
            self._link.said_bye = True
            self._link.outgoing.say_bye()
        return self._flush(now)

    def receive(self, message: Message, now: float) -> list[Send]:
        """Take a message from the broker; one that cannot be taken changes nothing."""
        self._sends = []
        try:
            check_message(message, None)
            self._dispatch(message, now)
        except PredicastError as error:
            self._send(Refuse(type(error).__name__, error.message))
        return self._flush(now, self._sends)

    def detach(self, now: float) -> None:
        """The connection is gone; ``start`` greets the broker again."""
        self._link.happens(Happening.DETACHED, now)

    def next_timer(self) -> float | None:
        """When ``on_timer`` wants to be called."""
        return self._link.due()

    def on_timer(self, now: float) -> list[Send]:
        """Do what is due: repetitions and signs of life; a silent broker is greeted again."""
        messages = self._link.on_timer(now)
        if self._link.state is InterfaceState.CLOSED:
            self._link.try_again(now)
        return [Send(self.broker, message) for message in messages]

    # Messages.

    def _dispatch(self, message: Message, now: float) -> None:
        link = self._link
        if isinstance(message, Hello):
            begins = link.greeted(message, now)
            if link.must_begin_anew(message, begins):
                self._begin_anew(now)
            if not message.answer:
                self._send(link.hello(answer=True))
        elif isinstance(message, Acknowledge | KeepAlive):
            link.acknowledged(message, now)
            settled = [each for each in self._before if each <= link.outgoing.settled]
            for sequence in settled:
                del self._before[sequence]
        elif isinstance(message, Refuse):
            self._refusals.append(message)
            self._take_back(message.sequence)
            if message.error == UnknownInterfaceError.__name__ and not link.said_bye:
                link.greet_again(now)
        else:
            link.offered(message, now)
            while (following := link.incoming.next()) is not None:
                self._take(following)
                link.taken()
            link.settled = link.incoming.received

    def _take(self, message: Numbered) -> None:
        if isinstance(message, Events):
            (new,) = self._repeats.new([message.events])
            self._repeats.note(new)
            matched: Sequence[tuple[str, ...]] = message.matched or ()
            if not len(new) == len(message.events) == len(matched):
                by_event = dict(zip(map(id, message.events), matched, strict=False))
                matched = [by_event.get(id(each), ()) for each in new]
            self._delivered += map(Delivered, new, matched)
        elif isinstance(message, Bye):
            self._link.heard_bye = True
        else:
            assert isinstance(message, Announce)  # a broker wants nothing of a host

    def _begin_anew(self, now: float) -> None:
        """Say everything again to a broker that has lost its memory.

        What it had not taken is said behind that, window by window as before: it may be refused,
        and the rest is not to be refused with it.
        """
        before = self._link.outgoing
        windows = [
            each
            for each in before.kept()
            if isinstance(each, Announce) and each.sequence in self._before
        ]
        for each in reversed(windows):
            self._take_back(each.sequence)
        self._before = {}
        self._link.begin_anew(self._new_epoch(), list(self._held.values()) or None, now)
        outgoing = self._link.outgoing
        if self._link.said_bye:
            return
        now_as = {}
        for each in windows:
            self._say(each.operations)
            now_as[before.epoch, each.sequence] = (outgoing.epoch, outgoing.announced)
        self._announced = deque(now_as.get(each, each) for each in self._announced)

    def _note(self, operation: Operation) -> None:
        if isinstance(operation, Unsubscribe):
            self._held.pop(operation.id, None)
        elif isinstance(operation, Subscribe):
            self._held[operation.id] = operation
        else:
            self._held[operation.id] = _changed(self._held.get(operation.id), operation)

    def _take_back(self, sequence: int | None) -> None:
        """A window was refused: its subscriptions are what they were."""
        for id, before in self._before.pop(sequence or 0, {}).items():
            if before is None:
                self._held.pop(id, None)
            else:
                self._held[id] = before

    def _new_epoch(self) -> int:
        self._next_epoch += 1
        return self._next_epoch - 1

    def _send(self, message: Message) -> None:
        self._sends.append(Send(self.broker, message))

    def _flush(self, now: float, sends: list[Send] | None = None) -> list[Send]:
        return [*(sends or ()), *(Send(self.broker, each) for each in self._link.flush(now))]


def _read(operation: Operation) -> Operation:
    """The same in terms that every broker understands."""
    if isinstance(operation, Unsubscribe) or operation.dialect is None:
        return operation
    if operation.dialect == WHERE:
        return replace(operation, dialect=None)
    stated = stated_in(operation.dialect, operation.expression, operation.parameters)
    return replace(operation, expression=stated.subscription(), dialect=None)


def _changed(before: Operation | None, change: Change) -> Operation:
    """What a subscription is after a change, said at once."""
    if not isinstance(before, Subscribe):
        return Subscribe(change.id, change.expression, None, change.parameters)
    if change.expression is not None:
        return Subscribe(change.id, change.expression, before.owner, change.parameters)
    parameters = {**(before.parameters or {}), **(change.parameters or {})}
    return Subscribe(change.id, before.expression, before.owner, parameters)
