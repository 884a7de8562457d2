"""``Pusher``: deliveries to the webhooks of subscriptions.

Each subscription with a webhook has a task and a consumer of its own, so that a sink that hangs, or
is gone, stops nothing but its own deliveries; how many requests a host is sent at once is bounded.
Deliveries go in their order. One that fails is given back to the backend, which counts attempts and
keeps dead letters, and the sink is left alone for a while; one that says that it is gone (410) has
its subscription paused.

Where processes share a backend, each of them has a task for each webhook. One process at a time
delivers a subscription; the tasks of the others stand by, and one goes on when that one is gone.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from predicast.broker.backend import Consumer
from predicast.broker.broker import Broker
from predicast.broker.sinks import check_sink, is_webhook
from predicast.broker.tenant import Tenant, with_settings
from predicast.broker.webhooks.back_off import DEFAULT_BACK_OFF, BackOff
from predicast.broker.webhooks.messages import message, wants_batches
from predicast.broker.webhooks.sending import HttpSender, Sender, SinkAnswer
from predicast.errors import PredicastError, UnknownIdError
from predicast.protocol.records import Definition, Delivery, Put, RegistryOperation, Remove, Webhook

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

Sleep: TypeAlias = Callable[[float], Awaitable[None]]
_log: Final = logging.getLogger(__name__)
_GONE: Final = 410
_QUIET_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PushOptions:
    """How webhooks are called."""

    allow_private: bool = False
    per_host: int = 8  # requests at once
    at_once: int = 32  # deliveries that are taken together, and sent together in batches
    back_off: BackOff = DEFAULT_BACK_OFF


class Pusher:
    """Pushes what subscriptions with webhooks match, while it runs."""

    def __init__(
        self,
        broker: Broker,
        options: PushOptions | None = None,
        *,
        sender: Sender | None = None,
        chance: random.Random | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._broker = broker
        self._options = options or PushOptions()
        self._given = sender
        self._sender: Sender | None = sender
        self._chance = chance or random.Random()
        self._sleep = sleep
        self._hosts = _Hosts(self._options.per_host)
        self._pushes: dict[tuple[str, str], tuple[Webhook, asyncio.Task[None]]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._is_running = False
        self._resuming: asyncio.Task[None] | None = None
        self._heard: set[tuple[str, str]] = set()  # while webhooks that are kept are looked up

    @property
    def options(self) -> PushOptions:
        """How webhooks are called."""
        return self._options

    async def start(self) -> None:
        """Go on with all webhooks that are kept; looking them up keeps nobody waiting."""
        self._sender = self._given or HttpSender(allow_private=self._options.allow_private)
        self._is_running = True
        self._broker.backend.watch(self._changed_elsewhere)
        self._resuming = asyncio.create_task(self._resume())

    async def _resume(self) -> None:
        failures = 0
        resumed: set[str] = set()
        while True:
            try:
                for name in await self._broker.backend.tenants():
                    if name not in resumed:
                        tenant = self._broker.tenant(name)
                        for definition in await tenant.with_sinks():
                            # What was heard of since is newer than what was found.
                            if (name, definition.id) not in self._heard:
                                self._look_at(tenant, definition)
                        resumed.add(name)
            except PredicastError as error:  # of the backend: it may come back
                failures += 1
                _log.warning("webhooks that are kept cannot be looked up: %s", error.message)
                await self._sleep(self._options.back_off.delay(failures, self._chance))
            else:
                self._resuming = None
                self._heard.clear()
                return

    async def stop(self) -> None:
        """Send nothing more; what was not acknowledged is sent after the next start."""
        self._is_running = False
        if self._resuming is not None:
            self._resuming.cancel()
            await asyncio.gather(self._resuming, return_exceptions=True)
        for key in list(self._pushes):
            self._end(*key)
        await asyncio.gather(*self._ending, return_exceptions=True)
        if self._sender is not None:
            await self._sender.close()

    def heard(self, tenant: Tenant, window: Sequence[RegistryOperation]) -> None:
        """Act on a window that was run."""
        for step in window:
            if isinstance(step, Put):
                self._note(tenant.name, step.id)
                self._look_at(tenant, step.definition)
            elif isinstance(step, Remove):
                self._note(tenant.name, step.id)
                self._end(tenant.name, step.id)

    def _note(self, tenant: str, id: str) -> None:
        if self._resuming is not None:
            self._heard.add((tenant, id))

    def _changed_elsewhere(self, name: str, changed: Mapping[str, Definition | None]) -> None:
        if not self._is_running:
            return
        tenant = self._broker.tenant(name)
        for id, definition in changed.items():
            self._note(name, id)
            if definition is None:
                self._end(name, id)
            else:
                self._look_at(tenant, definition)

    def _look_at(self, tenant: Tenant, definition: Definition) -> None:
        """Begin or end with a subscription, as it says now."""
        key = (tenant.name, definition.id)
        sink = definition.settings.sink
        wanted = sink is not None and is_webhook(sink.url) and not definition.settings.paused
        if key in self._pushes:
            if wanted and self._pushes[key][0] == sink and not self._pushes[key][1].done():
                return
            self._end(*key)
        if wanted:
            assert sink is not None
            task = asyncio.create_task(self._push(tenant, definition.id, sink))
            self._pushes[key] = (sink, task)

    def _end(self, tenant: str, id: str) -> None:
        found = self._pushes.pop((tenant, id), None)
        if found is None:
            return
        task = found[1]
        if task is not asyncio.current_task():
            task.cancel()
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _push(self, tenant: Tenant, id: str, sink: Webhook) -> None:
        """All deliveries of one subscription, until it is told to end."""
        failures = 0
        while True:
            try:
                consumer = await tenant.consumer()
                try:
                    await consumer.add([id])
                    await self._deliver(tenant, id, sink, consumer)
                    return
                finally:
                    await consumer.close()
            except UnknownIdError:
                return
            except PredicastError as error:  # of the backend: it may come back
                failures += 1
                _log.warning("webhook of %r: %s", id, error.message)
                await self._sleep(self._options.back_off.delay(failures, self._chance))

    async def _deliver(self, tenant: Tenant, id: str, sink: Webhook, consumer: Consumer) -> None:
        failures = 0
        while True:
            # What is taken counts as tried: only what is sent together is taken together.
            most = self._options.at_once if wants_batches(sink) and not failures else 1
            taken = await consumer.take(most, _QUIET_S)
            if not taken:
                continue
            answer = await self._sent(id, sink, taken)
            if answer.is_good:
                if failures:
                    _log.info("webhook of %r: %s answers again", id, check_sink(sink.url).host)
                failures = 0
                await consumer.acknowledge(id, [each.event.position for each in taken])
                continue
            failures += 1
            if failures == 1:
                _log.warning("webhook of %r: %s; it is tried again", id, answer.why)
            for each in taken:  # at once, so that it is before whatever is newer; we wait here
                await consumer.give_back(id, each.event.position, 0.0, answer.why)
            if answer.status == _GONE:
                self._end(tenant.name, id)  # before others hear of it, who may resume at once
                await self._pause(tenant, id)
                return
            await self._sleep(self._delay(max(failures, taken[0].attempt), answer))

    async def _sent(self, id: str, sink: Webhook, group: list[Delivery]) -> SinkAnswer:
        assert self._sender is not None
        made = message(sink, id, group, self._broker.clock.wall())
        where = check_sink(sink.url)
        async with self._hosts.turn(where.host):
            return await self._sender.send(where, made)

    def _delay(self, failures: int, answer: SinkAnswer) -> float:
        return max(self._options.back_off.delay(failures, self._chance), answer.wait_s or 0.0)

    async def _pause(self, tenant: Tenant, id: str) -> None:
        """The sink has said that it is gone for good: nothing is sent until it is resumed."""
        await tenant.change(id, lambda before: with_settings(before, paused=True))


class _Hosts:
    """Takes turns at hosts, so many at once at each."""

    def __init__(self, per_host: int) -> None:
        self._per_host = per_host
        self._turns: dict[str, tuple[asyncio.Semaphore, int]] = {}

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[Any]:
        """Wait for a turn, and hold it."""
        semaphore, users = self._turns.get(host) or (asyncio.Semaphore(self._per_host), 0)
        self._turns[host] = (semaphore, users + 1)
        try:
            async with semaphore:
                yield
        finally:
            _, users = self._turns[host]
            if users == 1:
                del self._turns[host]
            else:
                self._turns[host] = (semaphore, users - 1)
