"""Liveness: a change issued before an event is published affects that event.

In one thread and across threads, and while segments are merged in the background. A subscription
says which version of it is in force: ``version <= :v`` with a ``v`` that only grows. Events of
all the versions, matched together, tell how far it has come.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from predicast import Change, Engine, Subscribe, Unsubscribe
from predicast.engine.operations import Operation
from predicast.matching import matcher_names
from tests.columnar_shapes import InBlocks

TEXT = "version <= :v AND kind = 'live'"


def by_parameters(ids: list[str], version: int) -> list[Operation]:
    return [Change(id, parameters={"v": version}) for id in ids]


def by_expression(ids: list[str], version: int) -> list[Operation]:
    return [Change(id, f"version <= {version} AND kind = 'live'") for id in ids]


def by_leaving_and_coming_back(ids: list[str], version: int) -> list[Operation]:
    window: list[Operation] = [Unsubscribe(id) for id in ids]
    return window + [Subscribe(id, TEXT, parameters={"v": version}) for id in ids]


def by_a_detour(ids: list[str], version: int) -> list[Operation]:
    """By fractions of which nobody may ever see any, and which are of another type."""
    window: list[Operation] = [Change(id, parameters={"v": version + 100.5}) for id in ids]
    return window + by_parameters(ids, version)


Way = Callable[[list[str], int], list[Operation]]
WAYS: list[Way] = [by_parameters, by_expression, by_leaving_and_coming_back, by_a_detour]


def live_engine(matcher: str, ids: list[str], *, others: int) -> Engine:
    engine = Engine(matcher=matcher)
    engine.subscribe_many((f"other-{n}", f"version = {n} AND kind = 'dead'") for n in range(others))
    for id in ids:
        engine.subscribe(TEXT, id=id, parameters={"v": 0})
    return engine


@pytest.mark.parametrize("name", matcher_names())
@pytest.mark.parametrize("way", WAYS)
def test_the_very_next_event_sees_a_change(name: str, way: Way) -> None:
    ids = [f"live-{n}" for n in range(12)]
    engine = live_engine(name, ids, others=60)
    if way is by_a_detour:
        engine.apply(by_parameters(ids, 0))
    for version in range(1, 40):
        some = ids[: version % len(ids) + 1]
        engine.apply(way(some, version))
        found = engine.match_batch(
            [{"version": version, "kind": "live"}, {"version": version + 1, "kind": "live"}]
        )
        assert found == [sorted(some), []]
        assert engine.match({"version": version, "kind": "live"}) == sorted(some)


@pytest.mark.parametrize("name", matcher_names())
def test_the_very_next_event_sees_a_single_call(name: str) -> None:
    engine = live_engine(name, ["a"], others=5)
    event: Any = {"version": 1, "kind": "live"}
    assert engine.match(event) == []
    engine.change("a", parameters={"v": 1})
    assert engine.match(event) == ["a"]
    engine.change("a", "version = 7")
    assert engine.match(event) == []
    engine.unsubscribe("a")
    assert engine.match({"version": 7}) == []
    engine.subscribe(TEXT, id="a", parameters={"v": 1})
    assert engine.match(event) == ["a"]


class Traffic:
    """Writers that raise the versions of their subscriptions, and others beside them.

    The others, two readers that look and one who comes and goes, run freely. A writer waits after
    each version until each of them has ended a turn, so that the next turn begins with that version
    in force and may see the one after it come. This holds however threads are scheduled.
    """

    def __init__(self, engine: Engine, writers: dict[str, Way], rounds: int) -> None:
        self.engine = engine
        self.writers = writers
        self.rounds = rounds
        self.issued = dict.fromkeys(writers, 0)  # apply was called
        self.in_force = dict.fromkeys(writers, 0)  # apply has returned
        self.beside = {"one reader": self.read, "another": self.read, "churn": self.churn}
        self.turns = dict.fromkeys(self.beside, 0)
        self.turn_ended = threading.Condition()
        self.failures: list[str] = []
        self.over = False

    def ids(self, writer: str) -> list[str]:
        return [f"{writer}-left", f"{writer}-right"]

    def write(self, writer: str) -> None:
        for version in range(1, self.rounds + 1):
            self.issued[writer] = version
            self.engine.apply(self.writers[writer](self.ids(writer), version))
            self.in_force[writer] = version
            self.wait_for_a_turn_of_each()

    def wait_for_a_turn_of_each(self) -> None:
        with self.turn_ended:
            before = self.turns.copy()
            self.turn_ended.wait_for(
                lambda: self.failures or all(self.turns[name] > before[name] for name in before)
            )

    def take_turns(self, name: str) -> None:
        while not self.over and not self.failures:
            self.beside[name](self.turns[name])
            with self.turn_ended:
                self.turns[name] += 1
                self.turn_ended.notify_all()

    def read(self, turn: int) -> None:
        for writer in self.writers:
            self.look(writer)

    def look(self, writer: str) -> None:
        """Every version from the one in force to those that were never issued."""
        first = self.in_force[writer]
        versions = range(first, self.rounds + 2)
        found = self.engine.match_batch([{"version": v, "kind": "live"} for v in versions])
        last = self.issued[writer]
        left, right = self.ids(writer)
        seen = [(left in ids, right in ids) for ids in found]
        reached = first + sum(each == (True, True) for each in seen) - 1
        assert all(one == other for one, other in seen), f"{writer}: half a window: {seen}"
        assert first <= reached <= last, f"{writer}: {reached} is not in {first} to {last}"

    def churn(self, turn: int) -> None:
        """Others come and go, so that there is something to merge."""
        ids, before = ([f"churn-{each}-{n}" for n in range(20)] for each in (turn, turn - 1))
        self.engine.apply(Subscribe(id, f"version > {10**6 + turn}") for id in ids)
        self.engine.match({"version": 0})
        leaving = ids[:15] + (before[15:] if turn else [])
        self.engine.apply(Unsubscribe(id) for id in leaving)

    def run(self) -> None:
        def thread(work: Callable[[str], None], name: str) -> threading.Thread:
            def guarded() -> None:
                try:
                    work(name)
                except BaseException as error:  # noqa: BLE001  # shown at the end
                    with self.turn_ended:
                        self.failures.append(repr(error))
                        self.turn_ended.notify_all()

            started = threading.Thread(target=guarded, name=name)
            started.start()
            return started

        beside = [thread(self.take_turns, name) for name in self.beside]
        writing = [thread(self.write, name) for name in self.writers]
        for each in writing:
            each.join()
        self.over = True
        for each in beside:
            each.join()


@pytest.mark.parametrize("name", ["columnar", InBlocks.name, "brute-force", "poset"])
def test_what_is_in_force_is_seen_by_every_thread(name: str) -> None:
    writers = dict(zip(("p", "e", "l", "d"), WAYS, strict=True))
    rounds = 40
    engine = live_engine(name, [], others=300 if name != "poset" else 30)
    traffic = Traffic(engine, writers, rounds)
    for writer in writers:
        for id in traffic.ids(writer):
            engine.subscribe(TEXT, id=id, parameters={"v": 0})
    traffic.run()
    assert traffic.failures == []
    assert traffic.in_force == dict.fromkeys(writers, rounds)
    if name == InBlocks.name:
        assert engine.statistics()["merged"], "nothing was merged meanwhile"
    everyone = sorted(id for writer in writers for id in traffic.ids(writer))
    assert engine.match({"version": rounds, "kind": "live"}) == everyone
