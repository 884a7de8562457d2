"""Tables of subscriptions: a DataFrame's ids, expressions and owners, brought to the driver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from predicast.errors import PipelineError, UnsupportedColumnError
from predicast.spark.schemas import Schema

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def collected(
    table: DataFrame, id: str, expression: str, owner: str | None, dialect: str | None = None
) -> Iterator[tuple[Any, ...]]:
    """The rows of the table: id, expression, owner and dialect, if there are such columns."""
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
    arrow = safe.select(*columns).toArrow()
    return zip(*map(_texts, arrow.columns), strict=True)


def _texts(column: pa.ChunkedArray) -> list[str | None]:
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
