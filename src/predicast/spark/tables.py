"""Tables of subscriptions: the ids, expressions, owners and dialects of a DataFrame, as texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from predicast.errors import PipelineError, UnsupportedColumnError
from predicast.spark.schemas import Schema

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def chosen(
    table: DataFrame, id: str, expression: str, owner: str | None, dialect: str | None = None
) -> DataFrame:
    """The columns of the table that count, as texts: id, expression, owner and dialect.

    The last two are null where the table has no such columns.
    """
    from pyspark.sql.functions import lit

    if table.isStreaming:
        raise PipelineError(
            "subscriptions are compiled from a batch DataFrame, not from a stream; "
            "read the table with spark.read, or compile inside foreachBatch"
        )
    schema = Schema(table.schema)
    columns = [
        lit(None).cast("string")
        if name is None
        else _as_text(schema, name, may_be_number=name == id)
        for name in (id, expression, owner, dialect)
    ]
    safe = table.toDF(*(f"c{position}" for position in range(len(schema.fields))))
    called = ("id", "expression", "owner", "dialect")
    return safe.select(*(column.alias(name) for column, name in zip(columns, called, strict=True)))


def rows_of(columns: Iterable[pa.Array | pa.ChunkedArray]) -> Iterator[tuple[Any, ...]]:
    """The rows of columns of texts."""
    return zip(*map(_texts, columns), strict=True)


def _texts(column: pa.Array | pa.ChunkedArray) -> list[str | None]:
    """The texts of a column. Bytes that are not Unicode, which Spark lets pass, become characters
    that no text may have: so one row is invalid, and not the table.
    """
    try:
        texts: list[str | None] = column.to_pylist()
    except UnicodeDecodeError:
        return [
            None if value is None else value.decode(errors="surrogateescape")
            for value in column.cast(pa.binary()).to_pylist()
        ]
    return texts


def _as_text(schema: Schema, name: str, *, may_be_number: bool) -> Column:
    from pyspark.sql.functions import col
    from pyspark.sql.types import IntegralType, NullType, StringType

    position = schema.position(name)
    kind = schema.fields[position].dataType
    if isinstance(kind, StringType | NullType) or (
        may_be_number and isinstance(kind, IntegralType)
    ):
        return col(f"c{position}").cast("string")
    raise UnsupportedColumnError(
        f"column {name!r} of the subscriptions is of type {kind.simpleString()}; "
        "it holds strings" + (" or integers" if may_be_number else ""),
        column=name,
        type=kind.simpleString(),
    )
