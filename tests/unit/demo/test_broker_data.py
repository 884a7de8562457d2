"""The demo's worlds as a broker's data, which ``predicast serve`` opens."""

import asyncio
from pathlib import Path

import pytest

from predicast import Engine
from predicast.broker import Broker
from predicast.broker.embedded import EmbeddedBackend
from predicast.demo import moving_objects
from predicast.demo.broker_data import write_broker_data
from predicast.errors import BackendError

WORLD = moving_objects.world(0.05)
MOST = 60


def test_a_broker_finds_who_waits_for_which_event(tmp_path: Path) -> None:
    write_broker_data([WORLD], tmp_path, MOST)
    write_broker_data([WORLD], tmp_path, MOST)  # the second time nothing is new

    async def look() -> tuple[int, dict[str, set[str]]]:
        async with Broker(EmbeddedBackend(tmp_path)) as broker:
            tenant = broker.tenant()
            events = await tenant.latest(2 * MOST)
            found = {each.id: set(await tenant.recipients(each.position)) for each in events}
            return len(tenant), found

    subscriptions, found = asyncio.run(look())
    engine = Engine()
    engine.subscribe_many(WORLD.subscriptions.items())
    ids = WORLD.events["report"].to_pylist()[:MOST]
    expected = {f"moving-objects-{id}": set(engine.match(WORLD.event(id))) for id in ids}
    assert found == expected
    assert any(expected.values())
    assert subscriptions == len(WORLD.subscriptions)


def test_a_broker_that_runs_on_it_is_not_disturbed(tmp_path: Path) -> None:
    async def write_beside() -> None:
        async with Broker(EmbeddedBackend(tmp_path)):
            with pytest.raises(BackendError):
                await asyncio.to_thread(write_broker_data, [WORLD], tmp_path, MOST)

    asyncio.run(write_beside())
