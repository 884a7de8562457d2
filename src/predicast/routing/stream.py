"""The two directions of an interface: what is sent and not acknowledged, what has been taken.

::

    acknowledged        sent              next_sequence
         |                |                    |
    . . . . [ in flight . . ] [ waiting . . . ]         what Outgoing keeps

    received
       |
    . . . _ early _ early early                         what Incoming keeps

Messages are numbered when they are handed over, sent as far as the limit of those in flight allows,
and sent again until acknowledged, at growing distances. Whoever receives takes them in order; what
comes early waits, as far as a sender may be ahead.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from predicast.engine import Operation
from predicast.errors import MalformedMessageError, OutOfOrderError, WrongEpochError
from predicast.routing.messages import Announce, Bye, Events, Numbered, Published
from predicast.routing.options import LinkOptions

# Messages that are repeated at a time: what comes after a lost one is mostly there, and waits.
_REPEATED: Final = 8
_TOGETHER: Final = 1_024  # events that wait are put into messages of so many


class Outgoing:
    """A stream that is sent."""

    def __init__(self, epoch: int, options: LinkOptions) -> None:
        self.epoch = epoch
        self.next_sequence = 1
        self.acknowledged = 0
        self.settled = 0
        self.announced = 0  # the sequence of the last Announce
        self.whole_at = 0  # what the hello says of it
        self.events = 0  # that wait or are in flight
        self.sent = 0
        self._ever_sent = 0  # on whatever connection: these are what they are
        self.due: float | None = None  # when to repeat
        self._kept: deque[Numbered] = deque()
        self._changed_from = 1  # messages from here on are not what they were when last noted
        self._attempts = 0
        self._options = options

    def __len__(self) -> int:
        """How many messages are not acknowledged."""
        return len(self._kept)

    # Handing over.

    def announce(self, operations: Sequence[Operation], *, through: bool = False) -> None:
        """Send operations, as one window if one can hold them."""
        most = self._options.max_window
        for begin in range(0, max(len(operations), 1), most):
            window = tuple(operations[begin : begin + most])
            is_last = begin + most >= len(operations)
            self._keep(Announce(self.epoch, self.next_sequence, window, through and is_last))
            self.announced = self.next_sequence - 1

    def publish(
        self, events: Sequence[Published], matched: Sequence[tuple[str, ...]] | None = None
    ) -> None:
        """Send events, together with those that wait before them."""
        self.events += len(events)
        begin = 0
        last = self._kept[-1] if self._kept else None
        if isinstance(last, Events) and last.sequence > self._ever_sent:
            room = min(_TOGETHER, self._options.max_events) - len(last.events)
            bytes_left = self._options.max_bytes - sum(map(_size, last.events))
            begin = _fitting(events, 0, room, bytes_left)
            self._changed_from = min(self._changed_from, last.sequence)
            self._kept[-1] = Events(
                self.epoch,
                last.sequence,
                (*last.events, *events[:begin]),
                None if matched is None else (*(last.matched or ()), *matched[:begin]),
            )
        while begin < len(events):
            fitting = _fitting(events, begin, self._options.max_events, self._options.max_bytes)
            end = begin + max(fitting, 1)
            ids = None if matched is None else tuple(matched[begin:end])
            self._keep(Events(self.epoch, self.next_sequence, tuple(events[begin:end]), ids))
            begin = end

    def say_bye(self) -> None:
        """Nothing comes after this."""
        self._keep(Bye(self.epoch, self.next_sequence))

    def _keep(self, message: Numbered) -> None:
        self._kept.append(message)
        self._changed_from = min(self._changed_from, message.sequence)
        self.next_sequence += 1

    # Sending.

    def ready(self, now: float) -> list[Numbered]:
        """What may be sent now for the first time, or again after a new greeting."""
        ahead = self.sent - self.acknowledged
        room = self._options.max_in_flight - ahead
        if room <= 0 or self.sent + 1 >= self.next_sequence:
            return []
        found = list(islice(self._kept, ahead, ahead + room))
        self.sent += len(found)
        self._ever_sent = max(self._ever_sent, self.sent)
        if self.due is None:
            self.due = now + self._options.retransmit_s
        return found

    def repeat(self, now: float) -> list[Numbered]:
        """What was sent long enough ago to be sent again."""
        if self.due is None or now < self.due:
            return []
        self._attempts += 1
        self.due = now + self._pause()
        return list(islice(self._kept, min(self.sent - self.acknowledged, _REPEATED)))

    def resume(self) -> None:
        """Nothing is in flight any more: the connection is another one."""
        self.sent = self.acknowledged
        self.due, self._attempts = None, 0

    def _pause(self) -> float:
        options = self._options
        # Doubled at most so often that the number stays one.
        pause = math.ldexp(options.retransmit_s, min(self._attempts, 30))
        return min(pause, options.retransmit_max_s)

    # Being acknowledged.

    def acknowledge(self, received: int, settled: int, now: float) -> None:
        """The other side has taken all up to ``received``; what is older says nothing new."""
        if received >= self.next_sequence or settled > received:
            raise MalformedMessageError(
                f"acknowledges {received} and settles {settled}, and {self.next_sequence - 1} is "
                "the last that was sent",
                field="received",
            )
        self.settled = max(self.settled, settled)
        if received <= self.acknowledged:
            return
        while self._kept and self._kept[0].sequence <= received:
            gone = self._kept.popleft()
            if isinstance(gone, Events):
                self.events -= len(gone.events)
        self.acknowledged = received
        self.sent = max(self.sent, received)
        self._attempts = 0
        self.due = now + self._options.retransmit_s if self.sent > received else None

    # Keeping.

    def kept(self) -> tuple[Numbered, ...]:
        """What is not acknowledged."""
        return tuple(self._kept)

    def changed(self) -> tuple[int, tuple[Numbered, ...]]:
        """From which sequence on what is kept is new since this was asked last, and that."""
        begin, self._changed_from = self._changed_from, self.next_sequence
        return begin, tuple(islice(self._kept, max(begin - self.acknowledged - 1, 0), None))

    def first_event(self) -> Published | None:
        """The first event among it."""
        messages = (each for each in self._kept if isinstance(each, Events) and each.events)
        first = next(messages, None)
        return None if first is None else first.events[0]

    def kept_events(self) -> list[tuple[Published, tuple[str, ...]]]:
        """The events among it, with what they matched."""
        found: list[tuple[Published, tuple[str, ...]]] = []
        for message in self._kept:
            if isinstance(message, Events):
                matched = message.matched or ((),) * len(message.events)
                found += zip(message.events, matched, strict=True)
        return found

    def restore(self, kept: Iterable[Numbered]) -> None:
        """Go on with what was not acknowledged."""
        self._kept = deque(kept)
        self._ever_sent = self.next_sequence - 1
        self.events = sum(len(each.events) for each in self._kept if isinstance(each, Events))
        self.resume()


def _size(event: Published) -> int:
    """How many bytes it is known to take."""
    return len(event.encoded or b"") + len(event.envelope or b"")


def _fitting(events: Sequence[Published], begin: int, most: int, most_bytes: int) -> int:
    """How many events, from one on, fit into so many bytes."""
    left = most_bytes
    for count, event in enumerate(islice(events, begin, begin + max(most, 0))):
        left -= _size(event)
        if left < 0:
            return count
    return min(max(most, 0), len(events) - begin)


class Incoming:
    """A stream that is received."""

    def __init__(self, epoch: int = 0, whole_at: int = 0) -> None:
        self.epoch = epoch
        self.received = 0
        self.whole_at = whole_at
        self._early: dict[int, Numbered] = {}

    @property
    def is_whole(self) -> bool:
        """Whether all that was announced at the beginning has come."""
        return self.epoch > 0 and self.received >= self.whole_at

    def offer(self, message: Numbered, ahead: int) -> None:
        """A message came; it is kept until its turn, unless it is known or too far ahead."""
        if message.epoch != self.epoch:
            raise WrongEpochError(
                f"a message of epoch {message.epoch}, but the hello said {self.epoch}",
                epoch=message.epoch,
                expected=self.epoch,
            )
        if message.sequence > self.received + ahead:
            raise OutOfOrderError(
                f"message {message.sequence} came, and {self.received + 1} is the next; at most "
                f"{ahead} may be on their way",
                sequence=message.sequence,
                expected=self.received + 1,
            )
        if message.sequence > self.received:
            self._early.setdefault(message.sequence, message)

    def next(self) -> Numbered | None:
        """The message whose turn it is, if it is there."""
        return self._early.get(self.received + 1)

    def next_events(self) -> Iterator[Events]:
        """The messages whose turn it is, one after the other, as far as they hold events."""
        sequence = self.received + 1
        while isinstance(message := self._early.get(sequence), Events):
            yield message
            sequence += 1

    def take(self) -> None:
        """The message whose turn it was has been taken."""
        self.received += 1
        del self._early[self.received]
