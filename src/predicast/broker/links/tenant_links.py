"""``TenantLinks``: the links of one tenant, run: connections, disk and clock around a junction.

One task takes turns. A turn takes what has come from neighbours, what is wanted here by now and
what waits in the tenant's log; publishes here what arrived; keeps what all that has changed, in one
act; and then sends. Events that came over a link stand in the same log as those published here: the
positions at which they do are kept too, and they are passed on by the router alone.

The log is the queue of what is to be passed on. When the tree takes no more, because a neighbour is
away or slow, events wait there, for as long as the backend keeps them, and no memory is needed.

A broker that falls between publishing what arrived and keeping where it stands may pass it on once
more under its own name. It is dropped wherever it is known by its publisher and id.

Whatever goes wrong in a turn ends the junction as a crash would: it is made again from what was
kept, after a pause, and neighbours are greeted anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

import msgspec

from predicast.broker.clock import Clock
from predicast.broker.links.carrying import arriving, is_carried, outgoing
from predicast.broker.links.connection import Connection
from predicast.broker.links.identities import (
    new_identity,
    new_source,
    with_source,
    without_parents,
)
from predicast.broker.links.inbox import Inbox
from predicast.broker.links.introduction import introduced, read_introduction, refused
from predicast.broker.links.junction import Junction
from predicast.broker.links.neighbour import Neighbour
from predicast.broker.links.settings import MAX_EVENT_BYTES, MAX_FRAME, LinkSettings, Parent
from predicast.broker.links.status import LinksStatus, NeighbourStatus, Traffic
from predicast.broker.links.store import Identity, LinkStore, Turn
from predicast.broker.links.wishes import LocalWishes
from predicast.broker.tenant import Tenant
from predicast.engine import Operation
from predicast.errors import (
    BackendError,
    NotConnectedError,
    PredicastError,
    ProtocolError,
)
from predicast.protocol.records import NewEvent
from predicast.routing import Events, Hello, Message, PeerKind, Refuse
from predicast.routing.codec import decode
from predicast.routing.interface import Role
from predicast.routing.journal import recovered
from predicast.routing.life import InterfaceState
from predicast.routing.state import RouterState

_log: Final = logging.getLogger(__name__)
_AT_ONCE: Final = 512  # events that a turn reads from the log
_STEPS: Final = 16  # windows of subscriptions that a turn takes: a fraction of a second
_POLL_S: Final = 1.0  # between looks at what no watcher is told of
_FIRST_WORD_S: Final = 10.0  # until a neighbour has to have introduced itself
_MAX_LEVEL: Final = 64  # farther from the core there is a circle rather than a broker


class TenantLinks:
    """The links of one tenant."""

    def __init__(
        self, tenant: Tenant, store: LinkStore, settings: LinkSettings, clock: Clock
    ) -> None:
        self.settings = settings
        self._tenant = tenant
        self._store = store
        self._clock = clock
        self._identity: Identity | None = None
        self._kept: RouterState | None = None
        self._junction: Junction | None = None
        self._wishes: LocalWishes | None = None
        self._neighbours: dict[str, Neighbour] = {}
        self._traffic: dict[str, Traffic] = {}
        self._refusals: dict[str, str] = {}
        self._inbox = Inbox()
        self._happened: list[Callable[[Junction, float], None]] = []  # to connections
        self._turning = asyncio.Lock()  # a junction is not exchanged while it has its turn
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._read_to = 0  # position in the log
        self._last_passed = 0  # the last of those that were given to the router
        self._passed_on = -1  # what was last kept of it
        self._unreadable = 0
        self._stayed = 0  # events that links do not carry
        self._problem: str | None = None

    # Running.

    async def start(self) -> None:
        """Go on where it was left; raises what makes that impossible."""
        await self._open()
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """End all connections; neighbours keep what is for us for a while."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._hang_up()

    def wake(self) -> None:
        """There may be something to do."""
        self._woken.set()

    async def _run(self) -> None:
        while True:
            try:
                await self._wait()
                async with self._turning:
                    if self._identity is None:
                        await self._open()
                    await self._turn()
                self._problem = None
            except Exception as error:  # noqa: BLE001  # whatever it was, neighbours say it again
                _log.exception("links of %s are made anew", self._tenant.name)
                self._problem = str(error) or repr(error)
                await self._hang_up()
                await asyncio.sleep(self.settings.retry_s)

    async def _wait(self) -> None:
        junction = self._junction
        due = None if junction is None else junction.next_timer()
        pause = _POLL_S if due is None else min(_POLL_S, max(due - self._clock.steady(), 0))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._woken.wait()
        self._woken.clear()

    async def _hang_up(self) -> None:
        """End the junction, and all connections with it."""
        self._junction = self._identity = None
        await self._hang_up_on(list(self._neighbours.values()))

    async def _hang_up_on(self, neighbours: Sequence[Neighbour]) -> None:
        for neighbour in neighbours:
            await neighbour.close()

    def _silent(self, junction: Junction) -> list[Neighbour]:
        """Those whose connection holds, and who say nothing: another one may do better."""
        return [
            self._neighbours[name]
            for name, (_, state) in junction.router.interfaces().items()
            if state is InterfaceState.CLOSED and name in self._neighbours
        ]

    # Beginning.

    async def _open(self) -> None:
        """Take up what was kept, and make a junction of it as soon as the tree is known."""
        kept = await self._store.load(self._tenant.name)
        latest = await self._tenant.latest(1)
        end = latest[-1].position if latest else 0
        settings, identity = self.settings, kept.identity
        epoch = max(int(self._clock.wall()), 1)
        if identity is None or settings.name not in {None, identity.name}:
            identity = new_identity(settings, epoch)
            self._read_to, self._kept = end, None
            await self._store.begin_anew(self._tenant.name, identity, end)
        else:
            self._read_to = min(kept.passed_on, end)
            self._kept = recovered(kept.journal) if kept.journal else None
            if kept.passed_on > end:  # another log, or an empty one: its positions may begin anew
                source = new_source(identity.name)
                self._kept = self._kept and with_source(self._kept, identity.source, source)
                identity = msgspec.structs.replace(identity, source=source)
            known = {url: name for url, name in identity.parents.items() if url in _urls(settings)}
            identity = msgspec.structs.replace(
                identity, epoch=max(epoch, identity.epoch + 1), parents=known
            )
        if settings.level is not None or not settings.parents:
            identity = msgspec.structs.replace(identity, level=settings.level or 0)
        await self._identify(identity)
        if not settings.parents or identity.parents:
            await self._begin(identity)

    async def _identify(self, identity: Identity) -> None:
        await self._store.identify(self._tenant.name, identity)
        self._identity = identity

    async def _begin(self, identity: Identity) -> None:
        options = self.settings.router_options(
            identity.name,
            level=identity.level,
            epoch=identity.epoch,
            candidates=tuple(dict.fromkeys(identity.parents.values())),
        )
        kept = self._kept
        if kept is not None and not self.settings.parents:
            kept = without_parents(kept)
        self._last_passed = 0
        junction = Junction(options, identity.source, kept)
        wishes = LocalWishes(self._tenant.subscriptions)
        wanted: list[Operation] = []
        left = wishes.whole()
        while piece := list(islice(left, _AT_ONCE)):
            wanted += piece
            await asyncio.sleep(0)  # there may be very many
        junction.start(wanted, self._clock.steady())
        self._junction, self._wishes = junction, wishes
        self.wake()

    # Turns.

    async def _turn(self) -> None:
        junction = self._junction
        if junction is None:
            return
        await self._take_messages(junction)
        now = self._clock.steady()
        junction.on_timer(now)
        silent = self._silent(junction)
        await self._hang_up_on(silent)
        assert self._wishes is not None
        junction.announce(self._wishes.changes(), now)
        await self._hand_on(junction)
        arrived = await self._publish_arrivals(junction)
        await self._pass_on(junction, arrived)
        await self._hand_on(junction)
        await self._keep(junction, arrived)
        for name, message in junction.take_sends():
            neighbour = self._neighbours.get(name)
            if neighbour is not None:
                neighbour.send(message)

    async def _take_messages(self, junction: Junction) -> None:
        happened, self._happened = self._happened, []
        for happening in happened:
            happening(junction, self._clock.steady())
        for _ in range(_STEPS):
            if not len(self._inbox):
                return
            taken = self._inbox.take()
            for message, name in taken:
                if isinstance(message, Refuse):
                    self._refusals[name] = f"{message.error}: {message.reason}"
            junction.receive_all(taken, self._clock.steady())
            await asyncio.sleep(0)
        if len(self._inbox):
            self.wake()

    async def _hand_on(self, junction: Junction) -> None:
        """Have the router and the host hear each other; what takes longer has another turn."""
        for _ in range(_STEPS):
            if not junction.step(self._clock.steady()):
                return
            await asyncio.sleep(0)
        self.wake()

    async def _publish_arrivals(self, junction: Junction) -> list[int]:
        """Publish what came for subscribers here; the positions that it has now."""
        positions: list[int] = []
        events = junction.arrivals()
        if events:
            new = []
            for each in events:
                try:
                    new.append(arriving(each))
                except (PredicastError, UnicodeError):
                    self._unreadable += 1
            positions = await self._published(new)
            junction.arrived(self._clock.steady())
            self.wake()  # now that there is room, more may have come
        return positions

    async def _published(self, events: Sequence[NewEvent]) -> list[int]:
        try:
            receipts = await self._tenant.publish(events)
        except BackendError:
            raise
        except PredicastError:
            if len(events) == 1:  # refused once, refused for ever
                self._unreadable += 1
                return []
            return [place for each in events for place in await self._published([each])]
        return [each.position for each in receipts]

    async def _pass_on(self, junction: Junction, arrived: Sequence[int]) -> None:
        """Give the router what is new in the log, unless it still has not taken what it was given.

        What has just arrived is known to be among it: nobody else publishes what comes over links.
        """
        if len(junction.router.interfaces()) == 1:  # nobody but ourselves
            latest = await self._tenant.latest(1)
            self._read_to = max(self._read_to, latest[-1].position if latest else 0)
            return
        if not junction.takes_more:
            return
        events = await self._tenant.events(after=self._read_to, most=_AT_ONCE)
        if not events:
            return
        places = [each.position for each in events]
        foreign = {*arrived, *await self._store.arrived_among(self._tenant.name, places)}
        source = junction.host.name
        here = [each for each in events if each.position not in foreign]
        own = [each for each in here if is_carried(each)]
        self._note_local(len(here) - len(own))
        ready = [each for each in (outgoing(event, source) for event in own) if each is not None]
        self._unreadable += len(own) - len(ready)
        if ready:
            junction.publish(ready, self._clock.steady())
            self._last_passed = ready[-1].sequence
        self._read_to = places[-1]
        self.wake()

    def _note_local(self, count: int) -> None:
        """Count what cannot go over links, and say so when it is the first."""
        if count and not self._stayed:
            _log.warning(
                "links of %s: graphs, and events of more than %d bytes, are delivered here alone",
                self._tenant.name,
                MAX_EVENT_BYTES,
            )
        self._stayed += count

    async def _keep(self, junction: Junction, arrived: Sequence[int]) -> None:
        entry = await asyncio.to_thread(junction.entry)  # now and then it is all there is
        is_taken = junction.published_up_to >= self._last_passed
        passed_on = self._read_to if is_taken else junction.published_up_to
        if entry.data or arrived or passed_on != self._passed_on:
            await self._store.keep(self._tenant.name, Turn(entry, passed_on, arrived))
            self._passed_on = passed_on

    # Connections.

    async def accept(self, connection: Connection) -> None:
        """Serve a neighbour that has called, until its connection ends."""
        identity = self._identity
        if self._junction is None or identity is None:
            reason = self._problem or "this broker has not found its own parent yet"
            await connection.send(refused(NotConnectedError.__name__, reason))
            return
        await connection.send(introduced(identity.name, identity.level))
        async with asyncio.timeout(_FIRST_WORD_S):
            said = read_introduction(await connection.receive())
        if said.name == identity.name:
            raise ProtocolError(f"another broker is called {said.name!r} too", field="name")
        await self._serve(said.name, connection)

    async def join(self, parent: Parent, connection: Connection) -> str:
        """Introduce ourselves to a parent that was called; its name."""
        async with asyncio.timeout(_FIRST_WORD_S):
            said = read_introduction(await connection.receive())
        async with self._turning:
            identity = await self._learned(parent, said.name, said.level)
        await connection.send(introduced(identity.name, identity.level))
        return said.name

    async def _learned(self, parent: Parent, name: str, level: int) -> Identity:
        """Who is at an address; a parent that has moved away from the core takes us along."""
        identity = self._identity
        if identity is None:
            raise NotConnectedError(self._problem or "links are being made anew", url=parent.url)
        others = {other for url, other in identity.parents.items() if url != parent.url}
        if name == identity.name or name in others & self._neighbours.keys():
            raise ProtocolError(
                f"{parent.url} leads to {name!r}, which is linked already", field="name"
            )
        known = {**identity.parents, parent.url: name}
        wanted = identity.level
        is_first = self._junction is None and not identity.parents
        if self.settings.level is None and (is_first or level >= wanted):
            wanted = level + 1
        if wanted > _MAX_LEVEL:
            raise ProtocolError(
                f"{name!r} is {level} links away from the core: brokers must not form a circle",
                field="level",
            )
        moves = wanted != identity.level
        if moves or known != identity.parents:
            identity = msgspec.structs.replace(identity, parents=known, level=wanted)
            await self._identify(identity)
        if moves and self._junction is not None:
            await self._hang_up()
            await self._open()
        elif self._junction is None:
            await self._begin(identity)
        return identity

    async def serve_parent(self, name: str, connection: Connection) -> None:
        """Serve a parent that has introduced itself, until its connection ends."""
        self._happened.append(lambda junction, now: junction.offer_parent(name, now))
        await self._serve(name, connection)

    async def _serve(self, name: str, connection: Connection) -> None:
        before = self._neighbours.get(name)
        if before is not None:
            await before.close()
        traffic = self._traffic.setdefault(name, Traffic())
        neighbour = self._neighbours[name] = Neighbour(name, connection, traffic)
        self._refusals.pop(name, None)
        self._happened.append(lambda junction, now: junction.attach(name, now))
        self.wake()
        try:
            while True:
                data = await connection.receive()
                await self._inbox.put(self._read(data, traffic), name)
                self.wake()
        finally:
            if self._neighbours.get(name) is neighbour:
                del self._neighbours[name]
                self._lost(name)
            await neighbour.close()

    def _read(self, data: bytes, traffic: Traffic) -> Message:
        message = decode(data, max_bytes=MAX_FRAME)
        traffic.bytes_in += len(data)
        if isinstance(message, Events):
            traffic.events_in += len(message.events)
        if isinstance(message, Hello) and message.kind is not PeerKind.BROKER:
            raise ProtocolError("links are for brokers; hosts are clients", field="kind")
        return message

    def _lost(self, name: str) -> None:
        """A parent is given up at once if there is another one; else it is waited for."""
        junction, identity = self._junction, self._identity
        if junction is None or identity is None or junction.router.parent != name:
            return
        if any(other in self._neighbours for other in identity.parents.values()):
            self._happened.append(lambda junction, now: junction.detach(name, now))
            self.wake()

    # What there is to see.

    @property
    def is_settled(self) -> bool:
        """Whether the tree knows all that is wanted here, and we all that it wants."""
        junction, wishes = self._junction, self._wishes
        if junction is None or wishes is None:
            return False
        return not len(wishes) and junction.router.is_attached and junction.host.is_settled

    def status(self) -> LinksStatus:
        """The tenant's place in the tree; who dials adds what it knows of addresses."""
        junction, identity = self._junction, self._identity
        counts = {} if junction is None else junction.router.statistics()
        counts |= {"unreadable": self._unreadable, "stayed_local": self._stayed}
        return LinksStatus(
            self._tenant.name,
            None if identity is None else identity.name,
            None if identity is None else identity.level,
            None if junction is None else junction.router.parent,
            junction is not None and junction.router.is_attached,
            self.is_settled,
            max(self._passed_on, 0),
            [] if junction is None else self._neighbour_statuses(junction),
            [],
            counts,
            self._problem,
        )

    def name_at(self, parent: Parent) -> str | None:
        """Who was last found at an address."""
        return None if self._identity is None else self._identity.parents.get(parent.url)

    def _neighbour_statuses(self, junction: Junction) -> list[NeighbourStatus]:
        router = junction.router
        return [
            NeighbourStatus(
                name,
                role.value,
                state.value,
                name in self._neighbours,
                *router.sizes(name),
                self._traffic.get(name, Traffic()),
                self._refusals.get(name),
            )
            for name, (role, state) in router.interfaces().items()
            if role is not Role.HOST
        ]


def _urls(settings: LinkSettings) -> set[str]:
    return {each.url for each in settings.parents}
