"""A network of namespaces, for partitions that are real.

Nodes are joined by a bridge in a namespace of its own, so that nothing of it touches the machine's
network. A node that is cut off is behind a link that is down: what it sends goes nowhere, and
nobody is told. Linux, root and ``ip`` of iproute2 are needed.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NUMBERS = itertools.count()


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")


class Node:
    """One machine of the network."""

    def __init__(self, hub: str, number: int) -> None:
        self.address = f"10.0.0.{number}"
        self._hub = hub
        self._name = f"{hub}-{number}"
        self._port = f"port{number}"
        _ip("netns", "add", self._name)
        _ip(
            "-n",
            hub,
            "link",
            "add",
            self._port,
            "type",
            "veth",
            "peer",
            "eth0",
            "netns",
            self._name,
        )
        _ip("-n", hub, "link", "set", self._port, "master", "bridge", "up")
        _ip("-n", self._name, "address", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", self._name, "link", "set", device, "up")

    @property
    def prefix(self) -> list[str]:
        """What a command begins with to be run there; it keeps its process id."""
        return ["nsenter", f"--net=/run/netns/{self._name}"]

    def cut(self) -> None:
        """From now on nothing comes and nothing goes."""
        _ip("-n", self._hub, "link", "set", self._port, "down")

    def mend(self) -> None:
        _ip("-n", self._hub, "link", "set", self._port, "up")


class Network:
    """Nodes that reach each other."""

    def __init__(self, hub: str) -> None:
        self._hub = hub
        self._count = 0

    def node(self) -> Node:
        self._count += 1
        return Node(self._hub, self._count)


@contextmanager
def network() -> Iterator[Network]:
    """An empty network; raises an ``OSError`` that says why if there can be none."""
    hub = f"predicast-{os.getpid()}-{next(_NUMBERS)}"
    _ip("netns", "add", hub)
    try:
        _ip("-n", hub, "link", "add", "bridge", "type", "bridge")
        _ip("-n", hub, "link", "set", "bridge", "up")
        yield Network(hub)
    finally:
        for each in sorted(Path("/run/netns").glob(f"{hub}*")):
            _ip("netns", "delete", each.name)


def why_no_network() -> str | None:
    """Why there can be no such network here, if there cannot."""
    try:
        with network() as made:
            made.node()
    except OSError as error:
        return str(error)
    return None
