"""``Stream``: the deliveries of one or many subscriptions, as an asynchronous iterator."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from typing import Self

from predicast.client.received import ReceivedDelivery
from predicast.errors import PredicastError


class Stream:
    """Deliveries as they come; it never ends by itself.

    What the loop's body has dealt with is acknowledged when the next one is asked for, unless
    the stream was made with ``acknowledge=False``. A body that raises, or leaves the loop, has not
    dealt with the delivery that it has: that comes again.
    """

    def __init__(
        self,
        ids: Collection[str],
        *,
        durable: bool,
        acknowledge: bool,
        taken: Callable[[int], None],
        close: Callable[[Stream], Awaitable[None]],
    ) -> None:
        self.ids = frozenset(ids)
        self.durable = durable
        self.dropped: dict[str, int] = {}  # deliveries that the broker dropped: too slow
        self._acknowledges = acknowledge
        self._taken = taken
        self._close = close
        self._waiting: deque[ReceivedDelivery] = deque()
        self._last: list[ReceivedDelivery] = []
        self._more = asyncio.Event()
        self._error: PredicastError | None = None
        self._is_closed = False

    @property
    def id(self) -> str:
        """The subscription's, if there is one."""
        [only] = self.ids
        return only

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ReceivedDelivery:
        await self._wait()
        if not self._waiting:
            raise StopAsyncIteration
        delivery = self._waiting.popleft()
        self._last = [delivery]
        self._taken(1)
        return delivery

    async def take(self, wait: float | None = None) -> list[ReceivedDelivery]:
        """All that have come, at least one; none when the wait is over or the stream is closed.

        They are acknowledged together when the next ones are asked for.
        """
        try:
            async with asyncio.timeout(wait):
                await self._wait()
        except TimeoutError:
            return []
        self._last = list(self._waiting)
        self._waiting.clear()
        self._taken(len(self._last))
        return self._last

    async def close(self) -> None:
        """Receive no more; an ephemeral subscription ends."""
        if not self._is_closed:
            self.end(None)
            await self._close(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _wait(self) -> None:
        """Until there is something to take; what was taken before is dealt with."""
        last, self._last = self._last, []
        if self._acknowledges:
            for each in last:
                each.acknowledge()
        while not self._waiting and not self._is_closed:
            self._more.clear()
            await self._more.wait()
        if self._error is not None and not self._waiting:
            raise self._error

    # For the client.

    def put(self, delivery: ReceivedDelivery) -> None:
        """Have it taken by whoever reads the stream."""
        self._waiting.append(delivery)
        self._more.set()

    def forget(self) -> int:
        """Leave out what nobody has taken; how many it was."""
        count = len(self._waiting)
        self._waiting.clear()
        return count

    def forget_durable(self) -> int:
        """Leave out what a new connection brings again; how many are left."""
        if self.durable:
            self._waiting.clear()
        return len(self._waiting)

    def end(self, error: PredicastError | None) -> None:
        """Nothing more will come, for this reason."""
        self._is_closed = True
        self._error = error
        self._more.set()
