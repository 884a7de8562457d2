"""Subscriptions in a dialect, in a table: also in one that was made before there were any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from predicast import Change, Subscribe
from predicast.errors import InvalidSubscriptionsError, ParseError, UnknownDialectError
from predicast.language import dialect_registry as registry
from predicast.spark.subscription_table import SubscriptionTable
from predicast.spark.subscription_table import log as table_log
from predicast.spark.subscription_table import rows as table_rows
from tests import wish_list  # noqa: F401  # registers

RED = "# title: red and heavy\ncolour is red\nweight over 5"
EVENT = {"colour": "red", "weight": 7}


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table as it was made before there were dialects, with a row."""
    columns = table_rows.COLUMNS[:-1]
    with monkeypatch.context() as patch:
        patch.setattr(table_rows, "COLUMNS", columns)
        schema = table_rows.schema()
        patch.setattr(table_log, "schema", lambda: schema)
        SubscriptionTable(tmp_path / "old")
    table = SubscriptionTable(tmp_path / "old")
    table.subscribe("weight > 5", id="heavy")
    assert names(table) == list(columns)
    return tmp_path / "old"


def names(table: SubscriptionTable) -> list[str]:
    return [field.name for field in DeltaTable(str(table.path)).schema().fields]


def written(table: SubscriptionTable) -> list[tuple[Any, ...]]:
    return [(row.id, row.expression, row.dialect) for row in table.at().rows()]


def test_the_dialect_is_in_the_table(tmp_path: Path) -> None:
    table = SubscriptionTable(tmp_path)
    table.subscribe(RED, id="red", dialect="wishes")
    table.subscribe_many(
        [
            {"id": "heavy", "expression": "weight > 5", "dialect": "where"},
            {"id": "edged", "expression": "not shape is round"},
        ],
        dialect="wishes",
    )
    assert written(table) == [
        ("edged", "not shape is round", "wishes"),
        ("heavy", "weight > 5", None),
        ("red", RED, "wishes"),
    ]
    entry = table.at().get("red")
    assert (entry.text, entry.dialect) == (RED, "wishes")
    assert entry.about == {"title": "red and heavy"}
    engine = table.engine()
    assert engine.match(EVENT) == ["edged", "heavy", "red"]
    assert engine.get("red") == entry
    assert SubscriptionTable(tmp_path).engine().get("red") == entry  # from what is kept beside it


def test_changes_and_their_difference(tmp_path: Path) -> None:
    table = SubscriptionTable(tmp_path)
    table.apply([Subscribe("a", RED, dialect="wishes"), Subscribe("b", "x = 1")])
    engine = table.engine()
    table.change("a", "colour = 'blue'")
    table.change("b", "colour is blue", dialect="wishes")
    assert written(table) == [("a", "colour = 'blue'", None), ("b", "colour is blue", "wishes")]
    difference = table.diff(1, 3)
    assert difference == [
        Change("a", "colour = 'blue'"),
        Change("b", "colour is blue", dialect="wishes"),
    ]
    engine.apply(difference)
    assert engine.subscriptions() == table.engine().subscriptions()
    table.subscribe_many([("a", RED)], replace=True, dialect="wishes")
    assert written(table)[0] == ("a", RED, "wishes")


def test_a_text_that_begins_like_the_json_form_is_of_its_dialect(tmp_path: Path) -> None:
    table = SubscriptionTable(tmp_path)
    with pytest.raises(ParseError, match="a wish is as in"):
        table.subscribe('{"any": []}', id="a", dialect="wishes")
    assert not len(table.at())


def test_an_old_table_is_read_and_written_as_it_is(old: Path) -> None:
    table = SubscriptionTable(old)
    table.subscribe("weight > 7", id="heavier")
    table.change("heavy", "weight > 6")
    table.optimize()
    assert names(table) == list(table_rows.COLUMNS[:-1])
    assert table.engine().match({"weight": 7}) == ["heavy"]


def test_an_old_table_gets_the_column_when_a_row_needs_it(old: Path) -> None:
    table = SubscriptionTable(old)
    before = table.version
    table.subscribe(RED, id="red", dialect="wishes")
    assert names(table) == list(table_rows.COLUMNS)
    assert written(table) == [("heavy", "weight > 5", None), ("red", RED, "wishes")]
    assert table.engine().match(EVENT) == ["heavy", "red"]
    assert [each.operation for each in table.history(2)][1] == "add a column of dialects"
    assert table.engine(before).match(EVENT) == ["heavy"]
    assert table.diff(before, table.version) == [Subscribe("red", RED, dialect="wishes")]
    table.change("heavy", "weight over 9", dialect="wishes")
    assert table.engine().match(EVENT) == ["red"]
    assert table.version == before + 3


def test_somebody_else_may_have_added_the_column(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = SubscriptionTable(old)
    adds = table_log.TableLog.add_dialects

    def overtaken(self: table_log.TableLog, seen: table_log.Version) -> None:
        adds(self, self.latest())
        adds(self, seen)  # which was seen before

    monkeypatch.setattr(table_log.TableLog, "add_dialects", overtaken)
    table.subscribe(RED, id="red", dialect="wishes")
    assert names(table) == list(table_rows.COLUMNS)
    assert table.engine().match(EVENT) == ["heavy", "red"]


def test_a_row_of_a_dialect_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = SubscriptionTable(tmp_path)
    with pytest.raises(UnknownDialectError, match="did you mean 'wishes'"):
        table.subscribe(RED, id="red", dialect="wishs")
    table.subscribe(RED, id="red", dialect="wishes")
    monkeypatch.setattr(registry, "_dialects", {})
    with pytest.raises(InvalidSubscriptionsError, match="there is no dialect 'wishes'"):
        SubscriptionTable(tmp_path).engine()
    table = SubscriptionTable(tmp_path, on_invalid="quarantine")
    assert [each.id for each in table.at().invalid()] == ["red"]


def test_compiled_changes_travel_read(tmp_path: Path) -> None:
    table = SubscriptionTable(tmp_path)
    table.subscribe_many([(f"s{number}", f"weight > {number}") for number in range(50)])
    table.at().compiled()
    table.subscribe(RED, id="red", dialect="wishes")
    compiled = table.at().compiled()
    image: Any = compiled.image
    [change] = image.changes
    assert change.dialect is None
    assert change.expression.text == RED
    entry = compiled.entry("red")
    assert (entry.text, entry.dialect) == (RED, "wishes")
    assert "red" in image.unpacked().match(EVENT)


def test_any_reader_of_delta_tables_sees_the_column(tmp_path: Path) -> None:
    table = SubscriptionTable(tmp_path)
    table.subscribe("weight > 5", id="heavy")  # in a file without the column
    table.subscribe(RED, id="red", dialect="wishes")
    rows = DeltaTable(str(tmp_path)).to_pyarrow_table().sort_by("id").to_pylist()
    assert [(row["id"], row["dialect"]) for row in rows] == [("heavy", None), ("red", "wishes")]
