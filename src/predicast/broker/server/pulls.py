"""``Pulls``: consumers that outlive a request, so that what one pulled another acknowledges.

What a consumer was given and has not acknowledged is delivered again when it is closed. A
subscription that is pulled therefore keeps one consumer, until nobody has asked for a while.
"""

from __future__ import annotations

import asyncio
from typing import Final

from predicast.broker.backend import Consumer, Start
from predicast.broker.clock import Clock
from predicast.broker.tenant import Tenant
from predicast.errors import LimitReachedError
from predicast.protocol.records import Delivery

_IDLE_S: Final = 300.0  # after which a consumer that nobody asks is closed


class _Open:
    def __init__(self, consumer: Consumer) -> None:
        self.consumer = consumer
        self.turn = asyncio.Lock()
        self.users = 0
        self.used = 0.0


class Pulls:
    """The consumers of subscriptions that are pulled."""

    def __init__(self, clock: Clock, most: int) -> None:
        self._clock = clock
        self._most = most
        self._open: dict[tuple[str, str], _Open] = {}
        self._opening = asyncio.Lock()

    async def take(
        self, tenant: Tenant, id: str, most: int, wait: float
    ) -> tuple[list[Delivery], int]:
        """Deliveries, and how many were dropped before them."""
        opened = await self._opened(tenant, id)
        try:
            async with opened.turn:
                taken = await opened.consumer.take(most, wait)
                return taken, opened.consumer.take_drops().get(id, 0)
        finally:
            self._leave(opened)

    async def acknowledge(
        self, tenant: Tenant, id: str, positions: list[int], up_to: int | None
    ) -> None:
        """These need not come again."""
        opened = await self._opened(tenant, id)
        try:
            if positions:
                await opened.consumer.acknowledge(id, positions)
            if up_to is not None:
                await opened.consumer.acknowledge_up_to(id, up_to)
        finally:
            self._leave(opened)

    async def replay(self, tenant: Tenant, id: str, start: Start) -> None:
        """Have what is kept from there delivered anew, to whoever reads it then."""
        await self.forget(tenant, id)
        held = await tenant.definition(id)
        if held.settings.durable:
            consumer = await tenant.consumer()
            try:
                await consumer.add([id], start)
            finally:
                await consumer.close()
        else:  # it would end with its consumer
            self._leave(await self._opened(tenant, id, start))

    async def forget(self, tenant: Tenant, id: str) -> None:
        """Close what is open for a subscription."""
        found = self._open.pop((tenant.name, id), None)
        if found is not None:
            await found.consumer.close()

    async def close_idle(self) -> None:
        """Close what nobody has asked for a while."""
        now = self._clock.steady()
        for key, each in list(self._open.items()):
            if not each.users and now - each.used > _IDLE_S:
                del self._open[key]
                await each.consumer.close()

    async def close(self) -> None:
        """Close all."""
        closing, self._open = list(self._open.values()), {}
        for each in closing:
            await each.consumer.close()

    async def _opened(self, tenant: Tenant, id: str, start: Start | None = None) -> _Open:
        key = (tenant.name, id)
        async with self._opening:
            found = self._open.get(key)
            if found is None:
                await self._make_room(tenant)
                await tenant.definition(id)
                consumer = await tenant.consumer()
                await consumer.add([id], start)
                found = self._open[key] = _Open(consumer)
            found.users += 1
            return found

    async def _make_room(self, tenant: Tenant) -> None:
        if sum(name == tenant.name for name, _ in self._open) < self._most:
            return
        await self.close_idle()
        if sum(name == tenant.name for name, _ in self._open) >= self._most:
            raise LimitReachedError(
                f"{self._most:,} subscriptions are being pulled, which is as many as are allowed",
                what="pulled subscriptions",
                limit=self._most,
                wait_s=_IDLE_S,
            )

    def _leave(self, opened: _Open) -> None:
        opened.users -= 1
        opened.used = self._clock.steady()
