"""One server for all tests here; each has streams of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from predicast.broker.nats import NatsOptions
from tests.nats_servers import NatsServer, nats_server

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with nats_server(tmp_path_factory.mktemp("nats")) as running:
        yield running


@pytest.fixture
def options() -> NatsOptions:
    """Streams that no other test has; a process that is held up for a while is not given up."""
    return NatsOptions(prefix=f"test-{next(_NUMBERS)}", lease_s=60.0)
