"""Which columns of the events deliveries and dead letters have.

Deliveries have those that were asked for, dead letters all, since nobody knows which of them are to
blame. All is found out from the schema, before the stream starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from predicast.errors import ColumnClashError, UnsupportedColumnError
from predicast.spark.schemas import Schema
from predicast.spark.shipping import carried, types_in

if TYPE_CHECKING:
    from pyspark.sql.types import StructField, StructType

    from predicast.spark.delivery.drafts import Content
    from predicast.spark.delivery.job import Output

# What Parquet has no type for, or what would come out as something else.
_NOT_STORED: Final = {
    "void": "it has nothing but nulls; leave it out",
    "variant": "to_json makes a string of it",
    "geometry": "st_asbinary makes bytes of it",
    "geography": "st_asbinary makes bytes of it",
    "daytimeinterval": "cast it to string",
    "interval": "cast it to string",
    "yearmonthinterval": "cast it to string",
    "calendarinterval": "cast it to string",
}


class DeliveryColumns:
    """The columns that are kept, by position, and what they are called."""

    def __init__(
        self,
        events: StructType,
        *,
        columns: Sequence[str] | None,
        unreadable: str | None,
        has_dead_letters: bool,
        output: Output,
    ) -> None:
        self.schema = Schema(events)
        apart = None if unreadable is None else self.schema.position(unreadable)
        wanted = [position for position in self.schema.positions(columns) if position != apart]
        self.schema.check_free(wanted, _added("deliveries", output))
        everything = list(range(len(self.schema.fields)))
        if has_dead_letters:
            self.schema.check_free(everything, _added("dead letters", output))
        kept = everything if has_dead_letters else [*wanted]
        if apart is not None and apart not in kept:
            kept.append(apart)
        self._fields = [self.schema.fields[position] for position in kept]
        self._check()
        self.kept: tuple[int, ...] = tuple(kept)
        self.names: tuple[str, ...] = tuple(field.name for field in self._fields)
        self.delivered: tuple[int, ...] = tuple(kept.index(position) for position in wanted)
        self.unreadable: int | None = None if apart is None else kept.index(apart)

    def struct(self, content: Content, output: Output) -> StructType:
        """The schema of what is delivered, as Spark has it."""
        from pyspark.sql.types import ArrayType, DataType, StringType, StructField, StructType

        fields = self._fields
        added: DataType = StringType()
        if content == "deliveries":
            fields = [self._fields[place] for place in self.delivered]
            added = ArrayType(StringType()) if output == "array" else added
        kept = [StructField(field.name, carried(field.dataType)) for field in fields]
        return StructType([*kept, StructField(_added(content, output), added)])

    def _check(self) -> None:
        """Refuse columns that files cannot have."""
        seen: dict[str, StructField] = {}
        for field in self._fields:
            other = seen.setdefault(field.name.casefold(), field)
            if other is not field:
                raise ColumnClashError(
                    f"columns {other.name!r} and {field.name!r} are of one name, as Spark reads "
                    "files; rename one of them",
                    column=field.name,
                )
            for kind in types_in(field.dataType):
                hint = _NOT_STORED.get(kind.typeName().partition(" ")[0])
                if hint is not None:
                    shown = field.dataType.simpleString()
                    raise UnsupportedColumnError(
                        f"column {field.name!r} is of type {shown}, which cannot be delivered as "
                        f"it is: {hint}",
                        column=field.name,
                        type=shown,
                    )


def _added(content: Content, output: Output) -> str:
    """The column that is added to those of the events."""
    if content == "dead letters":
        return "reason"
    return "subscriptions" if output == "array" else "subscription"
