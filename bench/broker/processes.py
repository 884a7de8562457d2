"""Servers that are started for a measurement, and what they hold and take."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.measuring.processes import tree_seconds

_PATIENCE_S: Final = 60.0


class ServerProcess:
    """One that listens on a port of this machine."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.port = port
        self._process = process

    def resident_mib(self) -> float:
        """What it holds in memory now."""
        statm = Path(f"/proc/{self._process.pid}/statm").read_text(encoding="utf-8")
        return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def processor_s(self) -> float:
        """What processors have spent on it."""
        return tree_seconds(self._process.pid) or 0.0


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(command: Sequence[str], port: int) -> Iterator[ServerProcess]:
    """The server, from when it answers until the block ends."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, process)
        yield ServerProcess(process, port)
    finally:
        process.terminate()
        try:
            process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} does not answer on port {port}")
