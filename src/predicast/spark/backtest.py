"""``backtest``: what subscriptions would have matched in a DataFrame of events of the past.

It is ``Engine.backtest`` for histories that one machine does not hold, and gives the same
record. Events are matched where they are; what comes to the driver is a few rows for each
subscription. Which events are the samples is Spark's choice: those that differ in a hash of theirs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from predicast.engine import Engine
from predicast.engine.asking import OnInvalid
from predicast.engine.backtest import Backtest, Fired, State, Versions
from predicast.engine.bulk import Records
from predicast.errors import ColumnClashError, InvalidOptionError, PipelineError
from predicast.matching.batches.interval_columns import IntervalColumns
from predicast.model import Absent
from predicast.model.vocabulary import HasVocabulary
from predicast.spark.matching import match
from predicast.spark.shipping import check_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_EVENT: Final = "predicast_event"  # an event as JSON, beside what it matches
_BOTH: Final = "both"
_GAINED: Final = "gained"
_LOST: Final = "lost"
# The ids of an event's matches, without the sign that tells the versions apart.
_OF: Final = (
    "transform(filter(subscriptions, s -> startswith(s, '{sign}')), s -> substring(s, 2)) AS {name}"
)


def backtest(
    events: DataFrame,
    subscriptions: Engine | Records,
    *,
    against: Engine | Records | None = None,
    samples: int = 3,
    absent: Absent = "fails",
    on_invalid: OnInvalid = "raise",
    now: datetime | str | None = None,
    ontology: HasVocabulary | None = None,
    intervals: IntervalColumns | None = None,
) -> Backtest:
    """How often subscriptions would have fired in these events; gained and lost against others.

    Subscriptions are an engine, or what ``Engine.subscribe_many`` takes. Samples are what the JSON
    of events says. The other options are those of ``match``; the events are read twice, to match
    and to count them.
    """
    if type(samples) is not int or samples < 0:
        raise InvalidOptionError(
            f"samples is how many events are kept of each sort, not {samples!r}", option="samples"
        )
    check_frame(events)
    if _EVENT in events.columns:
        raise ColumnClashError(f"events may have no column {_EVENT!r}", column=_EVENT)
    if not isinstance(subscriptions, Engine):
        made = Engine(absent=absent, ontology=ontology)
        made.subscribe_many(subscriptions)
        subscriptions = made
    versions = Versions.of(subscriptions, against)
    matched = match(
        _with_text(events),
        versions.engine,
        columns=[_EVENT],
        output="array",
        on_invalid=on_invalid,
        now=now,
        intervals=intervals,
    )
    found = {id: Fired(id, state) for id, state in versions.states.items()}
    for row in _summed(matched, max(samples, 1)).collect():
        _add(found[row["id"]], row, samples, has_old=versions.has_old)
    return Backtest(events.count(), list(found.values()))


def backtest_path(
    session: SparkSession,
    path: str,
    format: str,
    options: Mapping[str, str],
    new: Engine,
    old: Engine | None,
    **asked: Any,
) -> Backtest:
    """The same of events that Spark finds under a path; if it finds none, it says so."""
    from pyspark.errors import PySparkException

    try:
        history = session.read.format(format).options(**options).load(path)
        return backtest(history, new, against=old, **asked)
    except PySparkException as error:
        raise PipelineError(f"{path}: {str(error).splitlines()[0]}") from error


def _with_text(events: DataFrame) -> DataFrame:
    from pyspark.sql import functions as sf

    columns = [sf.col(f"`{name.replace('`', '``')}`") for name in events.columns]
    return events.select("*", sf.to_json(sf.struct(*columns)).alias(_EVENT))


def _summed(matched: DataFrame, samples: int) -> DataFrame:
    """For each subscription and sort of match, how many there are and some of them."""
    from pyspark.sql import functions as sf

    by_version = matched.selectExpr(
        _EVENT, _OF.format(sign="+", name="new"), _OF.format(sign="-", name="old")
    )
    each = by_version.selectExpr(_EVENT, "new", "old", "explode(array_union(new, old)) AS id")
    sorts = each.selectExpr(
        "id",
        _EVENT,
        f"CASE WHEN NOT array_contains(old, id) THEN '{_GAINED}' "
        f"WHEN NOT array_contains(new, id) THEN '{_LOST}' ELSE '{_BOTH}' END AS sort",
        # Of each of so many groups one is a sample, so that no list of all is ever made.
        f"pmod(xxhash64({_EVENT}), {samples}) AS part",
    )
    parts = sorts.groupBy("id", "sort", "part").agg(
        sf.count("*").alias("number"), sf.first(_EVENT).alias("sample")
    )
    return parts.groupBy("id", "sort").agg(
        sf.sum("number").alias("number"), sf.collect_list("sample").alias("samples")
    )


def _add(into: Fired, row: Any, samples: int, *, has_old: bool) -> None:
    number, some = row["number"], list(map(json.loads, sorted(row["samples"])[:samples]))
    sort = row["sort"]
    if into.state is State.SAME:
        sort = _BOTH  # the one that is held stands for both
    if sort != _LOST:
        into.fired += number
        into.samples = (into.samples + some)[:samples]
    if has_old and sort != _GAINED:
        into.before += number
    if has_old and sort == _GAINED:
        into.gained += number
        into.gained_samples = some
    elif sort == _LOST:
        into.lost += number
        into.lost_samples = some
