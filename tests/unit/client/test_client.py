"""A client and a broker that talk over queues: what is said, and what a cut connection costs."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from predicast import Interval
from predicast.broker.session import ConnectionLimits
from predicast.client import ReceivedDelivery, Stream
from predicast.errors import (
    DuplicateIdError,
    JsonFormError,
    NotConnectedError,
    ParseError,
    UnknownIdError,
)
from predicast.protocol import frames
from predicast.protocol.records import Adjust, BodyForm, Definition, Put, Remove, Settings, Webhook
from tests.unit.client.wires import Place, Wire, place

Story = Callable[[Place], Coroutine[Any, Any, None]]
LIMIT = 60  # seconds: a hang is a failure


def run(folder: Path, story: Story) -> None:
    async def told() -> None:
        async with asyncio.timeout(LIMIT), place(folder) as there:
            await story(there)

    asyncio.run(told())


async def take(stream: Stream, count: int) -> list[ReceivedDelivery]:
    return [await anext(stream) for _ in range(count)]


@pytest.mark.parametrize("framing", [frames.JSON, frames.MSGPACK], ids=["json", "msgpack"])
def test_what_is_published_comes_to_whom_it_matches(tmp_path: Path, framing: Any) -> None:
    async def story(there: Place) -> None:
        async with there.client(framing) as client:
            cheap = await client.subscribe("price < 10")
            region = await client.subscribe("x BETWEEN 0 AND 5", id="region")
            receipts = await client.publish(
                [{"price": 9.5}, {"price": 11, "x": Interval(4, 7)}, {"price": 3}]
            )
            assert [receipt.position for receipt in receipts] == [1, 2, 3]
            first, second = await take(cheap, 2)
            assert (first.attributes, second.attributes) == ({"price": 9.5}, {"price": 3})
            [met] = await take(region, 1)
            assert met.attributes == {"price": 11, "x": Interval(4, 7)}
            assert (met.subscriptions, met.position, met.attempt) == (("region",), 2, 1)
            assert met.id == receipts[1].id

    run(tmp_path, story)


def test_timestamps_and_cloudevents_arrive_as_they_were(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client() as client:
            stream = await client.subscribe("at > TIMESTAMP '2026-01-01' OR type = 'sold'")
            at = datetime(2026, 5, 1, tzinfo=UTC)
            await client.publish({"at": at})
            event = '{"specversion":"1.0","id":"1","source":"/s","type":"sold"}'
            await client.publish(event, form=BodyForm.CLOUDEVENT)
            first, second = await take(stream, 2)
            assert first.attributes == {"at": at}
            assert second.event.form is BodyForm.CLOUDEVENT
            assert second.event.body == event.encode()

    run(tmp_path, story)


def test_errors_are_the_same_exceptions(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client() as client:
            with pytest.raises(ParseError) as parse:
                await client.subscribe("price <")
            assert (parse.value.line, parse.value.text) == (1, "price <")
            with pytest.raises(UnknownIdError) as unknown:
                await client.unsubscribe("nobody")
            assert unknown.value.id == "nobody"
            with pytest.raises(JsonFormError):
                await client.publish(b"[1]")
            with pytest.raises(UnknownIdError):
                await client.consume(["nobody"])

    run(tmp_path, story)


def test_windows_changes_and_finding(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client() as client:
            report = await client.apply(
                [
                    Put(Definition("a", "x < :top", parameters={"top": 3}, owner="alice")),
                    Put(Definition("b", "x > 3")),
                    Put(Definition("c", "y = 1")),
                    Remove("c"),
                ]
            )
            assert report.given == 4
            await client.apply([Adjust("a", {"top": 5})])
            assert (await client.definition("a")).parameters == {"top": 5}
            changed = await client.change("b", "x > 4")
            assert (changed.expression, changed.revision) == ("x > 4", 2)
            assert [each.id for each in await client.definitions(owner="alice")] == ["a"]
            assert [each.id for each in await client.definitions(most=1, after="a")] == ["b"]
            await client.unsubscribe("a")
            with pytest.raises(UnknownIdError):
                await client.definition("a")

    run(tmp_path, story)


def test_why_and_who(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client() as client:
            await client.apply([Put(Definition("a", "x < 3")), Put(Definition("b", "x > 3"))])
            explanation = await client.explain("a", {"x": 7})
            assert not explanation.matched
            assert "saw 7" in explanation.text
            [one, other] = await client.dry_run([{"x": 1}, {"x": 4}])
            assert [each.id for each in one] == ["a"]
            assert [each.id for each in other] == ["b"]
            statistics = await client.statistics()
            assert statistics.pending == {}

    run(tmp_path, story)


def test_a_durable_subscription_goes_on_where_it_was_left(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client() as client:
            stream = await client.subscribe("x > 0", id="d", durable=True)
            await client.publish([{"x": number} for number in range(1, 6)])
            seen = []
            async for delivery in stream:
                seen.append(delivery.attributes)
                if len(seen) == 3:
                    break  # the third is not dealt with
        async with there.client() as client:
            again = await client.subscribe("x > 0", id="d", durable=True)
            came = await take(again, 3)
            assert [each.attributes for each in came] == [{"x": 3}, {"x": 4}, {"x": 5}]
            with pytest.raises(DuplicateIdError):
                await client.subscribe("x > 1", id="d", durable=True)

    run(tmp_path, story)


def test_what_is_given_back_comes_again(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client() as client:
            stream = await client.subscribe("x > 0", id="d", durable=True)
            await client.publish({"x": 1})
            [first] = await take(stream, 1)
            first.give_back(why="not now")
            [second] = await take(stream, 1)
            assert (second.position, second.attempt) == (first.position, 2)

    run(tmp_path, story)


def test_a_start_brings_what_was_before(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client() as client:
            await client.publish([{"x": number} for number in range(1, 5)])
            stream = await client.subscribe("x > 0", id="d", durable=True, start=2)
            assert [each.position for each in await take(stream, 2)] == [3, 4]
            await stream.close()
            again = await client.consume(["d"], start=datetime(2020, 1, 1, tzinfo=UTC))
            assert [each.position for each in await take(again, 4)] == [1, 2, 3, 4]

    run(tmp_path, story)


def test_many_subscriptions_are_one_stream_and_an_event_comes_once(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client() as client:
            ids = [f"s{number}" for number in range(5)]
            await client.apply([Put(Definition(id, "x > 0")) for id in ids])
            stream = await client.consume(ids)
            await client.publish([{"x": 1}, {"x": 2}])
            came = await take(stream, 2)
            assert [sorted(each.subscriptions) for each in came] == [ids, ids]
            for each in came:
                each.acknowledge()
            while (await client.statistics()).pending:
                pass

    run(tmp_path, story)


def test_a_closed_stream_ends_an_ephemeral_subscription(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client() as client:
            async with await client.subscribe("x > 0", id="e") as stream:
                assert len(there.broker.tenant()) == 1
            assert len(there.broker.tenant()) == 0
            assert [each async for each in stream] == []

    run(tmp_path, story)


def test_credit_bounds_what_a_client_is_sent(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client(credit=4) as client:
            stream = await client.subscribe("x > 0", id="d", durable=True)
            await client.publish([{"x": number} for number in range(1, 11)])
            await client.publish({"x": 11})
            seen = [each.attributes["x"] for each in await take(stream, 11)]  # type: ignore[index]
            assert seen == list(range(1, 12))

    run(tmp_path, story)


# Connections that break.


async def no_time(_: float) -> None:
    await asyncio.sleep(0)


def test_after_a_cut_everything_goes_on(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client(sleep=no_time) as client:
            live = await client.subscribe("x > 0", id="live")
            kept = await client.subscribe("x > 0", id="kept", durable=True)
            await client.publish({"x": 1})
            assert len(await take(live, 1)) == 1
            assert len(await take(kept, 1)) == 1
            there.cut()
            await client.publish({"x": 2})
            assert (await take(live, 1))[0].attributes == {"x": 2}
            again = await take(kept, 2)
            assert {each.position for each in again} == {1, 2}  # the first had no acknowledgement

    run(tmp_path, story)


def test_what_was_published_into_a_cut_is_taken_once(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client(sleep=no_time) as client:
            await client.publish({"x": 0})
            sent = asyncio.create_task(client.publish([{"x": 1}, {"x": 2}]))
            tenant = there.broker.tenant()
            while len(await tenant.latest(10)) < 3:
                pass
            there.cut()  # the events are taken; their receipts may be on their way
            receipts = await sent
            assert [receipt.position for receipt in receipts] == [2, 3]
            assert len(await tenant.latest(10)) == 3

    run(tmp_path, story)


def test_a_change_whose_answer_is_lost_is_not_made_twice(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client(sleep=no_time) as client:
            await client.publish({"x": 0})
            there.wires[0].is_stalled = True
            change = asyncio.create_task(client.apply([Put(Definition("a", "x < 3"))]))
            tenant = there.broker.tenant()
            while not await tenant.definitions():
                pass
            there.cut()  # the change is made; its answer is not heard
            with pytest.raises(NotConnectedError, match="may have been made"):
                await change
            assert await client.publish({"x": 1})
            assert [each.revision for each in await tenant.definitions()] == [1]

    run(tmp_path, story)


def test_patience_comes_to_an_end(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        now = [0.0]

        async def sleep(delay: float) -> None:
            now[0] += delay
            await asyncio.sleep(0)

        async with there.client(sleep=sleep, steady=lambda: now[0], patience=30.0) as client:
            stream = await client.subscribe("x > 0")
            there.is_down = True
            there.cut()
            with pytest.raises(NotConnectedError, match="it is down"):
                await client.publish({"x": 1})
            with pytest.raises(NotConnectedError):
                await anext(stream)
            assert now[0] >= 30

    run(tmp_path, story)


def test_settings_travel(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client() as client:
            settings = Settings(max_pending=7, ack_wait=2.5)
            await client.subscribe("x > 0", id="d", durable=True, settings=settings)
            assert (await client.definition("d")).settings == settings

    run(tmp_path, story)


def test_secrets_of_webhooks_are_never_told_and_never_lost(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        sink = Webhook("https://example.org/hook", "hush", {"X-Key": "hush"})
        async with there.client() as client:
            await client.apply([Put(Definition("w", "x > 0", settings=Settings(sink=sink)))])
            shown = await client.definition("w")
            assert shown.settings.sink == Webhook(sink.url)
            paused = msgspec.structs.replace(shown.settings, paused=True)
            changed = await client.change("w", settings=paused)
            assert changed.settings == paused
            await client.apply([Put(changed, replace=True)])
            kept = await there.broker.tenant().definition("w")
            assert (kept.settings.sink, kept.settings.paused, kept.revision) == (sink, True, 3)
            elsewhere = Settings(sink=Webhook("https://example.com/other"))
            await client.change("w", settings=elsewhere)
            assert (await there.broker.tenant().definition("w")).settings == elsewhere

    run(tmp_path, story)


# What one connection does to others.


def test_a_connection_that_reads_nothing_harms_nobody(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        async with there.client() as slow, there.client() as quick:
            await slow.subscribe("x > 0", id="slow", durable=True)
            there.wires[0].is_stalled = True
            stream = await quick.subscribe("x > 0")
            for number in range(1, 51):
                await quick.publish({"x": number})
            seen = [each.attributes for each in await take(stream, 50)]
            assert seen == [{"x": number} for number in range(1, 51)]
            there.cut()
        async with there.client() as again:
            kept = await again.consume(["slow"])
            assert len(await take(kept, 50)) == 50

    run(tmp_path, story)


def test_too_large_a_message_ends_its_connection(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        there.options = {"limits": ConnectionLimits(frame_bytes=1000)}
        wire = await there.open(frames.JSON)
        await wire.send(b" " * 1001)
        refused = frames.JSON.broker_frame(await received(wire))
        assert isinstance(refused, frames.Refused)
        assert refused.error == "LimitReachedError"
        assert await wire.receive() is None
        assert wire.close_code == 1009

    run(tmp_path, story)


def test_garbage_is_answered_and_the_connection_goes_on(tmp_path: Path) -> None:
    async def story(there: Place) -> None:
        wire = await there.open(frames.MSGPACK)
        for garbage in (b"", b"\xc1", b"\x81", b'{"type": "ping"}', bytes(range(256))):
            await wire.send(garbage)
            refused = frames.MSGPACK.broker_frame(await received(wire))
            assert isinstance(refused, frames.Refused)
        await wire.send(frames.MSGPACK.encode(frames.Ping(request=3)))
        assert frames.MSGPACK.broker_frame(await received(wire)) == frames.Done(request=3)

    run(tmp_path, story)


async def received(wire: Wire) -> bytes:
    data = await wire.receive()
    assert data is not None
    return data.encode() if isinstance(data, str) else data
