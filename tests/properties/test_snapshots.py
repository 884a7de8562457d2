"""Snapshots: whatever an engine went through, the one that is loaded is the same."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predicast import Engine
from predicast.errors import UnsupportedByMatcherError
from predicast.matching import matcher_names
from predicast.model import Event, Subscription
from predicast.testing.strategies import events, events_near, strings, subscriptions
from tests.columnar_shapes import InBlocks

State = list[tuple[str, Subscription, str | None]]

COPIES: list[Callable[[Engine], Engine]] = [
    lambda engine: Engine.from_bytes(engine.to_bytes()),
    lambda engine: pickle.loads(pickle.dumps(engine)),
    copy.copy,
    copy.deepcopy,
]


def state(engine: Engine) -> State:
    return [(each.id, each.subscription, each.owner) for each in engine.subscriptions()]


def answers(engine: Engine, asked: list[Event]) -> list[list[str]]:
    return [engine.match(event) for event in asked] + engine.match_batch(asked)


def check_same(loaded: Engine, engine: Engine, asked: list[Event]) -> None:
    assert answers(loaded, asked) == answers(engine, asked)  # first of all: nobody has looked yet
    assert loaded.attributes() == engine.attributes()
    assert len(loaded) == len(engine)
    assert state(loaded) == state(engine)
    assert answers(loaded, asked) == answers(engine, asked)


def alike(draw: Any, count: int) -> list[tuple[str, str]]:
    """Enough subscriptions of one outline that they are kept in columns."""
    words = draw(st.lists(strings(), min_size=1, max_size=5))
    made = []
    for number in range(count):
        word = "'" + words[number % len(words)].replace("\\", "\\\\").replace("'", "\\'") + "'"
        text = f"a < {number * 3} AND b = {word} AND c IN ({number % 7}, 7) AND a > {number}.5"
        made.append((f"bulk-{number}", text))
    return made


def work_on(draw: Any, engines: list[Engine], given_: list[Subscription], name: str) -> None:
    """Some changes, the same for all of the engines."""
    for number, subscription in enumerate(given_):
        owner = draw(st.sampled_from([None, "me", "é"]))
        for engine in engines:
            engine.subscribe(subscription, id=f"{name}-{number}", owner=owner)
    held = list(engines[0])
    for id in draw(st.lists(st.sampled_from(held), unique=True, max_size=9)) if held else []:
        change = draw(st.none() | st.sampled_from(given_)) if given_ else None
        for engine in engines:
            if change is None:
                engine.unsubscribe(id)
            else:
                engine.change(id, change)


@pytest.mark.parametrize("matcher", ["brute-force", "columnar", InBlocks.name])
@settings(
    max_examples=settings().max_examples // 2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_a_loaded_engine_is_the_same(matcher: str, data: st.DataObject, tmp_path: Path) -> None:
    draw = data.draw
    engine = Engine(matcher=matcher, absent=draw(st.sampled_from(["fails", "passes"])))
    stated = draw(st.lists(subscriptions(), max_size=8))
    asked = draw(st.lists(events(), max_size=2)) + [draw(events_near(each)) for each in stated]
    if draw(st.booleans()):
        engine.subscribe_many(alike(draw, draw(st.sampled_from([40, 70]))))
    if draw(st.booleans()):
        engine.match({"a": 1})  # some is compiled before the changes, some not
    work_on(draw, [engine], stated, "first")
    engine.save(tmp_path / "engine")
    loaded = Engine.load(tmp_path / "engine")
    if draw(st.booleans()):
        check_same(loaded, engine, asked)
    work_on(draw, [engine, loaded], stated, "second")
    again = draw(st.sampled_from(COPIES))(loaded)
    check_same(again, engine, asked)
    check_same(loaded, engine, asked)
    assert again.subscribe("a = 1") == engine.subscribe("a = 1")  # ids of our own making go on


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_another_matcher_takes_over(data: st.DataObject) -> None:
    engine = Engine(matcher="columnar")
    stated = data.draw(st.lists(subscriptions(), min_size=1, max_size=6))
    work_on(data.draw, [engine], stated, "x")
    asked = [data.draw(events_near(each)) for each in stated]
    packed = engine.to_bytes()
    for name in matcher_names():
        try:
            loaded = Engine.from_bytes(packed, matcher=name)
        except UnsupportedByMatcherError:
            continue
        assert loaded.matcher == name
        assert [loaded.match(event) for event in asked] == [engine.match(event) for event in asked]
        assert state(loaded) == state(engine)


def test_a_bulk_after_loading_does_not_touch_what_was_free(tmp_path: Path) -> None:
    engine = Engine(matcher="columnar")
    engine.subscribe_many((f"s{n}", f"a = {n}") for n in range(100))
    for number in (3, 50):
        engine.unsubscribe(f"s{number}")
    engine.subscribe("a = 1", id="late")  # under a key that was free
    engine.save(tmp_path / "engine")
    loaded = Engine.load(tmp_path / "engine")
    more = [(f"t{n}", f"a = {n}") for n in range(50)]
    for each in (engine, loaded):
        each.subscribe_many(more)
    check_same(loaded, engine, [Event({"a": n}) for n in range(100)])
    assert list(loaded)[97:100] == ["s99", "late", "t0"]
    batch = pa.table({"a": list(range(100))})
    assert sorted(loaded.match_arrow(batch).to_pylist(), key=str) == sorted(
        engine.match_arrow(batch).to_pylist(), key=str
    )
