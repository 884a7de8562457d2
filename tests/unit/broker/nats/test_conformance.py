"""The backend on NATS is a backend."""

import pytest

from predicast.broker.nats import NatsBackend, NatsOptions
from predicast.testing.backends import BackendConformance, MakeBackend
from tests.nats_servers import NatsServer


class TestNats(BackendConformance):
    @pytest.fixture
    def make(self, server: NatsServer, options: NatsOptions) -> MakeBackend:
        return lambda clock: NatsBackend(server.url, clock=clock, options=options)
