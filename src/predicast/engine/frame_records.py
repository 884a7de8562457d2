"""Subscriptions in a frame: a row each, with the columns that records have as fields.

An integer counts as its digits where an id or an owner is expected, since keys in tables often are
numbers; a null is as good as a column that is not there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from predicast.arrow import as_table
from predicast.errors import ColumnClashError, UnsupportedColumnError
from predicast.language.parameter_values import parameter_values

_ROWS: Final = 8_192  # made into Python's values at a time
_NAMES: Final = ("id", "owner")


def frame_records(given: Any) -> Iterator[dict[str, Any]]:
    """Each row as a record; what is null is left out."""
    if not hasattr(given, "__arrow_c_stream__") and hasattr(given, "collect"):
        given = given.collect()  # a plan of Polars: all are to be held anyway
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(given, pandas.DataFrame):
        names = [str(name) for name in given.columns]
        _check_names(names)
        columns = [_values(given.iloc[:, place]) for place in range(len(names))]
        yield from _records(names, columns)
        return
    table = as_table(given)
    _check_names(table.column_names)
    for batch in table.to_batches(_ROWS):
        columns = [_listed(*each) for each in zip(batch.schema.names, batch.columns, strict=True)]
        yield from _records(batch.schema.names, columns)


def _records(names: Sequence[str], columns: Sequence[list[Any]]) -> Iterator[dict[str, Any]]:
    for row in zip(*columns, strict=True):
        record = {
            name: value
            for name, value in zip(names, row, strict=True)
            if value is not None or name in {"id", "expression"}
        }
        for name in _NAMES:
            if type(record.get(name)) is int:
                record[name] = str(record[name])
        if "parameters" in record:
            record["parameters"] = parameter_values(record["parameters"])
        yield record


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ColumnClashError(f"two columns are named {name!r}", column=name)


def _values(series: Any) -> list[Any]:
    """The values of a pandas column: expressions may be objects, and missing is spelt variously."""
    missing = series.isna().tolist()
    return [None if lacks else value for value, lacks in zip(series.tolist(), missing, strict=True)]


def _listed(name: str, column: pa.Array) -> list[Any]:
    if isinstance(column.type, pa.OpaqueType):
        raise UnsupportedColumnError(
            f"column {name!r} cannot be read: {column.type.type_name}", column=name
        )
    values: list[Any] = column.to_pylist()
    return values
