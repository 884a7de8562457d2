"""``Registry``: one tenant's subscriptions: engines, definitions on disk, and a log of changes.

A window is run by the engines, which refuse it or not, and then written in one transaction: the
rows of its definitions, and which ids it touched. Writing happens in the order of running. The
table is the truth: whatever an engine has heard that was not written in the end, or that a snapshot
has missed, is put right by looking at the rows of the ids in question.

Snapshots are taken while changes go on. A snapshot may have seen more than it should: ids that were
being changed meanwhile are logged behind it, and looked at when it is loaded.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from predicast.broker.embedded import changes, definitions, tenants
from predicast.broker.embedded.definitions import Kept
from predicast.broker.embedded.queue import Terms
from predicast.broker.embedded.queues import TenantQueues
from predicast.broker.embedded.readers import Readers
from predicast.broker.embedded.settlement_log import SettlementLog
from predicast.broker.embedded.writer import Writer
from predicast.broker.subscriptions import Subscriptions, changed_meanwhile
from predicast.engine import Report
from predicast.errors import DamagedStoreError, PredicastError
from predicast.protocol.records import Definition, Put, RegistryOperation, Remove

if TYPE_CHECKING:
    from predicast.graph import Ontology


class _Numbered(NamedTuple):
    """A window that was written."""

    change: int
    settlement: int | None
    outcome: changes.Outcome


class Registry:
    """One tenant's."""

    def __init__(
        self,
        tenant: int,
        name: str,
        writer: Writer,
        readers: Readers,
        ontology: Ontology | None,
        next_position: Callable[[], int],
    ) -> None:
        self._tenant = tenant
        self._name = name
        self._writer = writer
        self._readers = readers
        self._next_position = next_position
        self._lock = asyncio.Lock()
        self._in_flight: dict[asyncio.Future[None], Collection[str]] = {}
        self.subscriptions = Subscriptions(ontology)
        self.ephemeral: dict[str, Definition] = {}
        self.queues: TenantQueues
        self.settlements: SettlementLog
        self.suspects: set[str] | None = None  # ids touched while a snapshot is being taken
        self.logged = 0  # ids touched since the newest snapshot
        self.last_change = 0
        self._interned = definitions.settings_interned()

    # Asking.

    async def definition(self, id: str) -> Definition:
        """The subscription, or an ``UnknownIdError``."""
        if id in self.ephemeral:
            return self.ephemeral[id]
        found = await self._readers.read(lambda c: definitions.find(c, self._tenant, id))
        if found is not None:
            return found.definition
        self._check_absent(id)
        raise self.subscriptions.unknown(id)

    async def definitions(
        self, *, owner: str | None, text: str | None, after: str | None, most: int
    ) -> list[Definition]:
        """Those of the owner whose id or expression has the text in it, by id, after that one."""
        if most <= 0:
            return []
        kept = await self._readers.read(
            lambda c: definitions.search(
                c, self._tenant, owner=owner, text=text, after=after, most=most
            )
        )
        passing = [
            each
            for each in self.ephemeral.values()
            if (owner is None or each.owner == owner)
            and (not text or text in each.id or text in each.expression)
            and (after is None or each.id > after)
        ]
        return sorted([*kept, *passing], key=lambda each: each.id)[:most]

    async def with_sinks(self) -> list[Definition]:
        """Those whose deliveries are sent somewhere."""
        kept = await self._readers.read(lambda c: definitions.with_sinks(c, self._tenant))
        passing = self.ephemeral.values()
        return [*kept, *(each for each in passing if each.settings.sink is not None)]

    def terms_of(self, ids: Sequence[str]) -> Mapping[str, Terms]:
        """How subscriptions are served: those of the ids that there are."""
        found = {id: Terms(self.ephemeral[id].settings, 0) for id in ids if id in self.ephemeral}
        wanted = [id for id in ids if id not in found]
        if wanted:
            rows = self._readers.ask(lambda c: [*definitions.terms_of(c, self._tenant, wanted)])
            for id, settings, since in rows:
                found[id] = Terms(self._interned(settings), since)
        return found

    def _check_absent(self, id: str) -> None:
        if self.subscriptions.is_durable(id) and not any(
            id in ids for ids in self._in_flight.values()
        ):
            raise DamagedStoreError(
                f"the store is damaged: the definition of {id!r} is gone", where="definitions"
            )

    # Changing.

    async def change(self, window: Sequence[RegistryOperation]) -> Report:
        """Run a window, all or nothing; it is finished even if whoever asked has gone."""
        return await asyncio.shield(asyncio.create_task(self._change(window)))

    async def end_unread(self, ids: Collection[str]) -> None:
        """End ephemeral subscriptions, unless somebody reads them again when it comes to that."""
        window = [Remove(id) for id in ids]
        await asyncio.shield(asyncio.create_task(self._change(window, self._is_unread)))

    def _is_unread(self, step: RegistryOperation) -> bool:
        id = step.id
        queue = self.queues.held.get(id)
        is_read = queue is not None and bool(queue.readers)
        return id in self.ephemeral and not self.subscriptions.is_durable(id) and not is_read

    async def changed(self) -> None:
        """Wait for the window that is being run, and those before it."""
        async with self._lock:
            return

    async def _change(
        self,
        window: Sequence[RegistryOperation],
        is_due: Callable[[RegistryOperation], bool] = lambda _: True,
    ) -> Report:
        outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        async with self._lock:  # until it is handed in: windows are written as they were run
            window = [step for step in window if is_due(step)]
            ids = dict.fromkeys(step.id for step in window)
            await self._check_revisions(window)
            is_kept = self._concerns_disk(window)
            self._in_flight[outcome] = ids
            if self.suspects is not None:
                self.suspects.update(ids)
            try:
                report = await self._readers.run(lambda: self.subscriptions.apply(window))
                if is_kept:
                    self._hand_in(window, ids, outcome)
            except BaseException:
                del self._in_flight[outcome]
                raise
            if not is_kept:
                del self._in_flight[outcome]
                self._settle(changes.of_ephemeral(window, self._ephemeral_of(ids)))
        if is_kept:
            await self._written(ids, outcome)
        return report

    async def _check_revisions(self, window: Sequence[RegistryOperation]) -> None:
        """Refuse what was made from a definition that has been changed since."""
        expected = {
            step.definition.id: step.over
            for step in window
            if isinstance(step, Put) and step.over is not None
        }
        await self._others_written(expected)
        for id, revision in expected.items():
            if (await self.definition(id)).revision != revision:
                raise changed_meanwhile(id)

    async def _others_written(self, ids: Collection[str]) -> None:
        """Wait until the table says of these ids what engines do; under the lock, it stays so."""
        waiting = [
            outcome for outcome, named in self._in_flight.items() if any(id in named for id in ids)
        ]
        if waiting:
            await asyncio.wait(waiting)

    async def _written(self, ids: Collection[str], outcome: asyncio.Future[None]) -> None:
        try:
            await outcome
        except PredicastError:
            async with self._lock:
                await self._others_written(ids)  # or they would be undone as well
                await self._readers.run(lambda: self.restore(ids))
            raise

    def _hand_in(
        self,
        window: Sequence[RegistryOperation],
        ids: Collection[str],
        outcome: asyncio.Future[None],
    ) -> None:
        since = self._next_position()
        ephemeral = self._ephemeral_of(ids)

        def work(connection: sqlite3.Connection) -> _Numbered:
            tenants.add(connection, self._tenant, self._name)
            result = changes.carried_out(connection, self._tenant, window, ephemeral, since)
            return _Numbered(*changes.write(connection, self._tenant, ids, result), result)

        def done(result: _Numbered | None, error: PredicastError | None) -> None:
            self._in_flight.pop(outcome, None)
            if result is not None:
                self.last_change = result.change
                if result.settlement is not None:
                    self.settlements.applied = result.settlement
                self.logged += len(ids)
                self._settle(result.outcome)
            if outcome.done():
                return
            if error is None:
                outcome.set_result(None)
            else:
                outcome.set_exception(error)

        self._writer.submit(work, done)

    def _ephemeral_of(self, ids: Iterable[str]) -> dict[str, Definition]:
        return {id: self.ephemeral[id] for id in ids if id in self.ephemeral}

    def _settle(self, result: changes.Outcome) -> None:
        """Tell what depends on it."""
        for id, after in result.after.items():
            if after is not None and not after.definition.settings.durable:
                self.ephemeral[id] = after.definition
            else:
                self.ephemeral.pop(id, None)
            terms = None if after is None else self._terms(after)
            self.queues.settle_change(id, terms, is_same=id not in result.renewed)

    def _terms(self, kept: Kept) -> Terms:
        return Terms(self._interned(kept.definition.settings), kept.since)

    def _concerns_disk(self, window: Sequence[RegistryOperation]) -> bool:
        return any(
            (isinstance(step, Put) and step.definition.settings.durable)
            or self.subscriptions.is_durable(step.id)
            for step in window
        )

    # Putting right.

    def restore(self, ids: Collection[str]) -> None:
        """Make engines agree with the table about some ids."""
        kept = self._readers.ask(
            lambda c: definitions.by_id(definitions.find_all(c, self._tenant, ids))
        )
        window: list[RegistryOperation] = []
        for id in ids:
            definition = self.ephemeral.get(id) or (kept[id].definition if id in kept else None)
            if definition is not None:
                window.append(Put(definition, replace=True))
            elif id in self.subscriptions:
                window.append(Remove(id))
        if window:
            self.subscriptions.apply(window)

    def being_changed(self) -> set[str]:
        """Ids of windows that are not written yet."""
        return {id for ids in self._in_flight.values() for id in ids}
