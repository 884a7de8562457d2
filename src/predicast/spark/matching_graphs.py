"""``match`` where events are graphs: a column of RDF texts, or of JSON, read by an ontology."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from predicast.engine.asking import OnInvalid
from predicast.errors import InvalidOptionError, UnsupportedColumnError
from predicast.spark.options import check_choice
from predicast.spark.partitioned import matched_field
from predicast.spark.portable import portable
from predicast.spark.schemas import LeafField, Schema
from predicast.spark.shipping import Shipment, check_frame, ship

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from predicast.graph import GraphEngine
    from predicast.spark.compiled_patterns import CompiledPatterns

COLUMN: Final = "graph"


def dead_letters(
    events: DataFrame,
    subscriptions: CompiledPatterns | GraphEngine,
    *,
    column: str = COLUMN,
    format: str | None = None,
) -> DataFrame:
    """The events of a DataFrame whose graphs cannot be read, with a column ``reason``.

    They are those that ``match`` with ``on_invalid="skip"`` passes over. Rows without a text
    are not among them: they match nothing, and nothing is wrong with them.
    """
    from pyspark.sql.types import StringType, StructField

    from predicast.spark.compiled import compile as compiled_from
    from predicast.spark.graph_answers import AskedOfGraphs
    from predicast.spark.graph_workers import FindingDeadLetters

    check_frame(events)
    compiled = compiled_from(subscriptions)
    schema = Schema(events.schema)
    kept = schema.positions(None)
    schema.check_free(kept, "reason")
    shipment = shipped_texts(events, schema, kept, column)
    asked = AskedOfGraphs(checked_format(format), compiled.validate)
    task = FindingDeadLetters(compiled.image, _place(shipment), tuple(range(len(kept))), asked)
    result = shipment.schema(StructField("reason", StringType(), nullable=False))
    return shipment.named(shipment.columns.mapInArrow(portable(task), result), "reason")


def matched_graphs(
    shipment: Shipment,
    compiled: CompiledPatterns,
    how: str,
    format: str | None,
    *,
    skips_invalid: bool,
) -> DataFrame:
    """Kept columns and, unless only the unmatched are wanted, ``matched``: an array of ids."""
    from predicast.spark.graph_answers import AskedOfGraphs
    from predicast.spark.graph_workers import MatchingGraphs

    asked = AskedOfGraphs(checked_format(format), compiled.validate, skips_invalid)
    kept = tuple(range(len(shipment.kept)))
    task = MatchingGraphs(compiled.image, _place(shipment), kept, how, asked)
    schema = shipment.schema() if how == "anti" else shipment.schema(matched_field())
    return shipment.columns.mapInArrow(portable(task), schema)


def explained_graphs(
    shipment: Shipment, compiled: CompiledPatterns, id: str, format: str | None, schema: StructType
) -> DataFrame:
    """Kept columns, and how it went with a pattern: an array of what ``workers.OUTCOMES`` holds."""
    from predicast.spark.graph_workers import ExplainingGraphs

    task = ExplainingGraphs(
        compiled.image, id, _place(shipment), len(shipment.kept), checked_format(format)
    )
    return shipment.columns.mapInArrow(portable(task), schema)


def shipped_texts(events: DataFrame, schema: Schema, kept: Sequence[int], column: str) -> Shipment:
    """What is sent to workers: the kept columns, and the texts."""
    position = schema.position(column)
    kind = schema.fields[position].dataType
    name = kind.simpleString()
    if name != "string" and not name.startswith(("char(", "varchar(")):
        made = "to_json makes texts of structs" if name.startswith(("struct", "map")) else "cast it"
        raise UnsupportedColumnError(
            f"the column {column!r} is of type {name}; events that are graphs are texts: {made}",
            column=column,
            type=name,
        )
    return ship(events, schema, kept, {column: LeafField(position, (), (), kind)})


def refuse_absent(on_invalid: OnInvalid) -> None:
    """Refuse what only attributes can be."""
    if on_invalid == "absent":
        raise InvalidOptionError(
            "a graph that cannot be read has nothing that could be absent; on_invalid is 'raise' "
            "or 'skip'",
            option="on_invalid",
        )


def checked_format(format: str | None) -> str | None:
    """Refuse a format that there is not, before any job starts."""
    from predicast.graph.rdf_text import FORMATS

    if format is not None:
        check_choice("format", format, [*FORMATS, "json"])
    return format


def _place(shipment: Shipment) -> int:
    (source,) = shipment.sources
    return source.column
