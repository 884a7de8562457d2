"""The subscription table, one call at a time: it does what an engine does, and keeps versions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from predicast import Change, Engine, Subscribe, Unsubscribe, attr
from predicast import spark as ps
from predicast.engine import Entry
from predicast.errors import (
    DuplicateIdError,
    EngineError,
    InvalidOptionError,
    NotASubscriptionTableError,
    ParseError,
    SubscriptionTableError,
    UnknownIdError,
    UnknownVersionError,
)


@pytest.fixture
def table(tmp_path: Path) -> ps.SubscriptionTable:
    return ps.SubscriptionTable(tmp_path / "subscriptions")


def entries(engine: Engine) -> dict[str, Entry]:
    return {entry.id: entry for entry in engine.subscriptions()}


class TestChanging:
    def test_a_new_table_is_empty(self, table: ps.SubscriptionTable) -> None:
        assert table.version == 0
        assert len(table.at()) == 0
        assert list(table.engine()) == []

    def test_a_subscription_is_kept_with_owner_text_and_parameters(
        self, table: ps.SubscriptionTable
    ) -> None:
        text = "x BETWEEN :low AND :high AND  kind = 'tank'"
        values = {"low": 1, "high": 2.5}
        assert table.subscribe(text, id="r", owner="alice", parameters=values) == "r"
        entry = table.engine().get("r")
        assert (entry.owner, entry.text, entry.parameters) == ("alice", text, values)
        assert table.at().get("r") == entry
        assert table.engine().match({"x": 2, "kind": "tank"}) == ["r"]

    def test_ids_of_our_own_making_differ(self, table: ps.SubscriptionTable) -> None:
        ids = [table.subscribe("a = 1"), table.subscribe("a = 1")]
        assert table.engine().match({"a": 1}) == sorted(ids)
        assert len(set(ids)) == 2

    def test_an_expression_that_is_no_text_is_written_as_one(
        self, table: ps.SubscriptionTable
    ) -> None:
        table.subscribe((attr("x") > 3) & (attr("kind") == "tank"), id="a")
        assert table.at().to_arrow()["expression"].to_pylist() == ["x > 3 AND kind = 'tank'"]
        assert table.engine().match({"x": 4, "kind": "tank"}) == ["a"]

    def test_change_and_unsubscribe(self, table: ps.SubscriptionTable) -> None:
        table.subscribe("price < 10", id="a", owner="alice")
        assert table.change("a", "price < 20") == 2
        assert table.engine().match({"price": 15}) == ["a"]
        assert table.engine().get("a").owner == "alice"
        assert table.unsubscribe("a") == 3
        assert list(table.engine()) == []

    def test_all_of_an_owner_go_at_once(self, table: ps.SubscriptionTable) -> None:
        table.subscribe_many({"a": "a = 1", "b": "b = 1"}, owner="alice")
        table.subscribe("c = 1", id="c")
        assert table.unsubscribe_all(owner="alice").counts == (0, 0, 2)
        assert list(table.engine()) == ["c"]
        assert table.unsubscribe_all(owner="alice").version == 3  # there is nothing left to do

    def test_parameters_are_set_anew(self, table: ps.SubscriptionTable) -> None:
        table.subscribe("x < :limit", id="a", parameters={"limit": 1})
        table.change("a", parameters={"limit": 7})
        assert table.engine().match({"x": 5}) == ["a"]
        assert table.at().get("a").parameters == {"limit": 7}

    def test_a_window_is_one_version_of_its_net_effect(self, table: ps.SubscriptionTable) -> None:
        table.subscribe("a = 1", id="old")
        version, report, counts = table.apply(
            [
                Subscribe("new", "b = 1"),
                Change("new", "b = 2"),
                Subscribe("brief", "c = 1"),
                Unsubscribe("brief"),
                Unsubscribe("old"),
            ]
        )
        assert version == table.version == 2
        assert (report.given, report.collapsed) == (5, 3)
        assert table.at().to_arrow()["id"].to_pylist() == ["new"]
        assert counts == (1, 0, 1)
        facts = table.history(1)[0].facts
        assert facts == {"subscribed": 1, "changed": 0, "unsubscribed": 1}

    def test_a_window_without_effect_makes_no_version(self, table: ps.SubscriptionTable) -> None:
        table.subscribe("a = 1", id="a")
        assert table.apply([Subscribe("b", "b = 1"), Unsubscribe("b")]).version == 1
        assert table.apply([Change("a", "a = 1")]).version == 1
        assert table.version == 1

    def test_what_is_refused_changes_nothing(self, table: ps.SubscriptionTable) -> None:
        table.subscribe("a = 1", id="a")
        with pytest.raises(DuplicateIdError):
            table.subscribe("b = 1", id="a")
        with pytest.raises(UnknownIdError):
            table.unsubscribe("nobody")
        with pytest.raises(ParseError):
            table.apply([Unsubscribe("a"), Subscribe("b", "b ==== 1")])
        with pytest.raises(EngineError, match="no parameters"):
            table.change("a", parameters={"x": 1})
        with pytest.raises(DuplicateIdError):
            table.subscribe_many({"new": "n = 1", "a": "a = 2"})
        with pytest.raises(DuplicateIdError):
            table.subscribe_many([("n", "n = 1"), ("n", "n = 2")])
        assert table.version == 1

    def test_refusals_can_be_reported(self, table: ps.SubscriptionTable) -> None:
        committed = table.apply(
            [Subscribe("a", "a = 1"), Unsubscribe("nobody")], on_refusal="report"
        )
        assert committed.version == 1
        (refusal,) = committed.report.refused
        assert isinstance(refusal.error, UnknownIdError)

    def test_replace(self, table: ps.SubscriptionTable) -> None:
        table.subscribe("a = 1", id="a", owner="alice")
        table.subscribe("a = 2", id="a", owner="bob", replace=True)
        table.subscribe_many({"a": "a = 3", "b": "b = 1"}, owner="carol", replace=True)
        assert table.engine().get("a").owner == "carol"
        assert table.engine().match({"a": 3, "b": 1}) == ["a", "b"]

    def test_many_come_in_files_of_bounded_length(self, table: ps.SubscriptionTable) -> None:
        table.subscribe_many((f"s{number}", f"x = {number}") for number in range(10_000))
        assert table.version == 1
        assert len(table.at()) == 10_000
        engine = table.engine()
        assert engine.match({"x": 4_321}) == ["s4321"]
        before = {path.name: path.stat().st_mtime_ns for path in table.path.glob("*.parquet")}
        table.change("s4321", "x = -1")
        after = {path.name for path in table.path.glob("*.parquet")}
        assert len(before) == 3
        assert len(after - before.keys()) == 1  # the one file that holds it
        assert table.engine().match({"x": -1}) == ["s4321"]

    def test_small_files_are_put_together(self, table: ps.SubscriptionTable) -> None:
        for number in range(40):
            table.subscribe(f"x = {number}", id=f"s{number}")
        from deltalake import DeltaTable

        assert len(DeltaTable(str(table.path)).file_uris()) < 20
        assert len(table.at()) == 40
        table.optimize()
        assert len(DeltaTable(str(table.path)).file_uris()) == 1
        assert table.history(1)[0].operation == "optimize"
        assert len(table.engine()) == 40


class TestVersions:
    def test_a_version_stays_what_it_was(self, table: ps.SubscriptionTable) -> None:
        table.subscribe("x < 10", id="a")
        view = table.at()
        table.change("a", "x < 20")
        table.unsubscribe("a")
        assert [table.at(version).engine().match({"x": 15}) for version in range(4)] == [
            [],
            [],
            ["a"],
            [],
        ]
        assert view.version == 1
        assert view.engine().match({"x": 5}) == ["a"]

    def test_a_version_by_its_time(self, table: ps.SubscriptionTable) -> None:
        table.subscribe("x < 10", id="a")
        table.subscribe("x < 10", id="b")
        moments = [commit.at for commit in reversed(table.history())]
        assert table.at(timestamp=moments[1]).version >= 1
        assert table.at(timestamp=datetime.now(UTC) + timedelta(days=1)).version == 2
        assert table.at(timestamp="2100-01-01").version == 2
        with pytest.raises(UnknownVersionError, match="had no version at 2001"):
            table.at(timestamp="2001-01-01T00:00:00Z")

    @pytest.mark.parametrize("version", [3, -1, 10**9])
    def test_a_version_that_is_not_there(self, table: ps.SubscriptionTable, version: int) -> None:
        with pytest.raises(UnknownVersionError, match="its versions are 0 to 0") as caught:
            table.at(version=version)
        assert caught.value.version == version

    def test_options_are_checked(self, table: ps.SubscriptionTable) -> None:
        with pytest.raises(InvalidOptionError, match="not both"):
            table.at(0, timestamp="2026-01-01")
        with pytest.raises(InvalidOptionError, match="2026-01-31T09:30:00Z"):
            table.at(timestamp="yesterday")
        with pytest.raises(InvalidOptionError, match="version is a number"):
            table.at(version="1")  # type: ignore[arg-type]
        with pytest.raises(InvalidOptionError, match="on_invalid"):
            ps.SubscriptionTable(table.path, on_invalid="drop")  # type: ignore[arg-type]

    def test_a_difference_makes_one_version_of_another(self, table: ps.SubscriptionTable) -> None:
        table.subscribe_many({"a": "a = 1", "b": "b = 1", "c": "c = 1"}, owner="alice")
        table.apply(
            [
                Change("a", "a = 2"),
                Unsubscribe("b"),
                Subscribe("c", "c = 1", "bob", replace=True),
                Subscribe("d", "d < :x", parameters={"x": 1}),
            ]
        )
        forwards, backwards = table.diff(1, 2), table.diff(2, 1)
        engine = table.engine(1)
        engine.apply(forwards)
        assert entries(engine) == entries(table.engine(2))
        engine.apply(backwards)
        assert entries(engine) == entries(table.engine(1))
        assert table.diff(2, 2) == []

    def test_the_history_says_what_was_done(self, table: ps.SubscriptionTable) -> None:
        table.subscribe_many({"a": "a = 1", "b": "b = 1"})
        table.unsubscribe("a")
        history = table.history()
        assert [commit.version for commit in history] == [2, 1, 0]
        assert [commit.operation for commit in history] == ["apply", "apply", "create table"]
        assert history[1].facts == {"subscribed": 2, "changed": 0, "unsubscribed": 0}
        assert table.history(limit=1) == history[:1]


class TestCompiling:
    @pytest.fixture
    def many(self, table: ps.SubscriptionTable) -> ps.SubscriptionTable:
        table.subscribe_many((f"s{number:03}", f"x = {number}") for number in range(100))
        return table

    def test_what_changed_is_sent_along_with_what_was_packed(
        self, many: ps.SubscriptionTable, tmp_path: Path
    ) -> None:
        first = many.at().compiled()
        many.change("s001", "y = 1")
        many.subscribe("y = 1", id="new")
        many.unsubscribe("s002")
        second = many.at().compiled()
        assert second.image.packed_digest == first.image.packed_digest
        assert [operation.id for operation in second.image.changes] == ["new", "s001", "s002"]
        assert second.digest != first.digest
        assert (second.count, second.attributes) == (100, ("x", "y"))
        held = second.in_folder(tmp_path / "a").in_folder(tmp_path / "b")
        assert held == second
        for engine in (
            second.engine(),
            second.image.mapped(),
            second.image.shared(),
            held.engine(),
        ):
            assert engine.match({"y": 1, "x": 2}) == ["new", "s001"]
        assert first.engine().match({"x": 2}) == ["s002"]

    def test_going_back_is_a_change_as_well(self, many: ps.SubscriptionTable) -> None:
        first = many.at().compiled()
        many.change("s001", "y = 1")
        many.at().compiled()
        again = many.at(version=1).compiled()
        assert again == first
        assert again.image.changes == ()
        assert again.attributes == ("x",)

    def test_many_changes_are_packed(self, many: ps.SubscriptionTable) -> None:
        first = many.at().compiled()
        many.apply(Change(f"s{number:03}", "y = 1") for number in range(20))
        second = many.at().compiled()
        assert second.image.changes == ()
        assert second.image.packed_digest != first.image.packed_digest
        assert len(second.engine().match({"y": 1})) == 20

    def test_it_is_what_an_engine_of_the_version_is(self, many: ps.SubscriptionTable) -> None:
        many.at().compiled()
        many.subscribe("z < :limit", id="p", owner="me", parameters={"limit": 1})
        many.change("p", parameters={"limit": 5})
        assert entries(many.at().compiled().engine()) == entries(many.engine())


class TestOpening:
    def test_a_table_is_made_only_if_asked(self, tmp_path: Path) -> None:
        with pytest.raises(NotASubscriptionTableError, match="there is no table"):
            ps.SubscriptionTable(tmp_path / "none", create=False)
        assert not (tmp_path / "none").exists()

    def test_another_table_is_refused(self, tmp_path: Path) -> None:
        from deltalake import write_deltalake

        write_deltalake(str(tmp_path), pa.table({"id": ["a"], "Expression": ["x = 1"]}))
        with pytest.raises(NotASubscriptionTableError, match="no column 'owner'") as caught:
            ps.SubscriptionTable(tmp_path)
        assert caught.value.column == "owner"

    def test_only_folders_hold_tables(self) -> None:
        with pytest.raises(SubscriptionTableError, match="s3://"):
            ps.SubscriptionTable("s3://bucket/table")

    def test_any_reader_of_delta_tables_can_read_it(self, table: ps.SubscriptionTable) -> None:
        table.subscribe_many({"a": "a = 1", "b": "b = 1"}, owner="alice")
        table.subscribe("c < :x", id="c", parameters={"x": 1})
        table.unsubscribe("b")
        from deltalake import DeltaTable

        read = DeltaTable(str(table.path)).to_pyarrow_table().sort_by("id")
        assert read.column_names == ["id", "owner", "expression", "parameters", "dialect"]
        assert [tuple(row.values()) for row in read.to_pylist()] == [
            ("a", "alice", "a = 1", None, None),
            ("c", None, "c < :x", '{"x":1}', None),
        ]
