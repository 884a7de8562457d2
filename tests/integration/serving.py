"""Brokers as processes of their own, on loopback, that a test may stop, freeze and kill."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from tests.ports import reserved_ports

LIMIT_S = 90.0  # for what should take a moment
# One for all requests, as each would load all certificates anew. No connection is kept: its broker
# may be another one by the time of the next request.
_ASKING = httpx.Client(timeout=LIMIT_S, limits=httpx.Limits(max_keepalive_connections=0))
_ADDRESS = re.compile(r"listens on (http://\S+?),")


class Serving:
    """One ``predicast serve``. It comes back at the port that it had."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.options = options
        self.address = ""
        self._reserved = ExitStack()
        [self._port] = self._reserved.enter_context(reserved_ports(1))
        self._process: subprocess.Popen[bytes] | None = None
        self._log = folder.with_suffix(".log")

    def start(self) -> None:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "predicast", "serve", "--no-console"),
                    *("--data", str(self.folder), "--port", str(self._port), *self.options),
                ],
                stdout=log,
                stderr=log,
                env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
            )
        until(self._is_up, f"{self.folder.name} listens")

    def _is_up(self) -> bool:
        said = self._log.read_text(encoding="utf-8")
        assert self._process is not None
        assert self._process.poll() is None, said
        found = _ADDRESS.search(said)
        self.address = found[1] if found else ""
        return bool(found)

    def signal(self, number: int) -> None:
        """Freeze it, wake it or tell it to stop."""
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it without a warning."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Tell it to stop, and wait."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.terminate()
            self._process.wait(LIMIT_S)
            self._process = None

    def close(self) -> None:
        """Stop it for good."""
        self.stop()
        self._reserved.close()

    # What clients do.

    def get(self, path: str, **query: Any) -> Any:
        answer = _ASKING.get(self.address + path, params=query)
        answer.raise_for_status()
        return answer.json()

    def post(self, path: str, body: Any, **headers: str) -> Any:
        answer = _ASKING.post(self.address + path, json=body, headers=headers)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def publish(self, events: list[dict[str, Any]], name: str) -> None:
        headers = {"Predicast-Event-Id": name, "Predicast-Publisher": "tests"}
        self.post("/events", events, **headers)

    def kept(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("/events", most=1000)["events"]
        return found

    @property
    def is_settled(self) -> bool:
        return bool(self.get("/links")["is_settled"])


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait for a condition; the limit is for what never comes."""
    end = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.05)
