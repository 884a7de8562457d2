"""``compile``: every way to hand in subscriptions, and what becomes of the invalid ones."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from functools import partialmethod
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from predicast import Engine, attr
from predicast import spark as ps
from predicast.errors import (
    InvalidOptionError,
    InvalidSubscriptionsError,
    PipelineError,
    UnknownColumnError,
    UnknownMatcherError,
    UnsupportedColumnError,
)
from predicast.matching.matching_tree.tree import MatchingTree
from predicast.spark import reading, shared_engines

TABLE = [
    ("good", "price < 10"),
    ("syntax", "price <"),
    ("null", None),
    (None, "price < 1"),
    ("", "price < 2"),
    ("twice", "price < 3"),
    ("twice", "price < 3"),
]
INVALID = {"syntax", "null", None, "", "twice"}


def test_forms_of_input_give_the_same(spark: SparkSession) -> None:
    pairs = [("b", "price < 10"), ("a", "symbol = 'IBM'")]
    compiled = ps.compile(pairs)
    assert compiled == ps.compile(dict(pairs)) == ps.compile(iter(pairs))
    assert compiled == ps.compile(spark.createDataFrame(pairs, "id string, expression string"))
    renamed = spark.createDataFrame(pairs[::-1], "`my.key` string, `my text` string")
    assert compiled == ps.compile(renamed, id="my.key", expression="my text")
    built = ps.compile([("a", attr("symbol") == "IBM"), ("b", attr("price") < 10)])
    assert built.attributes == compiled.attributes  # the same, but for the texts
    for event in ({"price": 5}, {"price": 50, "symbol": "IBM"}):
        assert built.engine().match(event) == compiled.engine().match(event)
    assert compiled == ps.compile(compiled)
    assert compiled != ps.compile(pairs, absent="passes")
    assert compiled != ps.compile(pairs[:1])


def test_what_is_compiled_can_be_looked_at() -> None:
    compiled = ps.compile({"a": "price < 10 AND o.x = 1", "b": "price > 3"})
    assert len(compiled) == 2
    assert compiled.attributes == ("o.x", "price")
    assert repr(compiled).startswith(
        "<CompiledSubscriptions: 2 subscriptions on [o.x, price], matcher 'columnar'"
    )
    assert compiled.engine().match({"price": 5}) == ["b"]
    assert compiled.engine() is not compiled.engine()
    with pytest.raises(AttributeError):
        compiled.digest = "another"  # type: ignore[misc]


def test_an_engine_is_handed_over_as_it_is() -> None:
    engine = Engine()
    engine.subscribe_many([("b", "price<10"), ("a", "symbol = 'IBM'")], owner="alice")
    engine.subscribe("qty > :least", id="c", parameters={"least": 5})
    compiled = ps.compile(engine)
    assert compiled == ps.compile(engine)
    assert (len(compiled), compiled.attributes) == (3, ("price", "qty", "symbol"))
    copy = compiled.engine()
    assert copy.subscriptions() == engine.subscriptions()
    copy.change("c", parameters={"least": 7})  # texts and parameters came along
    assert (copy.match({"qty": 6}), engine.match({"qty": 6})) == ([], ["c"])
    engine.unsubscribe("a")
    assert len(compiled.engine()) == 3


def test_an_engine_with_other_options_is_read_again() -> None:
    engine = Engine()
    engine.subscribe("price < :most", id="a", owner="alice", parameters={"most": 10})
    compiled = ps.compile(engine, matcher="counting")
    (entry,) = compiled.engine().subscriptions()
    assert (entry.id, entry.owner, entry.subscription) == (
        "a",
        "alice",
        engine.get("a").subscription,
    )
    assert (compiled.matcher, compiled.engine().match({"price": 9})) == ("counting", ["a"])


def test_an_engine_keeps_its_options_unless_told_otherwise() -> None:
    engine = Engine(absent="passes")
    assert ps.compile(engine).absent == "passes"
    assert ps.compile(engine, absent="fails").absent == "fails"
    assert ps.compile({}).absent == "fails"


def test_pickles_without_its_session(spark: SparkSession) -> None:
    table = spark.createDataFrame([("a", "x = 1"), ("b", "x =")], "id string, expression string")
    compiled = ps.compile(table, on_invalid="quarantine")
    assert compiled.session is not None
    copy = pickle.loads(pickle.dumps(compiled))
    assert copy == compiled
    assert copy.invalid_rows == compiled.invalid_rows
    assert copy.session is None
    assert copy.invalid.collect() == compiled.invalid.collect()  # in the active session


def test_ids_and_owners_from_columns(spark: SparkSession) -> None:
    table = spark.createDataFrame(
        [(1, "x = 1", "alice"), (2, "x = 2", None), (3, "x = 3", "")],
        "id long, expression string, owner string",
    )
    compiled = ps.compile(table, owner="owner", on_invalid="quarantine")
    owners = {each.id: each.owner for each in compiled.engine().subscriptions()}
    assert owners == {"1": "alice", "2": None}
    assert [(each.id, each.error) for each in compiled.invalid_rows] == [
        ("3", "an owner is a non-empty string, not ''")
    ]


def test_invalid_ones_raise(spark: SparkSession) -> None:
    table = spark.createDataFrame(TABLE, "id string, expression string")
    with pytest.raises(InvalidSubscriptionsError) as caught:
        ps.compile(table)
    error = caught.value
    assert error.invalid is not None
    assert {id for id, _ in error.invalid} == INVALID
    assert len(error.invalid) == 6
    assert str(error).startswith("6 of 7 subscriptions cannot be compiled:")
    assert "... and 1 more" in str(error)
    assert "on_invalid='quarantine'" in str(error)
    messages = dict(error.invalid)
    assert "line 1, column 8" in messages["syntax"]
    assert messages["null"] == "the expression is null"
    assert messages["twice"] == "2 subscriptions have the id 'twice'"
    assert messages[None] == "an id is a non-empty string, not None"


def test_the_list_in_the_error_is_bounded() -> None:
    with pytest.raises(InvalidSubscriptionsError) as caught:
        ps.compile((f"s{n}", "x <") for n in range(2_000))
    assert caught.value.invalid is not None
    assert len(caught.value.invalid) == 1_000
    assert str(caught.value).startswith("2000 of 2000")
    assert len(str(caught.value)) < 2_000


def test_invalid_ones_are_dropped(spark: SparkSession) -> None:
    table = spark.createDataFrame(TABLE, "id string, expression string")
    compiled = ps.compile(table, on_invalid="drop")
    assert list(compiled.engine()) == ["good"]
    assert compiled.left_out == 6
    assert "6 invalid left out" in repr(compiled)
    assert compiled.invalid_rows == ()


def test_invalid_ones_are_set_apart(spark: SparkSession) -> None:
    table = spark.createDataFrame(TABLE, "id string, expression string")
    compiled = ps.compile(table, on_invalid="quarantine")
    assert list(compiled.engine()) == ["good"]
    frame = compiled.invalid
    assert frame.schema.simpleString() == "struct<id:string,expression:string,error:string>"
    assert frame.sparkSession is table.sparkSession
    assert {row.id for row in frame.collect()} == INVALID
    assert [tuple(row) for row in frame.collect()] == list(compiled.invalid_rows)
    none = ps.compile(table.where("id = 'good'"), on_invalid="quarantine").invalid
    assert none.collect() == []


def test_the_matcher_refuses_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MatchingTree, "__init__", partialmethod(MatchingTree.__init__, max_nodes=4))
    table = {"a": "x = 1 AND y = 2", "b": "x <", "c": "x = 2 AND y = 3", "d": "x = 1 AND y = 2"}
    compiled = ps.compile(table, matcher="matching-tree", on_invalid="quarantine")
    assert list(compiled.engine()) == ["a", "d"]
    assert [each.id for each in compiled.invalid_rows] == ["b", "c"]
    assert "max_nodes" in compiled.invalid_rows[1].error


@pytest.mark.parametrize("bad", ["price < 10", [("a", "x = 1", "y")], 5, ["ab cd"]])
def test_what_is_not_a_collection_of_pairs(bad: Any) -> None:
    with pytest.raises(PipelineError, match="pairs"):
        ps.compile(bad)


def test_options_and_columns_that_do_not_exist(spark: SparkSession) -> None:
    table = spark.createDataFrame([("a", "x = 1", 1.5)], "Id string, expression string, n double")
    with pytest.raises(UnknownColumnError, match="did you mean 'Id'"):
        ps.compile(table)
    with pytest.raises(UnsupportedColumnError, match="strings or integers"):
        ps.compile(table, id="n")
    with pytest.raises(UnsupportedColumnError, match="holds strings"):
        ps.compile(table, id="Id", expression="n")
    with pytest.raises(InvalidOptionError, match="owner names a column"):
        ps.compile({}, owner="owner")
    with pytest.raises(InvalidOptionError, match="did you mean 'drop'"):
        ps.compile({}, on_invalid="drops")  # type: ignore[call-overload]
    with pytest.raises(InvalidOptionError, match="absent"):
        ps.compile({}, absent="fail")  # type: ignore[call-overload]
    with pytest.raises(UnknownMatcherError):
        ps.compile({}, matcher="no such")


def test_a_stream_is_no_table(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    with pytest.raises(PipelineError, match="not from a stream"):
        ps.compile(stream)


def test_a_process_builds_an_engine_once() -> None:
    images = [ps.compile({"a": f"x = {n}"}).image for n in range(6)]
    first = images[0].shared()
    assert images[0].shared() is first
    for each in images[1:]:
        each.shared()
    assert len(shared_engines._engines) <= 4
    assert images[0].shared() is not first


def test_what_only_the_events_reveal(spark: SparkSession) -> None:
    events = spark.createDataFrame(
        [], "price double, s string, day date, o struct<x: int>, items array<int>, lo int, hi int"
    )
    wrong = {
        "type": "price = '2.5'",
        "day": "day > '2024-01-01'",
        "pattern": "price LIKE '2%' OR s = 'a'",
        "set": "price IN ('1', '2')",
        "unknown": "prise < 1",
        "input": "prise * 2 < 1",
        "list": "items = 1",
        "struct": "o = 1",
    }
    right = {
        "fine": "price < 2 AND s LIKE 'a%' AND o.x IN (1, 2)",
        "null": "price IS NULL",
        "either": "price > 5 OR price < '2'",  # which one of the two may match
        "negated": "NOT (price <= 5 AND price >= '2')",
        "derived": "price * 2 > 1 AND day > DATE '2024-01-01'",
        "interval": "x > 3",
    }
    table = wrong | right
    options: dict[str, Any] = {"events": events, "intervals": {"x": ("lo", "hi")}}
    compiled = ps.compile(table, on_invalid="quarantine", **options)
    assert {row.id for row in compiled.invalid.collect()} == set(wrong)
    assert len(compiled) == len(right)
    errors = {row.id: row.error for row in compiled.invalid_rows}
    assert "compared with a string, and the column is of type double" in errors["type"]
    assert "did you mean 'price'?" in errors["unknown"]
    ps.match(events, compiled, intervals=options["intervals"])  # raises no more
    with pytest.raises(InvalidSubscriptionsError, match="8 of 14"):
        ps.compile(table, events=events.schema, intervals=options["intervals"])
    assert len(ps.compile(table)) == len(table)
    engine = Engine()
    engine.subscribe_many(table)
    assert ps.compile(engine, on_invalid="drop", **options).left_out == len(wrong)


def test_bytes_that_are_not_unicode_invalidate_their_row(spark: SparkSession) -> None:
    table = spark.sql(
        "SELECT 'good' AS id, 'x > 1' AS expression "
        "UNION ALL SELECT 'bad', CAST(X'78203d2027ff27' AS STRING) "
        "UNION ALL SELECT CAST(X'ff' AS STRING), 'x > 1'"
    )
    compiled = ps.compile(table, on_invalid="quarantine")
    assert len(compiled) == 1
    assert {row.id: row.expression for row in compiled.invalid.collect()} == {
        "bad": "x = '\\udcff'",
        "\\udcff": "x > 1",
    }


def test_a_large_table_is_read_on_executors(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last byte and the last complaint the same as on the driver."""
    rows: list[tuple[Any, Any, Any]]
    rows = [(f"s{n:02}", f"x < {n} AND name = 'n{n % 5}'", f"o{n % 3}") for n in range(95)]
    rows += [(id, text, None) for id, text in TABLE]
    rows += [("long", "y > 1 OR z IN (1, 2)", ""), ("day", "at > TIMESTAMP '2026-01-01'", None)]
    rows += [("prise", "prise < 1", None)]
    table = spark.createDataFrame(rows, "id string, expression string, owner string")
    table = table.unionAll(spark.sql("SELECT 'bad', CAST(X'78203d2027ff27' AS STRING), 'o'"))
    events = spark.createDataFrame(
        [], "x int, name string, y int, z int, price double, at timestamp"
    )
    options: dict[str, Any] = {"owner": "owner", "events": events}
    here = ps.compile(table, on_invalid="quarantine", **options)
    assert (len(here), here.left_out) == (97, 9)
    asked = list[int]()
    on_executors = reading.RowReading.on_executors

    def counted(self: reading.RowReading, table: DataFrame, rows: int) -> reading.ReadRows:
        asked.append(rows)
        return on_executors(self, table, rows)

    monkeypatch.setattr(reading.RowReading, "on_executors", counted)
    monkeypatch.setattr(reading, "LARGE", 100)
    monkeypatch.setattr(reading, "_PART", 30)
    there = ps.compile(table, on_invalid="quarantine", **options)
    assert asked == [len(rows) + 1]
    assert there == here
    assert there.invalid_rows == here.invalid_rows
    assert list(there.engine().subscriptions()) == list(here.engine().subscriptions())
    assert there.session is table.sparkSession
    with pytest.raises(InvalidSubscriptionsError, match="9 of 106 subscriptions"):
        ps.compile(table, **options)
    assert ps.compile(table.where("id LIKE 's%0'")).count == 10
    assert len(asked) == 2  # those were few
    monkeypatch.setattr(reading, "LARGE", 1)
    zoned = ps.compile(table.where("id = 'day'"), time_zone="Europe/Rome")
    assert zoned.engine().match({"at": datetime(2025, 12, 31, 23, 30, tzinfo=UTC)}) == ["day"]
    assert len(asked) == 3
