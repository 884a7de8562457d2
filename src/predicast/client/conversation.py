"""``Conversation``: what a client has said and not been answered, without a network.

It outlives connections. On each new one ``connected`` says what makes it whole: who publishes,
ephemeral subscriptions once more, what is consumed, credit, and the requests that have no answer.
Events go out under the ids that they had, so that the broker knows what it has taken. A window
whose answer was lost may have been run or not, and running it twice is not the same: that is
refused with a ``NotConnectedError`` which says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from predicast.client.received import ReceivedDelivery
from predicast.client.stream import Stream
from predicast.errors import NotConnectedError, PredicastError
from predicast.protocol import frames
from predicast.protocol.errors import raised
from predicast.protocol.records import Definition, Delivery, StoredEvent

_RUN_TWICE_IS_ANOTHER: Final = (frames.Window, frames.ChangeDefinition)


class Pending(NamedTuple):
    """A request without an answer, and who waits for it."""

    frame: frames.ClientFrame
    answer: asyncio.Future[Any]


class Conversation:
    """What is said on connections, one after the other; ``more`` is called when there is more."""

    def __init__(
        self, framing: frames.Framing, publisher: str, credit: int, more: Callable[[], None]
    ) -> None:
        self.framing = framing
        self.publisher = publisher
        self.welcome: frames.Welcome | None = None
        self._credit = credit
        self._more = more
        self._numbers = 0
        self._pending: dict[int, Pending] = {}
        self._outgoing: list[bytes] = []
        # Acknowledgements since the last message: many become one.
        self._acknowledged: dict[tuple[str, ...] | None, list[int]] = {}
        self._is_connected = False
        self._streams: dict[str, Stream] = {}  # by the ids of subscriptions
        self._ephemeral: dict[str, Definition] = {}
        self._consumed: set[str] = set()
        self._taken = 0  # deliveries for which credit was not given back yet

    # What the client says.

    def ask(self, frame: frames.ClientFrame) -> asyncio.Future[Any]:
        """Say it, now or on the next connection; what comes back is its answer."""
        self._numbers += 1
        frame.request = self._numbers
        pending = Pending(frame, asyncio.get_running_loop().create_future())
        self._pending[frame.request] = pending
        if self._is_connected:
            self._say(frame)
        return pending.answer

    def say(self, frame: frames.ClientFrame) -> None:
        """Say what has no answer; without a connection it is not said at all."""
        if not self._is_connected:
            return
        if isinstance(frame, frames.Acknowledge):
            ids = None if frame.subscriptions is None else tuple(frame.subscriptions)
            self._acknowledged.setdefault(ids, []).extend(frame.positions)
            self._more()
        else:
            self._say(frame)

    def _say(self, frame: frames.ClientFrame) -> None:
        self._outgoing.append(self.framing.encode(frame))
        self._more()

    def messages(self) -> list[bytes]:
        """What is to be sent, in order; each once."""
        taken, self._outgoing = self._outgoing, []
        for ids, positions in self._acknowledged.items():
            named = None if ids is None else list(ids)
            frame = frames.Acknowledge(positions=positions, subscriptions=named)
            taken.append(self.framing.encode(frame))
        self._acknowledged.clear()
        return taken

    # Streams.

    def open_stream(self, stream: Stream) -> None:
        """Send it what comes for its ids."""
        for id in stream.ids:
            self._streams[id] = stream

    def keep_ephemeral(self, definition: Definition) -> None:
        """Make the subscription anew on every connection from now on."""
        self._ephemeral[definition.id] = definition

    def keep_consumed(self, ids: Iterable[str]) -> None:
        """Consume these durable ones on every connection from now on."""
        self._consumed.update(ids)

    def close_stream(self, stream: Stream) -> list[str]:
        """Send it nothing more. Those of its subscriptions are returned that end with it."""
        ended = [id for id in stream.ids if self._ephemeral.pop(id, None) is not None]
        for id in stream.ids:
            if self._streams.get(id) is stream:
                del self._streams[id]
                self._consumed.discard(id)
        self.taken(stream.forget())
        return ended

    def taken(self, count: int) -> None:
        """So many deliveries were taken from streams: as many more may come."""
        self._taken += count
        if self._taken * 2 >= self._credit:
            self.say(frames.Credit(deliveries=self._taken))
            self._taken = 0

    # Connections.

    def connected(self) -> None:
        """A new connection is there, on which nothing was said yet."""
        self._is_connected = True
        waiting = sum(stream.forget_durable() for stream in set(self._streams.values()))
        self._taken = 0
        self._say(frames.Hello(publisher=self.publisher))
        if self._ephemeral:
            again: list[frames.WireOperation] = [
                frames.WirePut(each, replace=True) for each in self._ephemeral.values()
            ]
            self._say(frames.Window(operations=again))
        if self._consumed:
            self._say(frames.Consume(ids=sorted(self._consumed)))
        self._say(frames.Credit(deliveries=max(0, self._credit - waiting)))
        for pending in self._pending.values():
            self._say(pending.frame)

    def disconnected(self, url: str) -> None:
        """The connection is gone, with what was on its way."""
        self._is_connected = False
        self._outgoing.clear()
        self._acknowledged.clear()
        for number, (frame, answer) in list(self._pending.items()):
            if isinstance(frame, _RUN_TWICE_IS_ANOTHER):
                del self._pending[number]
                _fail(
                    answer,
                    NotConnectedError(
                        "the connection was lost before the answer: the change may have been made "
                        "or not; look at the subscription and ask again",
                        url=url,
                    ),
                )

    def fail(self, error: PredicastError) -> None:
        """Nobody will be answered any more, nor receive anything."""
        self._is_connected = False
        for pending in self._pending.values():
            _fail(pending.answer, error)
        self._pending.clear()
        for stream in set(self._streams.values()):
            stream.end(error)

    # What the broker says.

    def receive(self, data: bytes | str) -> None:
        """Take one message."""
        frame = self.framing.broker_frame(data.encode() if isinstance(data, str) else data)
        if isinstance(frame, frames.Deliveries):
            for each in frame.batch:
                self._receive_delivery(each)
        elif isinstance(frame, frames.Dropped):
            for id, count in frame.counts.items():
                if id in self._streams:
                    dropped = self._streams[id].dropped
                    dropped[id] = dropped.get(id, 0) + count
        elif isinstance(frame, frames.Welcome):
            self.welcome = frame
        else:
            self._receive_answer(frame)

    def _receive_answer(self, frame: frames.BrokerFrame) -> None:
        pending = self._pending.pop(frame.request, None)
        if isinstance(frame, frames.Refused):
            error = raised(frame.error, frame.message, frame.fields)
            if pending is not None:
                _fail(pending.answer, error)
            else:  # it is about what made this connection whole
                for stream in set(self._streams.values()):
                    stream.end(error)
        elif pending is not None and not pending.answer.done():
            pending.answer.set_result(frame)

    def _receive_delivery(self, wire: frames.WireDelivery) -> None:
        body = self.framing.unpacked(wire.body, wire.form)
        event = StoredEvent(wire.position, wire.at, wire.id, wire.publisher, wire.form, body)
        by_stream: dict[Stream, list[str]] = {}
        for id in wire.subscriptions:
            stream = self._streams.get(id)
            if stream is not None:
                by_stream.setdefault(stream, []).append(id)
        for stream, ids in by_stream.items():
            delivery = Delivery(event, tuple(ids), wire.attempt)
            is_all = len(ids) == len(wire.subscriptions)
            stream.put(ReceivedDelivery(delivery, self.say, stream.durable, is_all=is_all))
        # One credit was used; each stream gives one back.
        self.taken(1 - len(by_stream))


def _fail(answer: asyncio.Future[Any], error: PredicastError) -> None:
    if not answer.done():
        answer.set_exception(error)
