"""Threads that change, save and match at the same time, each of them as if it were alone.

*Linearisable*: every answer is that of some moment between the call and its return, the same order
of moments for everybody. Changes are numbered as they are made, and each replaces all subscriptions
of a group in one window, so that an answer says exactly which changes it has seen.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from predicast import Change, Engine, Event, Subscribe, Unsubscribe
from tests.columnar_shapes import InBlocks, InRows
from tests.thorough import LONG

MATCHERS = ["columnar", InBlocks.name, InRows.name, "poset"]
STEPS = 4_000 if LONG else 50
GROUP = 12


class Crowd:
    """Threads that run until one of them is through, and then show what went wrong."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self._errors: list[BaseException] = []
        self._threads: list[threading.Thread] = []

    def add(self, step: Callable[[], None]) -> None:
        """One more thread, that does it again and again."""

        def run() -> None:
            try:
                while not self.stop.is_set():
                    step()
            except BaseException as error:  # noqa: BLE001  # raised again where it is seen
                self._errors.append(error)
                self.stop.set()

        self._threads.append(threading.Thread(target=run))

    def run(self, first: Callable[[int], None], steps: int) -> None:
        """Let all of them run while this thread does so many steps."""
        for thread in self._threads:
            thread.start()
        try:
            for number in range(steps):
                if self.stop.is_set():
                    break
                first(number)
        finally:
            self.stop.set()
            for thread in self._threads:
                thread.join()
        if self._errors:
            raise self._errors[0]


class Clock:
    """Which changes were begun, and which have returned."""

    begun = 0
    ended = 0


def windows(engine: Engine, clock: Clock) -> Callable[[int], None]:
    """A change after the other: each says its number in all subscriptions of the group."""

    def step(number: int) -> None:
        number += 1
        clock.begun = number
        text = f"n = {number} OR n < 0"
        if number % 3 == 0:
            engine.apply([Change(f"g{each}", text) for each in range(GROUP)])
        elif number % 3 == 1:
            engine.apply(
                [
                    *(Unsubscribe(f"g{each}") for each in range(GROUP)),
                    *(Subscribe(f"g{each}", text) for each in range(GROUP)),
                ]
            )
        else:
            engine.subscribe_many({f"g{each}": text for each in range(GROUP)}, replace=True)
        clock.ended = number

    return step


def seen_by(answer: list[str]) -> bool:
    """Whether an answer is of the whole group, or of none of it."""
    group = [id for id in answer if id.startswith("g")]
    assert group in ([], sorted(f"g{each}" for each in range(GROUP))), "half of a window"
    return bool(group)


@pytest.mark.parametrize("matcher", MATCHERS)
def test_every_answer_is_that_of_a_moment_of_its_call(matcher: str, tmp_path: Path) -> None:
    engine = Engine(matcher=matcher)
    engine.subscribe_many({f"other-{each}": f"m = {each}" for each in range(600)})
    engine.subscribe_many({f"g{each}": "n = 0 OR n < 0" for each in range(GROUP)})
    clock, crowd = Clock(), Crowd()

    def one() -> None:
        first = clock.ended
        wanted = clock.begun
        seen = seen_by(engine.match({"n": wanted, "m": 5}))
        last = clock.begun
        if first == last == wanted:
            assert seen, f"{wanted} had returned, and nothing else was begun"
        if wanted < first:
            assert not seen, f"{wanted} was over when {first} returned"

    def many() -> None:
        first = clock.ended
        numbers = list(range(max(first - 3, 0), first + 6))
        found = engine.match_arrow(pa.table({"n": numbers}))
        last = clock.begun
        events = found["event"].to_pylist()
        ids = found["subscription"].to_pylist()
        held = [n for n in range(len(numbers)) if events.count(n)]
        assert len(held) <= 1, "a batch saw two moments"
        for event in held:
            assert first <= numbers[event] <= last
            mine = [id for at, id in zip(events, ids, strict=True) if at == event]
            assert seen_by(sorted(mine))
        if first == last:
            assert held, f"nobody saw {first}"

    def save() -> None:
        first = clock.ended
        path = tmp_path / f"{threading.get_ident()}.predicast"
        engine.save(path)
        last = clock.begun
        loaded = Engine.load(path)
        assert len(loaded) == 600 + GROUP
        [text] = {loaded.get(f"g{each}").text for each in range(GROUP)}
        assert text is not None
        number = int(text.split()[2])
        assert first <= number <= last
        assert seen_by(loaded.match({"n": number}))

    for step in (one, one, many, save):
        crowd.add(step)
    crowd.run(windows(engine, clock), STEPS)
    assert seen_by(engine.match({"n": clock.ended}))


@pytest.mark.parametrize("matcher", MATCHERS)
def test_ids_of_keys_that_are_used_again_are_never_mixed_up(matcher: str) -> None:
    """Subscriptions come and go, so that keys are used again; each says who it is."""
    engine = Engine(matcher=matcher)
    engine.subscribe_many({f"s{each}": f"n = {each}" for each in range(40)})
    crowd = Crowd()
    newest = 40

    def one() -> None:
        number = newest - random.randrange(45)
        assert engine.match({"n": number}) in ([], [f"s{number}"])

    def many() -> None:
        numbers = [newest - each for each in range(-3, 45)]
        found = engine.match_arrow(pa.table({"n": numbers}))
        for event, id in zip(
            found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True
        ):
            assert id == f"s{numbers[event]}"

    def come_and_go(_: int) -> None:
        nonlocal newest
        engine.unsubscribe(f"s{newest - 40}")
        engine.subscribe(f"n = {newest}", id=f"s{newest}")
        newest += 1

    for step in (one, one, many):
        crowd.add(step)
    crowd.run(come_and_go, 10 * STEPS if matcher == "columnar" else STEPS)
    assert len(engine) == 40


def test_a_match_does_not_wait_for_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change stops half-way; whoever matches meanwhile gets the answer of before."""
    engine = Engine()
    engine.subscribe("x > 0", id="a")
    store = engine._store
    half_way, go_on = threading.Event(), threading.Event()
    carry_out = store._carry_out

    def slowly(delta: object) -> None:
        half_way.set()
        assert go_on.wait(60)
        carry_out(delta)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "_carry_out", slowly)
    change = threading.Thread(target=lambda: engine.subscribe("x > 1", id="b"))
    change.start()
    assert half_way.wait(60)
    assert engine.match({"x": 5}) == ["a"]
    assert engine.match_arrow(pa.table({"x": [5]}))["subscription"].to_pylist() == ["a"]
    go_on.set()
    change.join()
    assert engine.match({"x": 5}) == ["a", "b"]


def test_a_change_does_not_wait_for_a_match() -> None:
    """Whoever has begun to match gets the answer of before, however much changes meanwhile."""
    engine = Engine()
    engine.subscribe_many({f"s{each}": f"x = {each}" for each in range(1_000)})
    view = engine._store.view
    for each in range(1_000):
        engine.change(f"s{each}", "x = -1")
    engine.unsubscribe("s7")
    engine.subscribe("x = 7", id="new")
    engine._store.matcher.settle()
    event = Event({"x": 7})
    assert view.ids.names(view.matcher.match(event)) == ["s7"]
    assert engine.match(event) == ["new"]


FORKED = """
import os, threading
from predicast import Engine
engine = Engine()
engine.subscribe_many({f"s{n}": f"x = {n}" for n in range(700)})
engine.subscribe("x > 1", id="recent")
half_way, go_on = threading.Event(), threading.Event()
carry_out = engine._store._carry_out
def slowly(delta):
    with engine._store.ids._publishing, engine._store.matcher._changing:
        half_way.set()
        go_on.wait()
    carry_out(delta)
engine._store._carry_out = slowly
change = threading.Thread(target=lambda: engine.subscribe("x = 5", id="late"))
change.start()
half_way.wait()
child = os.fork()
if child == 0:
    engine._store._carry_out = carry_out
    before = engine.match({"x": 5})
    engine.subscribe("x = 5", id="mine")
    after = engine.match({"x": 5})
    right = before == ["recent", "s5"] and after == ["late", "mine", "recent", "s5"]
    os._exit(0 if right else 1)
go_on.set()
change.join()
_, status = os.waitpid(child, 0)
print(status, engine.match({"x": 5}))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_in_the_middle_of_a_change_finishes_it_for_itself() -> None:
    said = subprocess.check_output([sys.executable, "-c", FORKED], text=True, timeout=120)
    assert said == "0 ['late', 'recent', 's5']\n"
