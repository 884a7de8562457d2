"""``predicast serve`` as a process of its own: it starts, serves, and stops as it should."""

import asyncio
import signal
import ssl
import subprocess
from pathlib import Path

import httpx
import pytest

from predicast import client
from predicast.broker.access import TokenFile
from predicast.errors import NotAllowedError
from tests.integration.brokers import serving

LIMIT_S = 60.0  # for what should take a moment


def test_what_was_acknowledged_outlives_the_process(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    with serving(*data) as (process, url):
        made = httpx.post(
            f"{url}/subscriptions", json={"id": "cheap", "where": "price < 10"}, timeout=LIMIT_S
        )
        assert made.status_code == 201
        assert httpx.post(f"{url}/events", json={"price": 5}, timeout=LIMIT_S).status_code == 200
        process.send_signal(signal.SIGKILL)
        process.wait(LIMIT_S)
    with serving(*data) as (process, url):
        asked = httpx.post(f"{url}/subscriptions/cheap/pull", json={"wait": 20}, timeout=LIMIT_S)
        assert [each["body"] for each in asked.json()["deliveries"]] == [{"price": 5}]
        with httpx.stream(
            "GET", f"{url}/subscriptions/cheap/deliveries", timeout=LIMIT_S
        ) as stream:
            assert next(stream.iter_lines()) == ": deliveries"
            process.send_signal(signal.SIGTERM)  # a stream does not keep it from stopping
            assert process.wait(LIMIT_S) == 0
        assert process.stderr is not None
        assert process.stderr.read().endswith("Stopped.\n")


def test_with_tokens_over_tls(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    request = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1")
    alternative = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    try:
        subprocess.run(
            ["openssl", *request, *alternative, "-keyout", str(key), "-out", str(certificate)],
            check=True,
            capture_output=True,
        )
    except FileNotFoundError:
        pytest.skip("there is no openssl to make a certificate with")
    data = ("--data", str(tmp_path / "data"))
    kept = TokenFile(tmp_path / "data" / "tokens.json")
    token = kept.add("ann", "default", ["publish", "subscribe"], 0.0)
    files = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with serving("--host", "localhost", *data, *files) as (_, url):
        assert url.startswith("https://localhost:")
        trusted = ssl.create_default_context(cafile=str(certificate))
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=url, verify=trusted, timeout=LIMIT_S) as asking:
            assert asking.get("/healthz").status_code == 200
            assert asking.get("/events").status_code == 401
            assert asking.get("/events", headers=headers).json() == {"events": []}
            kept.remove("ann")
            assert asking.get("/events", headers=headers).status_code == 401


def test_whoever_is_connected_goes_with_their_token(tmp_path: Path) -> None:
    data = tmp_path / "data"
    kept = TokenFile(data / "tokens.json")
    token = kept.add("ann", "default", ["publish", "subscribe"], 0.0)
    staying = kept.add("bob", "default", ["publish", "subscribe"], 0.0)

    async def steps(url: str) -> None:
        async with (
            client.connect(url, token=token) as ann,
            client.connect(url, token=staying) as bob,
            httpx.AsyncClient(base_url=url, timeout=LIMIT_S) as asking,
        ):
            await bob.subscribe("price > 0", id="b", durable=True)
            headers = {"Authorization": f"Bearer {token}"}
            async with asking.stream(
                "GET", "/subscriptions/b/deliveries", headers=headers
            ) as stream:
                lines = stream.aiter_lines()
                assert await anext(lines) == ": deliveries"
                deliveries = await ann.subscribe("price > 0")
                kept.remove("ann")
                async with asyncio.timeout(LIMIT_S):
                    assert not any([line.startswith("data") async for line in lines])
                    with pytest.raises(NotAllowedError):
                        await anext(aiter(deliveries))
            await bob.publish({"price": 5})

    with serving("--data", str(data)) as (_, url):
        asyncio.run(steps(url))


def test_a_client_of_ours_is_served(tmp_path: Path) -> None:
    async def steps(url: str) -> str:
        async with client.connect(url) as connection:
            await connection.publish({"price": 5})
            return "done"

    with serving("--data", str(tmp_path / "data")) as (_, url):
        assert asyncio.run(steps(url)) == "done"
        assert len(httpx.get(f"{url}/events", timeout=LIMIT_S).json()["events"]) == 1
