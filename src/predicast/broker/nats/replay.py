"""``Replay``: what is kept is matched again, by what subscriptions state now."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Final

from predicast.broker.backend import Start
from predicast.broker.nats.connection import Connection
from predicast.broker.nats.deliveries import Deliveries
from predicast.broker.nats.event_messages import event_of
from predicast.broker.nats.names import TenantNames
from predicast.broker.nats.tail import read_between
from predicast.broker.subscriptions import Subscriptions
from predicast.errors import DamagedStoreError
from predicast.protocol.bodies import attributes_if_readable
from predicast.protocol.records import NewEvent, Put, StoredEvent

if TYPE_CHECKING:
    from collections.abc import Callable

_TOGETHER: Final = 2000  # events that are read and matched at once
_PATIENCE_S: Final = 60.0


class Replay:
    """Reads a tenant's events again."""

    def __init__(
        self,
        connection: Connection,
        names: TenantNames,
        deliveries: Deliveries,
        make: Callable[[], Subscriptions],
    ) -> None:
        self._connection = connection
        self._names = names
        self._deliveries = deliveries
        self._make = make

    async def start(self, ids: Sequence[str], start: Start) -> None:
        """Begin these subscriptions anew."""
        held = self._deliveries.registry.held
        subscriptions = self._make()
        subscriptions.apply([Put(held[id].definition) for id in ids])
        end = await self._connection.last_sequence(self._names.events)
        await self._deliveries.reached(end)
        positions: dict[str, list[int]] = {id: [] for id in ids}
        async for events in self.events(start.after or 0, end):
            wanted = [each for each in events if start.since is None or each.at >= start.since]
            for event, matched in zip(wanted, _matched(subscriptions, wanted), strict=True):
                for id in matched:
                    positions[id].append(event.position)
        queues = [queue for id in ids if (queue := self._deliveries.queues.get(id)) is not None]
        for queue in queues:
            queue.replay(positions[queue.id], end)
        await self._deliveries.keep(queues)

    async def events(self, after: int, end: int) -> AsyncIterator[list[StoredEvent]]:
        """What is kept after one position and up to another, in parts."""
        first = await self._connection.first_sequence(self._names.events)
        after = max(after, first - 1)
        while after < end:
            upto = min(after + _TOGETHER, end)
            found = []
            for message in await read_between(
                self._connection, self._names.events, after, upto, _PATIENCE_S
            ):
                try:
                    found.append(event_of(message).event)
                except DamagedStoreError:
                    continue  # counted where events are followed
            yield found
            after = upto


def _matched(subscriptions: Subscriptions, events: Sequence[StoredEvent]) -> list[list[str]]:
    """The ids that match each event; none of one that cannot be read."""
    found: list[list[str]] = [[] for _ in events]
    given = [
        (place, attributes_if_readable(event.form, event.body))
        for place, event in enumerate(events)
    ]
    readable = [
        (place, NewEvent(b"", attributes, "", ""))
        for place, attributes in given
        if attributes is not None
    ]
    answers = subscriptions.match([event for _, event in readable])
    for (place, _), matched in zip(readable, answers, strict=True):
        found[place] = matched.durable
    return found
