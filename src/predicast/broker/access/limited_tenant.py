"""``LimitedTenant``: a tenant that cannot have or send more than it may.

Requests, sessions and whatever else acts for a tenant are given this one, so that no way in is
without limits. Whoever has to know of changes, as webhooks do, hears of them here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from predicast.broker.access.buckets import TokenBucket
from predicast.broker.access.costs import check_costs
from predicast.broker.access.limits import Limits
from predicast.broker.broker import Broker
from predicast.broker.sinks import check_not_inside, is_webhook
from predicast.broker.tenant import Tenant
from predicast.engine import Report
from predicast.errors import LimitReachedError
from predicast.protocol.records import (
    Adjust,
    Definition,
    NewEvent,
    Put,
    Receipt,
    RegistryOperation,
    Remove,
)

ChangeHeard: TypeAlias = Callable[[Tenant, Sequence[RegistryOperation]], None]


class LimitedTenant(Tenant):
    """One tenant's view of a broker, within its limits."""

    def __init__(
        self,
        name: str,
        broker: Broker,
        limits: Limits,
        on_change: ChangeHeard | None = None,
        private_sinks: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(name, broker.backend, broker.clock)
        self.limits = limits
        self._on_change = on_change
        self._private_sinks = private_sinks
        self._coming = 0  # subscriptions of windows that are not done yet
        rate = limits.events_per_second
        self._bucket = None if rate is None else TokenBucket(rate, limits.burst)

    async def apply(self, window: Sequence[RegistryOperation]) -> Report:
        """Run a window of operations, all or nothing."""
        self._check_size("operations of a window", len(window), self.limits.window)
        if not self._private_sinks():
            for step in window:
                if isinstance(step, Put) and not step.definition.settings.paused:
                    sink = step.definition.settings.sink
                    if sink is not None and is_webhook(sink.url):
                        check_not_inside(sink.url)
        if self.limits.cost != "high":
            stated = await self._stated(window)
            await asyncio.to_thread(check_costs, stated, self.limits.cost)
        more = self._more(window)
        if more > 0:
            wanted = len(self) + self._coming + more
            self._check_size("subscriptions", wanted, self.limits.subscriptions)
        self._coming += max(more, 0)
        try:
            report = await super().apply(window)
        finally:
            self._coming -= max(more, 0)
        if self._on_change is not None:
            self._on_change(self, window)
        return report

    async def publish(self, events: Sequence[NewEvent]) -> list[Receipt]:
        """Keep, match and deliver events, in this order."""
        self._check_size("events of a batch", len(events), self.limits.batch)
        if self._bucket is not None:
            self._bucket.spend(len(events), self._clock.steady())
        return await super().publish(events)

    async def _stated(self, window: Sequence[RegistryOperation]) -> list[Definition]:
        """What subscriptions state after each step of a window that says something of it."""
        found: list[Definition] = []
        latest: dict[str, Definition] = {}
        for step in window:
            if isinstance(step, Put):
                latest[step.id] = step.definition
            elif isinstance(step, Adjust):
                before = latest.get(step.id) or await self.definition(step.id)
                values = {**(before.parameters or {}), **step.parameters}
                latest[step.id] = msgspec.structs.replace(before, parameters=values)
            else:
                continue
            found.append(latest[step.id])
        return found

    def _more(self, window: Sequence[RegistryOperation]) -> int:
        """How many subscriptions there are more afterwards."""
        held = self._backend.subscriptions(self.name)
        there: dict[str, bool] = {}
        more = 0
        for step in window:
            id = step.id
            was = there.get(id, id in held)
            there[id] = isinstance(step, Put) or (was and not isinstance(step, Remove))
            more += there[id] - was
        return more

    @staticmethod
    def _check_size(what: str, actual: int, limit: int) -> None:
        if actual > limit:
            raise LimitReachedError(
                f"{actual:,} {what} are more than the {limit:,} that are allowed",
                what=what,
                limit=limit,
                actual=actual,
            )
