"""The pipeline: the same matching over Spark DataFrames, batch and streaming.

Importing this package imports neither PySpark nor Java.
"""

from predicast.spark.columns import matches, matches_udf
from predicast.spark.compiled import (
    CompiledSubscriptions,
    InvalidSubscription,
    compile,  # noqa: A004  # the verb of the public interface, always qualified: spark.compile
)
from predicast.spark.explaining import explain
from predicast.spark.matching import match, with_matches
from predicast.spark.placement import Partition, Placement, Shard
from predicast.spark.subscription_table import SubscriptionTable, TableView

__all__ = [
    "CompiledSubscriptions",
    "InvalidSubscription",
    "Partition",
    "Placement",
    "Shard",
    "SubscriptionTable",
    "TableView",
    "compile",
    "explain",
    "match",
    "matches",
    "matches_udf",
    "with_matches",
]
