"""Frames in, frames of the same kind out: the rows of events with the subscriptions they match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast import Engine
from predicast.errors import (
    ColumnClashError,
    InvalidOptionError,
    PredicastError,
    UnknownColumnError,
    UnsupportedTableError,
)

ROWS = [
    {"price": 5, "symbol": "IBM"},
    {"price": 50, "symbol": "IBM"},
    {"price": None, "symbol": "SAP"},
    {"price": 7, "symbol": None},
]
TABLE = pa.Table.from_pylist(ROWS)
TEXTS = {"cheap": "price < 10", "ibm": "symbol = 'IBM'", "dear": "price > 1000"}


def reader(table: pa.Table) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(2))


def relation(table: pa.Table) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(table)


def pandas_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    listed = frame.to_dict("records")
    return [
        {name: None if not isinstance(v, list) and pd.isna(v) else v for name, v in row.items()}
        for row in listed
    ]


class Kind:
    """How a library's frame is made of a table, and rows of a frame."""

    def __init__(
        self, make: Callable[[pa.Table], Any], rows: Callable[[Any], list[dict[str, Any]]]
    ) -> None:
        self.make = make
        self.rows = rows


KINDS = {
    "pandas": Kind(lambda table: table.to_pandas(), pandas_rows),
    "polars": Kind(pl.DataFrame, lambda frame: frame.to_dicts()),
    "lazy": Kind(pl.LazyFrame, lambda frame: frame.collect().to_dicts()),
    "duckdb": Kind(relation, lambda found: found.to_arrow_table().to_pylist()),
    "table": Kind(lambda table: table, lambda table: table.to_pylist()),
    "batch": Kind(
        lambda table: table.combine_chunks().to_batches()[0], lambda batch: batch.to_pylist()
    ),
    "reader": Kind(reader, lambda read: read.read_all().to_pylist()),
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


@pytest.fixture
def engine() -> Engine:
    made = Engine()
    made.subscribe_many(TEXTS)
    return made


@kinds
def test_each_match_is_a_row(engine: Engine, kind: Kind) -> None:
    frame = kind.make(TABLE)
    found = engine.match_frame(frame)
    assert type(found) is type(frame)
    assert kind.rows(found) == [
        {"price": 5, "symbol": "IBM", "subscription": "cheap"},
        {"price": 5, "symbol": "IBM", "subscription": "ibm"},
        {"price": 50, "symbol": "IBM", "subscription": "ibm"},
        {"price": 7, "symbol": None, "subscription": "cheap"},
    ]


@kinds
def test_all_rows_are_kept(engine: Engine, kind: Kind) -> None:
    found = engine.match_frame(kind.make(TABLE), how="left", columns=["symbol"])
    assert kind.rows(found) == [
        {"symbol": "IBM", "subscription": "cheap"},
        {"symbol": "IBM", "subscription": "ibm"},
        {"symbol": "IBM", "subscription": "ibm"},
        {"symbol": "SAP", "subscription": None},
        {"symbol": None, "subscription": "cheap"},
    ]


@kinds
def test_a_row_per_event_has_a_list(engine: Engine, kind: Kind) -> None:
    frame = kind.make(TABLE)
    found = engine.match_frame(frame, output="array", how="left", columns=["price"])
    assert type(found) is type(frame)
    assert [row["subscriptions"] for row in kind.rows(found)] == [
        ["cheap", "ibm"],
        ["ibm"],
        [],
        ["cheap"],
    ]
    inner = engine.match_frame(kind.make(TABLE), output="array")
    assert [row["price"] for row in kind.rows(inner)] == [5, 50, 7]


@kinds
def test_what_matches_nothing_is_found(engine: Engine, kind: Kind) -> None:
    found = engine.match_frame(kind.make(TABLE), how="anti")
    assert kind.rows(found) == [{"price": None, "symbol": "SAP"}]


@kinds
def test_nothing_but_the_matches(engine: Engine, kind: Kind) -> None:
    found = engine.match_frame(kind.make(TABLE), columns=[])
    assert [row["subscription"] for row in kind.rows(found)] == ["cheap", "ibm", "ibm", "cheap"]


@kinds
def test_an_engine_without_matches_gives_a_frame_without_rows(kind: Kind) -> None:
    found = Engine().match_frame(kind.make(TABLE))
    assert kind.rows(found) == []
    assert len(kind.rows(Engine().match_frame(kind.make(TABLE), how="left"))) == len(ROWS)


@kinds
def test_columns_are_checked_before_anything_is_read(engine: Engine, kind: Kind) -> None:
    with pytest.raises(UnknownColumnError, match="did you mean 'price'") as caught:
        engine.match_frame(kind.make(TABLE), columns=["prize"])
    assert caught.value.suggestion == "price"
    clashing = kind.make(TABLE.rename_columns(["price", "subscription"]))
    with pytest.raises(ColumnClashError, match="rename it"):
        engine.match_frame(clashing)


def test_options_are_checked(engine: Engine) -> None:
    with pytest.raises(InvalidOptionError, match="such as \\['price'\\]"):
        engine.match_frame(TABLE, columns="price")
    with pytest.raises(InvalidOptionError, match="did you mean 'array'"):
        engine.match_frame(TABLE, output="arrays")  # type: ignore[arg-type]
    with pytest.raises(InvalidOptionError, match="how is one of 'inner', 'left', 'anti'"):
        engine.match_frame(TABLE, how="outer")  # type: ignore[arg-type]
    with pytest.raises(InvalidOptionError, match="keep some"):
        engine.match_frame(TABLE, how="anti", columns=[])
    with pytest.raises(UnsupportedTableError, match="is not a table"):
        engine.match_frame(ROWS)


def test_the_index_of_a_pandas_frame_stays(engine: Engine) -> None:
    frame = pd.DataFrame(ROWS, index=pd.Index([10, 20, 30, 40], name="key"))
    found = engine.match_frame(frame)
    assert found.index.tolist() == [10, 10, 20, 40]
    assert found.index.name == "key"
    assert frame.columns.tolist() == ["price", "symbol"]  # what was given is as it was
    found.loc[10, "price"] = 1
    assert frame["price"].tolist()[0] == 5


def test_columns_that_nobody_looks_at_may_be_anything(engine: Engine) -> None:
    other = object()
    frame = pd.DataFrame({"price": [5], "other": [other]})
    assert engine.match_frame(frame)["other"].tolist() == [other]


def test_a_relation_stays_with_its_connection(engine: Engine) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE trades AS SELECT 5 AS price, 'IBM' AS symbol")
    connection.execute("CREATE TABLE people AS SELECT 'cheap' AS id, 'Ada' AS name")
    matches = engine.match_frame(connection.table("trades"))
    people = connection.table("people")
    joined = matches.join(people, "id = subscription").project("price, name")
    assert joined.fetchall() == [(5, "Ada")]
    assert connection.sql("SELECT count(*) FROM matches").fetchall() == [(2,)]


def test_a_relation_is_not_taken_for_a_table_of_the_catalogue(engine: Engine) -> None:
    connection = duckdb.connect()
    for name in ("found", "events", "matches", "kept", "table"):
        connection.execute(f'CREATE TABLE "{name}" AS SELECT 1 AS price')
    matches = engine.match_frame(connection.table("events"))
    assert matches.fetchall() == [(1, "cheap")]


def test_a_plan_is_run_when_it_is_collected(engine: Engine) -> None:
    plan = engine.match_frame(pl.LazyFrame(ROWS), columns=["price"])
    engine.unsubscribe("ibm")
    assert plan.collect_schema() == {"price": pl.Int64, "subscription": pl.String}
    kept = plan.filter(pl.col("price") > 5).select("subscription").head(3)
    assert kept.collect().to_dicts() == [{"subscription": "cheap"}]


def test_a_plan_is_streamed() -> None:
    engine = Engine()
    engine.subscribe("n % 1000 = 7", id="seven")
    plan = engine.match_frame(pl.LazyFrame({"n": range(200_000)}))
    found = plan.select(pl.col("n").sum(), pl.len().alias("rows")).collect(engine="streaming")
    assert found.to_dicts() == [{"n": sum(range(7, 200_000, 1000)), "rows": 200}]


def test_what_is_refused_while_a_plan_runs_is_said(engine: Engine) -> None:
    plan = engine.match_frame(pl.LazyFrame({"price": [1.0, float("nan")]}))
    with pytest.raises(PredicastError, match="price"):
        plan.collect()
    lenient = engine.match_frame(pl.LazyFrame({"price": [1.0, float("nan")]}), on_invalid="skip")
    assert len(lenient.collect()) == 1


def test_a_stream_is_read_no_further_than_asked(engine: Engine) -> None:
    read: list[int] = []

    def batches() -> Any:
        for number in range(100):
            read.append(number)
            yield pa.RecordBatch.from_pylist([{"price": number}])

    schema = pa.schema([("price", pa.int64())])
    found = engine.match_frame(pa.RecordBatchReader.from_batches(schema, batches()))
    assert found.read_next_batch().to_pylist() == [{"price": 0, "subscription": "cheap"}]
    assert len(read) <= 2


@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {
                "price": st.none() | st.integers(-3, 12),
                "symbol": st.none() | st.sampled_from(["IBM", "SAP", ""]),
            }
        ),
        max_size=12,
    ),
    how=st.sampled_from(["inner", "left", "anti"]),
    output=st.sampled_from(["rows", "array"]),
)
def test_frames_agree_with_events_one_by_one(rows: Any, how: Any, output: Any) -> None:
    engine = Engine(matcher="brute-force")
    engine.subscribe_many(TEXTS | {"none": "symbol IS NULL", "low": "price <= 0"})
    table = pa.Table.from_pylist(rows, schema=TABLE.schema)
    expected: list[dict[str, Any]] = []
    for row in rows:
        ids = engine.match({name: value for name, value in row.items() if value is not None})
        if how == "anti":
            expected += [] if ids else [row]
        elif output == "array":
            expected += [row | {"subscriptions": ids}] if ids or how == "left" else []
        else:
            listed: list[str | None] = [*ids] or ([None] if how == "left" else [])
            expected += [row | {"subscription": id} for id in listed]
    columnar = Engine()
    columnar.subscribe_many((each.id, each.subscription) for each in engine.subscriptions())
    for kind in (KINDS["table"], KINDS["polars"], KINDS["pandas"]):
        found = columnar.match_frame(kind.make(table), how=how, output=output)
        assert kind.rows(found) == expected


_WORDS = pa.array(["a", None, "c"])


@pytest.mark.parametrize(
    "column",
    [
        _WORDS.cast(pa.string_view()),
        pa.array([b"a", None, b"\xff"], pa.binary_view()),
        pa.array([{"v": "a"}, None, {"v": None}], pa.struct({"v": pa.string_view()})),
        pa.array([["a", None], None, []], pa.list_(pa.string_view())),
        pa.array([["a"], None, []], pa.large_list(pa.string_view())),
        pa.array([["a"], None, [None]], pa.list_(pa.string_view(), 1)),
        pa.array([["a"], None, []], pa.list_view(pa.string_view())),
        pa.array([[("a", "b")], None, []], pa.map_(pa.string_view(), pa.string_view())),
        pc.run_end_encode(pa.array(["a", "a", None])),
        pc.run_end_encode(pa.array(["z", "a", "a", None]))[1:],
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("matching", [[0, 1, 2], [2, 0], []], ids=str)
def test_rows_come_back_whatever_the_layout_of_a_column(
    column: pa.Array, matching: list[int]
) -> None:
    engine = Engine()
    engine.subscribe_many({f"s{row}": f"row = {row}" for row in matching})
    table = pa.table({"row": [0, 1, 2], "column": column})
    table = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    values = column.to_pylist()
    for frame in (table, table.combine_chunks().to_batches()[0]):
        found = engine.match_frame(frame, columns=["column"])
        assert found.schema.field("column").type == column.type
        assert found["column"].to_pylist() == [values[row] for row in sorted(matching)]
