"""``ServerState``: what the requests of one server share."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

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
        self._streams: Counter[str] = Counter()

    @contextmanager
    def stream(self, tenant: LimitedTenant) -> Iterator[None]:
        """Count a stream of deliveries while it is open."""
        limit = tenant.limits.readers
        if self._streams[tenant.name] >= limit:
            raise LimitReachedError(
                f"{limit:,} streams of deliveries are open, which is as many as are allowed",
                what="streams",
                limit=limit,
                wait_s=1.0,
            )
        self._streams[tenant.name] += 1
        try:
            yield
        finally:
            self._streams[tenant.name] -= 1
            if not self._streams[tenant.name]:
                del self._streams[tenant.name]
