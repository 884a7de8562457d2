"""Whatever is sent, the answer is a clean one, and the broker lives."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.routing import Route

from predicast.broker import Broker
from predicast.broker.access import Limits
from predicast.broker.embedded import EmbeddedBackend
from predicast.broker.server import make_app
from predicast.broker.server.bodies import MEDIA_TYPES, Limit, read_events
from predicast.broker.server.call import check_depth
from predicast.broker.server.openapi import openapi_document
from predicast.broker.server.subscription_documents import (
    SubscriptionDocument,
    to_definition,
    to_document,
)
from predicast.errors import PredicastError, ProtocolError
from tests.thorough import LONG
from tests.unit.broker.server.serving import served

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]


class Running:
    """A broker that lives as long as all tests of this file, in a loop of its own."""

    def __init__(self, folder: Path) -> None:
        self._runner = asyncio.Runner()
        app = make_app(Broker(EmbeddedBackend(folder)))
        self._serving = served(app)
        self.client: httpx.AsyncClient = self._runner.run(self._serving.__aenter__())

    def ask(self, *arguments: Any, **options: Any) -> httpx.Response:
        return self._runner.run(self.client.request(*arguments, **options))

    def close(self) -> None:
        self._runner.run(self._serving.__aexit__(None, None, None))
        self._runner.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    made = Running(tmp_path_factory.mktemp("broker"))
    yield made
    made.close()


@schemathesis.serializer(
    "application/jsonl",
    "application/x-ndjson",
    "application/vnd.apache.arrow.stream",
    "application/vnd.apache.arrow.file",
)
def as_it_is(context: Any, value: Any) -> bytes:
    return str(value).encode(errors="replace")


schema = schemathesis.openapi.from_dict(openapi_document())


# A stream does not end by itself.
@schema.exclude(path_regex="/deliveries$").parametrize()
@settings(
    max_examples=200 if LONG else 3,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=not LONG,
)
def test_every_operation_answers_as_the_document_says(case: Any, running: Running) -> None:
    options = case.as_transport_kwargs(base_url="http://localhost:8080")
    body = options.pop("data", None)
    if body is not None:
        options["content"] = body if isinstance(body, bytes | str) else bytes(str(body), "utf-8")
    options.pop("cookies", None)
    asked = httpx.Request(**{key: value for key, value in options.items() if value is not None})
    answer = running._runner.run(running.client.send(asked))
    case.validate_response(answer, checks=CHECKS)


def test_the_document_is_one_of_openapi_and_has_every_path(tmp_path: Path) -> None:
    schema.validate()
    app = make_app(Broker(EmbeddedBackend(tmp_path)))
    served_at = {
        (method, route.path.replace("{id:path}", "{id}"))
        for route in app.router.routes
        if isinstance(route, Route)
        for method in route.methods or {"GET"}
        if method != "HEAD"
    }
    described = {
        (method.upper(), path)
        for path, entry in openapi_document()["paths"].items()
        for method in entry
    }
    assert served_at - described == {("GET", "/openapi.json"), ("GET", "/docs")}
    assert described <= served_at


def test_a_dry_run_answers_as_the_document_says(running: Running) -> None:
    case = schema["/events"]["POST"].Case(
        query={"dry_run": True}, body={"x": 1}, media_type="application/json"
    )
    answer = running.ask("POST", "/events", params={"dry_run": 1}, json={"x": 1})
    assert [*answer.json()["events"][0]] == ["total", "recipients"]
    case.validate_response(answer, checks=CHECKS)


def test_it_lives(running: Running) -> None:
    assert running.ask("GET", "/readyz").json() == {"status": "ready"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
).map(msgspec.json.encode)
CLOUDEVENT = st.dictionaries(
    st.sampled_from(["id", "source", "type", "specversion", "data", "data_base64", "time", "x"]),
    st.sampled_from(["1.0", "a", "", 1, None, {}, "2026-11-16T12:00:00Z"]),
).map(msgspec.json.encode)


@given(
    st.sampled_from(list(MEDIA_TYPES)),
    st.binary(max_size=200) | JSON | CLOUDEVENT | st.lists(CLOUDEVENT).map(b",".join),
    st.sampled_from([b"", b"[", b"{", b"\xef\xbb\xbf"]),
    st.dictionaries(
        st.sampled_from(["ce-specversion", "ce-id", "ce-type", "ce-source", "predicast-event-id"]),
        st.text(max_size=5),
    ),
)
def test_any_body_is_events_or_is_refused(
    media: str, body: bytes, before: bytes, headers: dict[str, str]
) -> None:
    try:
        events = read_events({**headers, "content-type": media}, before + body, "p", Limit(10, 64))
    except PredicastError:
        return
    assert all(event.id and event.publisher for event in events)


@given(JSON, st.integers(1, 6))
def test_depth_is_what_it_is(body: bytes, limit: int) -> None:
    def depth(value: Any) -> int:
        if isinstance(value, dict):
            value = list(value.values())
        return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0

    is_deeper = depth(msgspec.json.decode(body)) > limit
    try:
        check_depth(body, limit)
    except ProtocolError:
        assert is_deeper
    else:
        assert not is_deeper


@given(
    st.builds(
        SubscriptionDocument,
        id=st.none() | st.text(max_size=5),
        owner=st.none() | st.text(max_size=5),
        where=st.none() | st.just("price < 10"),
        types=st.lists(st.text(max_size=3), max_size=2),
        filters=st.none()
        | st.lists(st.sampled_from([{"where": "a = 1"}, {"exact": {"type": "a"}}, {"sql": "x"}])),
        sink=st.none() | st.sampled_from(["https://sink.example/", "x", "nats:"]),
    )
)
def test_a_document_is_a_definition_that_is_told_the_same_way(
    document: SubscriptionDocument,
) -> None:
    try:
        definition = to_definition(document)
    except PredicastError:
        return
    again = to_definition(to_document(definition))
    assert again == msgspec.structs.replace(definition, created=0.0, revision=1)


def test_a_body_that_never_ends_is_cut_off(running: Running) -> None:
    def endless() -> Iterator[bytes]:
        sent = 0
        while True:
            sent += 1
            assert sent < 1000, "the server goes on reading"
            yield b" " * (1 << 20)

    async def chunks() -> Any:
        for chunk in endless():
            yield chunk

    answer = running.ask("POST", "/events", content=chunks())
    assert answer.status_code == 413
    assert answer.json()["limit"] == Limits().body_bytes
