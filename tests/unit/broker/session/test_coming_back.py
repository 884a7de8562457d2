"""A client comes back before its broken connection is noticed, and keeps what it had."""

import asyncio
from pathlib import Path

import pytest

from predicast.broker import Broker
from predicast.broker.clock import SystemClock
from predicast.broker.embedded import EmbeddedBackend
from predicast.broker.session.carrying_out import TenantRequests
from predicast.broker.session.requests import RunWindow
from predicast.protocol import Definition, NewEvent, Put, Settings

PASSING = Definition("a", "price < 10", settings=Settings(durable=False))


@pytest.mark.parametrize("is_old_first", [True, False])
def test_an_ephemeral_subscription_made_anew_is_heard(tmp_path: Path, is_old_first: bool) -> None:
    async def run() -> None:
        backend = EmbeddedBackend(tmp_path)
        async with Broker(backend) as broker:
            tenant = broker.tenant()
            await tenant.subscribe(PASSING)
            old, new = await tenant.consumer(), await tenant.consumer()
            await old.add(["a"])
            requests = TenantRequests(tenant, new, SystemClock())
            calls = [old.close(), requests.carry_out(RunWindow(1, [Put(PASSING, replace=True)]))]
            # Both wait for the same lock, so that one comes right behind the other.
            async with backend._tenants[tenant.name].registry._lock:
                tasks = [asyncio.create_task(each) for each in calls[:: 1 if is_old_first else -1]]
                await asyncio.wait(tasks, timeout=0.1)
            await asyncio.gather(*tasks)
            await tenant.publish([NewEvent(b'{"price": 5}', {"price": 5}, "1", "shop")])
            [delivery] = await new.take(10, 30)
            assert delivery.subscriptions == ("a",)

    asyncio.run(run())
