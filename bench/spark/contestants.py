"""The jobs that are compared: each a DataFrame over the same events, and where it goes.

A join on the category looks at every pair of one category, a cross join at every pair: where that
takes too long they get samples of the events, and what all would take is worked out from those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from predicast import spark as ps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from predicast.spark import CompiledSubscriptions

ROWS: Final = "match to rows"
PARQUET: Final = "match to Parquet"
COLUMN: Final = "matches as a column"
IDENTITY: Final = "identity mapInArrow"
ALONE: Final = "match_arrow, one thread"
EQUI_JOIN: Final = "broadcast equi-join"
CROSS_JOIN: Final = "cross join"


@dataclass(frozen=True)
class Frames:
    """What jobs are made of, in one session."""

    subscriptions: DataFrame  # subscription, wanted, low, high
    compiled: CompiledSubscriptions


@dataclass(frozen=True)
class Contestant:
    """A job over events."""

    name: str
    job: Callable[[DataFrame, Frames], DataFrame]
    matched: str | None  # the column that counts as matches: an id, or an array of them
    to_parquet: bool = False


def _rows(events: DataFrame, frames: Frames) -> DataFrame:
    return ps.match(events, frames.compiled)


def _column(events: DataFrame, frames: Frames) -> DataFrame:
    ids = ps.matches("category", "price", subscriptions=frames.compiled)
    return events.withColumn("subscriptions", ids)


def _identity(events: DataFrame, _: Frames) -> DataFrame:
    return events.mapInArrow(lambda batches: batches, events.schema)


def _equi_join(events: DataFrame, frames: Frames) -> DataFrame:
    from pyspark.sql.functions import broadcast, col

    wanted = col("category") == col("wanted")
    within = col("price").between(col("low"), col("high"))
    joined = events.join(broadcast(frames.subscriptions), wanted & within)
    return joined.select(*events.columns, "subscription")


def _cross_join(events: DataFrame, frames: Frames) -> DataFrame:
    from pyspark.sql.functions import broadcast, col

    # Spark would make a hash join of an equality; this says the same and leaves no key to hash.
    wanted = (col("category") <= col("wanted")) & (col("category") >= col("wanted"))
    within = col("price").between(col("low"), col("high"))
    joined = events.join(broadcast(frames.subscriptions), wanted & within)
    return joined.select(*events.columns, "subscription")


CONTESTANTS: Final = (
    Contestant(ROWS, _rows, "subscription"),
    Contestant(PARQUET, _rows, "subscription", to_parquet=True),
    Contestant(COLUMN, _column, "subscriptions"),
    Contestant(IDENTITY, _identity, None),
    Contestant(EQUI_JOIN, _equi_join, "subscription"),
    Contestant(CROSS_JOIN, _cross_join, "subscription"),
)
