"""What of the events is sent to Python, and how it comes back.

Sent are the columns that the result keeps and the attributes that subscriptions look at, nothing
else: of a struct that is not kept only the fields in question. On the way columns go by position
(``k0``, ``k1``, ...), because names with dots, spaces or doubles mislead Spark's resolution; the
result gets the names back. Events that are sent as they are, under plain names, keep them: on
classic Spark each name that is given to a column is a call to Java.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.errors import UnsupportedColumnError, UnsupportedTableError
from predicast.spark.schemas import LeafField, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructField, StructType


# What is added to events on the way.
_OURS: Final = frozenset(
    {"matched", "number", "shard", "shards", "summary", "is_event"}
    | {"outcomes", "line", "depth", "part", "value", "held", "reason"}
)


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
    names: tuple[str, ...]  # of the kept ones, on the way

    def schema(self, *added: StructField) -> StructType:
        """The schema of what workers send back: the kept columns, and those they add."""
        from pyspark.sql.types import StructField, StructType

        kept = [
            StructField(name, carried(field.dataType), field.nullable, field.metadata)
            for name, field in zip(self.names, self.kept, strict=True)
        ]
        return StructType([*kept, *added])

    def named(self, result: DataFrame, *added: str) -> DataFrame:
        """The result under the names that the events' columns had, and those of the added ones."""
        kinds = {name: f.dataType for name, f in zip(self.names, self.kept, strict=True)}
        result = _cast(result, {name: k for name, k in kinds.items() if carried(k) != k})
        back = tuple(field.name for field in self.kept)
        if back != self.names:
            return result.toDF(*back, *added)
        for was, name in zip(result.columns[len(back) :], added, strict=True):
            result = result.withColumnRenamed(was, name)
        return result


def check_frame(events: object) -> None:
    """Refuse events that are no DataFrame of Spark's, before anything is made of them."""
    from pyspark.sql import DataFrame

    if isinstance(events, DataFrame):
        return
    given = f"{type(events).__module__}.{type(events).__qualname__}"
    hint = "" if events is None else "; spark.createDataFrame(events) makes one"
    raise UnsupportedTableError(f"events are a Spark DataFrame, not {given}{hint}", type=given)


def ship(
    events: DataFrame,
    schema: Schema,
    kept: Sequence[int],
    leaves: Mapping[str, LeafField],
    computed: Mapping[str, str] | None = None,
) -> Shipment:
    """Choose what to send of the events; ``computed`` are attributes that Spark computes, where
    columns are called by position (``c0``).

    As text, not as columns: each of those is several calls to Java, of a wide frame thousands.
    """
    places = {position: number for number, position in enumerate(kept)}
    sent = [f"c{position}" for position in kept]
    kinds = [schema.fields[position].dataType for position in kept]
    for position in kept:
        _check_carried(schema.fields[position])
    sources = []
    for attribute, leaf in leaves.items():
        column = schema.fields[leaf.column]
        if leaf.column not in places and not is_told_apart(column.dataType, leaf.path):
            _check_carried(column)
            places[leaf.column] = len(sent)
            sent.append(f"c{leaf.column}")
            kinds.append(column.dataType)
        if leaf.column in places:
            sources.append(Source(attribute, places[leaf.column], leaf.path))
        else:
            sources.append(Source(attribute, len(sent), ()))
            sent.append(".".join([f"c{leaf.column}", *map(quoted, leaf.fields)]))
            kinds.append(leaf.type)
    for attribute, expression in (computed or {}).items():
        sources.append(Source(attribute, len(sent), ()))
        sent.append(expression)
    fields = tuple(schema.fields[position] for position in kept)
    if sent == [f"c{position}" for position in range(len(schema.fields))]:
        names = _names_on_the_way(schema)
        result = events if names == events.columns else events.toDF(*names)
    else:
        names = [f"k{number}" for number in range(len(sent))]
        by_position = events.toDF(*(f"c{position}" for position in range(len(schema.fields))))
        # Without any column an Arrow batch has no rows.
        chosen = [f"{each} AS k{number}" for number, each in enumerate(sent or ["TRUE"])]
        result = by_position.selectExpr(*chosen)
    plain = {name: carried(k) for name, k in zip(names, kinds, strict=False) if carried(k) != k}
    return Shipment(_cast(result, plain), fields, tuple(sources), tuple(names[: len(fields)]))


def _names_on_the_way(schema: Schema) -> list[str]:
    """What all columns are called: as they are, or by position."""
    names = [field.name for field in schema.fields]
    told_apart = {name.casefold() for name in names} - _OURS
    if len(told_apart) == len(names) and all(map(str.isidentifier, names)):
        return names
    return [f"k{position}" for position in range(len(names))]


def _cast(frame: DataFrame, kinds: Mapping[str, DataType]) -> DataFrame:
    """The frame with some columns in other types."""
    from pyspark.sql.functions import col

    if not kinds:
        return frame
    return frame.withColumns({name: col(name).cast(kind) for name, kind in kinds.items()})


def quoted(name: str) -> str:
    """A name as it stands in Spark's texts."""
    return "`" + name.replace("`", "``") + "`"


def is_told_apart(kind: DataType, path: Sequence[int]) -> bool:
    """Whether Spark can find a field by name, which it may look for in upper and lower case."""
    from pyspark.sql.types import StructType

    for place in path:
        assert isinstance(kind, StructType)
        names = [field.name.casefold() for field in kind.fields]
        if names.count(names[place]) > 1:
            return False
        kind = kind.fields[place].dataType
    return True


def carried(kind: DataType) -> DataType:
    """The type in which a column is sent: Spark has no char or varchar for Python."""
    from pyspark.sql.types import (
        ArrayType,
        CharType,
        MapType,
        StringType,
        StructField,
        StructType,
        VarcharType,
    )

    if isinstance(kind, CharType | VarcharType):
        return StringType()
    if isinstance(kind, ArrayType):
        return ArrayType(carried(kind.elementType), kind.containsNull)
    if isinstance(kind, MapType):
        return MapType(carried(kind.keyType), carried(kind.valueType), kind.valueContainsNull)
    if isinstance(kind, StructType):
        return StructType(
            [StructField(f.name, carried(f.dataType), f.nullable, f.metadata) for f in kind.fields]
        )
    return kind


def _check_carried(field: StructField) -> None:
    """Refuse a kept column that Spark cannot send through Arrow."""
    for kind in types_in(field.dataType):
        if kind.typeName() in {"yearmonthinterval", "calendarinterval", "interval"}:
            raise UnsupportedColumnError(
                f"column {field.name!r} is of type {field.dataType.simpleString()}, which Spark "
                "cannot exchange with Python; cast it to string or keep only other columns",
                column=field.name,
                type=field.dataType.simpleString(),
            )


def types_in(kind: DataType) -> Iterator[DataType]:
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
        yield from types_in(each)
