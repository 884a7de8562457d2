"""Who is measured: how each broker is started, and spoken to."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from bench.broker.clients.connection import Client
from bench.broker.clients.mqtt import MqttClient
from bench.broker.clients.nats import JetStreamClient, NatsClient
from bench.broker.clients.predicast import PredicastClient
from bench.broker.clients.redis import RedisClient
from bench.broker.relay import RelayClient

PREDICAST: Final = "predicast"
RELAY: Final = "relay"  # a broker that does nothing: what the load generator itself comes to


class Contestant(NamedTuple):
    """One broker: its client, and what starts it on a port with a folder of its own."""

    client: Callable[[], Client]
    program: str
    options: Callable[[int, Path], list[str]]
    has_topics: bool = True

    def command(self, port: int, folder: Path) -> list[str]:
        """What starts it; a ``LookupError`` where it is not installed."""
        path = f"{os.environ.get('PATH', '')}:/usr/sbin"
        program = shutil.which(self.program, path=path)
        if program is None:
            raise LookupError(f"there is no {self.program} on this machine")
        return [program, *self.options(port, folder)]


def _predicast(port: int, folder: Path) -> list[str]:
    return ["-m", "predicast", "serve", "--port", str(port), "--data", str(folder)]


def _relay(port: int, folder: Path) -> list[str]:
    return ["-m", "bench.broker.relay", str(port)]


def _nats(port: int, folder: Path) -> list[str]:
    return ["-a", "127.0.0.1", "-p", str(port)]


def _jetstream(port: int, folder: Path) -> list[str]:
    return [*_nats(port, folder), "-js", "-sd", str(folder)]


def _redis(port: int, folder: Path) -> list[str]:
    kept = ["--save", "", "--appendonly", "no"]
    # No limit, or it would end connections that do not read at once.
    queue = ["--client-output-buffer-limit", "pubsub", "0", "0", "0"]
    return ["--bind", "127.0.0.1", "--port", str(port), *kept, *queue]


def _mosquitto(port: int, folder: Path) -> list[str]:
    settings = folder / "mosquitto.conf"
    queue = "max_queued_messages 0\n"  # no limit, or it would drop what is not read at once
    settings.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\n{queue}", encoding="utf-8"
    )
    return ["-c", str(settings)]


CONTESTANTS: Final = {
    PREDICAST: Contestant(PredicastClient, sys.executable, _predicast, has_topics=False),
    "jetstream": Contestant(JetStreamClient, "nats-server", _jetstream),
    "nats": Contestant(NatsClient, "nats-server", _nats),
    "mosquitto": Contestant(MqttClient, "mosquitto", _mosquitto),
    "redis": Contestant(RedisClient, "redis-server", _redis),
    RELAY: Contestant(RelayClient, sys.executable, _relay, has_topics=False),
}
