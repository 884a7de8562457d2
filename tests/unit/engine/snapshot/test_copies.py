"""Pickles and copies of engines: the same subscriptions, and nothing else in common."""

import copy
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from predicast import Engine
from predicast.errors import DamagedSnapshotError
from predicast.model import Absent


def pickled(protocol: int) -> Callable[[Engine], Engine]:
    def through_pickle(engine: Engine) -> Engine:
        again: Engine = pickle.loads(pickle.dumps(engine, protocol))
        return again

    return through_pickle


WAYS = [copy.copy, copy.deepcopy, *map(pickled, range(pickle.HIGHEST_PROTOCOL + 1))]


@pytest.fixture(params=WAYS)
def copied(request: Any) -> Callable[[Engine], Engine]:
    way: Callable[[Engine], Engine] = request.param
    return way


def engine_with_everything(matcher: str = "columnar", absent: Absent = "fails") -> Engine:
    engine = Engine(matcher=matcher, absent=absent)
    engine.subscribe_many((f"s{n}", f"a = {n}") for n in range(50))
    engine.subscribe("b < :hi", id="parametric", owner="me", parameters={"hi": 5})
    engine.unsubscribe("s7")
    engine.match({"a": 1})
    return engine


@pytest.mark.parametrize("matcher", ["columnar", "brute-force", "poset"])
@pytest.mark.parametrize("absent", ["fails", "passes"])
def test_a_copy_is_the_same(
    copied: Callable[[Engine], Engine], matcher: str, absent: Absent
) -> None:
    engine = engine_with_everything(matcher, absent)
    again = copied(engine)
    assert (again.matcher, again.absent) == (matcher, absent)
    assert again.subscriptions() == engine.subscriptions()
    event = {"a": 3, "b": 4}
    assert again.match(event) == engine.match(event)
    again.change("parametric", parameters={"hi": 3})
    assert again.match({"b": 4}) != engine.match({"b": 4})
    assert again.subscribe("c = 1") == engine.subscribe("c = 1")  # ids of our own making go on


def test_a_copy_changes_alone(copied: Callable[[Engine], Engine]) -> None:
    engine = engine_with_everything()
    again = copied(engine)
    again.unsubscribe("s3")
    engine.subscribe("a = 4", id="mine")
    assert (engine.match({"a": 3}), again.match({"a": 3})) == (["s3"], [])
    assert (engine.match({"a": 4}), again.match({"a": 4})) == (["mine", "s4"], ["s4"])


def test_followers_and_locks_stay_with_the_original(copied: Callable[[Engine], Engine]) -> None:
    engine = engine_with_everything()
    changes = engine.changes()
    with engine._lock:  # of this thread alone
        again = copied(engine)
    again.subscribe("a = 1", id="elsewhere")
    assert changes.take() == []
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.extend(again.match({"a": 1})))
    thread.start()
    thread.join()
    assert found == ["elsewhere", "s1"]


class Named(Engine):
    """Somebody's own kind of engine."""


def test_a_copy_is_of_the_same_class(copied: Callable[[Engine], Engine]) -> None:
    engine = Named()
    engine.subscribe("a = 1", id="one")
    again = copied(engine)
    assert type(again) is Named
    assert list(again) == ["one"]


def test_one_engine_in_two_places_stays_one() -> None:
    engine = engine_with_everything()
    for one, other in (copy.deepcopy((engine, engine)), pickle.loads(pickle.dumps([engine] * 2))):
        assert one is other is not engine


def test_a_pickle_is_an_engine_in_another_process() -> None:
    code = (
        "import pickle, sys; engine = pickle.load(sys.stdin.buffer);"
        "engine.unsubscribe('s4'); print(engine, engine.match({'a': 3}), engine.match({'a': 4}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(engine_with_everything("brute-force")),
        capture_output=True,
        check=True,
    )
    expected = "<Engine: 49 subscriptions, matcher 'brute-force'> ['s3'] []"
    assert run.stdout.decode().strip() == expected


def test_a_damaged_pickle_is_refused() -> None:
    data = bytearray(pickle.dumps(engine_with_everything("brute-force")))
    data[len(data) // 2] ^= 1
    with pytest.raises(DamagedSnapshotError):
        pickle.loads(bytes(data))
