"""Subscriptions and deliveries over HTTP."""

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from predicast.broker import Broker
from predicast.broker.access import Access, Limits
from predicast.broker.embedded import EmbeddedBackend
from predicast.broker.server import make_app
from predicast.broker.server.filters import expression_of, filters_of
from predicast.broker.webhooks import PushOptions
from predicast.errors import ProtocolError
from tests.unit.broker.server.serving import run, served

CHEAP = {"id": "cheap", "where": "price < 10"}


@pytest.mark.parametrize(
    ("filters", "dialect", "expression"),
    [
        ([{"where": "price < 10"}], "where", "price < 10"),
        ([{"sql": "hop < 3"}], "cesql", "hop < 3"),
        ([{"sparql": "ASK {}"}], "sparql", "ASK {}"),
        ([{"eventbridge": {"a": [1]}}], "eventbridge", '{"a":[1]}'),
        ([{"exact": {"type": "a"}}], "cloudevents", '[{"exact":{"type":"a"}}]'),
        (
            [{"sql": "hop < 3"}, {"exact": {"type": "a"}}],
            "cloudevents",
            '[{"sql":"hop < 3"},{"exact":{"type":"a"}}]',
        ),
        ([], "cloudevents", "[]"),
    ],
)
def test_filters_are_told_as_they_were_given(
    filters: list[dict[str, Any]], dialect: str, expression: str
) -> None:
    assert expression_of(filters) == (dialect, expression)
    assert filters_of(dialect, expression) == filters


@pytest.mark.parametrize(
    "filters", [[{"where": "a = 1"}, {"exact": {"type": "b"}}], [{"where": 1}], [{"sparql": {}}]]
)
def test_filters_that_do_not_go_together_are_refused(filters: list[dict[str, Any]]) -> None:
    with pytest.raises(ProtocolError, match=r"where|sparql"):
        expression_of(filters)


def test_a_filter_that_does_not_exist_is_told_with_the_one_that_was_meant() -> None:
    with pytest.raises(ProtocolError, match="did you mean 'eventbridge'"):
        expression_of([{"eventbrige": {}}])
    with pytest.raises(ProtocolError, match=r"exact,.* where"):
        expression_of([{"exact": {"type": "a"}}, {"nothing-like-it": {}}])


def test_a_sink_that_is_plainly_inside_is_refused_when_it_is_given(tmp_path: Path) -> None:
    hosts = ("localhost:9000", "10.1.2.3", "[::1]:80", "169.254.169.254")

    async def refused(client: httpx.AsyncClient) -> None:
        for host in hosts:
            hook = CHEAP | {"sink": f"http://{host}/hook"}
            answer = await client.post("/subscriptions", json=hook)
            assert answer.status_code == 403
            assert "--allow-private-webhooks" in answer.json()["detail"]
        kept = hook | {"config": {"paused": True}}
        assert (await client.post("/subscriptions", json=kept)).status_code == 201
        assert (await client.post("/subscriptions/cheap/resume")).status_code == 403

    async def allowed(client: httpx.AsyncClient) -> None:
        assert (await client.post("/subscriptions/cheap/resume")).status_code == 200

    run(tmp_path, refused)
    run(tmp_path, allowed, push=PushOptions(allow_private=True))


def test_a_tenant_has_so_many_connections_and_no_more(tmp_path: Path) -> None:
    scope = {
        "type": "websocket",
        "path": "/ws",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
        "subprotocols": [],
        "extensions": {"websocket.http.response": {}},
    }

    async def steps() -> None:
        broker = Broker(EmbeddedBackend(tmp_path / "data"))
        app = make_app(broker, Access(broker, limits=Limits(connections=1)))

        def connection() -> tuple[asyncio.Queue[Any], asyncio.Queue[Any], asyncio.Task[None]]:
            given: asyncio.Queue[Any] = asyncio.Queue()
            said: asyncio.Queue[Any] = asyncio.Queue()
            given.put_nowait({"type": "websocket.connect"})
            return given, said, asyncio.create_task(app(dict(scope), given.get, said.put))

        async with served(app):
            for _ in range(2):  # one that has ended makes room
                given, said, one = connection()
                assert (await said.get())["type"] == "websocket.accept"
                _, refused, other = connection()
                assert (await refused.get())["status"] == 429
                await other
                given.put_nowait({"type": "websocket.disconnect", "code": 1000})
                await one

    asyncio.run(steps())


def test_a_subscription_lives_from_create_to_delete(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        made = await client.post("/subscriptions", json=CHEAP | {"owner": "ann"})
        assert made.status_code == 201
        assert made.json()["filters"] == [{"where": "price < 10"}]
        assert (await client.get("/subscriptions/cheap")).json() == made.json()
        again = await client.post("/subscriptions", json=CHEAP)
        assert (again.status_code, again.json()["error"]) == (409, "DuplicateIdError")
        changed = await client.patch("/subscriptions/cheap", json={"config": {"ack_wait": 5}})
        assert changed.json()["config"] == made.json()["config"] | {"ack_wait": 5.0}
        assert changed.json()["owner"] == "ann"
        replaced = await client.put("/subscriptions/cheap", json={"where": "price < 3"})
        assert replaced.json()["config"] == made.json()["config"]
        assert "owner" not in replaced.json()
        assert replaced.json()["status"]["revision"] == 3
        for action, paused in (("pause", True), ("resume", False)):
            answer = await client.post(f"/subscriptions/cheap/{action}")
            assert answer.json()["config"]["paused"] is paused
        assert (await client.delete("/subscriptions/cheap")).status_code == 204
        gone = await client.get("/subscriptions/cheap")
        assert (gone.status_code, gone.json()["error"]) == (404, "UnknownIdError")

    run(tmp_path, steps)


def test_a_change_says_what_it_names_and_takes_away_what_is_null(tmp_path: Path) -> None:
    hook = {"id": "h", "owner": "ann", "where": "x < :y", "parameters": {"y": 1}}
    hook |= {"sink": "https://x.example/", "protocolsettings": {"secret": "s"}}

    async def steps(client: httpx.AsyncClient) -> None:
        await client.post("/subscriptions", json=hook)

        async def changed(change: dict[str, Any]) -> dict[str, Any]:
            answer = await client.patch("/subscriptions/h", json=change)
            assert answer.status_code == 200, answer.text
            return dict(answer.json())

        assert "owner" not in await changed({"owner": None})
        assert (await changed({"config": {"paused": True}}))["status"]["is_signed"] is True
        without = await changed({"sink": None})
        assert not {"sink", "protocol"} & without.keys()
        assert without["config"]["paused"] is True
        of_source = await changed({"source": "/shop"})
        assert of_source["filters"] == [{"exact": {"source": "/shop"}}]
        assert "parameters" not in of_source
        for change, said in (
            ({"where": None}, "$.where"),
            ({"id": "other"}, "does not change"),
            ({"protocol": "HTTP"}, "there is none"),
            ({"sink": None, "protocolsettings": {"secret": "s"}}, "there is none"),
        ):
            answer = await client.patch("/subscriptions/h", json=change)
            assert (answer.status_code, said in answer.json()["detail"]) == (400, True)

    run(tmp_path, steps)


def test_an_id_may_have_anything_in_it(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        for id in ("a/b", "a b", "ü", "pull", "x/pull", "?", "50%"):
            made = await client.post("/subscriptions", json={"id": id, "where": "n = 1"})
            assert made.status_code == 201, made.text
            found = await client.get(f"/subscriptions/{quote(id, safe='')}")
            assert found.json()["id"] == id

    run(tmp_path, steps)


def test_parameters_are_adjusted_in_place(tmp_path: Path) -> None:
    body = {"id": "p", "where": "price < :most AND at > :since", "parameters": {}}
    first = {"most": 10, "since": {"$timestamp": "2026-01-01T00:00:00Z"}}

    async def steps(client: httpx.AsyncClient) -> None:
        made = await client.post("/subscriptions", json=body | {"parameters": first})
        assert made.status_code == 201, made.text
        adjusted = await client.put("/subscriptions/p/parameters", json={"most": 20})
        assert adjusted.json()["parameters"] == first | {"most": 20}
        event = {"price": 15, "at": {"$timestamp": "2026-02-01T00:00:00Z"}}
        tried = await client.post("/events", params={"dry_run": 1}, json=event)
        assert [each["id"] for each in tried.json()["events"][0]["recipients"]] == ["p"]
        wrong = await client.put("/subscriptions/p/parameters", json={"mots": 20})
        assert wrong.json()["error"] == "UnknownParameterError"
        assert wrong.json()["suggestion"] == "most"

    run(tmp_path, steps)


def test_subscriptions_are_listed_by_owner_and_text_in_pages(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        puts = [
            {"put": {"id": f"s{n}", "where": f"price < {n}", "owner": "ann" if n % 2 else "bob"}}
            for n in range(6)
        ]
        report = await client.post("/subscriptions:apply", json={"operations": puts})
        assert report.json()["given"] == 6
        page = (await client.get("/subscriptions", params={"owner": "ann", "most": 2})).json()
        assert [each["id"] for each in page["subscriptions"]] == ["s1", "s3"]
        query = {"owner": "ann", "after": page["next"]}
        rest = (await client.get("/subscriptions", params=query)).json()
        assert [each["id"] for each in rest["subscriptions"]] == ["s5"]
        found = (await client.get("/subscriptions", params={"text": "< 4"})).json()
        assert [each["id"] for each in found["subscriptions"]] == ["s4"]

    run(tmp_path, steps)


def test_a_window_is_carried_out_whole_or_not_at_all(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        await client.post("/subscriptions", json=CHEAP)
        window = [{"remove": "cheap"}, {"put": {"id": "a", "where": "n = "}}]
        refused = await client.post("/subscriptions:apply", json={"operations": window})
        assert refused.json()["error"] == "ParseError"
        assert (await client.get("/subscriptions/cheap")).status_code == 200
        for wrong in ({}, {"remove": "a", "adjust": "b"}, {"put": {"where": "n = 1"}}):
            refused = await client.post("/subscriptions:apply", json={"operations": [wrong]})
            assert refused.json()["field"].startswith("$.operations[0]")

    run(tmp_path, steps)


def test_fields_that_nobody_would_look_at_are_refused(tmp_path: Path) -> None:
    asked: list[tuple[Any, str]] = [
        ({"idd": "a"}, "did you mean 'id'"),
        ({"expression": "a = 1"}, "did you mean 'where'"),
        ({"config": {"duarble": True}}, "did you mean 'durable'"),
        ({"config": {"ack_wait": 0}}, "$.config.ack_wait"),
        ({"config": {"when_full": "explode"}}, "it is one of drop-oldest, drop-newest"),
        ({"id": 5}, "$.id"),
        ({"where": "a = 1", "filters": []}, "stands alone"),
        ({"where": "a = 1", "sink": "ftp://x"}, "https://"),
        ({"where": "a = 1", "sink": "https://me:secret@x.example/"}, "password"),
        ({"where": "a = 1", "protocolsettings": {"secret": "s"}}, "no"),
        ({"where": "a = 1", "sink": "https://x", "protocol": "MQTT"}, "HTTP"),
        ({"where": "a = 1", "sink": "nats:"}, "--backend nats://"),
        ([], "object"),
    ]

    async def steps(client: httpx.AsyncClient) -> None:
        for body, said in asked:
            answer = await client.post("/subscriptions", json=body)
            assert answer.status_code == 400, body
            assert said in answer.json()["detail"]
            assert "secret" not in answer.text
        assert (await client.get("/subscriptions")).json() == {"subscriptions": []}

    run(tmp_path, steps)


def test_a_tenant_has_no_more_subscriptions_than_it_may(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        for n in range(2):
            await client.post("/subscriptions", json={"id": f"s{n}", "where": "n = 1"})
        refused = await client.post("/subscriptions", json=CHEAP)
        assert (refused.status_code, refused.json()["what"]) == (422, "subscriptions")
        swap = [{"remove": "s0"}, {"put": CHEAP}]
        assert (
            await client.post("/subscriptions:apply", json={"operations": swap})
        ).status_code == 200
        twice = await asyncio.gather(
            *(client.put(f"/subscriptions/x{n}", json={"where": "n = 1"}) for n in range(4))
        )
        assert {each.status_code for each in twice} == {422}

    run(tmp_path, steps, limits=Limits(subscriptions=2))


# Deliveries.


def test_a_subscription_that_costs_too_much_is_refused(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        async def put(**fields: Any) -> httpx.Response:
            window = {"operations": [{"put": {"id": "a", **fields}, "replace": True}]}
            return await client.post("/subscriptions:apply", json=window)

        for where in ("price > 5 AND symbol = 'IBM'", "price > 5"):
            assert (await put(where=where)).status_code == 200
        dear: list[dict[str, Any]] = [{"where": "x <> 1"}, {"where": "x RLIKE '[a-z]+'"}]
        for fields in (*dear, {"filters": []}):
            refused = await put(**fields)
            assert (refused.status_code, refused.json()["error"]) == (422, "LimitReachedError")
            assert "'a' costs too much" in refused.json()["detail"]
        liked = {"where": "name LIKE :p", "parameters": {"p": "ab%"}}
        assert (await put(**liked)).status_code == 200
        for value, status in (("%b%", 200), ("%", 422)):
            adjusted = await client.put("/subscriptions/a/parameters", json={"p": value})
            assert adjusted.status_code == status
        kept = (await client.get("/subscriptions/a")).json()
        assert kept["parameters"] == {"p": "%b%"}

    run(tmp_path, steps, limits=Limits(cost="medium"))


def test_what_is_not_acknowledged_comes_again_after_a_restart(tmp_path: Path) -> None:
    async def first(client: httpx.AsyncClient) -> None:
        await client.post("/subscriptions", json=CHEAP)
        await client.post("/events", json=[{"price": n} for n in range(4)])
        pulled = await client.post("/subscriptions/cheap/pull", json={"most": 3, "wait": 20})
        assert [each["position"] for each in pulled.json()["deliveries"]] == [1, 2, 3]
        done = await client.post("/subscriptions/cheap/acknowledge", json={"up_to": 2})
        assert done.status_code == 204

    async def second(client: httpx.AsyncClient) -> None:
        pulled = await client.post("/subscriptions/cheap/pull", json={"wait": 20})
        found = [(each["position"], each["attempt"]) for each in pulled.json()["deliveries"]]
        assert [position for position, _ in found] == [3, 4]
        await client.post("/subscriptions/cheap/acknowledge", json={"positions": [3, 4]})
        recipients = (await client.get("/events/4")).json()["recipients"]
        assert recipients == {"cheap": "acknowledged"}
        replayed = await client.post("/subscriptions/cheap/replay", json={"after": 1})
        assert replayed.status_code == 204
        pulled = await client.post("/subscriptions/cheap/pull", json={"most": 1, "wait": 20})
        assert [each["position"] for each in pulled.json()["deliveries"]] == [2]

    run(tmp_path, first)
    run(tmp_path, second)


class Stream:
    """A stream of deliveries, read as it comes."""

    def __init__(self, app: Any, path: str, headers: dict[str, str] | None = None) -> None:
        self.received = b""
        self.status: int | None = None
        self._more = asyncio.Event()
        self._gone = asyncio.Event()
        named = {"host": "localhost", **(headers or {})}
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        }
        self.task = asyncio.create_task(app(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        self.status = message.get("status", self.status)
        self.received += message.get("body", b"")
        self._more.set()

    async def until(self, text: bytes) -> bytes:
        async with asyncio.timeout(60):
            while text not in self.received:
                self._more.clear()
                await self._more.wait()
        return self.received

    async def leave(self) -> None:
        self._gone.set()
        await self.task


def test_a_stream_goes_on_after_what_was_seen_last(tmp_path: Path) -> None:
    async def whole() -> None:
        app = make_app(Broker(EmbeddedBackend(tmp_path)))
        async with served(app) as client:
            await client.post("/subscriptions", json=CHEAP)
            stream = Stream(app, "/subscriptions/cheap/deliveries")
            await stream.until(b": deliveries")
            await client.post("/events", content=b'{"price":\n5}')
            received = await stream.until(b"id: 1\n")
            assert b'"body":{"price":\ndata: 5}' in received
            await client.post("/events", json={"price": 6})
            await stream.until(b"id: 2\n")
            await stream.leave()
            again = Stream(app, "/subscriptions/cheap/deliveries", {"last-event-id": "1"})
            assert b"id: 1\n" not in await again.until(b"id: 2\n")
            app.state.server.stopping.set()
            await again.task

    asyncio.run(whole())


def test_a_stream_that_cannot_be_is_refused(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        missing = await client.get("/subscriptions/nobody/deliveries")
        assert (missing.status_code, missing.json()["error"]) == (404, "UnknownIdError")
        await client.post("/subscriptions", json=CHEAP)
        wrong = await client.get(
            "/subscriptions/cheap/deliveries", headers={"last-event-id": "soon"}
        )
        assert (wrong.status_code, wrong.json()["field"]) == (400, "last-event-id")
        both = await client.get(
            "/subscriptions/cheap/deliveries", params={"after": 1, "since": "2026-01-01"}
        )
        assert both.status_code == 400

    run(tmp_path, steps)


def test_an_ephemeral_subscription_ends_with_its_stream(tmp_path: Path) -> None:
    async def whole() -> None:
        app = make_app(Broker(EmbeddedBackend(tmp_path)))
        async with served(app) as client:
            await client.post("/subscriptions", json=CHEAP | {"config": {"durable": False}})
            stream = Stream(app, "/subscriptions/cheap/deliveries")
            await stream.until(b": deliveries")
            await client.post("/events", json={"price": 5})
            await stream.until(b"id: 1\n")
            await stream.leave()
            assert (await client.get("/subscriptions/cheap")).status_code == 404

    asyncio.run(whole())


def test_a_broker_whose_backend_is_gone_is_alive_but_not_ready(tmp_path: Path) -> None:
    async def whole() -> None:
        broker = Broker(EmbeddedBackend(tmp_path))
        async with served(make_app(broker)) as client:
            assert (await client.get("/readyz")).status_code == 200
            await broker.stop()
            assert (await client.get("/readyz")).status_code == 503
            assert (await client.get("/healthz")).status_code == 200
            refused = await client.post("/events", json={"n": 1})
            assert (refused.status_code, refused.json()["error"]) == (503, "BackendError")

    asyncio.run(whole())
