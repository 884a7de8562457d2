"""Which backend a name stands for."""

from pathlib import Path

import pytest

from predicast.broker.backends import backend_for
from predicast.broker.embedded import EmbeddedBackend
from predicast.broker.nats import NatsBackend, NatsOptions
from predicast.broker.nats.options import read_address
from predicast.errors import InvalidOptionError


def test_a_folder_is_embedded(tmp_path: Path) -> None:
    assert isinstance(backend_for(tmp_path), EmbeddedBackend)
    assert isinstance(backend_for(str(tmp_path)), EmbeddedBackend)


@pytest.mark.parametrize("url", ["nats://one:4222", "tls://one:4222,two:4222"])
def test_an_address_is_shared(url: str) -> None:
    assert isinstance(backend_for(url), NatsBackend)


def test_an_address_states_options() -> None:
    servers, options = read_address("nats://one:4222,two:4222?replicas=3&lease_s=2.5&prefix=mine")
    assert servers == "nats://one:4222,two:4222"
    assert options == NatsOptions(replicas=3, lease_s=2.5, prefix="mine")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("replica=3", "is it 'replicas'"),
        ("replicas=three", "is a number"),
        ("replicas=0", "at least 1"),
        ("lease_s=nan", "more than 0"),
        ("prefix=a.b", "letters, digits"),
        ("shares=2&share=2", "one of 0 to 1"),
    ],
)
def test_an_option_that_is_none_is_refused(query: str, said: str) -> None:
    with pytest.raises(InvalidOptionError, match=said):
        backend_for(f"nats://one:4222?{query}")


def test_another_kind_of_address_is_refused() -> None:
    with pytest.raises(InvalidOptionError, match="nats://host:4222"):
        backend_for("redis://one:6379")
