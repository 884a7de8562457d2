"""Tokens over HTTP: scopes hold, and no tenant learns anything of another."""

import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from predicast.broker.access import TokenFile
from predicast.protocol import Webhook
from tests.unit.broker.server.serving import run


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "tokens.json")


def test_without_a_token_nothing_is_told_but_that_it_runs(
    tmp_path: Path, tokens: TokenFile
) -> None:
    tokens.add("ann", "acme", ["admin"], 1.0)

    async def steps(client: httpx.AsyncClient) -> None:
        for path in ("/healthz", "/readyz", "/openapi.json", "/docs"):
            assert (await client.get(path)).status_code == 200
        for path in ("/events", "/subscriptions", "/metrics", "/statistics", "/dead-letters"):
            for headers in ({}, bearer("predicast_00000000_" + "a" * 43), {"authorization": "x"}):
                refused = await client.get(path, headers=headers)
                assert refused.status_code == 401
                assert refused.headers["www-authenticate"].startswith("Bearer")

    run(tmp_path, steps, tokens=tokens)


def test_a_scope_covers_what_it_says(tmp_path: Path, tokens: TokenFile) -> None:
    publisher = bearer(tokens.add("till", "acme", ["publish"], 1.0))
    subscriber = bearer(tokens.add("ann", "acme", ["subscribe"], 1.0))

    async def steps(client: httpx.AsyncClient) -> None:
        sub = {"id": "a", "where": "n = 1"}
        assert (await client.post("/events", json={"n": 1}, headers=publisher)).status_code == 200
        for headers, asked in (
            (subscriber, client.post("/events", json={}, headers=subscriber)),
            (publisher, client.post("/events?dry_run=1", json={}, headers=publisher)),
            (publisher, client.post("/subscriptions", json=sub, headers=publisher)),
            (publisher, client.get("/events", headers=publisher)),
            (subscriber, client.get("/metrics", headers=subscriber)),
        ):
            refused = await asked
            assert (refused.status_code, refused.json()["error"]) == (403, "NotAllowedError")
            assert headers["authorization"] not in refused.text
        made = await client.post("/subscriptions", json=sub, headers=subscriber)
        assert made.status_code == 201
        kept = (await client.get("/events/1", headers=subscriber)).json()
        assert kept["publisher"] == "till"

    run(tmp_path, steps, tokens=tokens)


def told(answers: list[httpx.Response]) -> list[tuple[int, Any]]:
    """What was said, without what differs by the clock or by chance."""
    found = []
    for answer in answers:
        content: Any = answer.text
        if "json" in answer.headers.get("content-type", ""):
            content = _settled(answer.json())
        found.append((answer.status_code, content))
    return found


def _settled(content: Any) -> Any:
    if isinstance(content, dict):
        return {
            name: "…" if name in {"at", "created"} else _settled(each)
            for name, each in content.items()
        }
    return [_settled(each) for each in content] if isinstance(content, list) else content


async def looked_around(client: httpx.AsyncClient, headers: dict[str, str]) -> list[httpx.Response]:
    """Everything that could tell of somebody else."""
    own = {"id": "mine", "where": "price < 10"}
    event = headers | {"predicast-event-id": "k"}
    return [
        await client.get("/subscriptions", headers=headers),
        await client.get("/subscriptions/secret-plan", headers=headers),
        await client.get("/subscriptions/secret-plam", headers=headers),
        await client.post(
            "/explain", json={"subscription": "secret-plan", "event": {}}, headers=headers
        ),
        await client.post("/subscriptions", json=own, headers=headers),
        await client.post("/subscriptions/secret-plan/pull", json={}, headers=headers),
        await client.delete("/subscriptions/secret-plan", headers=headers),
        await client.post("/events", json={"price": 5}, headers=event),
        await client.post("/events?dry_run=1", json={"price": 5}, headers=headers),
        await client.get("/events", headers=headers),
        await client.get("/events/1", headers=headers),
        await client.get("/events/2", headers=headers),
        await client.get("/dead-letters", headers=headers),
        await client.get("/events", headers=headers | {"predicast-tenant": "rival"}),
        await client.get("/events", headers=headers | {"predicast-tenant": "nobody"}),
    ]


def test_what_a_tenant_is_told_does_not_depend_on_another(tmp_path: Path) -> None:
    """The same requests, alone and beside a rival with the same ids: the same answers."""
    answers = []
    for folder, has_rival in ((tmp_path / "alone", False), (tmp_path / "beside", True)):
        file = TokenFile(folder / "tokens.json")
        ann = bearer(file.add("ann", "acme", ["publish", "subscribe"], 1.0))
        rival = bearer(file.add("eve", "rival", ["publish", "subscribe"], 1.0))

        async def steps(
            client: httpx.AsyncClient,
            ann: dict[str, str] = ann,
            rival: dict[str, str] | None = rival if has_rival else None,
        ) -> list[httpx.Response]:
            if rival is not None:
                plan = {"id": "secret-plan", "where": "price < 100"}
                await client.post("/subscriptions", json=plan, headers=rival)
                again = rival | {"predicast-event-id": "k"}
                await client.post("/events", json=[{"price": 1}] * 3, headers=again)
                await client.post("/events", json={"price": 1}, headers=again)
            return await looked_around(client, ann)

        answers.append(told(run(folder, steps, tokens=file)))
    assert answers[0] == answers[1]


def test_metrics_of_a_tenant_are_for_its_administrator(tmp_path: Path, tokens: TokenFile) -> None:
    ann = bearer(tokens.add("ann", "acme", ["admin"], 1.0))
    eve = bearer(tokens.add("eve", "rival", ["admin"], 1.0))
    root = bearer(tokens.add("root", "*", ["admin"], 1.0))

    async def steps(client: httpx.AsyncClient) -> None:
        await client.post("/events", json={"n": 1}, headers=eve)
        own = (await client.get("/metrics", headers=ann)).text
        assert 'tenant="acme"' in own
        assert "rival" not in own
        assert "http_requests" not in own
        everything = (await client.get("/metrics", headers=root)).text
        found = {each.name: each for each in text_string_to_metric_families(everything)}
        published = found["predicast_tenant_events_published"]
        assert (published.type, {each.value for each in published.samples}) == ("counter", {1.0})
        assert found["predicast_tenant_events_kept"].type == "gauge"
        took = found["predicast_tenant_publish_seconds"]
        assert took.type == "histogram"
        last = {each.labels["le"]: each.value for each in took.samples if "le" in each.labels}
        assert last["+Inf"] == 1.0
        assert list(last.values()) == sorted(last.values())
        assert 'tenant="rival"' in everything
        assert 'predicast_http_requests_total{method="POST",path="/events",status="200"} 1.0' in (
            everything
        )
        acting = await client.get("/events", headers=root | {"predicast-tenant": "rival"})
        assert len(acting.json()["events"]) == 1

    run(tmp_path, steps, tokens=tokens)


def test_secrets_are_neither_told_nor_logged(
    tmp_path: Path, tokens: TokenFile, caplog: pytest.LogCaptureFixture
) -> None:
    ann = tokens.add("ann", "acme", ["admin"], 1.0)
    secret, password = "whsec_c2VjcmV0", "Basic b3BlbjpzZXNhbWU="
    caplog.set_level(logging.DEBUG)

    async def steps(client: httpx.AsyncClient) -> list[httpx.Response]:
        sink = {
            "id": "s",
            "where": "n = 1",
            "sink": "https://sink.invalid/in",
            "protocolsettings": {"secret": secret, "headers": {"Authorization": password}},
            "config": {"paused": True},
        }
        headers = bearer(ann)
        made = await client.post("/subscriptions", json=sink, headers=headers)
        assert made.json()["status"]["is_signed"] is True
        assert made.json()["status"]["headers"] == ["Authorization"]
        # Told without it, it is kept; sent elsewhere, it is not.
        kept = await client.put(
            "/subscriptions/s", json=sink | {"protocolsettings": None}, headers=headers
        )
        assert kept.json()["status"]["is_signed"] is True
        moved = {"sink": "https://elsewhere.invalid/"}
        elsewhere = await client.patch("/subscriptions/s", json=moved, headers=headers)
        assert "is_signed" not in elsewhere.json()["status"]
        bad = sink | {"id": "t", "protocolsettings": {"headers": {"X": f"{password}\n"}}}
        refused = await client.post("/subscriptions", json=bad, headers=headers)
        assert refused.status_code == 400
        listed = await client.get("/subscriptions", headers=headers)
        return [made, kept, elsewhere, refused, listed]

    shown = "".join(answer.text for answer in run(tmp_path, steps, tokens=tokens)) + caplog.text
    shown += repr(Webhook("https://x", secret, {"Authorization": password}))
    for hidden in (secret, password, ann):
        assert hidden not in shown
