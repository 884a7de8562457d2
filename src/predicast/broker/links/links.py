"""``Links``: all that joins a broker to others, tenant by tenant."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from predicast.broker.broker import Broker
from predicast.broker.links.connection import Connection, dialled
from predicast.broker.links.settings import LinkSettings, Parent
from predicast.broker.links.status import LinksStatus, ParentStatus
from predicast.broker.links.store import LinkStore
from predicast.broker.links.tenant_links import TenantLinks
from predicast.broker.tenant import Tenant
from predicast.errors import InvalidOptionError, PredicastError

_log: Final = logging.getLogger(__name__)

Dial: TypeAlias = Callable[[Parent], Awaitable[Connection]]


class Links:
    """The links of a broker: those that it was told to make, and those that others make to it.

    Tenants without settings, whom somebody calls, go by those of the first one, without parents.
    """

    def __init__(
        self,
        broker: Broker,
        store: LinkStore,
        settings: Sequence[LinkSettings] = (),
        *,
        dial: Dial = dialled,
        chance: random.Random | None = None,
    ) -> None:
        self._broker = broker
        self._store = store
        self._settings = {each.tenant: each for each in settings}
        if len(self._settings) < len(settings):
            raise InvalidOptionError("a tenant is linked twice", option="tenant")
        self._dial = dial
        self._chance = chance or random.Random()  # or all that lost one parent would call at once
        self._tenants: dict[str, TenantLinks] = {}
        self._starting = asyncio.Lock()
        self._problems: dict[tuple[str, str], str] = {}  # by tenant and address
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Go on where links were left, and call the parents.

        A tenant that nobody is linked to, and never was, has no router: that costs something with
        every subscription, and is made when somebody calls.
        """
        calling = [name for name, each in self._settings.items() if each.parents]
        for name in dict.fromkeys([*calling, *await self._store.tenants()]):
            links = await self._links(name)
            for parent in links.settings.parents:
                self._tasks.append(asyncio.create_task(self._call(name, links, parent)))

    async def stop(self) -> None:
        """End all links."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for links in self._tenants.values():
            await links.stop()
        await self._store.close()

    async def accept(self, tenant: str, connection: Connection) -> None:
        """Serve a neighbour that has called, until its connection ends."""
        links = await self._links(tenant)
        try:
            await links.accept(connection)
        except (PredicastError, OSError) as error:
            _log.info("a link of %s has ended: %s", tenant, error)  # it is to call again
        finally:
            await connection.close()

    async def _links(self, tenant: str) -> TenantLinks:
        async with self._starting:
            if tenant not in self._tenants:
                broker = self._broker
                watched = broker.tenant(tenant)
                # Limits were seen to where events were published: what comes over links has none.
                unlimited = Tenant(tenant, broker.backend, broker.clock)
                settings = self._settings_of(tenant)
                made = TenantLinks(unlimited, self._store, settings, broker.clock)
                await made.start()
                watched.watch(made.wake)
                self._tenants[tenant] = made
            return self._tenants[tenant]

    def _settings_of(self, tenant: str) -> LinkSettings:
        if tenant in self._settings:
            return self._settings[tenant]
        like = next(iter(self._settings.values()), None)
        return LinkSettings(tenant=tenant, name=None if like is None else like.name)

    # Calling.

    async def _call(self, tenant: str, links: TenantLinks, parent: Parent) -> None:
        """Call a parent, again and again, with pauses that grow while nobody answers."""
        settings = links.settings
        pause = settings.retry_s
        while True:
            try:
                name, connection = await self._reach(links, parent)
                self._problems.pop((tenant, parent.url), None)
                pause = settings.retry_s
                await links.serve_parent(name, connection)
            except (PredicastError, OSError) as error:  # of which silence is one
                self._problems[tenant, parent.url] = str(error) or "no answer"
            except Exception as error:  # noqa: BLE001  # a mistake of ours ends no calling
                _log.exception("a link to %s", parent.url)
                self._problems[tenant, parent.url] = repr(error)
            await asyncio.sleep(pause * self._chance.uniform(0.5, 1.0))
            pause = min(2 * pause, settings.retry_max_s)

    async def _reach(self, links: TenantLinks, parent: Parent) -> tuple[str, Connection]:
        connection = await self._dial(parent)
        try:
            return await links.join(parent, connection), connection
        except BaseException:
            with contextlib.suppress(PredicastError):
                await connection.close()
            raise

    # What there is to see.

    def status(self, tenant: str) -> LinksStatus:
        """A tenant's place in the tree."""
        links = self._tenants.get(tenant)
        if links is None:
            return LinksStatus(tenant, None, None, None, False, True, 0, [], [], {})
        status = links.status()
        connected = {each.name for each in status.neighbours if each.is_connected}
        parents = [
            ParentStatus(
                each.url,
                links.name_at(each),
                links.name_at(each) in connected,
                self._problems.get((tenant, each.url)),
            )
            for each in links.settings.parents
        ]
        return msgspec.structs.replace(status, parents=parents)

    def is_settled(self, tenant: str) -> bool:
        """Whether the whole tree knows what is wanted here."""
        links = self._tenants.get(tenant)
        return links is None or links.is_settled

    def statistics(self) -> Mapping[str, float]:
        """Counts and sizes of all tenants together, by names that metrics can carry."""
        totals: dict[str, float] = {
            "links_connected": 0,
            "links_events_in": 0,
            "links_events_out": 0,
            "links_bytes_in": 0,
            "links_bytes_out": 0,
            "links_waiting": 0,
            "links_subscriptions": 0,
            "links_stayed_local": 0,
        }
        for tenant in self._tenants:
            status = self.status(tenant)
            totals["links_stayed_local"] += status.counts.get("stayed_local", 0)
            for each in status.neighbours:
                totals["links_connected"] += each.is_connected
                totals["links_waiting"] += each.waiting
                totals["links_subscriptions"] += each.wanted
                for field in each.traffic.__struct_fields__:
                    totals[f"links_{field}"] += getattr(each.traffic, field)
        return totals


async def serve_link(socket: Any, links: Links, tenant: str) -> None:
    """The server's end of ``/link``: a WebSocket that is not accepted yet, of a tenant's token."""
    from predicast.broker.links.connection import AcceptedConnection

    await socket.accept()
    await links.accept(tenant, AcceptedConnection(socket))
