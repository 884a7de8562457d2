"""``CatchingUp``: queues that read the log, because somebody asked to begin in the past.

What is kept behind the queue's cursor is matched anew, by what the subscription states now, a piece
at a time and only as it is taken: a replay of millions never waits in memory, and drops nothing. At
the end of the log the queue goes live.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from predicast.broker.backend import Start
from predicast.broker.embedded import chunks
from predicast.broker.embedded.journal import Kind, Settlement
from predicast.broker.embedded.queue import Queue
from predicast.broker.subscriptions import Subscriptions
from predicast.errors import DamagedStoreError, UnknownIdError
from predicast.protocol.bodies import attributes_if_readable
from predicast.protocol.records import Definition, NewEvent, Put, StoredEvent

if TYPE_CHECKING:
    from predicast.broker.embedded.held_tenant import HeldTenant
    from predicast.graph import Ontology

_PIECE: Final = 1024  # events that are read and matched at once
_FEW: Final = 512  # deliveries that wait, before more are looked for


class CatchingUp:
    """One tenant's."""

    def __init__(self, tenant: HeldTenant) -> None:
        self._tenant = tenant
        self._behind: dict[int, Queue] = {}
        self._starting: set[int] = set()
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def start(self, ids: Collection[str], start: Start) -> None:
        """Have queues begin there."""
        cursor = max(start.after or 0, self._tenant.first - 1)
        held = self._tenant.queues.held
        queues = [held[id] for id in ids if id in held]
        self._starting.update(queue.number for queue in queues)
        try:
            running = [self._tasks[q.number] for q in queues if q.number in self._tasks]
            await asyncio.gather(*running, return_exceptions=True)
            await asyncio.gather(*(self._begin(queue, cursor, start.since) for queue in queues))
        finally:
            self._starting.difference_update(queue.number for queue in queues)

    async def _begin(self, queue: Queue, cursor: int, since: float | None) -> None:
        if queue.is_durable:
            await self._tenant.settlements.keep(
                [Settlement(Kind.STARTED, queue.id, [cursor], since)],
                lambda: queue.restart(cursor, since),
            )
        else:
            for reader in queue.readers:
                reader.withdraw(queue.id)
            queue.restart(cursor, since)

    def go_on(self) -> None:
        """Deliveries went out: there may be room for more."""
        for queue in [*self._behind.values()]:
            self.look(queue)

    def look(self, queue: Queue) -> None:
        """Read on for a queue, if it is behind, somebody reads it, and there is room."""
        if queue.cursor is None:
            self._behind.pop(queue.number, None)
            return
        self._behind[queue.number] = queue
        if queue.number in self._tasks or queue.number in self._starting or not queue.readers:
            return
        if len(queue.waiting) < _FEW and len(queue) < queue.settings.max_pending:
            task = asyncio.create_task(self._read_on(queue))
            self._tasks[queue.number] = task
            task.add_done_callback(lambda _: self._tasks.pop(queue.number, None))

    async def _read_on(self, queue: Queue) -> None:
        try:
            while (
                queue.cursor is not None
                and queue.number not in self._starting
                and len(queue.waiting) < _FEW
                and len(queue) < queue.settings.max_pending
                and self._tenant.queues.held.get(queue.id) is queue
            ):
                await self._piece(queue, queue.cursor)
        except UnknownIdError:
            self._behind.pop(queue.number, None)  # it has ended meanwhile
        except DamagedStoreError as error:
            self._tenant.fail(error)

    async def _piece(self, queue: Queue, cursor: int) -> None:
        definition = await self._tenant.registry.definition(queue.id)
        head = self._tenant.publishing.head
        found = await self._tenant.readers.read(
            lambda c: chunks.events_after(
                c, self._tenant.number, cursor, since=queue.since, most=_PIECE
            )
        )
        ontology = self._tenant.ontology
        matching = await self._tenant.readers.run(lambda: _matching(definition, found, ontology))
        if queue.cursor != cursor:
            return  # somebody had it begin elsewhere meanwhile
        room = queue.settings.max_pending - len(queue)
        positions = [event.position for event in matching][:room]
        if len(positions) < len(matching):
            queue.cursor = positions[-1] if positions else cursor
        elif found:
            queue.cursor = found[-1].position
        else:
            queue.cursor = head
        self._note(queue, Kind.FETCHED, [queue.cursor, *positions])
        if not found and self._tenant.publishing.head == head:
            queue.cursor = queue.since = None
            self._note(queue, Kind.LIVE, [head])
        queue.refill(positions)

    def _note(self, queue: Queue, kind: Kind, positions: list[int]) -> None:
        if queue.is_durable:
            self._tenant.settlements.note(Settlement(kind, queue.id, positions))

    async def stop(self) -> None:
        """Read no more."""
        for task in [*self._tasks.values()]:
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


def _matching(
    definition: Definition, events: Sequence[StoredEvent], ontology: Ontology | None
) -> list[StoredEvent]:
    """Those of the events that a subscription matches by what it states now."""
    alone = Subscriptions(ontology)
    alone.apply([Put(definition)])
    readable = [
        (event, NewEvent(event.body, attributes, event.id, event.publisher, event.form))
        for event in events
        if (attributes := attributes_if_readable(event.form, event.body)) is not None
    ]
    matched = alone.match([new for _, new in readable])
    return [
        event
        for (event, _), (durable, ephemeral) in zip(readable, matched, strict=True)
        if durable or ephemeral
    ]
