"""Regions in frames: structs of ends, open and closed, and joins of two such frames."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from predicast import Engine, Interval
from predicast import spark as ps
from predicast.errors import InvalidOptionError, UnsupportedColumnError

ENDS = "struct<lo: {0}, hi: {0}, lo_open: boolean, hi_open: boolean>"
NUMBERS = f"id int, x {ENDS.format('long')}, y {ENDS.format('double')}"
Ends = tuple[Any, Any, bool | None, bool | None]


def ends(chance: random.Random, step: float) -> Ends | None:
    """Few places, so that many intervals touch."""
    if chance.random() < 0.05:
        return None
    lo = chance.randrange(6)
    hi = lo + chance.randrange(1, 4)
    return (
        chance.choice([None, *[lo * type(step)(step)] * 5]),
        chance.choice([None, *[hi * type(step)(step)] * 5]),
        chance.choice([None, False, False, True]),
        chance.choice([None, False, False, True]),
    )


def boxes(seed: int, count: int) -> list[tuple[int, Ends | None, Ends | None]]:
    chance = random.Random(seed)
    # Between neighbouring integers that are both left out there is none.
    made = [(number, ends(chance, 2), ends(chance, 0.5)) for number in range(count)]
    return [each for each in made if _is_valid(each[1]) and _is_valid(each[2])]


def _interval(given: Ends | None) -> Interval | None:
    if given is None or given[:2] == (None, None):
        return None
    lo, hi, lo_open, hi_open = given
    return Interval(
        lo, hi, lo_open=bool(lo_open) and lo is not None, hi_open=bool(hi_open) and hi is not None
    )


def _is_valid(given: Ends | None) -> bool:
    try:
        _interval(given)
    except Exception:  # noqa: BLE001
        return False
    return True


def oracle(wanted: list[Any], names: str = "xy") -> Engine:
    """Brute force over the same regions, as text."""
    engine = Engine(matcher="brute-force")
    for id, *regions in wanted:
        tests = ["TRUE"]
        for name, region in zip(names, regions, strict=True):
            if region is not None:
                lo, hi, lo_open, hi_open = region
                tests += [f"{name} {'>' if lo_open else '>='} {_text(lo)}"] * (lo is not None)
                tests += [f"{name} {'<' if hi_open else '<='} {_text(hi)}"] * (hi is not None)
        engine.subscribe(" AND ".join(tests), id=str(id))
    return engine


def _text(end: Any) -> str:
    return f"TIMESTAMP '{end}'" if isinstance(end, datetime) else str(end)


def expected(engine: Engine, events: list[Any], names: str = "xy") -> dict[int, list[str]]:
    found = {}
    for id, *regions in events:
        named = {name: _interval(region) for name, region in zip(names, regions, strict=True)}
        found[id] = engine.match({name: each for name, each in named.items() if each is not None})
    return found


def arrays(frame: DataFrame) -> dict[int, list[str]]:
    return {row.id: row.subscriptions for row in frame.select("id", "subscriptions").collect()}


@pytest.fixture(scope="module")
def publications(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(boxes(1, 120), NUMBERS)


@pytest.fixture(scope="module")
def right() -> dict[int, list[str]]:
    return expected(oracle(boxes(2, 60)), boxes(1, 120))


@pytest.mark.parametrize("strategy", ["auto", ps.Partition(shards=3)])
def test_regions_that_meet(
    spark: SparkSession, publications: DataFrame, right: dict[int, list[str]], strategy: Any
) -> None:
    wanted = spark.createDataFrame(boxes(2, 60), NUMBERS)
    joined = ps.region_join(
        publications, wanted, on=["x", "y"], output="array", how="left", strategy=strategy
    )
    assert arrays(joined) == right
    assert any(0 < len(ids) < 30 for ids in right.values())


def test_structs_are_intervals_wherever_events_are_read(
    publications: DataFrame, right: dict[int, list[str]]
) -> None:
    engine = oracle(boxes(2, 60))
    compiled = ps.compile(engine, matcher="columnar")
    column = ps.matches("x", "y", subscriptions=compiled).alias("subscriptions")
    assert arrays(publications.select("id", column)) == right
    id = next(id for ids in right.values() for id in ids)
    told = ps.explain(publications, compiled, id, event_id="id").where("line = 1").collect()
    assert {row.id for row in told if row.matched} == {n for n, ids in right.items() if id in ids}
    named = {"x": ("x.lo", "x.hi", "x.lo_open", "x.hi_open"), "y": ("y.lo", "y.hi")}
    closed = publications.withColumn("y", sf.col("y").dropFields("lo_open", "hi_open"))
    by_name = ps.match(closed, compiled, intervals=named, output="array", how="left")
    assert arrays(by_name) == arrays(ps.match(closed, compiled, output="array", how="left"))
    assert arrays(by_name) != right


def test_timestamps_meet_in_microseconds(spark: SparkSession) -> None:
    start = datetime(2026, 1, 1, 12, tzinfo=UTC)
    moments = [start + timedelta(microseconds=n) for n in range(4)]
    made = [
        (number, (lo, hi, lo_open, hi_open))
        for number, (lo, hi, lo_open, hi_open) in enumerate(
            product(moments, [None, *moments], [False, True], [False, True])
        )
        if _is_valid((lo, hi, lo_open, hi_open))
    ]
    frame = spark.createDataFrame(made, f"id int, t {ENDS.format('timestamp')}")
    joined = ps.region_join(frame, frame, on=["t"], output="array", how="left")
    assert arrays(joined) == expected(oracle(made, "t"), made, "t")


def test_what_is_no_region_is_refused(spark: SparkSession, publications: DataFrame) -> None:
    with pytest.raises(InvalidOptionError, match="on is a list of attributes"):
        ps.region_join(publications, publications, on="x")
    points = spark.createDataFrame([(1, 2)], "id int, x int")
    with pytest.raises(UnsupportedColumnError, match="'x' of the subscriptions is no interval"):
        ps.region_join(publications, points, on=["x"])
    schema = "id int, x struct<lo: int, hi: int, lo_open: int, hi_open: int>"
    numbered = spark.createDataFrame([(1, (2, 3, 0, 1))], schema)
    with pytest.raises(UnsupportedColumnError, match=r"'x\.lo_open' says whether an end of 'x' is"):
        ps.region_join(publications, numbered, on=["x"])
    with pytest.raises(InvalidOptionError, match="two columns, or with four"):
        ps.match(points, {"a": "y > 1"}, intervals={"y": ("x", "x", "x")})
