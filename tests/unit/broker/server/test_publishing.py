"""Events over HTTP, in every form that they come in."""

from pathlib import Path
from typing import Any

import httpx
import msgspec
import pyarrow as pa
import pytest

from predicast.broker.access import Limits
from tests.unit.broker.server.serving import run

CHEAP = {"id": "cheap", "where": "price < 10"}
SOLD = {"id": "sold", "filters": [{"exact": {"type": "sold"}}]}
EVENT = {"specversion": "1.0", "id": "7", "source": "/shop", "type": "sold", "data": {"price": 5}}


def arrow(table: pa.Table, opened: Any = pa.ipc.new_stream) -> bytes:
    sink = pa.BufferOutputStream()
    with opened(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


async def pulled(client: httpx.AsyncClient, id: str) -> list[Any]:
    answer = await client.post(f"/subscriptions/{id}/pull", json={"wait": 20})
    assert answer.status_code == 200
    found: list[Any] = answer.json()["deliveries"]
    return found


@pytest.mark.parametrize(
    ("media", "body", "bodies"),
    [
        ("application/json", b' {"price": 5} ', [{"price": 5}]),
        ("application/x-www-form-urlencoded", b'{"price": 5}', [{"price": 5}]),
        (
            "application/json; charset=utf-8",
            b'[{"price": 5}, {"price":1}]',
            [{"price": 5}, {"price": 1}],
        ),
        ("application/x-ndjson", b'{"price": 5}\n\n{"price": 1}\r\n', [{"price": 5}, {"price": 1}]),
        (
            "application/vnd.apache.arrow.stream",
            arrow(pa.table({"price": [5, 1], "note": [None, "x"]})),
            [{"price": 5}, {"price": 1, "note": "x"}],
        ),
        (
            "application/vnd.apache.arrow.file",
            arrow(pa.table({"price": [5, 1], "note": [None, "x"]}), pa.ipc.new_file),
            [{"price": 5}, {"price": 1, "note": "x"}],
        ),
    ],
)
def test_events_come_in_every_form(
    tmp_path: Path, media: str, body: bytes, bodies: list[Any]
) -> None:
    async def steps(client: httpx.AsyncClient) -> list[Any]:
        await client.post("/subscriptions", json=CHEAP)
        answer = await client.post("/events", content=body, headers={"content-type": media})
        assert answer.status_code == 200, answer.text
        assert [each["position"] for each in answer.json()["events"]] == [1, 2][: len(bodies)]
        return await pulled(client, "cheap")

    assert [each["body"] for each in run(tmp_path, steps)] == bodies


def test_cloudevents_come_in_their_three_forms(tmp_path: Path) -> None:
    binary = {
        "ce-specversion": "1.0",
        "ce-id": "8",
        "ce-source": "/shop",
        "ce-type": "sold",
        "content-type": "application/json",
    }

    async def steps(client: httpx.AsyncClient) -> list[Any]:
        await client.post("/subscriptions", json=SOLD)
        structured = {"content-type": "application/cloudevents+json"}
        batched = {"content-type": "application/cloudevents-batch+json"}
        batch = [EVENT | {"id": "9"}, EVENT | {"id": "10", "type": "other"}]
        for headers, body in (
            (structured, EVENT),
            (binary, {"price": 5}),
            (batched, batch),
        ):
            answer = await client.post(
                "/events", content=msgspec.json.encode(body), headers=headers
            )
            assert answer.status_code == 200, answer.text
        repeat = await client.post("/events", json=EVENT, headers=structured)
        assert repeat.json()["events"] == [{"position": 1, "id": "7", "is_repeat": True}]
        return await pulled(client, "sold")

    found = run(tmp_path, steps)
    assert [(each["id"], each["publisher"]) for each in found] == [
        ("7", "/shop"),
        ("8", "/shop"),
        ("9", "/shop"),
    ]
    assert found[0]["body"] == EVENT
    assert found[1]["body"] == EVENT | {"id": "8", "datacontenttype": "application/json"}


def test_data_that_is_no_text_comes_out_as_it_went_in(tmp_path: Path) -> None:
    headers = {
        "ce-specversion": "1.0",
        "ce-id": "8",
        "ce-source": "/shop",
        "ce-type": "sold",
        "content-type": "image/png",
    }

    async def steps(client: httpx.AsyncClient) -> Any:
        await client.post("/events", content=b"\x89PNG\xff", headers=headers)
        return (await client.get("/events/1")).json()

    assert run(tmp_path, steps)["body"]["data_base64"] == "iVBOR/8="


def test_a_request_that_is_sent_again_is_known(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> list[Any]:
        headers = {"predicast-event-id": "k", "predicast-publisher": "till"}
        answers = [
            await client.post("/events", json=[{"n": 1}, {"n": 2}], headers=headers)
            for _ in range(2)
        ]
        return [answer.json()["events"] for answer in answers]

    first, again = run(tmp_path, steps)
    assert first == [{"position": 1, "id": "k/0"}, {"position": 2, "id": "k/1"}]
    assert again == [each | {"is_repeat": True} for each in first]


def test_a_graph_is_matched_by_patterns(tmp_path: Path) -> None:
    graph = "@prefix : <http://shop.example/> . <urn:predicast:home> :target [ a :Laptop ] ."
    pattern = (
        "PREFIX : <http://shop.example/> ASK { <urn:predicast:home> :target ?x . ?x a :Laptop }"
    )

    async def steps(client: httpx.AsyncClient) -> list[Any]:
        made = await client.post(
            "/subscriptions", json={"id": "laptops", "filters": [{"sparql": pattern}]}
        )
        assert made.status_code == 201, made.text
        turtle = {"content-type": "text/turtle"}
        good = await client.post("/events", content=graph, headers=turtle)
        assert good.status_code == 200, good.text
        bad = await client.post("/events", content="<<<", headers=turtle)
        assert bad.status_code == 400
        assert bad.json()["error"] == "InvalidRdfError"
        return await pulled(client, "laptops")

    [found] = run(tmp_path, steps)
    assert (found["form"], found["body"]) == ("text/turtle", graph)


def test_a_dry_run_says_who_and_why_and_delivers_nothing(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        await client.post("/subscriptions", json=CHEAP)
        await client.post(
            "/subscriptions",
            json={"id": "live", "where": "price > 1", "config": {"durable": False}},
        )
        answer = await client.post("/events", params={"dry_run": 1}, json=[{"price": 5}, {"x": 1}])
        [first, second] = answer.json()["events"]
        assert [(each["id"], each["durable"]) for each in first["recipients"]] == [
            ("cheap", True),
            ("live", False),
        ]
        assert "price < 10    saw 5" in first["recipients"][0]["text"]
        outcome = first["recipients"][0]["explanation"]["outcome"]
        assert outcome["seen"] == [{"attribute": "price", "value": 5}]
        assert (first["total"], second["total"], second["recipients"]) == (2, 0, [])
        few = await client.post("/events", params={"dry_run": 1, "most": 1}, json={"price": 5})
        assert few.json()["events"][0]["total"] == 2
        assert [each["id"] for each in few.json()["events"][0]["recipients"]] == ["cheap"]
        near = await client.post("/events", params={"dry_run": 1, "near": 1}, json={"price": 50})
        [missed] = near.json()["events"][0]["near"]
        assert missed["id"] == "cheap"
        assert (await client.get("/events")).json() == {"events": []}

    run(tmp_path, steps)


def test_a_dry_run_has_a_bound_on_what_it_explains(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        for number in range(3):
            await client.post("/subscriptions", json={"id": f"s{number}", "where": "x = 1"})
        asked = {"params": {"dry_run": 1}, "json": [{"x": 1}] * 4}
        told = (await client.post("/events", **asked)).json()["events"]  # type: ignore[arg-type]
        assert [(each["total"], len(each["recipients"])) for each in told] == [(3, 2)] * 4
        for more in ({"params": {"dry_run": 1, "most": 3}}, {"json": [{"x": 1}] * 9}):
            refused = await client.post("/events", **(asked | more))  # type: ignore[arg-type]
            assert refused.status_code == 422
            assert "8 explanations" in refused.json()["detail"]

    run(tmp_path, steps, limits=Limits(explanations=8))


def test_explain_says_why_not(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> Any:
        await client.post("/subscriptions", json=CHEAP)
        answer = await client.post(
            "/explain", json={"subscription": "cheap", "event": {"price": 50}}
        )
        return answer.json()

    told = run(tmp_path, steps)
    assert told["matched"] is False
    assert told["explanation"]["outcome"]["held"] is False


def test_kept_events_are_paged(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        await client.post("/subscriptions", json=CHEAP)
        await client.post("/events", json=[{"price": n} for n in range(5)])
        first = (await client.get("/events", params={"most": 3})).json()
        assert [each["body"]["price"] for each in first["events"]] == [0, 1, 2]
        rest = (await client.get("/events", params={"after": first["next"], "most": 3})).json()
        assert [each["body"]["price"] for each in rest["events"]] == [3, 4]
        assert "next" not in rest
        one = (await client.get("/events/2")).json()
        assert one["recipients"] == {"cheap": "waiting"}
        later = await client.get("/events", params={"since": "2999-01-01T00:00:00Z"})
        assert later.json() == {"events": []}

    run(tmp_path, steps)


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"content": b"{"}, 400, "JSON"),
    ({"content": b"[1]"}, 400, "JSON object"),
    ({"content": b"[]"}, 400, "no event"),
    ({"content": b""}, 400, "JSON"),
    ({"content": b"[" * 5000}, 400, "deep"),
    ({"content": b'{"a":' * 100 + b"1" + b"}" * 100}, 400, "deep"),
    ({"content": b"{}", "headers": {"content-type": "text/html"}}, 400, "no events are read"),
    ({"content": b"{}", "headers": {"content-encoding": "gzip"}}, 415, "gzip"),
    ({"content": b"{}", "params": {"dryrun": "1"}}, 400, "did you mean 'dry_run'"),
    ({"content": b"{}", "params": {"dry_run": "maybe"}}, 400, "1 or 0"),
    ({"content": b"{}", "params": {"near": "1"}}, 400, "for a dry run"),
    ({"content": b"{}", "params": {"dry_run": "0", "most": "5"}}, 400, "for a dry run"),
    ({"content": b" " * 20_001}, 413, "20,000 bytes"),
    ({"json": [{}] * 11}, 422, "batch"),
    (
        {"content": b"x", "headers": {"content-type": "application/vnd.apache.arrow.stream"}},
        400,
        "stream of Arrow",
    ),
    (
        {"content": b"{}", "headers": {"content-type": "application/cloudevents+json"}},
        400,
        "has no id",
    ),
]


def test_what_is_no_event_is_refused(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        for asked, status, said in REFUSED:
            answer = await client.post("/events", **asked)
            assert answer.status_code == status, asked
            assert answer.headers["content-type"] == "application/problem+json"
            assert said in answer.json()["detail"]
        assert (await client.get("/events")).json() == {"events": []}

    run(tmp_path, steps, limits=Limits(body_bytes=20_000, batch=10))


def test_a_tenant_that_sends_too_much_is_told_when_to_try_again(tmp_path: Path) -> None:
    async def steps(client: httpx.AsyncClient) -> httpx.Response:
        await client.post("/events", json=[{}] * 10)
        return await client.post("/events", json={})

    answer = run(tmp_path, steps, limits=Limits(events_per_second=0.001, burst=5))
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0
    assert answer.json()["error"] == "LimitReachedError"
