"""Settings are refused alike, whichever way they come in."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from predicast.broker import Broker
from predicast.broker.embedded import EmbeddedBackend
from predicast.broker.nats import NatsBackend
from predicast.broker.settings import check_settings
from predicast.broker.sinks import NATS_SINK
from predicast.errors import ProtocolError
from predicast.protocol import Definition, Put, Settings
from predicast.protocol.records import Webhook
from tests.unit.broker.server.serving import run
from tests.unit.client.wires import place

REFUSED: list[dict[str, Any]] = [
    {"max_pending": 0},
    {"max_pending": 10_000_001},
    {"ack_wait": 0.0},
    {"ack_wait": 0.0009},
    {"ack_wait": 86_400.5},
    {"max_attempts": 0},
    {"max_attempts": 1001},
]
TAKEN: list[dict[str, Any]] = [
    {"max_pending": 1, "ack_wait": 0.001, "max_attempts": 1},
    {"max_pending": 10_000_000, "ack_wait": 86_400.0, "max_attempts": 1000},
]
NO_SINKS = [
    Webhook("file:///etc/passwd"),
    Webhook("https://user:secret@example.org/"),
    Webhook("https://example.org/", headers={"Host": "inside"}),
]


def test_a_backend_serves_its_own_sinks_alone() -> None:
    own = Settings(sink=Webhook(NATS_SINK))
    check_settings(own, NatsBackend.own_sinks)
    for sink in (own, Settings(sink=Webhook("nats:elsewhere"))):
        with pytest.raises(ProtocolError, match="no address of a sink"):
            check_settings(sink, EmbeddedBackend.own_sinks)


def test_by_http(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        for number, config in enumerate(TAKEN):
            body = {"id": f"taken-{number}", "where": "x > 0", "config": config}
            assert (await client.post("/subscriptions", json=body)).status_code == 201
        for config in REFUSED:
            asked = {"id": "a", "where": "x > 0", "config": config}
            window = {"operations": [{"put": asked}]}
            for answer in (
                await client.post("/subscriptions", json=asked),
                await client.put("/subscriptions/a", json=asked),
                await client.patch("/subscriptions/taken-0", json={"config": config}),
                await client.post("/subscriptions:apply", json=window),
            ):
                assert (answer.status_code, answer.json()["error"]) == (400, "ProtocolError")
        for sink in NO_SINKS:
            body = {"id": "a", "where": "x > 0", "sink": sink.url}
            more = {"protocolsettings": {"headers": sink.headers}} if sink.headers else {}
            answer = await client.post("/subscriptions", json=body | more)
            assert (answer.status_code, "secret" in answer.text) == (400, False)
        assert len((await client.get("/subscriptions")).json()["subscriptions"]) == len(TAKEN)

    run(tmp_path, steps)


def test_by_session(tmp_path: Path) -> None:
    async def story() -> None:
        async with place(tmp_path) as there, there.client() as client:
            for number, taken in enumerate(_settings(TAKEN)):
                await client.apply([Put(Definition(f"taken-{number}", "x > 0", settings=taken))])
            for refused in _refused():
                with pytest.raises(ProtocolError) as caught:
                    await client.apply([Put(Definition("a", "x > 0", settings=refused))])
                assert "secret" not in caught.value.message
                with pytest.raises(ProtocolError):
                    await client.change("taken-0", settings=refused)
            assert (await client.definition("taken-0")).settings == _settings(TAKEN)[0]

    asyncio.run(story())


def test_in_a_program(tmp_path: Path) -> None:
    async def steps() -> None:
        async with Broker(EmbeddedBackend(tmp_path)) as broker:
            for refused in _refused():
                with pytest.raises(ProtocolError):
                    await broker.tenant().subscribe(Definition("a", "x > 0", settings=refused))
            assert len(broker.tenant()) == 0

    asyncio.run(steps())


def test_what_is_no_number_is_refused_too() -> None:
    with pytest.raises(ProtocolError, match="ack_wait"):
        check_settings(Settings(ack_wait=float("nan")))


def _settings(given: list[dict[str, Any]]) -> list[Settings]:
    return [msgspec.convert(each, Settings) for each in given]


def _refused() -> list[Settings]:
    return [*_settings(REFUSED), *(Settings(sink=each) for each in NO_SINKS)]
