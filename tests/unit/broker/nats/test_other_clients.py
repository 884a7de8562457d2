"""Any client of NATS publishes and receives, without a line of Predicast."""

from __future__ import annotations

import asyncio
import json
from itertools import count

import msgspec
import nats
from hypothesis import given
from hypothesis import strategies as st
from nats.aio.client import Client

from predicast.broker.nats import NatsBackend, NatsOptions
from predicast.broker.nats.connection import StreamMessage
from predicast.broker.nats.inbox import new_event
from predicast.protocol.records import BodyForm, Definition, Put, Settings, Webhook
from tests.nats_servers import NatsServer
from tests.unit.broker.nats.test_processes import LONG_S, TENANT, event, processes, until


def test_any_client_publishes_and_receives(server: NatsServer, options: NatsOptions) -> None:
    async def run() -> None:
        subject = f"{options.prefix}.{TENANT}"
        async with processes(server, options) as (one, other):
            sink = Settings(sink=Webhook("nats:"))
            await one.change(TENANT, [Put(Definition("alice 1", "x < 10", settings=sink))])
            await other.publish(TENANT, [])
            client = await nats.connect(server.url)
            stream = client.jetstream()
            for number in range(40):
                body = json.dumps({"x": number}).encode()
                await stream.publish(f"{subject}.publish.3.probe-7", body)
            await stream.publish(f"{subject}.publish.3.probe-7", b"this is no event")

            async def is_taken() -> bool:
                return len(await one.events(TENANT)) == 40

            await until(is_taken)
            events = await one.events(TENANT)
            assert [json.loads(each.body)["x"] for each in events] == list(range(40))
            assert {each.publisher for each in events} == {"probe-7"}
            received = await stream.subscribe(f"{subject}.deliveries.alice=201")
            for number in range(10):
                message = await received.next_msg(LONG_S)
                assert json.loads(message.data) == {"x": number}
                assert message.headers is not None
                assert message.headers["Predicast-Publisher"] == "probe-7"
                assert message.headers["Predicast-Position"] == str(events[number].position)
            await client.close()

            async def is_counted() -> bool:
                counts = [each.statistics(TENANT)["events_unreadable"] for each in (one, other)]
                return sum(counts) == 1

            await until(is_counted)

    asyncio.run(run())


def test_a_sink_is_served_by_who_starts_later_until_it_is_taken_away(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        definition = Definition("out", "x >= 0", settings=Settings(sink=Webhook("nats:")))
        async with processes(server, options) as (one, _):
            await one.change(TENANT, [Put(definition)])
        async with processes(server, options) as (one, other):
            await other.publish(TENANT, [event(1, x=1)])

            async def is_forwarded() -> bool:
                return await one.pending(TENANT) == {}

            await until(is_forwarded)
            without = msgspec.structs.replace(definition, settings=Settings())
            await other.change(TENANT, [Put(without, replace=True)])
            consumer = await one.consumer(TENANT)
            await consumer.add(["out"])
            numbers = count(2)

            async def is_ours() -> bool:  # what came before others noticed was forwarded
                await other.publish(TENANT, [event(next(numbers), x=2)])
                return bool(await consumer.take(1, 0.1))

            await until(is_ours)

    asyncio.run(run())


def test_partitions_go_on_where_another_process_ended(
    server: NatsServer, options: NatsOptions
) -> None:
    async def publish(client: Client, numbers: range) -> None:
        for number in numbers:
            body = json.dumps({"x": number}).encode()
            partition = f"{options.prefix}.{TENANT}.publish.{number % options.partitions}"
            await client.jetstream().publish(
                f"{partition}.p", body, headers={"Predicast-Id": str(number)}
            )

    async def run() -> None:
        client = await nats.connect(server.url)
        for round in range(3):
            async with processes(server, options, 1) as (one,):
                await one.publish(TENANT, [])
                await publish(client, range(20 * round, 20 * (round + 1)))

                async def is_taken(
                    backend: NatsBackend = one, wanted: int = 20 * (round + 1)
                ) -> bool:
                    return len(await backend.events(TENANT)) >= wanted

                await until(is_taken)
                ids = [int(each.id) for each in await one.events(TENANT)]
                assert sorted(ids) == list(range(20 * (round + 1)))
        await client.close()

    asyncio.run(run())


@given(
    st.binary(max_size=50),
    st.sampled_from(["application/json", "text/turtle", "image/png", "application/json; a=b", ""]),
    st.text(max_size=10),
)
def test_whatever_is_published_is_an_event_or_none(body: bytes, form: str, id: str) -> None:
    headers = {"Content-Type": form, "Predicast-Id": id}
    message = StreamMessage(7, "predicast.acme.publish.0.=41b", headers, body)
    event = new_event(message)
    if event is not None:
        assert event.body == body
        assert event.id == (id or "predicast.acme.publish.0.=41b:7")
        assert event.publisher == "Ab"


def test_forms_are_told_by_their_content_type() -> None:
    message = StreamMessage(1, "predicast.acme.publish.0.p", {}, b'{"x": 1}')
    event = new_event(message)
    assert event is not None
    assert (event.form, event.attributes) == (BodyForm.JSON, {"x": 1})
    assert new_event(message._replace(headers={"Content-Type": "image/png"})) is None
