"""Saving: whole or not at all, while matching goes on, and shared by all who load it."""

import threading
from pathlib import Path

import pytest

from predicast import Engine
from predicast.engine.snapshot import atomic
from tests.thorough import LONG
from tests.unit.engine.snapshot.saved_engines import engine_of

COUNT = 2_000 if LONG else 500


def leftovers(folder: Path) -> list[Path]:
    return [each for each in folder.iterdir() if each.name.endswith(".saving")]


def test_a_file_that_is_being_written_is_not_taken_for_a_leftover(tmp_path: Path) -> None:
    path = tmp_path / "engine"
    engine = engine_of(10)

    def meanwhile(file: object) -> None:
        assert len(leftovers(tmp_path)) == 1
        engine.save(path)  # by somebody else
        assert len(leftovers(tmp_path)) == 1

    def write(file: object) -> None:
        meanwhile(file)
        file.write(b"written")  # type: ignore[attr-defined]

    atomic.write_atomically(path, write)
    assert path.read_bytes() == b"written"
    assert leftovers(tmp_path) == []


def test_a_file_that_was_removed_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "engine"
    flock = atomic.fcntl.flock
    first = True

    def late(file: object, operation: int) -> None:
        nonlocal first
        if first:
            first = False
            assert len(leftovers(tmp_path)) == 1
            atomic.remove_stale(path)
            assert leftovers(tmp_path) == []
        flock(file, operation)

    monkeypatch.setattr(atomic.fcntl, "flock", late)
    engine_of(3).save(path)
    assert len(Engine.load(path)) == 3
    assert leftovers(tmp_path) == []


def test_matching_and_changing_go_on_while_saving(tmp_path: Path) -> None:
    engine = engine_of(COUNT)
    stop = threading.Event()
    errors: list[BaseException] = []

    def churn() -> None:
        number = 0
        try:
            while not stop.is_set():
                number += 1
                engine.change(f"s{number % COUNT}", f"a = {number % COUNT} AND b < 'x{number}'")
                engine.unsubscribe(f"s{number % 7}")
                engine.subscribe(f"a = {number % 7} AND b < 'y'", id=f"s{number % 7}")
        except BaseException as error:  # noqa: BLE001  # shown at the end
            errors.append(error)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(10 if LONG else 3):
            engine.save(tmp_path / "engine")
            loaded = Engine.load(tmp_path / "engine")
            assert len(loaded.subscriptions()) == len(loaded) >= COUNT - 1
            brute = Engine.load(tmp_path / "engine", matcher="brute-force")
            for number in range(0, COUNT, COUNT // 20):
                event = {"a": number, "b": ""}
                assert loaded.match(event) == brute.match(event)
    finally:
        stop.set()
        thread.join()
    assert errors == []


def test_loading_makes_no_object_per_subscription(tmp_path: Path) -> None:
    engine_of(500).save(tmp_path / "engine")
    loaded = Engine.load(tmp_path / "engine")
    assert loaded.match({"a": 5, "b": ""}) == ["s5"]
    assert loaded._store.ids._unread is not None
    (chunk,) = loaded._store.statements._chunks.values()
    assert callable(chunk.operands._columns)
    assert not chunk.keys.flags.owndata  # it lies in the file
    assert loaded._store.statements._alone == {}


def test_deleting_does_not_change_the_file(tmp_path: Path) -> None:
    path = tmp_path / "engine"
    engine_of(100).save(path)
    before = path.read_bytes()
    one, other = Engine.load(path), Engine.load(path)
    one.unsubscribe("s5")
    assert one.match({"a": 5, "b": ""}) == []
    assert other.match({"a": 5, "b": ""}) == ["s5"]
    assert path.read_bytes() == before


def test_saving_over_a_file_that_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "engine"
    engine_of(100).save(path)
    loaded = Engine.load(path)
    loaded.unsubscribe("s5")
    loaded.save(path)
    engine_of(3).save(path)
    assert len(loaded) == 99
    assert loaded.match({"a": 6, "b": ""}) == ["s6"]
    assert loaded.get("s6").subscription == engine_of(10).get("s6").subscription
