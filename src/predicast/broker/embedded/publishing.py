"""``Publishing``: a tenant's pump. Events that wait are matched together and written together.

While one chunk is being written the next one is matched. Publishers hear of their events when these
are on disk; then they are handed to queues, in the order of their positions. What has no room is
refused, and leaves a gap between positions.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from predicast.broker.clock import Clock
from predicast.broker.embedded import chunks, tenants
from predicast.broker.embedded.options import EmbeddedOptions
from predicast.broker.embedded.queue import Terms
from predicast.broker.embedded.queues import TenantQueues
from predicast.broker.embedded.readers import Readers
from predicast.broker.embedded.recent_events import RecentEvents
from predicast.broker.embedded.registry import Registry
from predicast.broker.embedded.repeats import Repeats
from predicast.broker.embedded.writer import Writer
from predicast.broker.subscriptions import Matched
from predicast.errors import BackendError, InvalidEventError, PredicastError
from predicast.protocol.records import NewEvent, Receipt, StoredEvent

_AHEAD: Final = 4  # chunks that are matched and not on disk


class _Call(NamedTuple):
    """Somebody who publishes, and waits."""

    events: Sequence[NewEvent]
    receipts: list[Receipt]
    outcome: asyncio.Future[None]


class _Batch(NamedTuple):
    """What is matched together."""

    first: int
    at: float
    fresh: list[NewEvent]
    calls: list[_Call]  # that end with it


class _Matches(NamedTuple):
    """Whom a batch is for, and how those are served that have no queue yet.

    That is looked up where it is in nobody's way; it holds as long as there was no other change.
    """

    matched: list[Matched]
    terms: Mapping[str, Terms]
    change: int
    chunk: chunks.Chunk


class Publishing:
    """One tenant's. ``head`` is the last position that queues have heard of."""

    def __init__(
        self,
        tenant: int,
        name: str,
        writer: Writer,
        readers: Readers,
        clock: Clock,
        options: EmbeddedOptions,
    ) -> None:
        self._tenant = tenant
        self._name = name
        self._writer = writer
        self._readers = readers
        self._clock = clock
        self._options = options
        self.registry: Registry
        self.queues: TenantQueues
        self.repeats = Repeats(options.repeat_window)
        self.recent = RecentEvents(options.recent_bytes)
        self.head = 0
        self.next_position = 1
        self.kept = 0  # events since the start
        self.repeated = 0
        self.size = 0  # bytes of all bodies that are kept
        self.events = 0  # that are kept
        self._waiting: deque[_Call] = deque()
        self._arrived = asyncio.Event()
        self._room = asyncio.Semaphore(_AHEAD)
        self._task: asyncio.Task[None] | None = None

    async def publish(self, events: Sequence[NewEvent]) -> list[Receipt]:
        """Keep the events, in this order, match and deliver them."""
        if not events:
            return []
        _check_names(events)
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        call = _Call(events, [], asyncio.get_running_loop().create_future())
        self._waiting.append(call)
        self._arrived.set()
        await call.outcome
        return call.receipts

    async def stop(self) -> None:
        """Finish what was begun."""
        if self._task is None:
            return
        if self._waiting:
            await asyncio.wait([self._waiting[-1].outcome])
        for _ in range(_AHEAD):
            await self._room.acquire()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._task = None

    async def _run(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            while self._waiting:
                await self._room.acquire()
                await self._pump(self._gathered())

    async def _pump(self, batch: _Batch) -> None:
        try:
            self._hand_in(batch, await self._readers.run(lambda: self._matched(batch)))
        except PredicastError as error:
            self._finish(batch, error)
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
            self._finish(batch, BackendError(f"events cannot be matched: {error!r}"))

    def _gathered(self) -> _Batch:
        """As many of those that wait as go together; what was published as one stays so."""
        batch = _Batch(self.next_position, self._clock.wall(), [], [])
        while self._waiting:
            most = self._options.batch_events - len(batch.fresh)
            if batch.fresh and len(self._waiting[0].events) > most:
                break
            call = self._waiting.popleft()
            self._place(call, batch.fresh)
            batch.calls.append(call)
        self.next_position += len(batch.fresh)
        return batch

    def _place(self, call: _Call, fresh: list[NewEvent]) -> None:
        repeats, receipts = self.repeats, call.receipts
        position = self.next_position + len(fresh)
        for event in call.events:
            known = repeats.position(event.publisher, event.id)
            if known is None:
                receipts.append(Receipt(position, event.id))
                repeats.add(event.publisher, event.id, position)
                fresh.append(event)
                position += 1
            else:
                self.repeated += 1
                receipts.append(Receipt(known, event.id, is_repeat=True))

    def _matched(self, batch: _Batch) -> _Matches | None:
        if not batch.fresh:
            return None
        matched = self.registry.subscriptions.match(batch.fresh)
        durable = [each.durable for each in matched]
        chunk = chunks.encoded(batch.first, batch.at, batch.fresh, durable)
        change, held = self.registry.last_change, self.queues.held
        missing = {id for ids in durable for id in ids if id not in held}
        terms = self.registry.terms_of([*missing]) if missing else {}
        return _Matches(matched, terms, change, chunk)

    def _hand_in(self, batch: _Batch, matches: _Matches | None) -> None:
        def work(connection: sqlite3.Connection) -> None:
            if matches is not None:
                tenants.add(connection, self._tenant, self._name)
                chunks.insert(connection, self._tenant, matches.chunk)

        def done(_: Any, error: PredicastError | None) -> None:
            if error is None and matches is not None:
                self._deliver(batch, matches)
            self._finish(batch, error)

        self._writer.submit(work, done)

    def _deliver(self, batch: _Batch, matches: _Matches) -> None:
        first, at, size = batch.first, batch.at, matches.chunk.size
        stored = [
            StoredEvent(position, at, event.id, event.publisher, event.form, event.body)
            for position, event in enumerate(batch.fresh, first)
        ]
        self.recent.add(stored, size)
        if matches.change == self.registry.last_change:
            self.queues.make_with(matches.terms)
        self.queues.deliver(first, matches.matched)
        self.head = stored[-1].position
        self.kept += len(stored)
        self.events += len(stored)
        self.size += size

    def _finish(self, batch: _Batch, error: PredicastError | None) -> None:
        self._room.release()
        if error is not None:
            for position, event in enumerate(batch.fresh, batch.first):
                self.repeats.forget(event.publisher, event.id, position)
        for call in batch.calls:
            if call.outcome.done():
                continue
            if error is None and self._are_kept(call):
                call.outcome.set_result(None)
            else:
                call.outcome.set_exception(error or BackendError("an event was not kept"))

    def _are_kept(self, call: _Call) -> bool:
        """Whether events of earlier batches that a call repeats were kept as well."""
        return all(
            self.repeats.position(event.publisher, event.id) == receipt.position
            for event, receipt in zip(call.events, call.receipts, strict=True)
            if receipt.is_repeat
        )


def _check_names(events: Sequence[NewEvent]) -> None:
    """Refuse what cannot be written, before it is put together with what can."""
    try:
        "".join([name for event in events for name in (event.id, event.publisher)]).encode()
    except UnicodeEncodeError:
        raise InvalidEventError(
            "the id and the publisher of an event are Unicode, without halves of characters"
        ) from None
