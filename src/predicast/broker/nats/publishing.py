"""``Publishing``: events that wait are matched together and written in one go.

The next ones are matched when the last ones are confirmed: so what a publisher sends stays in
order, whatever happens to the server in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from predicast.broker.clock import Clock
from predicast.broker.nats.connection import Connection, Message
from predicast.broker.nats.event_messages import event_message
from predicast.broker.nats.names import TenantNames
from predicast.broker.nats.registry import Registry
from predicast.broker.subscriptions import Matched
from predicast.errors import LimitReachedError
from predicast.protocol.records import NewEvent, Receipt

_TOGETHER: Final = 1000  # events that are matched and written at once
_BYTES: Final = 16 << 20  # of their bodies


class _Waiting(NamedTuple):
    events: Sequence[NewEvent]
    receipts: asyncio.Future[list[Receipt]]


class Publishing:
    """One tenant's, in one process."""

    def __init__(
        self,
        connection: Connection,
        names: TenantNames,
        registry: Registry,
        clock: Clock,
        match: Callable[[Sequence[NewEvent], int], Awaitable[list[Matched]]],
    ) -> None:
        """``match`` is told the events, and the last window that was applied."""
        self.position = 0  # of the last event that was written here
        self.counts = {"events_published": 0, "events_repeated": 0}
        self._connection = connection
        self._names = names
        self._registry = registry
        self._clock = clock
        self._match = match
        self._waiting: list[_Waiting] = []
        self._task: asyncio.Task[None] | None = None

    async def publish(self, events: Sequence[NewEvent]) -> list[Receipt]:
        """Keep the events, in this order, with what they match."""
        if not events:
            return []
        receipts: asyncio.Future[list[Receipt]] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(events, receipts))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return await receipts

    async def close(self) -> None:
        """Finish what was begun."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while self._waiting:
            together = self._together()
            try:
                await self._take(together)
            except Exception as error:  # noqa: BLE001 - each caller is told
                for each in together:
                    if not each.receipts.done():
                        each.receipts.set_exception(error)

    def _together(self) -> list[_Waiting]:
        """Those that wait, up to a bound."""
        count = size = taken = 0
        for each in self._waiting:
            count += len(each.events)
            size += sum(len(event.body) for event in each.events)
            if taken and (count > _TOGETHER or size > _BYTES):
                break
            taken += 1
        together, self._waiting = self._waiting[:taken], self._waiting[taken:]
        return together

    async def _take(self, together: list[_Waiting]) -> None:
        as_of = await self._registry.catch_up()
        events = [event for each in together for event in each.events]
        matched = iter(await self._match(events, as_of))
        at, subject = self._clock.wall(), self._names.event_subject
        messages: list[Message] = []
        taken = []
        for each in together:
            mine = [event_message(subject, event, at, next(matched)) for event in each.events]
            try:
                self._connection.check_sizes(mine)
            except LimitReachedError as error:
                each.receipts.set_exception(error)
                continue
            messages += mine
            taken.append(each)
        written = iter(await self._connection.write(messages))
        for each in taken:
            receipts = [
                Receipt(place.sequence, event.id, place.is_repeat)
                for event, place in zip(each.events, written, strict=False)
            ]
            self._count(receipts)
            if not each.receipts.done():
                each.receipts.set_result(receipts)

    def _count(self, receipts: list[Receipt]) -> None:
        repeats = sum(receipt.is_repeat for receipt in receipts)
        self.counts["events_repeated"] += repeats
        self.counts["events_published"] += len(receipts) - repeats
        self.position = max(self.position, *(receipt.position for receipt in receipts))
