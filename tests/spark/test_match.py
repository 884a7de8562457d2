"""``match`` answers as an engine does, event by event, in every shape of output."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from predicast import Engine, Interval
from predicast import spark as ps
from predicast.errors import TooManyClausesError
from predicast.spark.matching import How, Output
from tests.spark.expressions import SCHEMA, Generator

OUTPUTS: list[Output] = ["rows", "array", "pairs"]
HOWS: list[How] = ["inner", "left", "anti"]
EVENTS = 300


class World:
    """Random events as Python objects and as a DataFrame, and what they should match."""

    def __init__(self, spark: SparkSession, seed: int) -> None:
        generator = Generator(seed)
        events = generator.events(EVENTS)
        # Rare enough that some events match nothing.
        self.engine = Engine()
        for number in range(60):
            try:
                self.engine.subscribe(
                    f"({generator.expression(2)}) AND {generator.test()} AND {generator.test()}",
                    id=f"s{number}",
                )
            except TooManyClausesError:
                continue
        self.events: DataFrame = spark.createDataFrame(events, SCHEMA)
        self.expected = {each["event"]: self.engine.match(each) for each in events}
        counts = set(map(len, self.expected.values()))
        assert 0 in counts, "the seed makes a dull world"
        assert max(counts) > 3, "the seed makes a dull world"


@pytest.fixture(scope="module")
def world(spark: SparkSession) -> World:
    return World(spark, seed=7)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_every_shape_of_output(world: World, output: Output, how: How) -> None:
    result = ps.match(world.events, world.engine, event_id="event", output=output, how=how)
    kept = ["event"] if output == "pairs" else world.events.columns
    added = [] if how == "anti" else ["subscriptions" if output == "array" else "subscription"]
    assert result.columns == [*kept, *added]
    found = [(row.event, *row[len(kept) :]) for row in result.collect()]
    assert sorted(found, key=repr) == sorted(expected_rows(world, output, how), key=repr)


def expected_rows(world: World, output: Output, how: How) -> list[tuple[Any, ...]]:
    chosen = {
        event: ids
        for event, ids in world.expected.items()
        if how == "left" or bool(ids) is (how == "inner")
    }
    if how == "anti":
        return [(event,) for event in chosen]
    if output == "array":
        return list(chosen.items())
    return [(event, id) for event, ids in chosen.items() for id in (*ids, *([] if ids else [None]))]


def test_events_come_out_as_they_went_in(world: World) -> None:
    result = world.events.transform(ps.with_matches(world.engine))
    assert result.schema.fields[:-1] == world.events.schema.fields
    assert result.schema["subscriptions"].dataType.simpleString() == "array<string>"
    kept = result.drop("subscriptions").collect()
    assert sorted(kept) == sorted(world.events.collect())  # by event, which is first and unique


def test_absent_may_pass(world: World) -> None:
    engine = Engine(absent="passes")
    engine.subscribe_many([("a", "i > 0 AND s < 'b'"), ("b", "o.x > 0 OR o.n.s IS NULL")])
    rows = [row.asDict(recursive=True) for row in world.events.collect()]
    expected = {row["event"]: engine.match(row) for row in rows}
    result = ps.match(world.events, engine, output="array", how="left").collect()
    assert {row.event: row.subscriptions for row in result} == expected


def test_region_events(spark: SparkSession) -> None:
    rng = random.Random(11)
    start = datetime(2024, 3, 10, tzinfo=UTC)

    def ends(make: Any) -> tuple[Any, Any]:
        lo, hi = sorted((make(), make()))
        return rng.choice(((lo, hi), (lo, hi), (None, hi), (lo, None), (None, None)))

    rows, expected = [], {}
    engine = Engine()
    for number in range(40):
        x, y = rng.randint(0, 20), rng.random() * 20
        when = f"TIMESTAMP '{start + timedelta(hours=rng.randint(0, 48))}'"
        engine.subscribe(
            rng.choice(
                (
                    f"x BETWEEN {x} AND {x + 2} AND y > {y}",
                    f"x > {x} AND x < {x + 1}",  # no integer lies between
                    f"y BETWEEN {y} AND {y + 1} AND when < {when}",
                    f"x IN ({x}, {x + 1}) AND kind = 'tank' AND when > {when}",
                    f"NOT (x <= {x} OR when >= {when})",
                )
            ),
            id=f"s{number}",
        )
    for event in range(150):
        x_ends = ends(lambda: rng.randint(0, 20))
        y_ends = ends(lambda: rng.randint(0, 80) / 4)
        times = ends(lambda: start + timedelta(minutes=rng.randint(0, 3000)))
        kind = rng.choice(("tank", "ship", None))
        rows.append((event, *x_ends, y_ends, *times, kind))
        pairs = {"x": x_ends, "y": y_ends, "when": times}
        attributes = {name: Interval(*pair) for name, pair in pairs.items() if any(pair)}
        # any() is false of (0, 0) and (None, 0) too, which are intervals.
        attributes |= {n: Interval(*p) for n, p in pairs.items() if p != (None, None)}
        expected[event] = engine.match(attributes | {"kind": kind})
    events = spark.createDataFrame(
        rows,
        "event int, x_min int, x_max int, box struct<lo: double, hi: double>, "
        "since timestamp, until timestamp, kind string",
    )
    intervals: dict[str, str | tuple[str, ...]] = {
        "x": ("x_min", "x_max"),
        "y": "box",
        "when": ("since", "until"),
        "unused": ("x_min", "x_min"),
    }
    result = ps.match(
        events, engine, intervals=intervals, columns=["event", "box"], output="array", how="left"
    )
    assert {row.event: row.subscriptions for row in result.collect()} == expected
    assert len(set(map(len, expected.values()))) > 3


def test_no_event_at_all(spark: SparkSession) -> None:
    events = spark.createDataFrame([], "event int, price double")
    for output in OUTPUTS:
        result = ps.match(events, {"a": "price < 10"}, event_id="event", output=output, how="left")
        assert result.collect() == []


def test_no_subscription_at_all(spark: SparkSession) -> None:
    events = spark.createDataFrame([(1,), (2,)], "event int")
    none = ps.compile({})
    assert ps.match(events, none).collect() == []
    left = ps.match(events, none, output="array", how="left").collect()
    assert sorted(map(tuple, left)) == [(1, []), (2, [])]
    assert sorted(row.event for row in ps.match(events, none, how="anti").collect()) == [1, 2]


def test_a_subscription_to_everything_needs_no_column(spark: SparkSession) -> None:
    events = spark.createDataFrame([(1,), (2,)], "event int")
    result = ps.match(events, {"all": "TRUE", "none": "FALSE"}, columns=[])
    assert [tuple(row) for row in result.collect()] == [("all",), ("all",)]


def test_many_matches_per_event(spark: SparkSession) -> None:
    subscriptions = ps.compile({f"s{n:04}": f"x >= {n % 10}" for n in range(1_000)})
    events = spark.range(300).selectExpr("id", "id % 10 AS x", "repeat('x', 100) AS load")
    result = ps.match(events, subscriptions)
    assert result.count() == sum((event % 10 + 1) * 100 for event in range(300))
