"""Webhooks: signed, in order, tried again, given up, and sent to nowhere private."""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.broker import Broker, Start
from predicast.broker.access import Access
from predicast.broker.embedded import EmbeddedBackend, EmbeddedOptions
from predicast.broker.embedded.held_tenant import HeldTenant
from predicast.broker.server.pulls import Pulls
from predicast.broker.sinks import Sink, check_headers, check_sink, is_public
from predicast.broker.tenant import with_settings
from predicast.broker.webhooks import (
    BackOff,
    HttpSender,
    Pusher,
    PushOptions,
    SinkAnswer,
    sign,
    verify,
)
from predicast.broker.webhooks.messages import Message, cloudevent
from predicast.errors import DamagedStoreError, ProtocolError
from predicast.language.cloudevents import from_structured
from predicast.protocol import BodyForm, Definition, NewEvent, Settings, StoredEvent, Webhook

URL = "https://sink.example/in"
SOON = BackOff(first_s=0.001, longest_s=0.002)


class FakeSender:
    """Answers as it is told, and remembers what it was sent."""

    def __init__(
        self, answers: Callable[[Sink, int], SinkAnswer] = lambda *_: SinkAnswer(200)
    ) -> None:
        self.sent: list[tuple[Sink, Message]] = []
        self._answers = answers
        self._more = asyncio.Event()

    async def send(self, sink: Sink, message: Message) -> SinkAnswer:
        self.sent.append((sink, message))
        self._more.set()
        return self._answers(sink, len(self.sent))

    async def close(self) -> None:
        pass

    async def until(self, count: int) -> None:
        async with asyncio.timeout(60):
            while len(self.sent) < count:
                self._more.clear()
                await self._more.wait()

    def prices(self) -> list[int]:
        return [msgspec.json.decode(each.body)["data"]["price"] for _, each in self.sent]


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await condition():  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0.01)


async def at_once(seconds: float) -> None:
    """Time that passes as soon as others had their turn."""
    await asyncio.sleep(0)


def pushed(
    folder: Path,
    sender: FakeSender,
    steps: Callable[[Access], Awaitable[None]],
    *,
    back_off: BackOff = SOON,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    backend: type[EmbeddedBackend] = EmbeddedBackend,
    **options: Any,
) -> None:
    """Run the steps with a broker that pushes by the sender."""

    async def whole() -> None:
        broker = Broker(backend(folder, options=EmbeddedOptions(tick=0.005)))
        access = Access(broker)
        chosen = PushOptions(back_off=back_off, **options)
        pusher = Pusher(broker, chosen, sender=sender, chance=random.Random(1), sleep=sleep)
        async with broker:
            access.on_change = pusher.heard
            await pusher.start()
            try:
                await steps(access)
            finally:
                await pusher.stop()

    asyncio.run(whole())


def subscription(id: str = "s", url: str = URL, **settings: Any) -> Definition:
    sink = Webhook(url, settings.pop("secret", None), settings.pop("headers", {}))
    return Definition(id, "price < 10", settings=Settings(sink=sink, **settings))


def events(*prices: int) -> list[NewEvent]:
    return [
        NewEvent(b'{"price":%d}' % price, {"price": price}, f"e{price}", "shop") for price in prices
    ]


def test_deliveries_are_pushed_in_order_and_signed(tmp_path: Path) -> None:
    sender = FakeSender()
    secret = "whsec_c2VjcmV0"

    async def steps(access: Access) -> None:
        tenant = access.tenant("default")
        await tenant.subscribe(subscription(secret=secret, headers={"X-Key": "1"}))
        await tenant.publish(events(1, 50, 2, 3))
        await sender.until(3)

        async def done() -> bool:
            return (await tenant.recipients(4))["s"] == "acknowledged"

        await until(done)

    pushed(tmp_path, sender, steps)
    assert sender.prices() == [1, 2, 3]
    sink, message = sender.sent[0]
    assert sink == Sink("https", "sink.example", 443, "/in")
    assert message.headers["X-Key"] == "1"
    at = float(message.headers["webhook-timestamp"])
    assert verify(secret, message.headers, message.body, at)
    assert not verify(secret, message.headers, message.body + b" ", at)
    assert not verify(secret, message.headers, message.body, at + 301)
    assert not verify("whsec_b3RoZXI=", message.headers, message.body, at)


def test_what_fails_is_tried_again_with_the_same_id(tmp_path: Path) -> None:
    sender = FakeSender(lambda _, count: SinkAnswer(503 if count < 3 else 200, "busy"))

    async def steps(access: Access) -> None:
        tenant = access.tenant("default")
        await tenant.subscribe(subscription())
        await tenant.publish(events(1))
        await sender.until(3)

    pushed(tmp_path, sender, steps)
    assert sender.prices() == [1, 1, 1]
    assert len({message.headers["webhook-id"] for _, message in sender.sent}) == 1


def test_what_fails_is_tried_again_before_what_is_newer(tmp_path: Path) -> None:
    sender = FakeSender(lambda _, count: SinkAnswer(503 if count == 1 else 200, "busy"))

    async def steps(access: Access) -> None:
        tenant = access.tenant("default")
        await tenant.subscribe(subscription())
        await tenant.publish(events(1, 2, 3))
        await sender.until(4)

    pushed(tmp_path, sender, steps, back_off=BackOff(first_s=60.0), sleep=at_once)
    assert sender.prices()[:4] == [1, 1, 2, 3]


def test_only_what_was_sent_is_given_up(tmp_path: Path) -> None:
    sender = FakeSender(lambda _, count: SinkAnswer(503 if count == 1 else 200, "busy"))
    given_up = []

    async def steps(access: Access) -> None:
        tenant = access.tenant("default")
        await tenant.subscribe(subscription(max_attempts=1))
        await tenant.publish(events(1, 2, 3))
        await sender.until(3)
        given_up.extend(await tenant.dead_letters())

    pushed(tmp_path, sender, steps, sleep=at_once)
    assert sender.prices() == [1, 2, 3]
    assert [(each.event.position, each.reason) for each in given_up] == [(1, "busy")]


def test_a_dead_sink_fills_its_own_dead_letters_and_harms_nobody(tmp_path: Path) -> None:
    dead = "https://dead.example/"
    sender = FakeSender(
        lambda sink, _: SinkAnswer(200 if sink.host == "sink.example" else None, "gone")
    )

    async def steps(access: Access) -> None:
        tenant = access.tenant("default")
        await tenant.subscribe(subscription("dead", dead, max_attempts=2))
        await tenant.subscribe(subscription("well"))
        await tenant.publish(events(1, 2))

        async def all_done() -> bool:
            states = [await tenant.recipients(position) for position in (1, 2)]
            return states == [{"dead": "dead", "well": "acknowledged"}] * 2

        await until(all_done)
        letters = await tenant.dead_letters()
        assert {(each.subscription, each.reason, each.attempts) for each in letters} == {
            ("dead", "gone", 2)
        }

    pushed(tmp_path, sender, steps)
    assert sum(sink.host == "sink.example" for sink, _ in sender.sent) == 2


def test_a_sink_that_is_gone_for_good_is_paused(tmp_path: Path) -> None:
    sender = FakeSender(lambda _, count: SinkAnswer(410 if count == 1 else 200, "gone"))

    async def steps(access: Access) -> None:
        tenant = access.tenant("default")
        await tenant.subscribe(subscription())
        await tenant.publish(events(1))

        async def paused() -> bool:
            return (await tenant.definition("s")).settings.paused

        await until(paused)
        await tenant.change("s", lambda before: with_settings(before, paused=False))
        await sender.until(2)

    pushed(tmp_path, sender, steps)
    assert sender.prices() == [1, 1]


def test_a_batch_is_one_request(tmp_path: Path) -> None:
    sender = FakeSender()
    batched = {"Content-Type": "application/cloudevents-batch+json"}

    async def steps(access: Access) -> None:
        tenant = access.tenant("default")
        await tenant.subscribe(subscription(headers=batched, paused=True))
        await tenant.publish(events(1, 2, 3))
        await tenant.change("s", lambda before: with_settings(before, paused=False))
        await sender.until(1)

    pushed(tmp_path, sender, steps)
    [(_, message)] = sender.sent[:1]
    assert [each["id"] for each in msgspec.json.decode(message.body)] == ["e1", "e2", "e3"]
    assert message.headers["content-type"].startswith(batched["Content-Type"])


def test_webhooks_go_on_after_a_restart(tmp_path: Path) -> None:
    silent, sender = FakeSender(lambda *_: SinkAnswer(None, "no")), FakeSender()

    async def before(access: Access) -> None:
        await access.tenant("default").subscribe(subscription(max_attempts=1000))
        await access.tenant("default").publish(events(1))
        await silent.until(1)

    async def after(access: Access) -> None:
        await sender.until(1)

    pushed(tmp_path, silent, before)
    pushed(tmp_path, sender, after)
    assert sender.prices()[:1] == [1]


def test_what_changes_while_webhooks_are_looked_up_is_newer(tmp_path: Path) -> None:
    sender = FakeSender()
    found, go_on = asyncio.Event(), asyncio.Event()

    async def make(access: Access) -> None:
        tenant = access.tenant("default")
        for id in ("gone", "kept", "moved"):
            await tenant.subscribe(subscription(id, f"https://{id}.example/"))

    class Slow(EmbeddedBackend):
        async def with_sinks(self, tenant: str) -> list[Definition]:
            definitions = await super().with_sinks(tenant)
            found.set()
            await go_on.wait()
            return definitions

    async def change(access: Access) -> None:
        await found.wait()
        tenant = access.tenant("default")
        await tenant.unsubscribe("gone")
        sink = {"settings": Settings(sink=Webhook("https://elsewhere.example/"))}
        await tenant.change("moved", lambda before: sink)
        go_on.set()
        await tenant.publish(events(1))
        await sender.until(2)
        assert {each.host for each, _ in sender.sent} == {"kept.example", "elsewhere.example"}

    pushed(tmp_path, sender, make)
    pushed(tmp_path, sender, change, backend=Slow)


def test_damage_among_webhooks_is_told_to_whoever_asks(tmp_path: Path) -> None:
    class Damaged(EmbeddedBackend):
        def _tenant(self, name: str) -> HeldTenant:
            held = super()._tenant(name)
            held.registry.with_sinks = damaged_rows  # type: ignore[method-assign]
            return held

    async def damaged_rows() -> list[Definition]:
        raise DamagedStoreError("the store is damaged", where="definitions")

    async def make(access: Access) -> None:
        await access.tenant("default").subscribe(subscription())

    async def ask(access: Access) -> None:
        async def is_told() -> bool:
            try:
                await access.tenant("default").publish(events(1))
            except DamagedStoreError:
                return True
            return False

        await until(is_told)

    pushed(tmp_path, FakeSender(), make)
    pushed(tmp_path, FakeSender(), ask, backend=Damaged)


def test_a_sink_of_the_backends_own_is_left_to_it(tmp_path: Path) -> None:
    sender = FakeSender()

    async def steps(access: Access) -> None:
        access.broker.backend.own_sinks = ["nats:"]
        tenant = access.tenant("default")
        await tenant.subscribe(subscription("other", "nats:"))
        await tenant.subscribe(subscription())
        await tenant.publish(events(1))
        await sender.until(1)
        assert (await tenant.recipients(1))["other"] == "waiting"

    pushed(tmp_path, sender, steps)


def test_a_replay_is_pushed(tmp_path: Path) -> None:
    sender = FakeSender()

    async def steps(access: Access) -> None:
        tenant = access.tenant("default")
        await tenant.subscribe(subscription())
        await tenant.publish(events(1, 2))
        await sender.until(2)
        await Pulls(access.broker.clock, 10).replay(tenant, "s", Start(after=1))
        await sender.until(3)

    pushed(tmp_path, sender, steps)
    assert sender.prices() == [1, 2, 2]


# What is sent.


@pytest.mark.parametrize(
    ("form", "body", "data"),
    [
        (BodyForm.JSON, b'{"price": 5}', {"price": 5}),
        (BodyForm.TURTLE, b"<a:b> <a:c> 'd' .", "<a:b> <a:c> 'd' ."),
    ],
)
def test_any_event_is_sent_as_a_cloudevent(form: BodyForm, body: bytes, data: Any) -> None:
    made = cloudevent(StoredEvent(1, 1794865546.5, "e1", "the shop", form, body))
    event = from_structured(made)
    assert (event["id"], event["source"], event["data"]) == ("e1", "the%20shop", data)
    assert event["time"] == "2026-11-16T21:45:46.500000Z"


@given(st.text(min_size=1), st.binary(), st.integers(0, 2**40), st.text())
def test_what_is_signed_is_verified(secret: str, body: bytes, at: int, id: str) -> None:
    if any("\ud800" <= each <= "\udfff" for each in secret + id):
        return
    headers = sign(secret, id, at, body)
    assert verify(secret, headers, body, at)
    assert not verify(secret + "x", headers, body, at)


@given(st.integers(1, 10_000), st.integers())
def test_a_sink_is_left_alone_for_longer_and_longer(failures: int, seed: int) -> None:
    delay = BackOff(first_s=1.0, longest_s=900.0).delay(failures, random.Random(seed))
    whole = min(900.0, 2.0 ** min(failures - 1, 60))
    assert whole / 2 <= delay <= whole


# Where it is sent.


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fc00::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "ff02::1",
        "",
        "nonsense",
    ],
)
def test_addresses_that_lead_inside_are_known(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111"])
def test_addresses_of_the_internet_are_known(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sink.example",
        "ftp://sink.example",
        "file:///etc/passwd",
        "https://",
        "https://a b/",
        "https://x:99999/",
        "https://[::1",
        "https://user:pw@sink.example/",
        "https://sink.example/\n",
        "https://sink.example/" + "a" * 3000,
        "gopher://127.0.0.1:25/",
    ],
)
def test_what_is_no_sink_is_refused(url: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        check_sink(url)
    assert "pw" not in refused.value.message


@given(st.text(max_size=200))
def test_any_text_is_a_sink_or_is_refused(text: str) -> None:
    for url in (text, f"https://{text}"):
        with contextlib.suppress(ProtocolError):
            assert check_sink(url).scheme in {"http", "https"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "x"},
        {"content-length": "1"},
        {"Webhook-Signature": "v1,x"},
        {"a b": "x"},
        {"x": "a\r\nHost: evil"},
        {"x": "é"},
        {str(n): "x" for n in range(33)},
    ],
)
def test_headers_that_are_ours_or_break_out_are_refused(headers: dict[str, str]) -> None:
    with pytest.raises(ProtocolError):
        check_headers(headers)


class Receiver:
    """A sink on loopback that answers each request with the same bytes."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self.requests: list[bytes] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        self.requests.append(head + await reader.readexactly(length))
        writer.write(self._answer)
        await writer.drain()
        writer.close()


def sent(
    answer: bytes, *, allow_private: bool, addresses: list[str]
) -> tuple[SinkAnswer, list[bytes]]:
    """What a receiver on loopback is sent, if a name resolves to these addresses."""

    async def whole() -> tuple[SinkAnswer, list[bytes]]:
        async def resolve(host: str, port: int) -> list[str]:
            assert host == "sink.example"
            return addresses

        async with Receiver(answer) as receiver:
            sender = HttpSender(allow_private=allow_private, resolve=resolve)
            sink = Sink("http", "sink.example", receiver.port, "/in?a=1")
            try:
                told = await sender.send(sink, Message({"webhook-id": "s.1"}, b"{}"))
            finally:
                await sender.close()
            return told, receiver.requests

    return asyncio.run(whole())


OK = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


def test_a_request_goes_to_the_address_that_was_looked_at() -> None:
    told, [request] = sent(OK, allow_private=True, addresses=["127.0.0.1"])
    assert told == SinkAnswer(204)
    assert request.startswith(b"POST /in?a=1 HTTP/1.1\r\n")
    assert b"host: sink.example:" in request.lower()


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["93.184.216.34", "127.0.0.1"]])
def test_a_name_that_leads_inside_is_not_called(addresses: list[str]) -> None:
    told, requests = sent(OK, allow_private=False, addresses=addresses)
    assert told.status is None
    assert "--allow-private-webhooks" in told.why
    assert requests == []


def test_a_redirect_is_not_followed() -> None:
    redirect = (
        b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1/\r\n"
        b"Content-Length: 0\r\nConnection: close\r\n\r\n"
    )
    told, requests = sent(redirect, allow_private=True, addresses=["127.0.0.1"])
    assert (told.status, told.is_good, len(requests)) == (307, False, 1)


def test_a_sink_may_say_when_to_try_again() -> None:
    busy = (
        b"HTTP/1.1 503 Busy\r\nRetry-After: 99999\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    told, _ = sent(busy, allow_private=True, addresses=["127.0.0.1"])
    assert (told.status, told.wait_s) == (503, 3600.0)


@pytest.mark.parametrize("answer", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200"])
def test_a_sink_that_talks_nonsense_has_failed(answer: bytes) -> None:
    told, _ = sent(answer, allow_private=True, addresses=["127.0.0.1"])
    assert told.status is None
    assert "sink.example" in told.why
