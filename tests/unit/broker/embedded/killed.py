"""A process that publishes and acknowledges until it is killed, and says what it was promised.

Every line is written when a call has returned, so that all that is said must be found again.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from pathlib import Path

from predicast.broker.embedded import EmbeddedBackend, EmbeddedOptions
from predicast.protocol import Definition, Put
from tests.unit.broker.embedded.stores import TENANT, event


async def main(folder: Path, first: int) -> None:
    options = EmbeddedOptions(tick=0.005, changes_in_log=20, settled_in_log=50)
    backend = EmbeddedBackend(folder, options=options)
    await backend.start()
    say("started")
    await asyncio.gather(publish(backend, first), subscribe(backend, first), consume(backend))


async def publish(backend: EmbeddedBackend, first: int) -> None:
    for number in count(first):
        (receipt,) = await backend.publish(TENANT, [event(number, number % 10)])
        say(f"event {number} {receipt.position}")


async def subscribe(backend: EmbeddedBackend, first: int) -> None:
    for number in count(first):
        await backend.change(TENANT, [Put(Definition(f"s{number}", f"price < {number % 10}"))])
        say(f"subscription {number}")
        await asyncio.sleep(0.001)


async def consume(backend: EmbeddedBackend) -> None:
    consumer = await backend.consumer(TENANT)
    await consumer.add(["all"])
    while True:
        for delivery in await consumer.take(10, 1.0):
            await consumer.acknowledge("all", [delivery.event.position])
            say(f"done {delivery.event.position}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
