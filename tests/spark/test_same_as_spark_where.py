"""The ``where`` dialect means what Spark means: many random expressions, one Spark job."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from predicast import spark as ps
from predicast.errors import TooManyClausesError
from predicast.language import parse_where
from tests.spark.expressions import SCHEMA, Generator

SEED = 20_260
EVENTS = 250
EXPRESSIONS = 300


def held_in_spark(events: DataFrame, expressions: list[str]) -> dict[int, set[int]]:
    """For each event the positions of the expressions that Spark itself finds true."""
    held = sf.array(*(sf.coalesce(sf.expr(f"({text})"), sf.lit(False)) for text in expressions))
    rows = events.select("event", held.alias("held")).collect()
    return {row.event: {n for n, yes in enumerate(row.held) if yes} for row in rows}


def readable(generator: Generator) -> str:
    """An expression whose normal form is within the limit."""
    while True:
        text = generator.expression()
        try:
            parse_where(text)
        except TooManyClausesError:
            continue
        return text


def test_expressions_hold_where_spark_says(spark: SparkSession) -> None:
    generator = Generator(SEED)
    events = spark.createDataFrame(generator.events(EVENTS), SCHEMA)
    expressions = [readable(generator) for _ in range(EXPRESSIONS)]
    matched = ps.match(
        events,
        {str(n): text for n, text in enumerate(expressions)},
        columns=["event"],
        output="array",
        how="left",
    ).collect()
    ours = {row.event: set(map(int, row.subscriptions)) for row in matched}
    theirs = held_in_spark(events, expressions)
    assert ours.keys() == theirs.keys()
    differing = {n for event in ours for n in ours[event] ^ theirs[event]}
    assert [expressions[n] for n in sorted(differing)] == []
