"""The ``where`` dialect means what Spark means: many random expressions, one Spark job."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from predicast import spark as ps
from tests.spark.conftest import meaning
from tests.spark.expressions import SCHEMA, Generator

pytestmark = meaning

SEED = 20_260
EVENTS = 250
EXPRESSIONS = 300


def held_in_spark(events: DataFrame, expressions: list[str]) -> dict[int, set[int]]:
    """For each event the positions of the expressions that Spark itself finds true."""
    held = sf.array(*(sf.coalesce(sf.expr(f"({text})"), sf.lit(False)) for text in expressions))
    rows = events.select("event", held.alias("held")).collect()
    return {row.event: {n for n, yes in enumerate(row.held) if yes} for row in rows}


def matched_in_spark(events: DataFrame, expressions: list[str]) -> dict[int, set[int]]:
    """The same as ``ps.match`` finds it."""
    subscriptions = {str(number): text for number, text in enumerate(expressions)}
    rows = ps.match(events, subscriptions, columns=["event"], output="array", how="left").collect()
    return {row.event: set(map(int, row.subscriptions)) for row in rows}


def test_expressions_hold_where_spark_says(spark: SparkSession) -> None:
    generator = Generator(SEED)
    events = spark.createDataFrame(generator.events(EVENTS), SCHEMA)
    expressions = [generator.expression() for _ in range(EXPRESSIONS)]
    ours = matched_in_spark(events, expressions)
    theirs = held_in_spark(events, expressions)
    assert ours.keys() == theirs.keys()
    differing = {n for event in ours for n in ours[event] ^ theirs[event]}
    assert [expressions[n] for n in sorted(differing)] == []
