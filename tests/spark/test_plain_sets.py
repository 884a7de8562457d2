"""Plain sets of subscriptions: a join of Spark's own finds what the model says."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from predicast import Engine
from predicast import spark as ps
from predicast.spark.image import EngineFile
from tests.spark.test_streaming import drained

KINDS = ["", "a", "A", "ß", "a\0", "k'\\", *(f"k{n}" for n in range(30))]
NUMBERS: list[Any] = [
    *(0, 1, 3, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)),
    *(0.0, -0.0, 0.1, 0.30000000000000004, 0.5, 3.0, 2.0**53, 2.0**63, -1e300, 5e-324),
]
SCHEMA = "number long, kind string, price double, o struct<level: int, count: long>"


def rows(chance: random.Random, count: int) -> list[dict[str, Any]]:
    whole = [each for each in NUMBERS if isinstance(each, int)]
    small = [each for each in whole if abs(each) < 2**31]

    def of(values: list[Any]) -> Any:
        return chance.choice([None, *values])

    return [
        {
            "number": number,
            "kind": of(KINDS),
            "price": of([*map(float, NUMBERS)]),
            "o": chance.choice([None, {"level": of(small), "count": of(whole)}]),
        }
        for number in range(count)
    ]


def condition(chance: random.Random, attribute: str) -> str:
    first, second = chance.choice(NUMBERS), chance.choice(NUMBERS)
    shape = chance.choice(["{a} < {x}", "{a} <= {x}", "{a} > {x}", "{a} >= {x}", "{a} = {x}"] * 2
                          + ["{a} BETWEEN {x} AND {y}", "{a} > {x} AND {a} < {y}"])  # fmt: skip
    return shape.format(a=attribute, x=repr(first), y=repr(second))


def texts(chance: random.Random, equality: str, count: int) -> dict[str, str]:
    """Subscriptions with an equality each, and conditions on other attributes, or none."""
    found = {}
    for number in range(count):
        tests = [equality.format(chance.choice([0, 1, 3]), kind=quoted(chance.choice(KINDS)))]
        others = (name for name in ("price", "o.count", "o.level") if name not in equality)
        tests += [condition(chance, name) for name in others if chance.random() < 0.6]
        found[f"s{number:03}"] = " AND ".join(tests)
    return found


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''").replace("\0", "\\0") + "'"


def joined_only(texts: dict[str, str], tmp_path: Path) -> ps.CompiledSubscriptions:
    """Compiled such that no worker could match anything."""
    compiled = ps.compile(texts)
    assert compiled.placement.plain is not None
    return replace(compiled, image=EngineFile(compiled.digest, tmp_path / "none", compiled.digest))


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(rows(random.Random(7), 150), SCHEMA).repartition(2)


def expected(texts: dict[str, str]) -> dict[int, list[str]]:
    engine = Engine(matcher="brute-force")
    engine.subscribe_many(texts.items())
    return {row["number"]: engine.match(row) for row in rows(random.Random(7), 150)}


@pytest.mark.parametrize("equality", ["kind = {kind}", "o.level = {}"])
def test_a_join_finds_what_brute_force_finds(
    events: DataFrame, tmp_path: Path, equality: str
) -> None:
    subscriptions = texts(random.Random(11), equality, 90)
    compiled, right = joined_only(subscriptions, tmp_path), expected(subscriptions)
    assert sum(map(len, right.values())) > 50
    found = ps.match(events, compiled)
    assert [field.name for field in found.schema] == [
        "number",
        "kind",
        "price",
        "o",
        "subscription",
    ]
    assert not found.schema["subscription"].nullable
    pairs = sorted((row.number, row.subscription) for row in found.collect())
    assert pairs == [(number, id) for number, ids in sorted(right.items()) for id in ids]
    left = ps.match(events, compiled, columns=["number"], how="left").collect()
    unmatched: list[str | None] = [None]
    assert sorted(map(tuple, left), key=repr) == sorted(
        ((number, id) for number, ids in right.items() for id in ids or unmatched), key=repr
    )
    anti = ps.match(events, compiled, event_id="number", output="pairs", how="anti").collect()
    assert sorted(row.number for row in anti) == [n for n, ids in sorted(right.items()) if not ids]


def test_names_that_could_mislead(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame(
        [("x", 1.0, 2.0, ("y", 3)), ("x", 9.0, 2.0, ("y", 3))],
        "`a.b` string, plain_id double, PLAIN_lo0 double, `o`` o` struct<`k ind`: string, n: int>",
    )
    subscriptions = {"s": "`a.b` = 'x' AND plain_id < 5 AND `o`` o.k ind` = 'y' AND PLAIN_lo0 = 2"}
    [row] = ps.match(frame, joined_only(subscriptions, tmp_path)).collect()
    assert tuple(row) == ("x", 1.0, 2.0, ("y", 3), "s")
    [row] = ps.match(frame, joined_only(subscriptions, tmp_path), columns=["plain_id"]).collect()
    assert row.asDict() == {"plain_id": 1.0, "subscription": "s"}


def test_types_that_java_would_compare_otherwise(spark: SparkSession) -> None:
    frame = spark.sql(
        "SELECT float(0.1) AS f, 0.1BD AS d, 'x' AS kind, 2 AS n, named_struct('a', 1, 'A', 2) AS s"
    )
    for text, matches in {
        "kind = 'x' AND f <= 0.1": 0,
        "kind = 'x' AND f = 0.1F": 1,
        "kind = 'x' AND d = 0.1": 1,
        "kind = 2": 0,
        "n = 2 AND s.A = 2": 1,
        "n = 2 AND s.a = 2": 0,
    }.items():
        assert ps.compile({"a": text}).placement.plain is not None
        assert ps.match(frame, {"a": text}).count() == matches, text


@pytest.mark.parametrize(
    ("kind", "price", "reason"),
    [
        ("'k'", "double('NaN')", "attribute 'price': nan is not finite; use null for no value"),
        ("'z'", "double('-Infinity')", "attribute 'price': -infinity is not finite"),
        ("NULL", "double('NaN')", "attribute 'price': nan is not finite"),
        ("string(X'C328')", "1.0D", "attribute 'kind': a text is not Unicode"),
        ("string(X'C328')", "NULL", "attribute 'kind': a text is not Unicode"),
    ],
)
@pytest.mark.parametrize("how", ["inner", "anti"])
def test_what_cannot_be_compared_is_refused(
    spark: SparkSession, kind: str, price: str, reason: str, how: Any
) -> None:
    frame = spark.sql(f"SELECT {kind} AS kind, {price} AS price UNION ALL SELECT 'k', 2.0D")
    subscriptions = ps.compile({"a": "kind = 'k' AND price > 1"})
    with pytest.raises(PySparkException, match=reason):
        ps.match(frame, subscriptions, how=how).collect()
    assert subscriptions.placement.plain is not None
    assert ps.match(frame, subscriptions, how=how, on_invalid="skip").count() == 1


def test_in_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    for part in range(2):
        table = pa.table({"kind": ["a", "b"], "price": [float(part), 5.0]})
        pq.write_table(table, folder / f"{part}.parquet")
    frame = spark.readStream.schema("kind string, price double").parquet(str(folder))
    compiled = joined_only({"s": "kind = 'a' AND price < 1", "t": "kind = 'b'"}, tmp_path)
    found = drained(ps.match(frame, compiled, how="left"), tmp_path).collect()
    assert sorted(map(tuple, found), key=repr) == [
        *(("a", 0.0, "s"), ("a", 1.0, None), ("b", 5.0, "t"), ("b", 5.0, "t"))
    ]
