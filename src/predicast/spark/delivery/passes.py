"""The passes of a batch through Spark's workers: one, or two if subscriptions are in shards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from predicast.spark.compiled import CompiledSubscriptions
from predicast.spark.portable import portable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from predicast.spark.delivery.job import Job


def delivered(events: DataFrame, compiled: CompiledSubscriptions, job: Job) -> DataFrame:
    """Have events matched and delivered into drafts; the rows say what was done."""
    from predicast.spark.delivery.summary import summary_type
    from predicast.spark.delivery.worker import Delivering, DeliveringShards

    shards = compiled.placement.shards
    if not shards:
        return events.mapInArrow(portable(Delivering(compiled.image, job)), summary_type())
    placed = _routed(events, compiled, job).repartitionById(len(shards), "shard")
    task = DeliveringShards(tuple(shard.image for shard in shards), job)
    return placed.mapInArrow(portable(task), summary_type())


def _routed(events: DataFrame, compiled: CompiledSubscriptions, job: Job) -> DataFrame:
    """Each event once for every shard that it visits, and a summary of each task."""
    from pyspark.sql.types import ArrayType, BinaryType, IntegerType, StructField, StructType

    from predicast.spark.delivery.worker import RoutingDeliveries

    router = compiled.placement.router
    assert router is not None
    sent = [StructField(each.name, each.dataType) for each in events.schema.fields]
    numbers = ArrayType(IntegerType(), containsNull=False)
    added = [
        StructField("shards", numbers, nullable=False),
        StructField("summary", BinaryType()),
    ]
    task = portable(RoutingDeliveries(router, job))
    routed = events.mapInArrow(task, StructType([*sent, *added]))
    return routed.selectExpr("* EXCEPT (shards)", "explode(shards) AS shard")
