"""``match``: events in a DataFrame, batch or streaming, with the subscriptions that they match.

The work is a ``mapInArrow``, which runs the same on classic Spark and Spark Connect, in batches
and in streams. The caller's session is used as it is: nothing of it is read, set or replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from predicast.engine.asking import OnInvalid, checked_time
from predicast.errors import (
    ColumnClashError,
    InvalidOptionError,
    UnknownColumnError,
    UnsupportedColumnError,
)
from predicast.matching.batches.interval_columns import Ends, IntervalColumns
from predicast.spark.compiled import AnySubscriptions, CompiledSubscriptions
from predicast.spark.compiled import compile as compiled_from
from predicast.spark.compiled_patterns import CompiledPatterns
from predicast.spark.event_schemas import say_which
from predicast.spark.matching_graphs import (
    COLUMN,
    matched_graphs,
    refuse_absent,
    shipped_texts,
)
from predicast.spark.options import check_choice, refuse_options
from predicast.spark.partitioned import matched_field, matched_in_shards
from predicast.spark.plain_join import plainly_joined
from predicast.spark.portable import portable
from predicast.spark.schemas import Schema
from predicast.spark.shipping import Shipment, check_frame, ship

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from predicast.spark.answers import Asked

Output: TypeAlias = Literal["rows", "array", "pairs"]
_ARRIVAL: Final = "=now()"  # under such a name no attribute of an event is read
How: TypeAlias = Literal["inner", "left", "anti"]


def match(  # noqa: PLR0913  # options of the public interface, all by name
    events: DataFrame,
    subscriptions: AnySubscriptions,
    *,
    event_id: str | None = None,
    columns: Sequence[str] | None = None,
    intervals: IntervalColumns | None = None,
    output: Output = "rows",
    how: How = "inner",
    on_invalid: OnInvalid = "raise",
    now: datetime | str | None = None,
    column: str | None = None,
    format: str | None = None,
) -> DataFrame:
    """The events of a DataFrame with the subscriptions that they match.

    ``output``: ``"rows"`` adds a column ``subscription`` and gives one row per match, ``"array"``
    adds a column ``subscriptions`` (a sorted array) and keeps one row per event, ``"pairs"``
    gives rows of ``event_id`` and ``subscription`` only. ``how``: ``"inner"`` gives events that
    match something, ``"left"`` all of them (with a null or an empty array), ``"anti"`` those that
    match nothing, without an added column.

    ``columns`` names the columns to keep; ``event_id`` is kept in any case. ``intervals={"x":
    ("x_min", "x_max")}`` makes region events: two columns hold the ends of an attribute, and two
    more may say whether each is open. ``intervals={"x": "box"}`` names a column of intervals, a
    ``struct<lo, hi>`` or ``struct<lo, hi, lo_open, hi_open>``; under an attribute's own name such a
    struct is one without being named.
    Subscriptions that are not compiled are compiled by this call.

    ``on_invalid`` says what becomes of an event with a value that cannot be compared, such as a
    NaN: the job fails, or the value is taken for absent, or the event is skipped and matches
    nothing; workers log how many. ``now`` is when events arrive, for subscriptions that ask
    ``now()``: a time, or the name of a column; unless given, Spark's own ``current_timestamp()``,
    one for the whole query, or for each micro-batch of a stream.

    If subscriptions are graph patterns (``CompiledPatterns``, or a ``GraphEngine``), ``column``
    names the column of the events, ``"graph"`` unless given: RDF texts, or JSON. ``format`` is
    that of the texts, if they are not to tell themselves. A text that is no event is invalid, and
    the job fails or the event is skipped; ``dead_letters`` finds such events.
    """
    _check(event_id, columns, output, how)
    check_frame(events)
    check_choice("on_invalid", on_invalid, ("raise", "absent", "skip"))
    compiled = compiled_from(subscriptions)
    schema = Schema(events.schema)
    kept = _kept(schema, event_id, [] if output == "pairs" else columns)
    if how == "anti" and not kept:
        raise InvalidOptionError("how='anti' adds no column, so keep some", option="columns")
    added = "subscriptions" if output == "array" else "subscription"
    if how != "anti":
        schema.check_free(kept, added)
    if isinstance(compiled, CompiledPatterns):
        refuse_options("events are graphs", intervals=intervals, now=now)
        refuse_absent(on_invalid)
        shipment = shipped_texts(events, schema, kept, column or COLUMN)
        skips = on_invalid == "skip"
        result = matched_graphs(shipment, compiled, how, format, skips_invalid=skips)
    else:
        refuse_options("these are not graph patterns", column=column, format=format)
        intervals = intervals_in(schema, compiled, intervals)
        shipment = shipped(events, schema, kept, compiled, intervals, now)
        plain = compiled.placement.plain
        if plain is not None and on_invalid == "raise" and output != "array" and not intervals:
            joined = plainly_joined(shipment, schema, plain, how)
            if joined is not None:
                return shipment.named(joined, *([] if how == "anti" else [added]))
        asked = _asked(compiled, intervals, on_invalid, in_order=output == "array")
        if compiled.placement.shards:
            result = matched_in_shards(shipment, compiled, asked, how, output)
        else:
            result = _matched(shipment, compiled, asked, how)
    if how == "anti":
        return shipment.named(result)
    if output == "array":
        return shipment.named(result, added)
    return shipment.named(_exploded(result, how), added)


def with_matches(
    subscriptions: AnySubscriptions,
    *,
    event_id: str | None = None,
    columns: Sequence[str] | None = None,
    intervals: IntervalColumns | None = None,
    output: Output = "array",
    how: How = "left",
    on_invalid: OnInvalid = "raise",
    now: datetime | str | None = None,
    column: str | None = None,
    format: str | None = None,
) -> Callable[[DataFrame], DataFrame]:
    """A function for ``events.transform(...)`` that adds the column ``subscriptions``.

    The options are those of ``match``, with defaults that keep every event in one row.
    Subscriptions are compiled now, once, however many DataFrames the function is applied to.
    """
    _check(event_id, columns, output, how)
    compiled = compiled_from(subscriptions)

    def added(events: DataFrame) -> DataFrame:
        return match(
            events,
            compiled,
            event_id=event_id,
            columns=columns,
            intervals=intervals,
            output=output,
            how=how,
            on_invalid=on_invalid,
            now=now,
            column=column,
            format=format,
        )

    return added


def intervals_in(
    schema: Schema, compiled: CompiledSubscriptions, given: IntervalColumns | None
) -> Ends:
    """The given intervals, and the structs that are one of what subscriptions look at."""
    names = schema.providing(compiled.attributes, compiled.given_by, given)
    return schema.intervals(names, given)


def shipped(
    events: DataFrame,
    schema: Schema,
    kept: Sequence[int],
    compiled: CompiledSubscriptions,
    intervals: Ends,
    now: datetime | str | None,
) -> Shipment:
    """What is sent to workers: the kept columns, and what subscriptions look at."""
    clock = _clock(schema, now) if compiled.asks_for_now else {}
    try:
        names = schema.providing(compiled.attributes, compiled.given_by, intervals)
        leaves = schema.leaves(names, intervals)
    except (UnknownColumnError, UnsupportedColumnError, ColumnClashError) as error:
        say_which(error, compiled)
        raise
    return ship(events, schema, kept, leaves, clock)


def arrival_of(compiled: CompiledSubscriptions) -> str | None:
    """The attribute under which workers find when an event arrives, if anybody asks."""
    return _ARRIVAL if compiled.asks_for_now else None


def _clock(schema: Schema, now: datetime | str | None) -> dict[str, str]:
    """When events arrive, as an attribute of each: an expression of Spark's."""
    if now is None:
        return {_ARRIVAL: "current_timestamp()"}
    if not isinstance(now, str):
        return {_ARRIVAL: f"TIMESTAMP_LTZ '{checked_time(now)}'"}
    position = schema.position(now)
    type_name = schema.fields[position].dataType.simpleString()
    if type_name not in {"timestamp", "timestamp_ntz", "date"}:
        raise InvalidOptionError(
            f"now is a time or the name of a column of timestamps; {now!r} is of type {type_name}",
            option="now",
        )
    return {_ARRIVAL: f"c{position}"}


def _check(event_id: str | None, columns: Sequence[str] | None, output: Output, how: How) -> None:
    check_choice("output", output, ("rows", "array", "pairs"))
    check_choice("how", how, ("inner", "left", "anti"))
    if output != "pairs":
        return
    if event_id is None:
        raise InvalidOptionError(
            "output='pairs' needs event_id, the name of the column that identifies an event",
            option="event_id",
        )
    if columns is not None:
        raise InvalidOptionError(
            "output='pairs' keeps event_id and nothing else; use output='rows' with columns",
            option="columns",
        )


def _kept(schema: Schema, event_id: str | None, columns: Sequence[str] | None) -> list[int]:
    kept = schema.positions(columns)
    if event_id is not None:
        position = schema.position(event_id)
        if position not in kept:
            kept.insert(0, position)
    return kept


def _asked(
    compiled: CompiledSubscriptions, intervals: Ends, on_invalid: OnInvalid, *, in_order: bool
) -> Asked:
    from predicast.spark.answers import Asked  # PyArrow takes its time

    return Asked(intervals, on_invalid, arrival_of(compiled), in_order)


def _matched(
    shipment: Shipment,
    compiled: CompiledSubscriptions,
    asked: Asked,
    how: How,
) -> DataFrame:
    """Kept columns and, unless only the unmatched are wanted, ``matched``: an array of ids."""
    from predicast.spark.workers import AttributeReader, Matching

    reader = AttributeReader(shipment.sources, asked.intervals)
    kept = tuple(range(len(shipment.kept)))
    matching = Matching(compiled.image, reader, kept, how, asked)
    schema = shipment.schema() if how == "anti" else shipment.schema(matched_field())
    return shipment.columns.mapInArrow(portable(matching), schema)


def _exploded(result: DataFrame, how: How) -> DataFrame:
    """One row per id; with ``how="left"`` an event without any keeps a row."""
    rows = "explode_outer(matched)" if how == "left" else "explode(matched)"
    return result.selectExpr("* EXCEPT (matched)", f"{rows} AS matched")
