"""Matching in shards: each event goes to the shards that it may match something in.

A first pass asks the router which shards those are; the event is sent to each of them, once; a
second pass matches it there. Nothing is lost or doubled: a subscription is in one shard, and
whatever matches it matches the shard's hull. What cannot be compared is found in the first pass:
the router looks at all that subscriptions look at.

Rows of matches come out as they are found. Whoever wants one row per event, or the events that
match nothing, waits until all that was found of an event has come together: in a stream there is no
such moment, so it is refused there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from predicast.errors import InvalidOptionError
from predicast.spark.compiled import CompiledSubscriptions
from predicast.spark.portable import portable
from predicast.spark.shipping import Shipment

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

    from predicast.spark.answers import Asked


def matched_in_shards(
    shipment: Shipment, compiled: CompiledSubscriptions, asked: Asked, how: str, output: str
) -> DataFrame:
    """Kept columns and, unless only the unmatched are wanted, ``matched``: an array of ids."""
    from pyspark.sql.types import LongType, StructField

    from predicast.spark.workers import AttributeReader, MatchingShards

    together = how != "inner" or output == "array"
    if together and shipment.columns.isStreaming:
        raise InvalidOptionError(
            "in a stream, subscriptions in shards give rows of matches alone: use output='rows' or "
            "'pairs' with how='inner', or compile with strategy='replicate'",
            option="output" if how == "inner" else "how",
        )
    shards = compiled.placement.shards
    kept = tuple(range(len(shipment.kept)))
    number: list[StructField] = []
    sent = shipment.columns
    if together:
        kept += (len(sent.columns),)
        number = [StructField("number", LongType(), nullable=False)]
        sent = sent.selectExpr("*", "monotonically_increasing_id() AS number")
    reader = AttributeReader(shipment.sources, asked.intervals)
    routed = _routed(sent, compiled, reader, asked, every=how != "inner")
    matching = MatchingShards(
        tuple(shard.image for shard in shards),
        reader,
        kept,
        "inner" if how == "inner" else "left",
        asked,
    )
    placed = routed.repartitionById(len(shards), "shard")
    schema = shipment.schema(*number, matched_field())
    found = placed.mapInArrow(portable(matching), schema)
    return _together(found, shipment.names, how) if together else found


def matched_field() -> StructField:
    """The ids that an event matches."""
    from pyspark.sql.types import ArrayType, StringType, StructField

    return StructField("matched", ArrayType(StringType(), containsNull=False), nullable=False)


def _routed(
    sent: DataFrame, compiled: CompiledSubscriptions, reader: Any, asked: Asked, *, every: bool
) -> DataFrame:
    """Each event once for every shard that it visits; if every one is to be kept, for none."""
    from pyspark.sql.types import ArrayType, IntegerType, StructField, StructType

    from predicast.spark.workers import Routing

    router = compiled.placement.router
    assert router is not None
    numbers = StructField("shards", ArrayType(IntegerType(), containsNull=False), nullable=False)
    schema = StructType([*sent.schema.fields, numbers])
    routed = sent.mapInArrow(portable(Routing(router, reader, asked)), schema)
    visits = "explode_outer(shards)" if every else "explode(shards)"
    return routed.selectExpr("* EXCEPT (shards)", f"{visits} AS shard")


def _together(found: DataFrame, names: Sequence[str], how: str) -> DataFrame:
    """What was found of an event in several shards, in one row."""
    from pyspark.sql import functions as sf

    ids = sf.array_sort(sf.flatten(sf.collect_list("matched")))
    # A struct is never null, whatever its fields are; without any there is nothing to take.
    event = sf.first(sf.struct(*names, sf.lit(True).alias("is_event"))).alias("event")
    whole = found.groupBy("number").agg(event, ids.alias("matched"))
    if how == "anti":
        whole = whole.where("size(matched) = 0")
    columns = [f"event.`{name}` AS `{name}`" for name in names]
    return whole.selectExpr(*columns, *([] if how == "anti" else ["matched"]))
