"""``ServerState``: what the requests of one server share."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from predicast.broker.access import Access
from predicast.broker.access.limited_tenant import LimitedTenant
from predicast.broker.broker import Broker
from predicast.broker.links import Links
from predicast.broker.server.pulls import Pulls
from predicast.broker.webhooks import Pusher
from predicast.errors import LimitReachedError


class ServerState:
    """The broker, who may use it, and what is open at the moment."""

    def __init__(
        self, broker: Broker, access: Access, pusher: Pusher, links: Links | None = None
    ) -> None:
        self.broker = broker
        self.access = access
        self.pusher = pusher
        self.links = links
        self.pulls = Pulls(broker.clock, access.limits.readers)
        self.stopping = asyncio.Event()
        self.is_ready = False
        self.failure: Exception | None = None  # why it could not be started
        self.requests: Counter[tuple[str, str, int]] = Counter()  # by method, path and status
        self._open: Counter[tuple[str, str]] = Counter()  # by what, and whose

    def stream(self, tenant: LimitedTenant) -> AbstractContextManager[None]:
        """Count a stream of deliveries while it is open."""
        return self._counted("streams of deliveries", tenant.name, tenant.limits.readers)

    def connection(self, tenant: LimitedTenant) -> AbstractContextManager[None]:
        """Count a WebSocket while it is open."""
        return self._counted("connections", tenant.name, tenant.limits.connections)

    @contextmanager
    def _counted(self, what: str, tenant: str, limit: int) -> Iterator[None]:
        key = (what, tenant)
        if self._open[key] >= limit:
            raise LimitReachedError(
                f"{limit:,} {what} are open, which is as many as are allowed",
                what=what,
                limit=limit,
                wait_s=1.0,
            )
        self._open[key] += 1
        try:
            yield
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]
