"""``Tenant``: everything that one tenant may do with a broker, and nothing about any other.

The server, sessions, links and the console go through here, whichever backend keeps things.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from predicast.broker.backend import Backend, Consumer, Longest
from predicast.broker.clock import Clock
from predicast.broker.latencies import Latencies
from predicast.broker.near_misses import NearMisses, near_misses
from predicast.broker.settings import check_settings
from predicast.broker.subscriptions import Subscriptions, next_revision
from predicast.engine import Report
from predicast.errors import ChangedMeanwhileError, InvalidParameterError
from predicast.protocol.delivery_frames import DeliveryFrames
from predicast.protocol.frames import Framing
from predicast.protocol.records import (
    Adjust,
    DeadLetter,
    Definition,
    NewEvent,
    Put,
    Receipt,
    RegistryOperation,
    Remove,
    StoredEvent,
)

if TYPE_CHECKING:
    from predicast.engine import Explanation
    from predicast.graph import GraphExplanation


class Recipient(NamedTuple):
    """A subscription that an event would go to, and why."""

    id: str
    is_durable: bool
    explanation: Explanation | GraphExplanation


class Recipients(NamedTuple):
    """Who an event would go to: how many, and the first of them by id."""

    total: int
    first: list[Recipient]


def with_settings(before: Definition, **settings: Any) -> dict[str, Any]:
    """The fields of a change that gives some settings new values."""
    return {"settings": msgspec.structs.replace(before.settings, **settings)}


class Tenant:
    """One tenant's view of a broker."""

    def __init__(self, name: str, backend: Backend, clock: Clock) -> None:
        self.name = name
        self._backend = backend
        self._clock = clock
        self.publish_latencies = Latencies()  # from publish to acknowledgement, of each event
        self._watchers: list[Callable[[], None]] = []
        self._delivery_frames: dict[Framing, DeliveryFrames] = {}

    def watch(self, watcher: Callable[[], None]) -> None:
        """Have it called whenever a window was run here or events were kept.

        What became of them is looked up; it is said at once, so that the watcher does no more than
        wake somebody.
        """
        self._watchers.append(watcher)

    def _wake_watchers(self) -> None:
        for watcher in self._watchers:
            watcher()

    # Subscriptions.

    async def subscribe(self, definition: Definition) -> Definition:
        """Add a subscription; what it became is returned."""
        made = msgspec.structs.replace(definition, created=self._clock.wall(), revision=1)
        await self.apply([Put(made)])
        return made

    async def change(
        self, id: str, change: Callable[[Definition], Mapping[str, Any]]
    ) -> Definition:
        """Give some fields of a definition new values, which ``change`` makes from the old ones.

        Parameters alone are changed in place. If somebody else changes the definition meanwhile,
        ``change`` is asked again, so that neither undoes what the other did.
        """
        while True:
            before = await self._backend.definition(self.name, id)
            fields = dict(change(before))
            if not fields:
                return before
            if set(fields) == {"parameters"} and fields["parameters"] is not None:
                await self.apply([Adjust(id, fields["parameters"])])
                return await self._backend.definition(self.name, id)
            if "expression" in fields and "parameters" not in fields:
                fields["parameters"] = None
            after = next_revision(msgspec.structs.replace(before, **fields), before)
            try:
                await self.apply([Put(after, replace=True, over=before.revision)])
            except ChangedMeanwhileError:
                continue
            return after

    async def unsubscribe(self, id: str) -> None:
        """End a subscription."""
        await self.apply([Remove(id)])

    async def apply(self, window: Sequence[RegistryOperation]) -> Report:
        """Run a window of operations, all or nothing."""
        for step in window:
            if isinstance(step, Put):
                check_settings(step.definition.settings, self._backend.own_sinks)
            elif isinstance(step, Adjust) and not step.parameters:
                raise InvalidParameterError(f"no parameter of {step.id!r} is given a value")
        report = await self._backend.change(self.name, window)
        self._wake_watchers()
        return report

    @property
    def subscriptions(self) -> Subscriptions:
        """What is wanted, for whoever asks it; changes go through ``apply``."""
        return self._backend.subscriptions(self.name)

    async def definition(self, id: str) -> Definition:
        """The subscription, or an ``UnknownIdError``."""
        return await self._backend.definition(self.name, id)

    async def definitions(
        self,
        *,
        owner: str | None = None,
        text: str | None = None,
        after: str | None = None,
        most: int = 100,
    ) -> list[Definition]:
        """Those of the owner whose id or expression has the text in it, by id, after that one."""
        return await self._backend.definitions(
            self.name, owner=owner, text=text, after=after, most=most
        )

    async def with_sinks(self) -> list[Definition]:
        """Those whose deliveries are sent somewhere."""
        return await self._backend.with_sinks(self.name)

    def is_durable(self, id: str) -> bool:
        """Whether what the subscription matches is kept for it, until it is acknowledged."""
        return self._backend.subscriptions(self.name).is_durable(id)

    def __len__(self) -> int:
        """How many subscriptions there are."""
        return len(self._backend.subscriptions(self.name))

    # Events.

    async def publish(self, events: Sequence[NewEvent]) -> list[Receipt]:
        """Keep, match and deliver events, in this order."""
        began = self._clock.steady()
        receipts = await self._backend.publish(self.name, events)
        self.publish_latencies.add(self._clock.steady() - began, len(events))
        self._wake_watchers()
        return receipts

    def dry_run(self, events: Sequence[NewEvent], most: int = 100) -> list[Recipients]:
        """Who would get each event, and why; nothing is kept or delivered."""
        held = self._backend.subscriptions(self.name)
        recipients = []
        for event, matched in zip(events, held.match(events), strict=True):
            ids = sorted([*matched.durable, *matched.ephemeral])
            first = [
                Recipient(id, held.is_durable(id), held.explain(id, event)) for id in ids[:most]
            ]
            recipients.append(Recipients(len(ids), first))
        return recipients

    def explain(self, id: str, event: NewEvent) -> Explanation | GraphExplanation:
        """Why a subscription matches the event, or why not."""
        return self._backend.subscriptions(self.name).explain(id, event)

    async def near_misses(self, event: NewEvent, most: int = 20) -> NearMisses:
        """Who would have the event, had one test come out otherwise.

        It may take a second where there are many subscriptions, so it holds nobody up.
        """
        held = self._backend.subscriptions(self.name)
        return await asyncio.to_thread(near_misses, held, event, most)

    async def events(
        self, *, after: int = 0, since: float | None = None, most: int = 100
    ) -> list[StoredEvent]:
        """What is kept, by position: after that one, or from that time on."""
        return await self._backend.events(self.name, after=after, since=since, most=most)

    async def latest(self, most: int) -> list[StoredEvent]:
        """The last events that are kept, by position."""
        return await self._backend.latest(self.name, most)

    # Deliveries.

    async def consumer(self) -> Consumer:
        """A reader of deliveries, of nothing yet."""
        return await self._backend.consumer(self.name)

    def delivery_frames(self, framing: Framing) -> DeliveryFrames:
        """What all connections that speak like this write deliveries with."""
        return self._delivery_frames.setdefault(framing, DeliveryFrames(framing))

    async def recipients(self, position: int) -> Mapping[str, str]:
        """Who matched a kept event, and what became of each delivery."""
        return await self._backend.recipients(self.name, position)

    async def dead_letters(
        self, *, subscription: str | None = None, most: int = 100
    ) -> list[DeadLetter]:
        """Deliveries that were given up, the latest first."""
        return await self._backend.dead_letters(self.name, subscription=subscription, most=most)

    async def try_again(self, subscription: str, positions: Sequence[int]) -> int:
        """Deliver dead letters once more; how many there were."""
        return await self._backend.try_again(self.name, subscription, positions)

    async def pending(self, ids: Sequence[str] | None = None) -> Mapping[str, int]:
        """How many deliveries wait, by durable subscription."""
        return await self._backend.pending(self.name, ids)

    async def longest(self, most: int) -> Longest:
        """The durable subscriptions for which most deliveries wait."""
        return await self._backend.longest(self.name, most)

    def statistics(self) -> Mapping[str, float]:
        """Counts since the start and sizes now."""
        return self._backend.statistics(self.name)
