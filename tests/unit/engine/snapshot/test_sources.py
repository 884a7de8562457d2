"""The texts in which subscriptions were given: optional, by key, and back as they were."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast import Engine
from predicast.engine import snapshot
from predicast.engine.sources import Sources
from predicast.errors import DamagedSnapshotError
from predicast.testing.strategies import strings
from tests.unit.engine.snapshot.test_damaged_snapshots import put_together, taken_apart


def sources(by_key: dict[int, str]) -> Sources:
    made = Sources()
    for key, text in by_key.items():
        made.set(key, text)
    return made


def by_key(sources: Sources) -> dict[int, str]:
    keys, texts = sources.arrays()
    return dict(zip(keys.tolist(), texts.to_pylist(), strict=True))


def taken(count: int, sources: Sources) -> snapshot.Snapshot:
    engine = Engine(matcher="brute-force")
    engine.subscribe_many((f"s{n}", f"a = {n}") for n in range(count))
    return engine._taken_apart()._replace(sources=sources)


def decoded(data: bytes) -> snapshot.Snapshot:
    return snapshot.decode(np.frombuffer(data, np.uint8).copy())


@given(st.dictionaries(st.integers(0, 9), strings().filter(bool)))
def test_texts_come_back(given_: dict[int, str]) -> None:
    found = decoded(snapshot.to_bytes(taken(10, sources(given_)))).sources
    assert by_key(found) == given_
    assert [found.get(key) for key in range(12)] == [given_.get(key) for key in range(12)]
    assert by_key(found) == given_


def test_there_need_not_be_any() -> None:
    header, _ = taken_apart(snapshot.to_bytes(taken(3, Sources())))
    assert header["sources"] is None


def test_those_of_a_file_can_be_written_again_where_they_lie(tmp_path: Path) -> None:
    snapshot.save(taken(3, sources({2: "a=2", 0: "a  = 0"})), tmp_path / "engine")
    file = snapshot.mapped(tmp_path / "engine")
    found = snapshot.decode(file)
    assert np.shares_memory(found.sources.arrays()[0], file)
    assert by_key(decoded(snapshot.to_bytes(found)).sources) == {0: "a  = 0", 2: "a=2"}


def test_an_engine_keeps_them(tmp_path: Path) -> None:
    engine = Engine()
    engine.subscribe_many({"a": "x  = 1", "b": "x = 2", "c": "x = 3"})
    engine.unsubscribe("b")
    engine.save(tmp_path / "engine")
    loaded = Engine.load(tmp_path / "engine")
    assert loaded.get("a").text == "x  = 1"
    loaded.change("c", "x = 4")
    assert [entry.text for entry in loaded.subscriptions()] == ["x  = 1", "x = 4"]
    again = Engine.from_bytes(loaded.to_bytes())
    assert [entry.text for entry in again.subscriptions()] == ["x  = 1", "x = 4"]


@pytest.mark.parametrize(("keys", "texts", "why"), [
    ([0], [], "0 sources for 1 keys"),
    ([1, 1], ["a", "b"], "do not ascend"),
    ([2, 1], ["a", "b"], "do not ascend"),
    ([2**31 - 1, -(2**31)], ["a", "b"], "do not ascend"),
    ([-1, 1], ["a", "b"], "of nothing"),
    ([1, 3], ["a", "b"], "of nothing"),
])  # fmt: skip
def test_what_does_not_go_together_is_damage(keys: list[int], texts: list[str], why: str) -> None:
    wrong = Sources()
    wrong._unread = np.array(keys, np.int32), pa.array(texts, pa.large_string())
    with pytest.raises(DamagedSnapshotError, match=why):
        decoded(snapshot.to_bytes(taken(3, wrong)))


def test_a_key_that_is_free_has_no_source() -> None:
    engine = Engine(matcher="brute-force")
    engine.subscribe_many((f"s{n}", f"a = {n}") for n in range(3))
    engine.unsubscribe("s1")
    with pytest.raises(DamagedSnapshotError, match="of nothing"):
        decoded(snapshot.to_bytes(engine._taken_apart()._replace(sources=sources({1: "a=1"}))))


@pytest.mark.parametrize("forged", [7, [], {}, {"keys": 0}, {"keys": 99, "texts": [0, 1]}])
def test_an_entry_that_is_none_is_damage(forged: Any) -> None:
    header, body = taken_apart(snapshot.to_bytes(taken(3, sources({1: "a=1"}))))
    header["sources"] = forged
    with pytest.raises(DamagedSnapshotError):
        decoded(put_together(header, body))
