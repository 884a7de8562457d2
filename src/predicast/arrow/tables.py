"""What may be given as a table: whatever speaks Arrow, and pandas frames.

The Arrow PyCapsule interface is how libraries hand tables to each other without knowing each other;
PyArrow, Polars and DuckDB offer it. So does pandas, but all or nothing: one column of mixed
objects would make the whole frame unreadable. Frames are therefore taken column by column, without
their index. A column that Arrow has no type for becomes one of an opaque type, which
is refused only if something looks at it.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

import pyarrow as pa

from predicast.errors import UnsupportedTableError


@runtime_checkable
class ArrowStream(Protocol):
    """Offers a table, piece by piece."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


@runtime_checkable
class ArrowArray(Protocol):
    """Offers a table in one piece."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


TableLike: TypeAlias = ArrowStream | ArrowArray


def as_table(given: TableLike) -> pa.Table:
    """The same as an Arrow table; a stream is read to its end."""
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given])
    if _is_pandas_frame(given):
        return _from_pandas(given)
    kind = f"{type(given).__module__}.{type(given).__qualname__}"
    if not isinstance(given, ArrowStream | ArrowArray):
        raise UnsupportedTableError(
            f"{kind} is not a table; give a PyArrow Table, RecordBatch or RecordBatchReader, a "
            "pandas or Polars DataFrame, or any object with __arrow_c_stream__ or "
            "__arrow_c_array__",
            type=kind,
        )
    try:
        # A reader of PyArrow's own has no need to be exported, which not every layout can be.
        return given.read_all() if isinstance(given, pa.RecordBatchReader) else pa.table(given)
    except pa.ArrowException as error:
        raise UnsupportedTableError(
            f"{kind} cannot be read as a table of columns: {error}", type=kind
        ) from error


def _is_pandas_frame(given: Any) -> TypeGuard[Any]:
    pandas = sys.modules.get("pandas")  # who has a frame has imported it
    return pandas is not None and isinstance(given, pandas.DataFrame)


def _from_pandas(frame: Any) -> pa.Table:
    columns = [_from_series(frame.iloc[:, place]) for place in range(frame.shape[1])]
    if not columns:  # a table without columns would have no rows either
        return pa.table({"": pa.nulls(len(frame))})
    return pa.Table.from_arrays(columns, names=[str(name) for name in frame.columns])


def _from_series(series: Any) -> pa.Array | pa.ChunkedArray:
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        unknown = pa.opaque(pa.null(), f"{series.dtype}: {error}", "pandas")
        return pa.ExtensionArray.from_storage(unknown, pa.nulls(len(series)))
