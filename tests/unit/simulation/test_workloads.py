"""The worlds of the simulation: what they draw can be read, depends on the seed, and matches."""

from __future__ import annotations

import pytest

from predicast import Engine
from predicast.engine import Change, Subscribe
from predicast.model import Event
from predicast.routing.simulation.options import SimulationOptions, WorkloadName
from predicast.routing.simulation.workloads import Workload, make_workload

WORLDS = list(WorkloadName)


def made(name: WorkloadName, seed: int = 3) -> Workload:
    return make_workload(SimulationOptions(workload=name, seed=seed, clients=20, subscriptions=300))


@pytest.mark.parametrize("name", WORLDS)
def test_an_engine_takes_what_clients_ask_for_and_events_match_some_of_it(
    name: WorkloadName,
) -> None:
    workload, engine = made(name), Engine()
    engine.apply([operation for _, operation in workload.begin()])
    assert len(engine) == 300
    matched = 0
    for _ in range(4):
        turn = workload.turn(50)
        assert engine.apply([operation for _, operation in turn.wishes]).refused == ()
        assert len(turn.publications) == 50
        assert {client for client, _ in turn.publications} <= set(range(20))
        events = [Event(event) for _, event in turn.publications]
        found = list(map(len, engine.match_batch(events)))
        matched += sum(found)
        assert max(found) < 150  # selective, or routing would be flooding
    assert matched > 20


@pytest.mark.parametrize("name", WORLDS)
def test_the_seed_decides(name: WorkloadName) -> None:
    one, same, other = made(name), made(name), made(name, seed=4)
    assert one.begin() == same.begin() != other.begin()
    assert [one.turn(9) for _ in range(3)] == [same.turn(9) for _ in range(3)]


@pytest.mark.parametrize("name", WORLDS)
def test_a_subscription_stays_with_its_client(name: WorkloadName) -> None:
    workload = made(name)
    homes: dict[str, int] = {}
    for client, operation in workload.begin():
        assert isinstance(operation, Subscribe)
        homes[operation.id] = client
    changes = 0
    for _ in range(3):
        for client, operation in workload.turn(0).wishes:
            assert homes.setdefault(operation.id, client) == client
            changes += isinstance(operation, Change)
    assert changes > 0


def test_beings_close_to_each_other_are_near() -> None:
    world = made(WorkloadName.DVE)
    places = [world.nearness(client) for client in range(20)]
    assert all(0 <= place < 1 for place in places)
    assert len(set(places)) > 10
