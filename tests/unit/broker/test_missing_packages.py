"""What a missing package is called, and what to do about it."""

import asyncio
import sys

import pytest

from predicast.broker.backends import backend_for
from predicast.client import connect_sync
from predicast.errors import BackendError, NotConnectedError


def test_a_client_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "websockets", None)
    with pytest.raises(NotConnectedError, match="extra 'client'"), connect_sync("ws://127.0.0.1:1"):
        pass


def test_nats_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nats.aio.client", None)
    with pytest.raises(BackendError, match="extra 'nats'"):
        asyncio.run(backend_for("nats://127.0.0.1:1").start())
