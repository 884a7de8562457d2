"""``region_join``: two frames of regions, and which of one meet which of the other.

A region is an interval on each of some attributes: ``struct<lo, hi>``, both ends closed, or
``struct<lo, hi, lo_open, hi_open>``; a null end is unbounded. Two regions meet if they have a point
in common on every attribute; regions that only touch do so if both ends are closed there.

Regions of the one frame are subscriptions like any others, and those of the other are region
events: so what meets is decided by the model alone, integers and microseconds included. The cells
that such joins are usually made by are the shards of ``placement.py``, which are cut where
subscriptions are, and not on a grid that somebody has to choose.

Cost: the frame of subscriptions passes through the driver, some ten microseconds each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

from predicast.errors import InvalidOptionError, UnsupportedColumnError
from predicast.model import Clause, Constraint, Operator, Subscription
from predicast.spark.compiled import CompiledSubscriptions
from predicast.spark.compiled import compile as compiled_from
from predicast.spark.matching import How, Output, match
from predicast.spark.placement import Strategy
from predicast.spark.schemas import Schema
from predicast.spark.shipping import check_frame

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def region_join(
    publications: DataFrame,
    subscriptions: DataFrame,
    *,
    on: Sequence[str],
    id: str = "id",
    event_id: str | None = None,
    columns: Sequence[str] | None = None,
    output: Output = "rows",
    how: How = "inner",
    strategy: Strategy = "auto",
) -> DataFrame:
    """The publications with the subscriptions whose regions they meet.

    ``on`` names the attributes, each a column of intervals in both frames; ``id`` the column of
    the subscriptions that tells them apart. A publication without an interval on an attribute meets
    only subscriptions that have none there either. The other options are those of ``match`` and,
    for the last, of ``compile``; the result is that of ``match``, so that a join on the id
    adds whatever else there is to know of a subscription.
    """
    check_frame(publications)
    check_frame(subscriptions)
    compiled = compiled_regions(subscriptions, on=on, id=id, strategy=strategy)
    return match(publications, compiled, event_id=event_id, columns=columns, output=output, how=how)


def compiled_regions(
    subscriptions: DataFrame, *, on: Sequence[str], id: str, strategy: Strategy
) -> CompiledSubscriptions:
    """The regions of a frame as subscriptions."""
    if isinstance(on, str) or not on:
        raise InvalidOptionError(
            f"on is a list of attributes, such as ['x', 'y'], not {on!r}", option="on"
        )
    schema = Schema(subscriptions.schema)
    intervals = schema.intervals(on, None)
    for attribute in on:
        if attribute not in intervals:
            raise UnsupportedColumnError(
                f"column {attribute!r} of the subscriptions is no interval: it is a struct with "
                "the fields lo and hi and perhaps lo_open and hi_open",
                column=attribute,
                type=schema.fields[schema.position(attribute)].dataType.simpleString(),
            )
    schema.leaves(on, intervals)  # the ends are of types that events can hold
    by_position = subscriptions.toDF(*(f"c{place}" for place in range(len(schema.fields))))
    chosen = by_position.selectExpr(
        f"CAST(c{schema.position(id)} AS STRING) AS id",
        *(f"c{schema.position(name)} AS on{number}" for number, name in enumerate(on)),
    )
    return compiled_from(_regions(chosen.toArrow(), on), strategy=strategy)


def _regions(table: pa.Table, on: Sequence[str]) -> Iterator[tuple[str, Subscription]]:
    for id, *intervals in zip(*(column.to_pylist() for column in table.columns), strict=True):
        asked = zip(on, intervals, strict=True)
        bounds = [bound for name, interval in asked for bound in _bounds(name, interval or {})]
        yield id, Subscription((Clause(tuple(bounds)),))


def _bounds(attribute: str, interval: Mapping[str, Any]) -> Iterator[Constraint]:
    """What an interval asks of an attribute, if anything."""
    lo, hi = _value(interval.get("lo")), _value(interval.get("hi"))
    if lo is not None:
        yield Constraint(attribute, Operator.GT if interval.get("lo_open") else Operator.GE, lo)
    if hi is not None:
        yield Constraint(attribute, Operator.LT if interval.get("hi_open") else Operator.LE, hi)


def _value(end: Any) -> Any:
    """The end of an interval as events have it: what names no zone is in UTC."""
    if isinstance(end, datetime):
        return end if end.tzinfo is not None else end.replace(tzinfo=UTC)
    return datetime.combine(end, time(), UTC) if isinstance(end, date) else end
