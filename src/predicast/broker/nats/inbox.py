"""``Inbox``: what any client of NATS publishes is taken as if it had come to a broker.

Clients publish to ``predicast.<tenant>.publish.<partition>.<publisher>``. Each partition is read by
one of the processes that live, in order, and a publisher that keeps to one partition keeps its
order. Who reads which follows from who lives, so that nobody need agree on it: for a moment two
may read the same partition, and what both have taken is a repeat that JetStream drops.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from typing import Final

import msgspec

from predicast.broker.nats.connection import MESSAGE_ID, Connection, Message, StreamMessage
from predicast.broker.nats.event_messages import CONTENT_TYPE, form_of
from predicast.broker.nats.names import Bucket, TenantNames, name_of
from predicast.broker.nats.processes import Processes
from predicast.broker.nats.publishing import Publishing
from predicast.broker.nats.tail import Tail
from predicast.broker.nats.tasks import ended
from predicast.errors import BackendError, LimitReachedError
from predicast.protocol.bodies import attributes_if_readable
from predicast.protocol.records import BodyForm, NewEvent

ID: Final = "Predicast-Id"
_TOGETHER: Final = 500  # messages that are taken at once
_AHEAD: Final = 5000  # that may wait in memory
_PAUSE_S: Final = 0.5


def new_event(message: StreamMessage) -> NewEvent | None:
    """The event that a message states; nothing if it cannot be read.

    Its id is what the publisher says, or the message's place: the same when it is read again.
    """
    headers = message.headers
    form = form_of(headers.get(CONTENT_TYPE, BodyForm.JSON.value))
    attributes = None if form is None else attributes_if_readable(form, message.data)
    if form is None or attributes is None:
        return None
    id = headers.get(ID) or headers.get(MESSAGE_ID) or f"{message.subject}:{message.sequence}"
    publisher = name_of(message.subject.rpartition(".")[2])
    return NewEvent(message.data, attributes, id, publisher, form)


class Partition:
    """One partition, while this process reads it."""

    def __init__(
        self,
        connection: Connection,
        names: TenantNames,
        number: int,
        after: int,
        publishing: Publishing,
    ) -> None:
        self.unreadable = 0
        self._connection = connection
        self._publishing = publishing
        self._key = position_key(names, number)
        self._messages: deque[StreamMessage] = deque()
        self._came = asyncio.Event()
        self._tail = Tail(
            connection,
            names.inbox,
            after,
            self._handle,
            subject=f"{names.inbox_subject}.{number}.*",
            wants=lambda: len(self._messages) < _AHEAD,
        )
        self._tail.start()
        self._task = asyncio.create_task(self._run())

    def _handle(self, messages: list[StreamMessage]) -> None:
        self._messages.extend(messages)
        self._came.set()

    async def _run(self) -> None:
        while True:
            self._came.clear()
            while self._messages:
                together = [
                    self._messages.popleft() for _ in range(min(_TOGETHER, len(self._messages)))
                ]
                await self._take(together)
            await self._came.wait()

    async def _take(self, messages: list[StreamMessage]) -> None:
        found = [new_event(message) for message in messages]
        events = [event for event in found if event is not None]
        while True:
            try:
                await self._publish(events)
                await self._connection.write([self._position(messages[-1].sequence)])
                break
            except BackendError:
                await asyncio.sleep(_PAUSE_S)  # what was taken already is a repeat then
        self.unreadable += len(messages) - len(events)

    async def _publish(self, events: list[NewEvent]) -> None:
        try:
            await self._publishing.publish(events)
        except LimitReachedError:
            if len(events) == 1:
                self.unreadable += 1
                return
            for event in events:
                await self._publish([event])

    def _position(self, sequence: int) -> Message:
        data = msgspec.json.encode(sequence)
        return Message(self._key, data, {MESSAGE_ID: uuid.uuid4().hex})

    async def close(self) -> None:
        """Read it no longer."""
        await ended(self._task)
        await self._tail.stop()


def positions_of(names: TenantNames) -> Bucket:
    """The bucket of how far partitions have been taken."""
    return Bucket(f"{names.inbox}_positions")


def position_key(names: TenantNames, number: int) -> str:
    """Where it stands how far a partition has been taken."""
    return positions_of(names).subject(str(number))


class Inbox:
    """The partitions of a tenant that this process reads."""

    def __init__(
        self,
        connection: Connection,
        names: TenantNames,
        processes: Processes,
        publishing: Publishing,
    ) -> None:
        self._connection = connection
        self._names = names
        self._processes = processes
        self._publishing = publishing
        self._mine: dict[int, Partition] = {}
        self._unreadable = 0  # in partitions that are no longer read here

    @property
    def unreadable(self) -> int:
        """Messages that were no events, since the start."""
        return self._unreadable + sum(each.unreadable for each in self._mine.values())

    async def open(self) -> None:
        """Make what clients publish to."""
        subjects = [f"{self._names.inbox_subject}.*.*"]
        await self._connection.make_event_stream(self._names.inbox, subjects)
        await self._connection.make_bucket(positions_of(self._names))

    async def tick(self) -> None:
        """Read those partitions that are this process's now."""
        alive = self._processes.alive()
        for number in range(self._connection.options.partitions):
            is_mine = bool(alive) and alive[number % len(alive)] == self._processes.name
            if is_mine and number not in self._mine:
                self._mine[number] = Partition(
                    self._connection,
                    self._names,
                    number,
                    await self._position(number),
                    self._publishing,
                )
            elif not is_mine and number in self._mine:
                await self._let_go(number)

    async def _position(self, number: int) -> int:
        key = position_key(self._names, number)
        found = await self._connection.get_last(positions_of(self._names).stream, key)
        return 0 if found is None else int(msgspec.json.decode(found.data))

    async def _let_go(self, number: int) -> None:
        partition = self._mine.pop(number)
        await partition.close()
        self._unreadable += partition.unreadable

    async def close(self) -> None:
        """Read no more."""
        for number in list(self._mine):
            await self._let_go(number)
