"""The commands that speak to a broker, and the client under them, over a real socket."""

import asyncio
import contextlib
import json
import stat
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from predicast.cli import app
from predicast.cli.remote.top import screen
from predicast.client import connect, connect_sync
from predicast.errors import (
    DuplicateIdError,
    NotAllowedError,
    NotConnectedError,
)
from predicast.protocol.frames import Statistics
from predicast.protocol.records import LinkedBroker
from tests.integration.socket_server import socket_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket_server(tmp_path_factory.mktemp("broker")) as url:
        yield url


@pytest.fixture(autouse=True)
def own_contexts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "settings" / "contexts.json"
    monkeypatch.setenv("PREDICAST_CONTEXTS", str(path))
    return path


def run(*arguments: str, input: str | None = None, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments), input=input)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


def test_contexts_say_which_broker(server: str, own_contexts: Path) -> None:
    run("context", "add", "here", server, "--token", "-", input="secret\n")
    run("context", "add", "there", "http://there.example")
    assert stat.S_IMODE(own_contexts.stat().st_mode) == 0o600
    listed = run("context", "list")
    assert f"* here  {server} (with a token)" in listed
    assert "secret" not in listed
    run("subs", "list")
    run("context", "use", "there")
    assert "* there" in run("context", "list")
    assert "is it 'there'" in run("context", "use", "ther", code=2)
    run("context", "remove", "there")
    assert "there" not in run("context", "list")
    own_contexts.chmod(0o644)
    assert "chmod 600" in run("subs", "list", code=2)


def test_published_lines_come_to_a_durable_subscription(server: str, tmp_path: Path) -> None:
    to = ("--server", server)
    run("subs", "add", "cheap", "price < :top", "-p", "top=10", "--owner", "alice", *to)
    (tmp_path / "events.jsonl").write_text('{"price": 9}\n\n{"price": 11}\n', encoding="utf-8")
    assert "published 2 events" in run("pub", "events.jsonl", *to, "--numbered")
    assert "2 of them had been" in run("pub", "events.jsonl", *to, "--numbered")
    assert "published 1 event" in run("pub", *to, input='{"price": 8}\n')
    shown = run("sub", "--durable", "cheap", "--count", "2", *to)
    deliveries = [json.loads(line) for line in shown.splitlines()]
    assert [each["body"] for each in deliveries] == [{"price": 9}, {"price": 8}]
    assert deliveries[0]["subscriptions"] == ["cheap"]
    again = run("sub", "--durable", "cheap", "--after", "0", "-n", "1", "-f", "pretty", *to)
    assert '{"price": 9}' in again


def test_a_mistake_among_lines_is_told_by_its_line(server: str, tmp_path: Path) -> None:
    to = ("--server", server)
    lines = '{"line": 1}\n\n{"line": 3\n{"line": 4}\n'
    said = run("pub", *to, input=lines, code=2)
    assert "standard input, line 3: not JSON" in said
    assert "nothing from line 3 on was published" in said
    (tmp_path / "events.jsonl").write_text(lines, encoding="utf-8")
    said = run("pub", "events.jsonl", *to, code=2)
    assert "events.jsonl, line 3: not JSON" in said
    assert "nothing from line 1 on was published" in said


def test_another_expression_under_the_same_id_is_told(server: str) -> None:
    with connect_sync(server) as client:
        client.subscribe("same < 3", id="same", durable=True)
        client.subscribe("same < 3", id="same", durable=True)
        with pytest.raises(DuplicateIdError, match="says something else: 'same < 3'"):
            client.subscribe("same < 4", id="same", durable=True)


def test_tls_where_there_is_none_is_told(server: str) -> None:
    with (
        pytest.raises(NotConnectedError, match="is it http://"),
        connect_sync(server.replace("http:", "https:"), patience=0),
    ):
        pass


def test_subscriptions_are_listed_changed_paused_and_removed(server: str) -> None:
    to = ("--server", server)
    run("subs", "add", "x1", "x < 3", "--owner", "bob", *to)
    run("subs", "add", "x2", "x < 4", "--owner", "bob", *to)
    run("subs", "change", "x1", "x < 5", *to)
    run("subs", "pause", "x2", *to)
    listed = run("subs", "list", "--owner", "bob", *to)
    assert "x < 5" in listed
    assert "durable, paused" in listed
    run("subs", "resume", "x2", *to)
    lines = run("subs", "list", "--owner", "bob", "--json", *to).splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["x1", "x2"]
    assert "paused" not in run("subs", "list", "--owner", "bob", *to)
    run("export", "all.jsonl", *to)
    assert "there is no subscription" in run("subs", "remove", "x1", "nobody", *to, code=2)
    run("subs", "remove", "x1", "x2", *to)
    assert run("subs", "list", "--owner", "bob", "--json", *to) == ""
    assert "is there already" in run("import", "all.jsonl", *to, code=2)
    assert "imported" in run("import", "all.jsonl", "--replace", *to)
    assert len(run("subs", "list", "--owner", "bob", "--json", *to).splitlines()) == 2
    assert "line 2" in run("import", *to, input='{"id": "a", "expression": "x < 1"}\n{}\n', code=2)
    run("subs", "remove", "x1", "x2", *to)


def test_mistakes_are_shown_with_their_place(server: str) -> None:
    shown = run("sub", "price <", "--server", server, code=2)
    assert "line 1" in shown or "^" in shown
    assert "predicast serve" in run("subs", "list", "--server", "http://127.0.0.1:9", code=2)
    assert "a broker's address" in run("subs", "list", "--server", "ftp://x", code=2)


def test_top_and_bench_have_figures(server: str) -> None:
    assert server in run("top", "--once", "--server", server)
    load = ("--subscriptions", "20", "--fan-out", "2", "--events", "300", "--batch", "50")
    for more in ((), ("--durable",), ("--rate", "5000")):
        found = json.loads(run("bench", *load, *more, "--json", "--server", server))
        assert found["published_per_s"] > 0
        assert found["p50_ms"] <= found["p99_9_ms"]
    assert run("subs", "list", "--text", "bench-", "--json", "--server", server) == ""


def test_top_shows_linked_brokers() -> None:
    def at(count: int) -> Statistics:
        core = LinkedBroker("core", "parent", True, 10 * count, count, 7)
        return Statistics(counts={}, pending={}, brokers=[core])

    console = Console(width=100, record=True, file=StringIO())
    console.print(screen("here", at(3), at(1), 2.0))
    *_, last = console.export_text().splitlines()
    assert last.split() == ["core", "parent", "connected", "30", "10", "3", "1", "7"]


def test_a_synchronous_client_hears_what_another_thread_publishes(server: str) -> None:
    with connect_sync(server) as client:
        stream = client.subscribe("word = 'hello'")

        def publish() -> None:
            with connect_sync(server) as other:
                other.publish([{"word": "hello"}, {"word": "no"}, {"word": "hello", "n": 2}])

        thread = threading.Thread(target=publish)
        thread.start()
        assert [next(stream).attributes for _ in range(2)] == [
            {"word": "hello"},
            {"word": "hello", "n": 2},
        ]
        thread.join()
        assert stream.next(0.01) is None
        stream.close()
        assert list(stream) == []


def test_another_address_of_a_server_is_no_broker(server: str) -> None:
    async def reach() -> None:
        async with connect(server + "/elsewhere"):
            pass

    with pytest.raises(NotAllowedError, match="elsewhere"):
        asyncio.run(reach())


@pytest.mark.parametrize("message", [b"\xc1garbage", "{", "x" * 9_000_000, b""])
def test_garbage_on_a_socket_leaves_the_broker_alive(server: str, message: str | bytes) -> None:
    import websockets
    from websockets.sync.client import connect as connect_socket

    with connect_socket(
        server.replace("http", "ws") + "/ws",
        subprotocols=[websockets.Subprotocol("predicast.v1.json")],
        proxy=None,
    ) as socket:
        socket.send(message)
        with contextlib.suppress(websockets.ConnectionClosed):
            assert "error" in str(socket.recv(timeout=60))
    with connect_sync(server) as client:
        assert client.publish({"x": 1})
