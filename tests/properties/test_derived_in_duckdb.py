"""Expressions over attributes mean what DuckDB means, where it and Spark agree."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from predicast import Event
from predicast.derived import compiled
from predicast.matching.batches.derived import with_derived
from predicast.matching.batches.event_batch import EventBatch
from tests.sql_expressions import COLUMNS, SqlExpressions, read

TYPES = {
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us"),
}
EXPRESSIONS = 400
ROWS = 60


def comparable(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC)
    return value


@pytest.mark.parametrize("seed", range(3))
def test_expressions_have_the_values_that_duckdb_gives(seed: int) -> None:
    source = SqlExpressions(seed, "duckdb")
    schema = pa.schema([(name, TYPES[kind]) for name, kind in COLUMNS.items()])
    rows = [source.row() for _ in range(ROWS)]
    naive = [
        {name: comparable(v).replace(tzinfo=None) if isinstance(v, datetime) else v
         for name, v in row.items()}
        for row in rows
    ]  # fmt: skip
    table = pa.Table.from_pylist(naive, schema)
    batch = EventBatch.from_arrow(table)
    events = [Event(row) for row in rows]
    connection = duckdb.connect()
    connection.register("events", table)
    compared = 0
    for _ in range(EXPRESSIONS):
        text = source.any()
        tree = read(text)
        if tree is None:
            continue
        found = connection.execute(f"SELECT {text} AS v FROM events").fetchall()
        theirs = [comparable(row[0]) for row in found]
        assert [compiled(tree)(event.get) for event in events] == theirs, text
        by_column = with_derived(batch, {"=": tree}).events()
        assert [event.get("=") for event in by_column] == theirs, text
        compared += 1
    assert compared > EXPRESSIONS // 2
