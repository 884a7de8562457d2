"""The pipeline: the same matching over Spark DataFrames, batch and streaming.

Importing this package imports neither PySpark nor Java.
"""

from predicast.spark.backtest import backtest
from predicast.spark.columns import match_udtf, matches, matches_udf
from predicast.spark.compiled import (
    CompiledSubscriptions,
    compile,  # noqa: A004  # the verb of the public interface, always qualified: spark.compile
)
from predicast.spark.compiled_patterns import CompiledPatterns
from predicast.spark.delivery.deliver import deliver
from predicast.spark.delivery.delta_sink import DeltaSink
from predicast.spark.delivery.running import Progress, RunningDelivery
from predicast.spark.delivery.sinks import KafkaSink, ParquetSink, Sink
from predicast.spark.explaining import explain
from predicast.spark.matching import match, with_matches
from predicast.spark.matching_graphs import dead_letters
from predicast.spark.placement import Partition, Placement, Shard
from predicast.spark.regions import region_join
from predicast.spark.subscription_table import SubscriptionTable, TableView
from predicast.spark.table_rows import InvalidSubscription

__all__ = [
    "CompiledPatterns",
    "CompiledSubscriptions",
    "DeltaSink",
    "InvalidSubscription",
    "KafkaSink",
    "ParquetSink",
    "Partition",
    "Placement",
    "Progress",
    "RunningDelivery",
    "Shard",
    "Sink",
    "SubscriptionTable",
    "TableView",
    "backtest",
    "compile",
    "dead_letters",
    "deliver",
    "explain",
    "match",
    "match_udtf",
    "matches",
    "matches_udf",
    "region_join",
    "with_matches",
]
