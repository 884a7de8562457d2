"""``python -m tests.faults.broker.worker``: one process of a broker under load, to be killed.

It publishes, changes subscriptions and consumes, and says on its standard output what has been
acknowledged to it, a line of JSON each. Whoever started it remembers that: what was said must hold,
whatever happens to this process. A delivery is told before it is acknowledged.

A linked broker has a backend, subscriptions and an address of its own; events come to it from its
neighbours, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from predicast.broker import Broker, Tenant
from predicast.broker.backends import backend_for
from predicast.errors import BackendError, DuplicateIdError
from predicast.protocol.records import Adjust, Definition, NewEvent, Put, Settings

if TYPE_CHECKING:
    from predicast.broker.links import Links

TENANT = "default"
SUBSCRIPTIONS = {  # what deliveries are checked by, and a changing one beside them
    "low": "x < 30",
    "high": "x >= 70",
    "even": "parity = 'even' AND x >= 10",
    "all": "x >= 0",
}
SETTINGS = Settings(ack_wait=3.0, max_attempts=1000)
PAUSE_S = 0.02


class Plan(msgspec.Struct, frozen=True):
    """What a worker is to do."""

    where: str  # a folder or an address
    name: str
    number: int = 0  # of the first event, and of the first change
    change: int = 0
    batch: int = 20
    mark: str = ""  # what the ids of subscriptions end with, where brokers have their own
    listen: str = ""  # the address of a linked broker
    parent: str = ""  # the broker that it links to
    is_first: bool = False  # only subscribe, until linked brokers know of it
    is_last: bool = False  # publish no more; when told to end, say what is there

    @property
    def ids(self) -> list[str]:
        """The subscriptions that deliveries are checked by."""
        return [f"{id}{self.mark}" for id in SUBSCRIPTIONS]


def attributes(number: int) -> dict[str, Any]:
    """What event ``number`` of any publisher says."""
    return {"x": number * 37 % 100, "parity": "even" if number % 2 == 0 else "odd"}


def event(publisher: str, number: int) -> NewEvent:
    """Event ``number`` of a publisher: the same one whenever it is made."""
    said = attributes(number)
    return NewEvent(msgspec.json.encode(said), said, str(number), publisher)


def say(**fact: Any) -> None:
    """Tell whoever started this, at once."""
    sys.stdout.buffer.write(msgspec.json.encode(fact) + b"\n")
    sys.stdout.buffer.flush()


async def subscribe(tenant: Tenant, plan: Plan) -> None:
    """What is there from an earlier life, or another process, stays."""
    changing = Definition(f"changing-{plan.name}", "x < :limit", parameters={"limit": 0})
    wanted = [
        Definition(id, text, settings=SETTINGS)
        for id, text in zip(plan.ids, SUBSCRIPTIONS.values(), strict=True)
    ]
    for definition in [*wanted, changing]:
        await until_done(lambda d=definition: _subscribe(tenant, d))
        say(subscribed=definition.id)


async def _subscribe(tenant: Tenant, definition: Definition) -> None:
    with contextlib.suppress(DuplicateIdError):
        await tenant.apply([Put(definition)])


async def until_done(do: Any) -> Any:
    """Try until it is acknowledged: there may be no room, or no connection, for a while."""
    while True:
        try:
            return await do()
        except BackendError as error:
            say(failed=type(error).__name__)
            await asyncio.sleep(0.1)


async def publish(tenant: Tenant, plan: Plan) -> None:
    number = plan.number
    while True:
        began = time.monotonic()
        events = [event(plan.name, each) for each in range(number, number + plan.batch)]
        receipts = await until_done(lambda given=events: tenant.publish(given))
        say(
            kept=[receipt.position for receipt in receipts],
            publisher=plan.name,
            first=number,
            began=began,
            at=time.monotonic(),
        )
        number += plan.batch
        await asyncio.sleep(PAUSE_S)


async def change(tenant: Tenant, plan: Plan) -> None:
    number, id = plan.change, f"changing-{plan.name}"
    while True:
        step = Adjust(id, {"limit": number})
        await until_done(lambda given=step: tenant.apply([given]))
        say(changed=id, limit=number)
        number += 1
        await asyncio.sleep(PAUSE_S)


async def consume(tenant: Tenant, plan: Plan) -> None:
    """Take deliveries, and acknowledge each by itself, many at once."""
    consumer = await tenant.consumer()
    await until_done(lambda: consumer.add(plan.ids))
    while True:
        deliveries = await until_done(lambda: consumer.take(200, 1.0))
        for delivery in deliveries:
            stored = delivery.event
            say(got=list(delivery.subscriptions), publisher=stored.publisher, id=stored.id)
        # What is not kept of it is delivered again, and acknowledged then.
        await asyncio.gather(
            *(
                consumer.acknowledge(id, [delivery.event.position])
                for delivery in deliveries
                for id in delivery.subscriptions
            ),
            return_exceptions=True,
        )


async def drained(tenant: Tenant, plan: Plan) -> None:
    """Return when nothing has waited for a while: another process may have died with some of it."""
    quiet = 0
    while quiet < 5:
        waiting: Mapping[str, int] = await until_done(lambda: tenant.pending(plan.ids))
        quiet = 0 if any(waiting.values()) else quiet + 1
        await asyncio.sleep(0.2)


async def tell_all(tenant: Tenant, plan: Plan) -> None:
    after = 0
    while found := await tenant.events(after=after, most=1000):
        after = found[-1].position
        # A linked broker answers for what was published to it; it has its neighbours' events, too.
        own = [each for each in found if not plan.mark or each.publisher == plan.name]
        say(log=[[each.position, each.publisher, each.id] for each in own])
    for id in (each.id for each in await tenant.definitions(most=1000)):
        definition = await tenant.definition(id)
        limit = (definition.parameters or {}).get("limit")
        say(held=id, limit=limit)


@contextlib.asynccontextmanager
async def served(plan: Plan) -> AsyncIterator[tuple[Tenant, Links | None]]:
    """The broker, with its links if it has any."""
    backend = backend_for(plan.where)
    broker = Broker(backend)
    if not plan.listen:
        await until_done(broker.start)
        yield broker.tenant(TENANT), None
        await broker.stop()
        return
    # Only these need a server, which takes a while to import.
    import uvicorn

    from predicast.broker.access import Access
    from predicast.broker.links import Links, LinkSettings, Parent, SqliteLinkStore
    from predicast.broker.server import make_app

    parents = (Parent(plan.parent),) if plan.parent else ()
    settings = LinkSettings(parents=parents, tenant=TENANT, name=plan.name)
    links = Links(broker, SqliteLinkStore(Path(plan.where)), [settings])
    app = make_app(broker, Access(broker, is_local=False), links=links)
    host, port = plan.listen.split(":")
    config = uvicorn.Config(app, host=host, port=int(port), log_config=None, ws="websockets-sansio")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:  # nobody tells when
        if serving.done():
            raise app.state.server.failure or AssertionError("the server has ended by itself")
        await asyncio.sleep(0.01)
    yield broker.tenant(TENANT), links
    server.should_exit = True
    await serving


async def work(plan: Plan) -> None:
    to_end = asyncio.Event()
    async with served(plan) as (tenant, links):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, to_end.set)
        say(started=os.getpid())
        await subscribe(tenant, plan)
        if plan.is_first:
            assert links is not None
            while not (links.status(TENANT).neighbours and links.is_settled(TENANT)):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            say(settled=True)
            await to_end.wait()
            return
        tasks = [asyncio.create_task(consume(tenant, plan))]
        if plan.is_last:
            await to_end.wait()
            await drained(tenant, plan)
            await tell_all(tenant, plan)
            say(ended=True)
        else:
            tasks += [
                asyncio.create_task(publish(tenant, plan)),
                asyncio.create_task(change(tenant, plan)),
            ]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


if __name__ == "__main__":
    asyncio.run(work(msgspec.json.decode(sys.argv[1], type=Plan)))
