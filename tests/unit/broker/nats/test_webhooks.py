"""Webhooks of processes that share a backend: one sends, and another when that one is gone."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

from predicast.broker import Broker
from predicast.broker.nats import NatsBackend, NatsOptions
from predicast.broker.webhooks import BackOff, Pusher, PushOptions, SinkAnswer
from predicast.protocol.records import Definition, Put, Settings, Webhook
from tests.nats_servers import NatsServer
from tests.unit.broker.nats.test_processes import SOON_S, TENANT, die, event, processes
from tests.unit.broker.server.test_webhooks import FakeSender

SINK = Webhook("https://sink.example/in")


async def pushing(backend: NatsBackend, sender: FakeSender) -> Pusher:
    """What pushes for a process that runs already."""
    options = PushOptions(back_off=BackOff(first_s=0.001, longest_s=0.002))
    pusher = Pusher(Broker(backend), options, sender=sender, chance=random.Random(1))
    await pusher.start()
    return pusher


def test_a_webhook_of_a_process_that_is_gone_is_called_by_another(
    server: NatsServer, options: NatsOptions
) -> None:
    """Also one that was made at the one process when the other ran already."""

    async def run() -> None:
        senders = [FakeSender(), FakeSender()]
        async with processes(server, options, lease_s=SOON_S) as running:
            pushers = [
                await pushing(each, sender) for each, sender in zip(running, senders, strict=True)
            ]
            settings = Settings(sink=SINK)
            await running[0].change(TENANT, [Put(Definition("a", "price > 0", settings=settings))])
            await running[1].publish(TENANT, [event(1, price=1)])
            told = [asyncio.create_task(sender.until(1)) for sender in senders]
            done, waiting = await asyncio.wait(told, return_when=asyncio.FIRST_COMPLETED)
            first = 0 if told[0] in done else 1
            await die(running[first])
            await running[1 - first].publish(TENANT, [event(2, price=2)])
            await asyncio.gather(*waiting)
            # What the one that died had not written down may come once more.
            await senders[1 - first].until(1)
            while 2 not in senders[1 - first].prices():
                await senders[1 - first].until(len(senders[1 - first].sent) + 1)
            assert senders[first].prices() == [1]
            for pusher in pushers:
                await pusher.stop()

    asyncio.run(run())


def test_a_sink_that_fails_is_tried_by_the_same_process(
    server: NatsServer, options: NatsOptions
) -> None:
    """So that it is left alone for as long as was said."""

    async def run() -> None:
        answers = [SinkAnswer(500), SinkAnswer(500)]
        failing = FakeSender(lambda _, count: answers[count - 1] if count < 3 else SinkAnswer(200))
        other = FakeSender()
        patient = replace(options, lease_s=600.0)  # nobody is taken to be gone
        async with processes(server, patient) as running:
            settings = Settings(sink=SINK, max_attempts=10)
            await running[0].change(TENANT, [Put(Definition("a", "price > 0", settings=settings))])
            first = await pushing(running[0], failing)
            await running[0].publish(TENANT, [event(1, price=1)])
            await failing.until(1)
            second = await pushing(running[1], other)
            await failing.until(3)
            assert failing.prices() == [1, 1, 1]
            assert other.sent == []
            await first.stop()
            await second.stop()

    asyncio.run(run())
