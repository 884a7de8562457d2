"""Several writers of one table: nobody's change is lost, and no id is given twice."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from predicast import Engine, Subscribe
from predicast import spark as ps
from predicast.errors import DuplicateIdError, TableBusyError, UnknownIdError
from predicast.spark.subscription_table import table as table_module
from predicast.spark.subscription_table.log import Overtaken, TableLog

IDS = [f"s{number}" for number in range(12)]


class Hurried(TableLog):
    """A log in which somebody else is quicker, some times."""

    def __init__(self, folder: Path, *others: Any) -> None:
        super().__init__(folder)
        self.others = list(others)

    def commit(self, *args: Any, **kwargs: Any) -> int:
        if self.others:
            self.others.pop(0)()
        return super().commit(*args, **kwargs)


def hurried(path: Path, *others: Any) -> ps.SubscriptionTable:
    table = ps.SubscriptionTable(path)
    table._log = Hurried(path, *others)
    return table


def test_of_two_that_subscribe_under_one_id_one_is_refused(tmp_path: Path) -> None:
    other = ps.SubscriptionTable(tmp_path)
    table = hurried(tmp_path, lambda: other.subscribe("x = 1", id="a", owner="other"))
    with pytest.raises(DuplicateIdError):
        table.subscribe("x = 2", id="a", owner="we")
    assert table.engine().get("a").owner == "other"
    assert table.version == 1


def test_of_two_bulk_loads_with_a_common_id_one_is_refused(tmp_path: Path) -> None:
    other = ps.SubscriptionTable(tmp_path)
    table = hurried(tmp_path, lambda: other.subscribe_many({"a": "x = 1", "b": "x = 1"}))
    with pytest.raises(DuplicateIdError):
        table.subscribe_many({"b": "x = 2", "c": "x = 2"})
    assert sorted(table.engine()) == ["a", "b"]


def test_what_others_did_meanwhile_is_kept(tmp_path: Path) -> None:
    other = ps.SubscriptionTable(tmp_path)
    other.subscribe_many({"a": "x = 1", "b": "x = 1"})
    table = hurried(
        tmp_path,
        lambda: other.change("b", "x = 2"),
        lambda: other.subscribe("x = 2", id="c"),
    )
    assert table.change("a", "x = 2") == 4
    assert table.engine().match({"x": 2}) == ["a", "b", "c"]
    rows = table.at().to_arrow()["id"].to_pylist()
    assert rows == ["a", "b", "c"]


def test_what_others_removed_is_unknown(tmp_path: Path) -> None:
    other = ps.SubscriptionTable(tmp_path)
    other.subscribe("x = 1", id="a")
    table = hurried(tmp_path, lambda: other.unsubscribe("a"))
    with pytest.raises(UnknownIdError):
        table.change("a", "x = 2")
    assert list(table.engine()) == []


def test_nothing_is_left_of_commits_that_came_too_late(tmp_path: Path) -> None:
    other = ps.SubscriptionTable(tmp_path)
    table = hurried(tmp_path, lambda: other.subscribe("x = 1", id="a"))
    table.subscribe("x = 2", id="b")
    assert len(list(tmp_path.glob("*.parquet"))) == 2


def test_a_writer_that_never_gets_through_gives_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = ps.SubscriptionTable(tmp_path)

    def overtaken(*_: Any, **__: Any) -> int:
        raise Overtaken

    monkeypatch.setattr(table._log, "commit", overtaken)
    monkeypatch.setattr(table_module, "_PAUSE_S", 0.0)
    with pytest.raises(TableBusyError, match="nothing was written"):
        table.subscribe("x = 1", id="a")
    assert table.version == 0
    assert list(tmp_path.glob("*.parquet")) == []


def subscribe_all(path: Path, owner: str, ready: Any, won: Any) -> None:
    """Try to get every id, one by one, and one of our own in the same window; tell which."""
    table = ps.SubscriptionTable(path)
    ready.wait()
    for id in IDS:
        try:
            table.apply([Subscribe(id, "x = 1", owner), Subscribe(f"{owner}-{id}", "x = 2", owner)])
        except DuplicateIdError:
            continue
        won.put((owner, id))
    won.put((owner, None))


def test_processes_that_want_the_same_ids_each_get_what_they_were_told(tmp_path: Path) -> None:
    path = tmp_path / "table"
    ps.SubscriptionTable(path)
    spawn = multiprocessing.get_context("spawn")  # as processes that know nothing of each other
    owners = ["ann", "bob"]
    ready, won = spawn.Barrier(len(owners)), spawn.Queue()
    processes = [
        spawn.Process(target=subscribe_all, args=(path, owner, ready, won)) for owner in owners
    ]
    for process in processes:
        process.start()
    told: dict[str, str] = {}
    finished = 0
    while finished < len(owners):
        owner, id = won.get(timeout=300)
        if id is None:
            finished += 1
            continue
        assert id not in told, f"{id} was given to {told[id]} and to {owner}"
        told[id] = owner
    for process in processes:
        process.join()
    engine: Engine = ps.SubscriptionTable(path).engine()
    assert {id: engine.get(id).owner for id in IDS} == told
    assert sorted(engine) == sorted([*IDS, *(f"{owner}-{id}" for id, owner in told.items())])


def make_table(path: Path, ready: Any) -> None:
    ready.wait()
    ps.SubscriptionTable(path).subscribe("x = 1")


def test_processes_that_make_the_same_table_make_one(tmp_path: Path) -> None:
    path = tmp_path / "table"
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Barrier(3)
    processes = [spawn.Process(target=make_table, args=(path, ready)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    table = ps.SubscriptionTable(path)
    assert table.version == 3
    assert len(table.engine()) == 3


def create_when_ready(log: TableLog, ready: threading.Barrier) -> None:
    ready.wait()
    log.create()


def test_threads_that_make_the_same_table_make_one(tmp_path: Path) -> None:
    for number in range(20):
        log, ready = TableLog(tmp_path / str(number)), threading.Barrier(4)
        with ThreadPoolExecutor(4) as threads:
            for made in [threads.submit(create_when_ready, log, ready) for _ in range(4)]:
                made.result()
        assert log.latest_number() == 0
