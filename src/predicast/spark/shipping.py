"""What of the events is sent to Python, and how it comes back.

Sent are the columns that the result keeps and the attributes that subscriptions look at, nothing
else: of a struct that is not kept only the fields in question. On the way columns go by position
(``k0``, ``k1``, ...), because names with dots, spaces or doubles mislead Spark's resolution; the
result gets the names back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from predicast.errors import UnsupportedColumnError
from predicast.spark.schemas import LeafField, Schema

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructField, StructType


class Source(NamedTuple):
    """Where a worker finds an attribute: the position of a sent column and the way down from it."""

    attribute: str
    column: int
    path: tuple[int, ...]


class Shipment(NamedTuple):
    """The columns to send: first those that are kept, then those only looked at."""

    columns: DataFrame
    kept: tuple[StructField, ...]
    sources: tuple[Source, ...]

    def schema(self, *added: StructField) -> StructType:
        """The schema of what workers send back: the kept columns, and those they add."""
        from pyspark.sql.types import StructField, StructType

        kept = [
            StructField(f"k{number}", field.dataType, field.nullable, field.metadata)
            for number, field in enumerate(self.kept)
        ]
        return StructType([*kept, *added])

    def kept_columns(self) -> list[str]:
        """The names of the kept columns on their way."""
        return [f"k{number}" for number in range(len(self.kept))]

    def named(self, result: DataFrame, *added: str) -> DataFrame:
        """The result under the names that the events' columns had, and those of the added ones."""
        return result.toDF(*(field.name for field in self.kept), *added)


def ship(
    events: DataFrame,
    schema: Schema,
    kept: Sequence[int],
    leaves: Mapping[str, LeafField],
    computed: Mapping[str, Column] | None = None,
) -> Shipment:
    """Choose what to send of the events; ``computed`` are attributes that Spark computes."""
    from pyspark.sql.functions import col, lit

    for position in kept:
        _check_carried(schema.fields[position])
    by_position = events.toDF(*(f"c{position}" for position in range(len(schema.fields))))
    sent = [col(f"c{position}").alias(f"k{number}") for number, position in enumerate(kept)]
    sources = []
    for attribute, leaf in leaves.items():
        if leaf.column in kept:
            sources.append(Source(attribute, kept.index(leaf.column), leaf.path))
            continue
        column = col(f"c{leaf.column}")
        for field in leaf.fields:
            column = column.getField(field)
        sources.append(Source(attribute, len(sent), ()))
        sent.append(column.alias(f"k{len(sent)}"))
    for attribute, column in (computed or {}).items():
        sources.append(Source(attribute, len(sent), ()))
        sent.append(column.alias(f"k{len(sent)}"))
    # Without any column an Arrow batch has no rows.
    columns = by_position.select(*(sent or [lit(True).alias("k0")]))
    return Shipment(columns, tuple(schema.fields[position] for position in kept), tuple(sources))


def _check_carried(field: StructField) -> None:
    """Refuse a kept column that Spark cannot send through Arrow."""
    for kind in _types(field.dataType):
        if kind.typeName() in {"yearmonthinterval", "calendarinterval", "interval"}:
            raise UnsupportedColumnError(
                f"column {field.name!r} is of type {field.dataType.simpleString()}, which Spark "
                "cannot exchange with Python; cast it to string or keep only other columns",
                column=field.name,
                type=field.dataType.simpleString(),
            )


def _types(kind: DataType) -> Iterator[DataType]:
    """A type and all the types inside it."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    inside: Iterable[DataType] = ()
    if isinstance(kind, StructType):
        inside = (field.dataType for field in kind.fields)
    elif isinstance(kind, ArrayType):
        inside = (kind.elementType,)
    elif isinstance(kind, MapType):
        inside = (kind.keyType, kind.valueType)
    yield kind
    for each in inside:
        yield from _types(each)
