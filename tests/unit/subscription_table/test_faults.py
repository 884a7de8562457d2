"""What goes wrong around a table: files gone or cut short, no room, rows of other tools."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from predicast import Change, Subscribe, Unsubscribe
from predicast import spark as ps
from predicast.errors import (
    DamagedTableError,
    DuplicateIdError,
    InvalidSubscriptionsError,
    NotASubscriptionTableError,
    SubscriptionTableError,
    TableNotWrittenError,
    UnknownVersionError,
)
from predicast.spark.subscription_table import engines, files
from predicast.spark.subscription_table.engines import FOLDER
from predicast.spark.subscription_table.files import DataFiles
from predicast.spark.subscription_table.log import TableLog
from tests.small_disk import small_disk


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ps.SubscriptionTable:
    """A table of three files, with an engine of its first version beside it."""
    monkeypatch.setattr(files, "ROWS", 128)
    table = ps.SubscriptionTable(tmp_path)
    table.subscribe_many((f"s{number:05}", f"x = {number}") for number in range(300))
    table.engine()
    return table


def snapshots(table: ps.SubscriptionTable) -> list[Path]:
    return sorted((table.path / FOLDER).rglob("*.engine"))


def data_files(table: ps.SubscriptionTable) -> list[Path]:
    """Those of the latest version, in the order of ids."""
    held = sorted(TableLog(table.path).latest().files, key=lambda file: file.first_id or "")
    return [table.path / file.path for file in held]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_empty_entry_of_the_log_is_told(table: ps.SubscriptionTable, version: int) -> None:
    table.unsubscribe("s00001")
    table.unsubscribe("s00002")
    (table.path / "_delta_log" / f"{version:020}.json").write_text("", encoding="utf-8")
    with pytest.raises(DamagedTableError, match=f"an empty entry of version {version}"):
        ps.SubscriptionTable(table.path).at(3)
    with pytest.raises(DamagedTableError):
        table.subscribe("x = 1")


class TestSnapshots:
    def test_another_version_is_built_from_what_changed(
        self, table: ps.SubscriptionTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (snapshot,) = snapshots(table)
        assert snapshot.stem == f"{1:020}"
        table.change("s00001", "x = -1")
        table.unsubscribe("s00002")
        untouched = [path.name for path in data_files(table)[1:]]
        read: list[str] = []
        original = DataFiles.read

        def noted(self: DataFiles, file: object, *args: object) -> pa.Table:
            read.append(file.path)  # type: ignore[attr-defined]
            return original(self, file, *args)  # type: ignore[arg-type]

        monkeypatch.setattr(DataFiles, "read", noted)
        engine = table.engine()
        assert engine.match({"x": -1}) == ["s00001"]
        assert engine.match({"x": 2}) == []
        assert len(read) == 2  # the file with both, before and after
        assert not set(untouched) & set(read)
        assert snapshots(table) == [snapshot]  # so little is not worth another one

    def test_one_that_is_far_away_is_replaced(self, table: ps.SubscriptionTable) -> None:
        for number in (1, 150, 299):  # one in each file: all are read, for so little
            table.change(f"s{number:05}", "x = -1")
        assert table.engine().match({"x": -1}) == ["s00001", "s00150", "s00299"]
        assert [int(path.stem) for path in snapshots(table)] == [1, 4]

    def test_they_may_be_kept_elsewhere(
        self, table: ps.SubscriptionTable, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        shutil.rmtree(table.path / FOLDER)
        elsewhere = tmp_path_factory.mktemp("engines")
        other = ps.SubscriptionTable(table.path, engines=elsewhere)
        assert other.engine().match({"x": 3}) == ["s00003"]
        assert len(list(elsewhere.rglob("*.engine"))) == 1
        assert not (table.path / FOLDER).exists()

    def test_a_large_change_makes_another_snapshot(self, table: ps.SubscriptionTable) -> None:
        table.apply([Unsubscribe(f"s{number:05}") for number in range(0, 300, 4)])
        assert len(table.engine()) == 225
        assert [int(path.stem) for path in snapshots(table)] == [1, 2]

    def test_only_a_few_are_kept(self, table: ps.SubscriptionTable) -> None:
        for version in range(2, 8):
            table.apply([Unsubscribe(f"s{number:05}") for number in range(version, 300, 7)])
            table.engine()
        assert len(snapshots(table)) == 4
        assert table.engine(1).match({"x": 2}) == ["s00002"]

    @pytest.mark.parametrize("damage", ["cut short", "emptied", "altered", "removed", "unreadable"])
    def test_a_damaged_one_is_done_without(self, table: ps.SubscriptionTable, damage: str) -> None:
        table.change("s00001", "x = -1")
        (snapshot,) = snapshots(table)
        content = snapshot.read_bytes()
        if damage == "removed":
            snapshot.unlink()
        elif damage == "unreadable":
            snapshot.unlink()
            snapshot.mkdir()
        else:
            middle = len(content) // 2
            altered = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
            snapshot.write_bytes(
                {"cut short": content[:middle], "emptied": b"", "altered": altered}[damage]
            )
        assert table.engine().match({"x": -1}) == ["s00001"]
        assert table.engine().match({"x": 5}) == ["s00005"]

    def test_one_of_another_table_at_the_same_place_is_not_taken(
        self, table: ps.SubscriptionTable
    ) -> None:
        shutil.rmtree(table.path / "_delta_log")
        other = ps.SubscriptionTable(table.path)
        other.subscribe("y = 1", id="other")
        assert list(other.engine()) == ["other"]

    def test_a_table_that_cannot_be_written_to_can_be_read(
        self, table: ps.SubscriptionTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shutil.rmtree(table.path / FOLDER)
        (table.path / FOLDER).write_text("no folder", encoding="utf-8")
        assert table.engine().match({"x": 7}) == ["s00007"]

    def test_vacuum_leaves_them(self, table: ps.SubscriptionTable) -> None:
        table.change("s00001", "x = -1")
        removed = table.vacuum(0, enforce_retention=False)
        assert len(removed) == 1
        assert snapshots(table)
        assert table.engine(1).match({"x": 1}) == ["s00001"]  # of which a file is gone
        assert table.engine().match({"x": -1}) == ["s00001"]
        with pytest.raises(SubscriptionTableError, match="retention"):
            table.vacuum(0)


class TestDataFiles:
    def test_one_that_is_missing_is_named(self, table: ps.SubscriptionTable) -> None:
        for snapshot in snapshots(table):
            snapshot.unlink()
        first, _, last = data_files(table)
        content = first.read_bytes()
        first.unlink()
        with pytest.raises(DamagedTableError, match="is missing") as caught:
            table.engine()
        assert caught.value.file == first.name
        with pytest.raises(DamagedTableError):
            table.change("s00001", "x = -1")
        assert last.exists()
        assert table.change("s00299", "x = -1") == 2  # what lies elsewhere can be changed
        first.write_bytes(content)
        assert table.engine().match({"x": -1}) == ["s00299"]

    @pytest.mark.parametrize("part", [0.0, 0.5, 0.99])
    def test_one_that_is_cut_short_is_named(self, table: ps.SubscriptionTable, part: float) -> None:
        for snapshot in snapshots(table):
            snapshot.unlink()
        file = data_files(table)[1]
        content = file.read_bytes()
        file.write_bytes(content[: int(len(content) * part)])
        with pytest.raises(DamagedTableError, match="cannot be read") as caught:
            table.engine()
        assert caught.value.file == file.name

    def test_one_whose_strings_are_no_text_is_named(self, table: ps.SubscriptionTable) -> None:
        for snapshot in snapshots(table):
            snapshot.unlink()
        file = data_files(table)[0]
        rows = pq.read_table(file)
        broken = pa.array([b"x = '\xff'"] * len(rows)).view(pa.string())
        pq.write_table(rows.set_column(2, "expression", broken), file)
        with pytest.raises(DamagedTableError, match="cannot be read"):
            table.engine()

    def test_an_entry_of_the_log_that_is_cut_short_is_told(
        self, table: ps.SubscriptionTable
    ) -> None:
        entry = table.path / "_delta_log" / f"{1:020}.json"
        entry.write_bytes(entry.read_bytes()[:300])
        with pytest.raises(DamagedTableError, match="log"):
            table.engine()
        with pytest.raises(DamagedTableError, match="log"):
            table.history()

    def test_an_entry_of_the_log_that_is_missing_is_told(self, table: ps.SubscriptionTable) -> None:
        table.subscribe("x = 1", id="a")
        (table.path / "_delta_log" / f"{1:020}.json").unlink()
        with pytest.raises(DamagedTableError, match="log"):
            table.engine()


class TestOtherTools:
    def add(self, table: ps.SubscriptionTable, **columns: list[str | None]) -> None:
        from deltalake import write_deltalake

        size = len(columns["id"])
        given = {
            name: columns.get(name, [None] * size) for name in table.at().to_arrow().schema.names
        }
        kinds = [pa.field(name, pa.string(), name not in {"id", "expression"}) for name in given]
        write_deltalake(str(table.path), pa.table(given, pa.schema(kinds)), mode="append")

    def test_good_rows_of_theirs_are_subscriptions(self, table: ps.SubscriptionTable) -> None:
        self.add(table, id=["new"], expression=["y < :z"], parameters=['{"z": 5}'])
        assert table.engine().match({"y": 1}) == ["new"]
        table.change("new", parameters={"z": 0})
        assert table.engine().match({"y": 1}) == []

    def test_bad_rows_are_refused_by_id_and_row(self, table: ps.SubscriptionTable) -> None:
        self.add(
            table,
            id=["good", "bad", "worse", "s00001"],
            expression=["y = 1", "y <", "{", "y = 1"],
        )
        with pytest.raises(InvalidSubscriptionsError) as caught:
            table.engine()
        assert caught.value.invalid is not None
        assert sorted(id or "" for id, _ in caught.value.invalid) == [
            "bad",
            "s00001",
            "s00001",
            "worse",
        ]
        assert ", row 1): " in str(caught.value)
        assert "2 rows have the id 's00001'" in str(caught.value)

    def test_bad_rows_can_be_set_apart(self, table: ps.SubscriptionTable) -> None:
        self.add(table, id=["good", "bad"], expression=["y = 1", "y <"])
        lenient = ps.SubscriptionTable(table.path, on_invalid="quarantine")
        view = lenient.at()
        assert view.engine().match({"y": 1, "x": 3}) == ["good", "s00003"]
        (invalid,) = view.invalid()
        assert (invalid.id, invalid.expression, invalid.row) == ("bad", "y <", 1)
        assert (table.path / invalid.file).exists()
        assert view.compiled().left_out == 1
        assert [row.id for row in view.compiled().invalid_rows] == ["bad"]

    def test_bad_rows_are_no_reason_to_read_the_whole_table(
        self, table: ps.SubscriptionTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lenient = ps.SubscriptionTable(table.path, on_invalid="quarantine")
        lenient.at().compiled()
        self.add(table, id=["good", "bad"], expression=["y = 1", "y <"])
        table.change("s00001", "y = 1")  # the file with it is written anew, the one with bad is not
        monkeypatch.setattr(engines, "placed_rows", None)  # which reads the whole version
        for _ in range(2):
            view = lenient.at()
            assert view.engine().match({"y": 1}) == ["good", "s00001"]
            assert view.compiled().engine().match({"y": 1}) == ["good", "s00001"]
            assert [(row.id, row.row) for row in view.invalid()] == [("bad", 1)]
            assert [row.id for row in view.compiled().invalid_rows] == ["bad"]
            table.change("s00002", "y = 2")
        assert lenient.at().compiled().image.changes
        with pytest.raises(InvalidSubscriptionsError, match="'bad'"):
            table.engine()
        with pytest.raises(InvalidSubscriptionsError, match="'bad'"):
            table.at().compiled()

    def test_engines_that_go_without_bad_rows_are_kept(
        self, table: ps.SubscriptionTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shutil.rmtree(table.path / FOLDER)
        self.add(table, id=["good", "bad", "s00001"], expression=["y = 1", "y <", "y = 1"])
        lenient = ps.SubscriptionTable(table.path, on_invalid="quarantine")
        first = lenient.at().invalid()
        assert sorted(row.id or "" for row in first) == ["bad", "s00001", "s00001"]
        with monkeypatch.context() as patch:
            patch.setattr(engines, "placed_rows", None)
            assert sorted(lenient.at().invalid()) == sorted(first)
            assert lenient.engine().match({"y": 1, "x": 1}) == ["good"]
        table.unsubscribe("bad")
        assert {row.id for row in lenient.at().invalid()} == {"s00001"}
        table.change("s00001", "y = 1")
        assert table.engine().match({"y": 1, "x": 1}) == ["good", "s00001"]
        for beside in (table.path / FOLDER).rglob("*.invalid"):
            beside.write_text("{", encoding="utf-8")
        assert len(lenient.at(version=2).invalid()) == 3

    def test_bad_rows_can_be_mended_and_removed(self, table: ps.SubscriptionTable) -> None:
        self.add(table, id=["bad", "worse", "s00001"], expression=["y <", "y >", "y = 1"])
        with pytest.raises(DuplicateIdError):
            table.subscribe("y = 1", id="bad")
        table.apply([Change("bad", "y = 1"), Unsubscribe("worse"), Change("s00001", "y = 1")])
        engine = table.engine()
        assert engine.match({"y": 1, "x": 1}) == ["bad", "s00001"]
        assert len(engine) == 301

    def test_their_columns_are_not_lost(self, table: ps.SubscriptionTable) -> None:
        from deltalake import DeltaTable
        from deltalake.schema import Field, PrimitiveType

        DeltaTable(str(table.path)).alter.add_columns([Field("note", PrimitiveType("string"))])
        assert table.engine().match({"x": 7}) == ["s00007"]
        with pytest.raises(NotASubscriptionTableError, match="would be lost") as caught:
            table.unsubscribe("s00007")
        assert caught.value.column == "note"

    def test_files_that_they_put_together_are_the_same_table(
        self, table: ps.SubscriptionTable
    ) -> None:
        from deltalake import DeltaTable

        for number in range(3):
            table.subscribe("y = 1", id=f"t{number}")
        DeltaTable(str(table.path)).optimize.compact()
        assert table.engine().match({"y": 1}) == ["t0", "t1", "t2"]
        table.change("t1", "y = 2")
        assert table.engine().match({"y": 1}) == ["t0", "t2"]
        assert table.diff(4, 5) == []


class TestNoRoom:
    @pytest.fixture
    def disk(self, tmp_path: Path) -> Iterator[Path]:
        with small_disk(tmp_path / "disk", "256k") as place:
            yield place

    def fill(self, table: ps.SubscriptionTable) -> None:
        for number in range(1_000):
            table.subscribe(f"x = {number} AND y != '{number**200}'", id=f"s{number:03}")
            assert table.version == number + 1

    def test_a_full_disk_leaves_the_table_as_it_was(self, disk: Path) -> None:
        table = ps.SubscriptionTable(disk / "table")
        with pytest.raises(TableNotWrittenError) as caught:
            self.fill(table)
        assert caught.value.path == str(table.path)
        acknowledged = table.version
        assert 0 < acknowledged < 1_000
        ids = [f"s{number:03}" for number in range(acknowledged)]
        assert sorted(table.engine()) == ids
        named = {file.path for file in TableLog(table.path).latest().files}
        for file in table.path.glob("*.parquet"):
            if file.name not in named:  # room again, as a vacuum would make in time
                file.unlink()
        table.subscribe("x = 1", id="another")
        assert sorted(table.engine()) == ["another", *ids]

    def test_an_engine_is_had_without_room_to_keep_it(self, disk: Path) -> None:
        table = ps.SubscriptionTable(disk / "table")
        table.subscribe_many((f"s{number}", f"x = {number}") for number in range(5_000))
        assert table.engine().match({"x": 77}) == ["s77"]
        assert snapshots(table) == []


class TestCommits:
    def test_one_that_was_made_and_then_failed_counts_as_made(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table = ps.SubscriptionTable(tmp_path)
        commit = table._log._commit

        def failing(*args: object) -> None:
            commit(*args)  # type: ignore[arg-type]
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(table._log, "_commit", failing)
        assert table.subscribe("x = 1", id="a") == "a"
        assert list(table.engine()) == ["a"]

    def test_an_interruption_goes_on_and_the_commit_stands(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table = ps.SubscriptionTable(tmp_path)
        commit = table._log._commit

        def interrupted(*args: object) -> None:
            commit(*args)  # type: ignore[arg-type]
            raise KeyboardInterrupt

        monkeypatch.setattr(table._log, "_commit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            table.subscribe("x = 1", id="a")
        assert list(ps.SubscriptionTable(tmp_path).engine()) == ["a"]

    def test_one_that_was_not_made_leaves_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table = ps.SubscriptionTable(tmp_path)

        def failing(*_: object) -> None:
            raise OSError(30, "Read-only file system")

        monkeypatch.setattr(table._log, "_commit", failing)
        with pytest.raises(TableNotWrittenError, match="Read-only file system") as caught:
            table.subscribe("x = 1", id="a")
        assert caught.value.errno == 30
        assert list(tmp_path.glob("*.parquet")) == []

    def test_many_of_them_are_summed_up(self, tmp_path: Path) -> None:
        table = ps.SubscriptionTable(tmp_path)
        table.subscribe("x < :a", id="a", parameters={"a": 0})
        for number in range(24):
            table.change("a", parameters={"a": number + 1})
        assert list((tmp_path / "_delta_log").glob("*.checkpoint.parquet"))
        assert table.at(version=3).get("a").parameters == {"a": 2}
        assert table.engine().match({"x": 23.5}) == ["a"]
        assert len(table.history()) == 26

        for number in range(10):  # as happens to old entries in time
            (tmp_path / "_delta_log" / f"{number:020}.json").unlink()
        assert table.engine().match({"x": 23.5}) == ["a"]
        assert [commit.version for commit in table.history()] == list(range(25, 9, -1))
        with pytest.raises(UnknownVersionError, match="its versions are 10 to 25"):
            table.at(version=3)

    def test_ids_of_any_text_are_found_again(self, tmp_path: Path) -> None:
        table = ps.SubscriptionTable(tmp_path)
        ids = ["a" * 1_000, "a" * 999 + "b", "é", "\U0001f600", "ﬀ", "a b/c%20", '"', "0"]
        table.apply(Subscribe(id, f"x = {number}") for number, id in enumerate(ids))
        for number, id in enumerate(ids):
            table.change(id, f"y = {number}")
        for number, id in enumerate(ids):
            assert table.engine().match({"y": number}) == [id]
        entry = (tmp_path / "_delta_log" / f"{1:020}.json").read_text(encoding="utf-8")
        assert all(json.loads(line) for line in entry.splitlines())
