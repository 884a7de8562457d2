"""Rows of a table by position, whatever the layout of its columns.

Arrow's own ``take`` does not know views of strings and of bytes, which Polars and DuckDB write, nor
runs. Views are taken by way of the plain type and are views again afterwards, also inside structs,
lists and maps. Of runs the values are taken, and every row that has the run of the row before it
goes with that row.

Limits: runs inside structs and lists are refused by Arrow.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def taken_rows(table: pa.Table, rows: np.ndarray) -> pa.Table:
    """The rows at these positions, in columns of the same types."""
    if all(_takeable(column.type) == column.type for column in table.columns):
        return table.take(pa.array(rows))
    columns = [_taken(column, rows) for column in table.columns]
    return pa.Table.from_arrays(columns, schema=table.schema)


def _taken(column: pa.ChunkedArray, rows: np.ndarray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_run_end_encoded(kind):
        return _taken_runs(column, rows)
    takeable = _takeable(kind)
    if takeable == kind:
        return column.take(pa.array(rows))
    return column.cast(takeable).take(pa.array(rows)).cast(kind)


def _takeable(kind: pa.DataType) -> pa.DataType:
    """The type by way of which values of some type are taken."""
    types = pa.types
    if kind == pa.string_view():
        return pa.large_string()
    if kind == pa.binary_view():
        return pa.large_binary()
    if types.is_run_end_encoded(kind):
        return _takeable(kind.value_type)
    if types.is_struct(kind):
        return pa.struct([field.with_type(_takeable(field.type)) for field in kind])
    if types.is_map(kind):
        key, item = (
            each.with_type(_takeable(each.type)) for each in (kind.key_field, kind.item_field)
        )
        return pa.map_(key, item, keys_sorted=kind.keys_sorted)
    if types.is_list(kind):
        return pa.list_(_element(kind))
    if types.is_large_list(kind):
        return pa.large_list(_element(kind))
    if types.is_fixed_size_list(kind):
        return pa.list_(_element(kind), kind.list_size)
    return kind


def _element(kind: pa.DataType) -> pa.Field:
    return kind.value_field.with_type(_takeable(kind.value_type))


def _taken_runs(column: pa.ChunkedArray, rows: np.ndarray) -> pa.ChunkedArray:
    kind = column.type
    most = np.iinfo(kind.run_end_type.to_pandas_dtype()).max  # rows that an array can have
    runs, values, before = [], [], 0
    for chunk in column.chunks:
        places = np.arange(chunk.offset, chunk.offset + len(chunk))
        runs.append(np.searchsorted(chunk.run_ends.to_numpy(), places, side="right") + before)
        values.append(chunk.values)
        before += len(chunk.values)
    run_of_row = np.concatenate([np.empty(0, np.int64), *runs])[rows]
    all_values = pa.chunked_array(values, kind.value_type)
    pieces = []
    for start in range(0, len(rows), most):
        piece = run_of_row[start : start + most]
        ends = np.append(np.flatnonzero(piece[1:] != piece[:-1]) + 1, len(piece))
        different = _taken(all_values, piece[ends - 1]).combine_chunks()
        pieces.append(
            pa.RunEndEncodedArray.from_arrays(pa.array(ends, kind.run_end_type), different)
        )
    return pa.chunked_array(pieces, kind)
