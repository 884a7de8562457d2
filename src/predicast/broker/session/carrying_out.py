"""What a session asks for, done by a tenant."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import msgspec

from predicast.broker.backend import Consumer
from predicast.broker.clock import Clock
from predicast.broker.session.requests import (
    AcknowledgeAll,
    AddIds,
    ChangeOne,
    ExplainOne,
    FindDefinitions,
    GiveOneBack,
    LookAround,
    PublishEvents,
    RemoveIds,
    Request,
    RunWindow,
    TryEvents,
)
from predicast.broker.session.settings import keeping
from predicast.broker.tenant import Tenant
from predicast.errors import UnknownIdError
from predicast.protocol.records import Definition, LinkedBroker, Put, RegistryOperation, Remove

_LONGEST: Final = 100  # queues that are told of, of those who wait by the thousand
Neighbours: TypeAlias = Callable[[], list[LinkedBroker]]


class TenantRequests:
    """Carries out the requests of one connection, which has one consumer."""

    def __init__(
        self, tenant: Tenant, consumer: Consumer, clock: Clock, neighbours: Neighbours = list
    ) -> None:
        self._tenant = tenant
        self._consumer = consumer
        self._clock = clock
        self._neighbours = neighbours

    async def carry_out(self, request: Request) -> Any:
        """The result that the session is to be told."""
        match request:
            case PublishEvents():
                return await self._tenant.publish(request.events)
            case AcknowledgeAll():
                await self._consumer.acknowledge_all(request.positions)
            case GiveOneBack():
                await self._consumer.give_back(
                    request.subscription, request.position, request.delay, request.why
                )
            case AddIds():
                await self._consumer.add(request.ids, request.start)
                return [id for id in request.ids if self._tenant.is_durable(id)]
            case RemoveIds():
                await self._consumer.remove(request.ids)
            case RunWindow():
                return await self._run(request.window)
            case ChangeOne():
                return [await self._change(request)]
            case FindDefinitions():
                return await self._find(request)
            case ExplainOne():
                return await asyncio.to_thread(self._tenant.explain, request.id, request.event)
            case TryEvents():
                # It may take a second, in which others are served.
                tried = await asyncio.to_thread(self._tenant.dry_run, request.events, request.most)
                return [each.first for each in tried]
            case LookAround():
                longest = await self._tenant.longest(_LONGEST)
                return self._tenant.statistics(), longest, self._neighbours()
        return None

    async def _run(self, window: list[RegistryOperation]) -> Any:
        """Apply it, and hear what its ephemeral subscriptions match: nobody else would."""
        heard = _ephemeral(window)
        while True:
            report = await self._tenant.apply([await self._stamped(step) for step in window])
            try:
                await self._consumer.add(heard)
            except UnknownIdError:
                # They have ended with a connection that had them before, as it was found broken.
                if not all(isinstance(step, Put) and step.replace for step in window):
                    raise
            else:
                return report

    async def _stamped(self, step: RegistryOperation) -> RegistryOperation:
        """With the time, which is not the client's to say, and what it cannot have known."""
        if not isinstance(step, Put):
            return step
        definition = step.definition
        settings = definition.settings
        if step.replace:
            with contextlib.suppress(UnknownIdError):
                before = await self._tenant.definition(definition.id)
                settings = keeping(before.settings, settings)
        made = msgspec.structs.replace(
            definition, created=self._clock.wall(), revision=1, settings=settings
        )
        return Put(made, step.replace)

    async def _change(self, request: ChangeOne) -> Definition:
        def fields(before: Definition) -> dict[str, Any]:
            given = dict(request.fields)
            if "settings" in given:
                given["settings"] = keeping(before.settings, given["settings"])
            return given

        return await self._tenant.change(request.id, fields)

    async def _find(self, request: FindDefinitions) -> Any:
        if request.id is not None:
            return [await self._tenant.definition(request.id)]
        return await self._tenant.definitions(
            owner=request.owner, text=request.text, after=request.after, most=request.most
        )


def _ephemeral(window: Iterable[RegistryOperation]) -> list[str]:
    """The ephemeral subscriptions that are there after the window."""
    found: dict[str, None] = {}
    for step in window:
        if isinstance(step, Put) and not step.definition.settings.durable:
            found[step.definition.id] = None
        elif isinstance(step, Put):
            found.pop(step.definition.id, None)
        elif isinstance(step, Remove):
            found.pop(step.id, None)
    return list(found)
