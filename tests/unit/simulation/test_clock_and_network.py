"""What is due happens in order; messages arrive as the faults say, and the same way every time."""

from __future__ import annotations

import pytest

from predicast.errors import InvalidOptionError
from predicast.routing.simulation.clock import Clock
from predicast.routing.simulation.network import Network
from predicast.routing.simulation.options import Fault, Faults, SimulationOptions, usual_faults
from predicast.routing.simulation.randomness import random_of
from predicast.routing.simulation.tree import drawn_tree


def arrivals(faults: Faults, messages: int = 200, seed: int = 1) -> list[tuple[float, int]]:
    clock = Clock()
    found: list[tuple[float, int]] = []
    network: Network[int] = Network(
        clock,
        0.01,
        faults,
        random_of(seed, "network"),
        lambda _sender, _receiver, message: found.append((clock.now, message)),
    )
    for message in range(messages):
        network.send("a", "b", message)
    clock.run_until(100.0)
    assert network.in_flight == 0
    return found


def test_what_is_due_at_one_moment_happens_in_the_order_asked_for() -> None:
    clock = Clock()
    done: list[str] = []
    clock.at(2.0, lambda: done.append("later"))
    clock.at(1.0, lambda: done.append("first"))
    clock.at(1.0, lambda: clock.after(0.0, lambda: done.append("third")))
    clock.at(1.0, lambda: done.append("second"))
    clock.run_until(1.5)
    assert (done, clock.now) == (["first", "second", "third"], 1.5)
    clock.run_until(3.0)
    assert (done[-1], clock.now, len(clock)) == ("later", 3.0, 0)


def test_nothing_is_due_before_now() -> None:
    clock = Clock()
    clock.run_until(5.0)
    seen: list[float] = []
    clock.at(1.0, lambda: seen.append(clock.now))
    clock.run_until(5.0)
    assert seen == [5.0]


def test_without_faults_everything_arrives_in_order() -> None:
    assert arrivals(Faults()) == [(0.01, message) for message in range(200)]


def test_a_held_up_message_is_not_overtaken() -> None:
    found = arrivals(Faults(delay_s=0.5))
    assert [message for _, message in found] == list(range(200))
    assert len({time for time, _ in found}) > 1


def test_loss_duplication_and_reordering() -> None:
    lost = [message for _, message in arrivals(Faults(loss=0.2))]
    assert 120 < len(lost) < 190
    assert lost == sorted(lost)
    twice = [message for _, message in arrivals(Faults(duplicate=0.2))]
    assert set(twice) == set(range(200))
    assert 210 < len(twice) < 280
    mixed = [message for _, message in arrivals(Faults(reorder=0.2))]
    assert sorted(mixed) == list(range(200))
    assert mixed != sorted(mixed)


def test_a_seed_decides_what_goes_wrong() -> None:
    faults = usual_faults(Fault)
    assert arrivals(faults) == arrivals(faults)
    assert arrivals(faults) != arrivals(faults, seed=2)


def test_a_link_that_is_cut_twice_is_mended_twice() -> None:
    clock = Clock()
    found: list[str] = []
    network: Network[str] = Network(
        clock,
        0.01,
        Faults(partition_rate=0.1),
        random_of(0, "network"),
        lambda _sender, _receiver, message: found.append(message),
    )
    network.cut("a", "b")
    network.cut("b", "a")
    network.mend("a", "b")
    network.send("a", "b", "cut")
    network.mend("a", "b")
    network.send("b", "a", "through")
    network.cut("a", "b")
    network.heal()
    network.send("a", "b", "healed")
    clock.run_until(1.0)
    assert found == ["through", "healed"]


@pytest.mark.parametrize("brokers", [1, 2, 31, 200])
def test_a_tree_has_room_for_all_and_candidates_are_nearer_to_the_core(brokers: int) -> None:
    tree = drawn_tree(brokers, 3, random_of(5, "tree"))
    depths = tree.depths()
    assert len(tree.parents) == brokers
    assert max(map(len, tree.children())) <= 3
    assert tree.parents[0] is None
    for broker in range(1, brokers):
        assert tree.candidates[broker][0] == tree.parents[broker]
        assert len(set(tree.candidates[broker])) == len(tree.candidates[broker])
        assert all(depths[other] < depths[broker] for other in tree.candidates[broker])


def test_faults_are_known_by_name() -> None:
    assert usual_faults([]) == Faults()
    assert usual_faults(["loss", "crash"]).loss > 0
    assert usual_faults(["loss", "crash"]).crash_rate > 0
    with pytest.raises(InvalidOptionError, match="did you mean 'partition'"):
        usual_faults(["partitions"])


@pytest.mark.parametrize(
    ("option", "value"), [("brokers", 0), ("events", -1), ("round_s", 0.0), ("rounds", 0)]
)
def test_options_are_checked(option: str, value: float) -> None:
    with pytest.raises(InvalidOptionError, match=option) as caught:
        SimulationOptions(**{option: value})  # type: ignore[arg-type]
    assert caught.value.option == option


def test_a_share_is_no_more_than_one() -> None:
    with pytest.raises(InvalidOptionError, match="loss is a number from 0 to 1"):
        Faults(loss=1.5)
