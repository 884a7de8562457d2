"""``nats-server`` for tests: started on loopback with a folder of its own, killed, paused, again.

Ports are reserved for as long as a server may come back: two tests never want the same one.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.debian import program
from tests.network import Node
from tests.ports import reserved_ports

_PATIENCE_S = 60.0


class NatsServer:
    """One server; what it keeps outlives it."""

    def __init__(
        self, folder: Path, port: int, cluster: list[str] | None = None, node: Node | None = None
    ) -> None:
        """On a node of a network, or here."""
        self._folder = folder
        self.port = port
        self.node = node
        self._cluster = cluster or []
        self._host, self._prefix = (node.address, node.prefix) if node else ("127.0.0.1", [])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://{self._host}:{self.port}"

    def start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        command = [
            program("nats-server", "nats-server"),
            "--jetstream",
            "--store_dir",
            str(self._folder / "store"),
        ]
        command += ["--addr", self._host, "--port", str(self.port), *self._cluster]
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen([*self._prefix, *command], stdout=log, stderr=log)
        self._wait_until_it_listens()

    def _wait_until_it_listens(self) -> None:
        end = time.monotonic() + _PATIENCE_S
        while time.monotonic() < end:
            said = (self._folder / "log").read_bytes()
            if b"Server is ready" in said:
                return
            assert self._process is not None
            assert self._process.poll() is None, said.decode()
            time.sleep(0.02)
        raise AssertionError("nats-server does not listen")

    def kill(self) -> None:
        """At once, as if the machine had stopped."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.send_signal(how)
            self._process.wait(_PATIENCE_S)
            self._process = None

    def pause(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


@contextmanager
def nats_server(folder: Path, node: Node | None = None) -> Iterator[NatsServer]:
    """One server by itself."""
    with reserved_ports(1) as [port]:
        server = NatsServer(folder, port, node=node)
        try:
            server.start()
            yield server
        finally:
            server.kill()


@contextmanager
def nats_cluster(
    folder: Path, count: int = 3, nodes: Sequence[Node] = ()
) -> Iterator[list[NatsServer]]:
    """Servers that keep everything together, each on a node of its own if there are any."""
    with reserved_ports(count) as ports, reserved_ports(count) as routes:
        hosts = [node.address for node in nodes] or ["127.0.0.1"] * count
        places = [f"{host}:{route}" for host, route in zip(hosts, routes, strict=True)]
        links = ",".join(f"nats-route://{place}" for place in places)
        servers = []
        for number in range(count):
            cluster = ["--name", f"n{number}", "--cluster_name", "predicast"]
            cluster += ["--cluster", f"nats://{places[number]}", "--routes", links]
            node = nodes[number] if nodes else None
            servers.append(NatsServer(folder / f"n{number}", ports[number], cluster, node))
        try:
            for server in servers:
                server.start()
            yield servers
        finally:
            for server in servers:
                server.kill()
