"""The embedded backend does what every backend does."""

from pathlib import Path

import pytest

from predicast.broker.embedded import EmbeddedBackend
from predicast.testing.backends import BackendConformance, MakeBackend
from tests.unit.broker.embedded.stores import BUSY, QUICK


class TestEmbedded(BackendConformance):
    @pytest.fixture(params=[QUICK, BUSY], ids=["quick", "busy"])
    def make(self, tmp_path: Path, request: pytest.FixtureRequest) -> MakeBackend:
        return lambda clock: EmbeddedBackend(tmp_path, clock=clock, options=request.param)
