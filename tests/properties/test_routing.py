"""Whatever the tree, its subscriptions and its faults: deliveries are those of the definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from predicast.engine import Change, Subscribe, Unsubscribe
from predicast.language import parse_where
from predicast.model import Event, Subscription
from tests.routing_network import Faults, Network

# A seed does not shrink to anything simpler; it is printed, and that is enough.
FEW = settings(max_examples=8, phases=[Phase.explicit, Phase.reuse, Phase.generate])
EVERY_FAULT = Faults(loss=0.1, duplicate=0.1, delay_s=0.3)


@dataclass
class World:
    """A random tree with hosts, what they want, and what they should have got."""

    seed: int
    faults: Faults = field(default_factory=Faults)
    slack: float = 0.0
    brokers: int = 5
    hosts: int = 6
    spare: bool = False  # whether brokers have a second candidate
    max_subscriptions: int = 1_000  # of a neighbour; hosts have three at most

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.network = Network(self.seed, self.faults)
        self.wanted: dict[str, dict[str, Subscription]] = {}
        self.expected: dict[str, list[tuple[str, int, tuple[str, ...]]]] = {}
        self.count: dict[str, int] = {}
        for number in range(self.brokers):
            candidates = [f"b{self.random.randrange(number)}"] if number else []
            if self.spare and number > 1:
                candidates += [f"b{each}" for each in range(number) if f"b{each}" not in candidates]
            self.network.broker(
                f"b{number}",
                *candidates,
                level=number,
                slack=self.slack,
                max_subscriptions=self.max_subscriptions,
            )
        for number in range(self.hosts):
            name = f"h{number}"
            self.network.host(name, f"b{self.random.randrange(self.brokers)}")
            self.wanted[name] = {}
            self.expected[name] = []

    def text(self) -> str:
        lo, width = self.random.randrange(20), self.random.randrange(1, 10)
        text = f"x BETWEEN {lo} AND {lo + width}"
        return (
            f"{text} AND kind = '{self.random.choice('ab')}'"
            if self.random.random() < 0.4
            else text
        )

    def change_subscriptions(self) -> None:
        """Every host runs a window, as random as it can be."""
        for name, wanted in self.wanted.items():
            operations: list[Any] = []
            for id in ("p", "q", "r"):
                choice, text = self.random.random(), self.text()
                if id not in wanted and choice < 0.6:
                    operations.append(Subscribe(id, text))
                    wanted[id] = parse_where(text)
                elif id in wanted and choice < 0.4:
                    operations.append(Change(id, text))
                    wanted[id] = parse_where(text)
                elif id in wanted and choice < 0.6:
                    operations.append(Unsubscribe(id))
                    del wanted[id]
            self.network.announce(name, operations)

    def publish(self, events: int = 3) -> None:
        """Every host publishes; what is wanted now is expected."""
        for publisher in self.wanted:
            made = [
                {"x": self.random.randrange(30), "kind": self.random.choice("abc")}
                for _ in range(events)
            ]
            first = self.network.hosts[publisher]._next_sequence
            self.network.publish(publisher, made)
            for sequence, attributes in enumerate(made, first):
                for name, wanted in self.wanted.items():
                    ids = [i for i, each in wanted.items() if each.matches(Event(attributes))]
                    if ids and name != publisher:
                        self.expected[name].append((publisher, sequence, tuple(sorted(ids))))

    def settle(self, seconds: float = 200.0) -> None:
        """Wait until everything announced is in force."""
        end = self.network.now + seconds
        while self.network.now < end:
            self.network.run(1.0)
            if all(each.is_settled for each in self.network.hosts.values()):
                return
        unsettled = [name for name, each in self.network.hosts.items() if not each.is_settled]
        raise AssertionError(f"seed {self.seed}: {unsettled} are not settled")

    def drain(self, seconds: float = 200.0) -> None:
        """Wait until nothing is on its way: what comes later may meet other subscriptions."""
        end = self.network.now + seconds
        while self.network.now < end:
            self.network.run(1.0)
            waiting = [each.statistics()["waiting"] for each in self.network.routers.values()]
            hosts = self.network.hosts.values()
            if not any(waiting) and all(each.is_acknowledged for each in hosts):
                return
        raise AssertionError(f"seed {self.seed}: {waiting} are still waiting")

    def calm(self, seconds: float = 60.0) -> None:
        """No more faults, and time for all that is left to arrive."""
        self.network.faults = Faults()
        self.network.cut.clear()
        for name in list(self.network.crashed):
            self.network.restart(name)
        self.network.run(seconds)

    def check(self, *, in_order: bool = True) -> None:
        """Everything expected came once, in order of each publisher, and nothing else."""
        for name, expected in self.expected.items():
            got = [
                (each.published.publisher, each.published.sequence, each.matched)
                for each in self.network.delivered[name]
            ]
            assert sorted(got) == sorted(expected), f"seed {self.seed}: {name}"
            for publisher in self.wanted:
                mine = [each for each in got if each[0] == publisher]
                assert not in_order or mine == sorted(mine), (
                    f"seed {self.seed}: {name} out of order"
                )


@pytest.mark.parametrize("slack", [0.0, 1.0, 8.0, float("inf")])
@given(seed=st.integers(0, 2**32))
@FEW
def test_deliveries_are_those_of_the_definition(slack: float, seed: int) -> None:
    world = World(seed, slack=slack)
    world.network.run(1.0)
    for _ in range(3):
        world.change_subscriptions()
        world.settle()
        world.publish()
        world.network.run(2.0)
    world.check()


@given(seed=st.integers(0, 2**32))
@FEW
def test_loss_repetition_delay_and_reordering_change_nothing(seed: int) -> None:
    world = World(seed, EVERY_FAULT, slack=1.0)
    for _ in range(3):
        world.change_subscriptions()
        world.settle()
        world.publish()
        world.drain()
    world.calm()
    world.check()


@given(seed=st.integers(0, 2**32))
@FEW
def test_brokers_that_crash_and_come_back_lose_nothing(seed: int) -> None:
    world = World(seed, EVERY_FAULT)
    world.change_subscriptions()
    world.settle()
    for _ in range(3):
        name = f"b{world.random.randrange(world.brokers)}"
        world.network.crash(name)
        world.publish()
        world.network.run(world.random.choice([0.1, 2.0, 8.0]))
        world.network.restart(name)
        world.network.run(1.0)
        world.publish()
    world.calm()
    world.check()


@given(seed=st.integers(0, 2**32))
@FEW
def test_partitions_lose_nothing(seed: int) -> None:
    world = World(seed, EVERY_FAULT)
    world.change_subscriptions()
    world.settle()
    for _ in range(2):
        cut = f"b{world.random.randrange(1, world.brokers)}"
        for name in list(world.network.routers):
            world.network.sever(cut, name)
        world.publish()
        world.network.run(world.random.choice([1.0, 6.0]))
        world.publish()
        world.network.cut.clear()
        world.network.run(1.0)
    world.calm()
    world.check()


@given(seed=st.integers(0, 2**32))
@FEW
def test_brokers_that_move_to_another_parent_lose_nothing(seed: int) -> None:
    world = World(seed, EVERY_FAULT, slack=1.0, spare=True)
    world.change_subscriptions()
    world.settle()
    for _ in range(2):
        name = f"b{world.random.randrange(world.brokers)}"
        if world.random.random() < 0.5:
            world.network.crash(name)
        else:
            for other in list(world.network.routers):
                world.network.sever(name, other)
        world.publish()
        world.network.run(world.random.choice([2.0, 8.0, 20.0]))
        world.publish()
        world.network.cut.clear()
        if name in world.network.crashed:
            world.network.restart(name)
        world.network.run(1.0)
    world.calm(100.0)
    world.check(in_order=False)
    for router in world.network.routers.values():
        assert router.is_attached
        assert {str(state) for _, state in router.interfaces().values()} == {"Active"}


@given(seed=st.integers(0, 2**32))
@FEW
def test_brokers_that_want_more_than_their_neighbours_hold_lose_nothing(seed: int) -> None:
    world = World(seed, EVERY_FAULT, hosts=9, spare=True, max_subscriptions=3)
    for _ in range(3):
        world.change_subscriptions()
        world.settle()
        name = f"b{world.random.randrange(world.brokers)}"
        world.network.crash(name)
        world.publish()
        world.network.run(world.random.choice([0.1, 2.0, 8.0]))
        world.network.restart(name)
        world.publish()
        world.drain()
    world.calm(100.0)
    world.check(in_order=False)
