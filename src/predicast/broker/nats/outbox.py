"""``Outbox``: deliveries for any client of NATS, on a subject per subscription.

A subscription whose sink is ``nats:`` is read here, and each of its deliveries written to the
stream of deliveries, under an id by which a repeat is dropped; then it is acknowledged. From there
on it is the client's: it makes a consumer of JetStream, durable or not, in its own language.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from predicast.broker.nats.connection import MESSAGE_ID, Connection, Message
from predicast.broker.nats.consumer import NatsConsumer
from predicast.broker.nats.deliveries import Deliveries
from predicast.broker.nats.event_messages import AT, CONTENT_TYPE, POSITION, PUBLISHER
from predicast.broker.nats.inbox import ID
from predicast.broker.nats.names import TenantNames, header_text
from predicast.broker.nats.tasks import ended
from predicast.broker.sinks import NATS_SINK
from predicast.errors import BackendError, UnknownIdError
from predicast.protocol.records import Delivery

_TOGETHER: Final = 500  # deliveries that are written at once
_PAUSE_S: Final = 0.5


class Outbox:
    """One tenant's, in one process."""

    def __init__(
        self,
        connection: Connection,
        names: TenantNames,
        deliveries: Deliveries,
        consumer: Callable[[], NatsConsumer],
    ) -> None:
        self._connection = connection
        self._names = names
        self._deliveries = deliveries
        self._make = consumer
        self._consumer: NatsConsumer | None = None
        self._wanted: set[str] = set()  # subscriptions with such a sink
        self._read: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def changed(self, ids: Iterable[str]) -> None:
        """Look at subscriptions that were changed: there may be a million others."""
        held = self._deliveries.registry.held
        for id in ids:
            sink = held[id].definition.settings.sink if id in held else None
            if sink is not None and sink.url == NATS_SINK:
                self._wanted.add(id)
            else:
                self._wanted.discard(id)

    async def tick(self) -> None:
        """Read those subscriptions that have such a sink now."""
        wanted = set(self._wanted)
        if not wanted and self._consumer is None:
            return
        if self._consumer is None:
            await self._open()
            self._consumer = self._make()
            self._task = asyncio.create_task(self._run(self._consumer))
        if gone := self._read - wanted:
            await self._consumer.remove(gone)
            self._read -= gone
        for id in wanted - self._read:
            try:
                await self._consumer.add([id])
            except UnknownIdError:
                continue  # it went in the meantime
            self._read.add(id)

    async def _open(self) -> None:
        subjects = [self._names.delivery_subject("*", is_pattern=True)]
        await self._connection.make_event_stream(self._names.deliveries, subjects)

    async def _run(self, consumer: NatsConsumer) -> None:
        while True:
            try:
                await self._forward(consumer, await consumer.take(_TOGETHER))
            except BackendError:
                await asyncio.sleep(_PAUSE_S)  # what is not acknowledged comes again

    async def _forward(self, consumer: NatsConsumer, deliveries: list[Delivery]) -> None:
        await self._connection.write(
            [
                self._message(delivery, id)
                for delivery in deliveries
                for id in delivery.subscriptions
            ]
        )
        positions: dict[str, list[int]] = {}
        for delivery in deliveries:
            for id in delivery.subscriptions:
                positions.setdefault(id, []).append(delivery.event.position)
        await consumer.acknowledge_all(positions)

    def _message(self, delivery: Delivery, id: str) -> Message:
        event = delivery.event
        held = self._deliveries.registry.held.get(id)
        born = 0 if held is None else held.born
        headers = {
            MESSAGE_ID: f"{event.position} {born} {header_text(id)}",
            CONTENT_TYPE: event.form.value,
            AT: repr(event.at),
            ID: header_text(event.id),
            PUBLISHER: header_text(event.publisher),
            POSITION: str(event.position),
        }
        return Message(self._names.delivery_subject(id), event.body, headers)

    async def close(self) -> None:
        """Forward no more; the consumer is closed with all others."""
        await ended(self._task)
