"""``explain``: why one subscription matches each event of a DataFrame, or why not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from predicast.engine.asking import checked_time
from predicast.engine.derivation import Derivation
from predicast.engine.judging import wording_of_entry
from predicast.language.class_tests import reading_with
from predicast.matching.batches.interval_columns import IntervalColumns
from predicast.spark.compiled import AnySubscriptions
from predicast.spark.compiled import compile as compiled_from
from predicast.spark.compiled_patterns import CompiledPatterns
from predicast.spark.matching_graphs import COLUMN, explained_graphs, shipped_texts
from predicast.spark.options import refuse_options
from predicast.spark.portable import portable
from predicast.spark.schemas import Schema
from predicast.spark.shipping import Shipment, check_frame, ship

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_ADDED: Final = ("line", "depth", "part", "value", "held", "reason", "matched")


def explain(
    events: DataFrame,
    subscriptions: AnySubscriptions,
    id: str,
    *,
    event_id: str | None = None,
    intervals: IntervalColumns | None = None,
    now: datetime | None = None,
    column: str | None = None,
    format: str | None = None,
) -> DataFrame:
    """One row per event and part of what the subscription ``id`` says, with how it went.

    The parts are those of the text, if the subscription was given as one and was compiled without
    a ``time_zone``, in which it may mean something else than by itself; otherwise of its clauses.

    Added to the events' columns, or to ``event_id`` alone if it is given, are ``line`` (from
    1), ``depth`` (how far inside), ``part`` (a test, or AND, OR, NOT, whose own parts follow),
    ``value`` (what a test saw, as text; null if absent), ``held`` (null if it is neither true nor
    false), ``reason`` (what the value alone does not tell) and ``matched`` (the whole of it).
    ``now()`` is the time given, or else that of this call.

    If subscriptions are graph patterns, ``column`` and ``format`` are as in ``match``. The first
    row of an event is then about the pattern as a whole; inside it, a row for each variable has the
    vertex it was mapped to, and the last one what nothing satisfied.
    """
    check_frame(events)
    compiled = compiled_from(subscriptions)
    compiled.entry(id)  # refuses what is none
    schema = Schema(events.schema)
    kept = schema.positions(None if event_id is None else [event_id])
    schema.check_free(kept, *_ADDED)
    if isinstance(compiled, CompiledPatterns):
        refuse_options("events are graphs", intervals=intervals, now=now)
        shipment = shipped_texts(events, schema, kept, column or COLUMN)
        explained = explained_graphs(shipment, compiled, id, format, _schema(shipment))
        return _flat(explained, shipment)
    refuse_options("these are not graph patterns", column=column, format=format)
    entry = compiled.entry(id)
    subscription = entry.subscription
    attributes = subscription.attributes()
    looked_at = Derivation(attributes).read(attributes)
    read = schema.providing(sorted(looked_at), compiled.given_by, intervals)
    intervals = schema.intervals(read, intervals)
    shipment = ship(events, schema, kept, schema.leaves(read, intervals))

    from predicast.spark.workers import AttributeReader, Explaining

    reader = AttributeReader(shipment.sources, intervals)
    vocabulary = compiled.vocabulary
    with reading_with(vocabulary):
        wording = wording_of_entry(entry)
    at = checked_time(now) or datetime.now(UTC)
    about = id, subscription, wording, compiled.absent
    explaining = Explaining(*about, reader, len(kept), at, vocabulary)

    explained = shipment.columns.mapInArrow(portable(explaining), _schema(shipment))
    return _flat(explained, shipment)


def _schema(shipment: Shipment) -> StructType:
    """Kept columns, an array of what ``workers.OUTCOMES`` holds, and ``matched``."""
    from pyspark.sql.types import ArrayType, BooleanType, IntegerType, StringType, StructType

    outcome = (
        StructType()
        .add("line", IntegerType(), nullable=False)
        .add("depth", IntegerType(), nullable=False)
        .add("part", StringType(), nullable=False)
        .add("value", StringType())
        .add("held", BooleanType())
        .add("reason", StringType())
    )
    outcomes = ArrayType(outcome, containsNull=False)
    return (
        shipment.schema()
        .add("outcomes", outcomes, nullable=False)
        .add("matched", BooleanType(), nullable=False)
    )


def _flat(result: DataFrame, shipment: Shipment) -> DataFrame:
    """One row per outcome."""
    rows = result.selectExpr("* EXCEPT (outcomes, matched)", "inline(outcomes)", "matched")
    return shipment.named(rows, *_ADDED)
