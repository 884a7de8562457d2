"""A broker that is killed under a client, and started again: nothing that had a receipt is lost."""

import asyncio
import os
from pathlib import Path

import pytest

from predicast.client import Client, connect
from tests.integration.serving import Serving

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are killed by signals")
PATIENCE_S = 120


async def publish_until(stop: asyncio.Event, client: Client, taken: set[str]) -> None:
    number = 0
    while not stop.is_set():
        receipts = await client.publish([{"x": number + each} for each in range(5)])
        taken.update(receipt.id for receipt in receipts)
        number += 5


def test_whatever_had_a_receipt_is_delivered_after_kill(tmp_path: Path) -> None:
    broker = Serving(tmp_path / "data")

    async def story() -> None:
        taken: set[str] = set()
        came: list[str] = []
        stop = asyncio.Event()
        async with (
            asyncio.timeout(PATIENCE_S),
            connect(broker.address, patience=PATIENCE_S) as client,
        ):
            stream = await client.subscribe("x >= 0", id="all", durable=True)
            publishing = asyncio.create_task(publish_until(stop, client, taken))
            while len(came) < 50:
                came += [each.id for each in await stream.take()]
            broker.kill()
            before = len(taken)
            await asyncio.to_thread(broker.start)
            while len(taken) <= before:
                came += [each.id for each in await stream.take(0.1)]
            stop.set()
            await publishing
            while not taken <= set(came):
                came += [each.id for each in await stream.take()]

    try:
        broker.start()
        asyncio.run(story())
    finally:
        broker.close()
