"""What seeds have found, each by name, in the smallest form that shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from predicast.engine import Change, Subscribe, Unsubscribe
from predicast.language import parse_where
from predicast.routing import Announce
from predicast.routing.codec import decode, encode
from predicast.routing.simulation import Fault, SimulationOptions, simulate, usual_faults
from tests.simulation.drawn_options import drawn_options


def test_a_change_travels_as_bytes() -> None:
    """A field of raw JSON or nothing was read as nothing, and a subscription refused."""
    window = Announce(
        7,
        3,
        (
            Subscribe("a", parse_where("x < 1")),
            Change("a", parse_where("x BETWEEN 1 AND 2")),
            Change("a", "x > :least", {"least": 4}),
            Change("a", None, {"least": 5}),
            Unsubscribe("a"),
        ),
    )
    assert decode(encode(window)) == window


@pytest.mark.parametrize("seed", [18, 42])
def test_a_broker_does_not_wait_for_itself_through_its_former_parent(seed: int) -> None:
    """Three brokers waited for each other in a circle; a subscription never came into force."""
    assert not simulate(drawn_options(seed, most_brokers=8)).violations


def test_what_was_sent_once_is_not_added_to() -> None:
    """Events that joined a message after a first attempt to send it were acknowledged unseen."""
    options = SimulationOptions(
        seed=3,
        brokers=3,
        clients=5,
        subscriptions=30,
        events=120,
        rounds=1,
        faults=replace(usual_faults([Fault.PARTITION, Fault.CRASH]), partition_rate=0.3),
    )
    assert not simulate(options).violations
