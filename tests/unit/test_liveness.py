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
from predicast.matching import matcher_names
from predicast.operations import Operation
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
    """Writers that raise the versions of their subscriptions, and readers that look."""

    def __init__(self, engine: Engine, writers: dict[str, Way], rounds: int) -> None:
        self.engine = engine
        self.writers = writers
        self.rounds = rounds
        self.issued = dict.fromkeys(writers, 0)  # apply was called
        self.in_force = dict.fromkeys(writers, 0)  # apply has returned
        self.failures: list[str] = []
        self.looks = 0
        self.over = threading.Event()

    def ids(self, writer: str) -> list[str]:
        return [f"{writer}-left", f"{writer}-right"]

    def write(self, writer: str) -> None:
        for version in range(1, self.rounds + 1):
            self.issued[writer] = version
            self.engine.apply(self.writers[writer](self.ids(writer), version))
            self.in_force[writer] = version

    def read(self) -> None:
        while not self.over.is_set() and not self.failures:
            for writer in self.writers:
                self.look(writer)
            self.looks += 1

    def look(self, writer: str) -> None:
        """Every version from the one in force to those that were never issued."""
        first = self.in_force[writer]
        versions = range(first, self.rounds + 2)
        found = self.engine.match_batch([{"version": v, "kind": "live"} for v in versions])
        last = self.issued[writer]
        left, right = self.ids(writer)
        seen = [(left in ids, right in ids) for ids in found]
        reached = first + sum(each == (True, True) for each in seen) - 1
        if any(one != other for one, other in seen):
            self.failures.append(f"{writer}: half a window was seen: {seen}")
        elif not first <= reached <= last:
            self.failures.append(f"{writer}: {reached} is not between {first} and {last}")

    def churn(self) -> None:
        """Others come and go, so that there is something to merge."""
        number = 0
        while not self.over.is_set():
            ids = [f"churn-{number}-{n}" for n in range(20)]
            self.engine.apply(Subscribe(id, f"version > {10**6 + number}") for id in ids)
            self.engine.match({"version": 0})
            self.engine.apply(Unsubscribe(id) for id in ids[:15])
            number += 1

    def run(self) -> None:
        def guarded(work: Callable[[], None]) -> None:
            try:
                work()
            except BaseException as error:
                self.failures.append(repr(error))
                raise

        def thread(work: Callable[[], None]) -> threading.Thread:
            started = threading.Thread(target=guarded, args=(work,))
            started.start()
            return started

        beside = [thread(self.read), thread(self.read), thread(self.churn)]
        writing = [thread(lambda name=name: self.write(name)) for name in self.writers]  # type: ignore[misc]
        for each in writing:
            each.join(60)
        self.over.set()
        for each in beside:
            each.join(60)


@pytest.mark.parametrize("name", ["columnar", InBlocks.name, "brute-force", "poset"])
def test_what_is_in_force_is_seen_by_every_thread(name: str) -> None:
    writers = dict(zip(("p", "e", "l", "d"), WAYS, strict=True))
    rounds = 150
    engine = live_engine(name, [], others=300 if name != "poset" else 30)
    traffic = Traffic(engine, writers, rounds)
    for writer in writers:
        for id in traffic.ids(writer):
            engine.subscribe(TEXT, id=id, parameters={"v": 0})
    traffic.run()
    assert traffic.failures == []
    assert traffic.in_force == dict.fromkeys(writers, rounds)
    assert traffic.looks > 10, "hardly anybody looked"
    if name == InBlocks.name:
        assert engine.statistics()["merged"], "nothing was merged meanwhile"
    everyone = sorted(id for writer in writers for id in traffic.ids(writer))
    assert engine.match({"version": rounds, "kind": "live"}) == everyone
