"""Subscriptions in a frame, whichever library made it, are subscribed as records are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from predicast import Engine, attr
from predicast.errors import (
    ColumnClashError,
    InvalidIdError,
    InvalidSubscriptionError,
    LanguageError,
    ParameterError,
    PredicastError,
)

COLUMNS: dict[str, list[Any]] = {
    "id": ["a", "b"],
    "expression": ["price < 10", "x BETWEEN :lo AND :hi"],
    "owner": [None, "ada"],
    "parameters": [None, '{"lo": 2, "hi": 4}'],
}


def relation() -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(pa.table(COLUMNS))


FRAMES = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "lazy": lambda: pl.LazyFrame(COLUMNS),
    "duckdb": relation,
    "arrow": lambda: pa.table(COLUMNS),
    "batch": lambda: pa.RecordBatch.from_pydict(COLUMNS),
    "reader": lambda: pa.table(COLUMNS).to_reader(),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_a_frame_of_subscriptions(frame: Any) -> None:
    engine = Engine()
    engine.subscribe_many(frame(), owner="shop")
    assert [(each.id, each.text, each.owner) for each in engine.subscriptions()] == [
        ("a", "price < 10", "shop"),
        ("b", "x BETWEEN :lo AND :hi", "ada"),
    ]
    assert engine.get("b").parameters == {"lo": 2, "hi": 4}
    assert engine.match({"price": 9, "x": 3}) == ["a", "b"]


def test_parameters_may_be_structs_maps_and_objects() -> None:
    when = datetime(2026, 1, 31, tzinfo=UTC)
    ids, texts = ["a", "b"], ["x < :lo", "y = :name AND at > :since"]
    values: list[dict[str, Any]] = [{"lo": 2}, {"name": "n", "since": when}]
    of_type = pa.map_(pa.string(), pa.int64())
    names = ("lo", "name", "since")
    alike = [{name: each.get(name) for name in names} for each in values]  # as structs are
    frames = [
        pl.DataFrame({"id": ids, "expression": texts, "parameters": alike}),
        pd.DataFrame({"id": ids, "expression": texts, "parameters": values}),
    ]
    for frame in frames:
        engine = Engine()
        engine.subscribe_many(frame)
        assert [each.parameters for each in engine.subscriptions()] == values
    mapped = pa.table(
        {"id": ["a"], "expression": ["x < :lo"], "parameters": pa.array([[("lo", 2)]], of_type)}
    )
    engine = Engine()
    engine.subscribe_many(mapped)
    assert engine.get("a").parameters == {"lo": 2}


def test_numbers_may_be_ids_and_objects_expressions() -> None:
    engine = Engine()
    built = attr("price") < 10
    engine.subscribe_many(pd.DataFrame({"id": [7], "expression": [built], "owner": [3]}))
    assert engine.match({"price": 1}) == ["7"]
    assert engine.get("7").owner == "3"


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"id": ["a"]}, InvalidSubscriptionError, "record 0: a record has 'expression'"),
        (
            {"id": ["a"], "expresion": ["x < 1"]},
            InvalidSubscriptionError,
            "did you mean 'expression'",
        ),
        ({"id": [None], "expression": ["x < 1"]}, InvalidIdError, "an id"),
        ({"id": [1.5], "expression": ["x < 1"]}, InvalidIdError, "1.5"),
        ({"id": ["a"], "expression": pa.nulls(1)}, LanguageError, "NoneType"),
        (
            {"id": ["a"], "expression": ["x < :n"], "parameters": ["[1]"]},
            ParameterError,
            "not '\\[1\\]'",
        ),
        ({"id": ["a"], "expression": ["x < :n"], "parameters": ["{"]}, LanguageError, "JSON"),
        ({"id": ["a"], "expression": ["x < 1"], "parameters": [5]}, ParameterError, "not 5"),
    ],
)
def test_what_is_wrong_is_said(
    columns: dict[str, Any], error: type[PredicastError], message: str
) -> None:
    engine = Engine()
    with pytest.raises(error, match=message):
        engine.subscribe_many(pa.table(columns))
    assert len(engine) == 0


def test_two_columns_of_one_name_are_refused() -> None:
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["id", "id"])
    with pytest.raises(ColumnClashError, match="'id'"):
        Engine().subscribe_many(twice)


def test_a_column_may_name_the_dialect() -> None:
    engine = Engine()
    columns = {"id": ["a", "b"], "expression": ["x < 1", "x > 1"], "dialect": ["where", None]}
    engine.subscribe_many(pl.DataFrame(columns))
    assert engine.match({"x": 0}) == ["a"]
    with pytest.raises(PredicastError, match="did you mean 'where'"):
        engine.subscribe_many(pa.table({"id": ["c"], "expression": ["x"], "dialect": ["wher"]}))
