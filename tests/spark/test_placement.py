"""Subscriptions in shards: the same matches as in one piece."""

from __future__ import annotations

import math
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

from predicast import Engine
from predicast import spark as ps
from predicast.errors import InvalidOptionError, MissingEngineFileError, UnknownColumnError
from predicast.spark.image import EngineFile
from tests.spark.conftest import MODE

SCHEMA = "number long, kind string, price double, at struct<x: double, y: double>"
TEXTS = {
    f"s{n:03}": text
    for n, text in enumerate(
        [
            *(f"kind = 'k{n}' AND price > {n}" for n in range(40)),
            *(f"kind IN ('k{n}', 'k{n + 3}') OR price BETWEEN {n} AND {n + 1}" for n in range(20)),
            *(f"at.x BETWEEN {n} AND {n + 2} AND at.y < {n}" for n in range(20)),
            *("price IS NULL", "kind LIKE '%7'", "price * 2 < 3"),
        ]
    )
}


def rows() -> list[dict[str, Any]]:
    chance = random.Random(5)
    return [
        {
            "number": number,
            "kind": chance.choice([None, *(f"k{n}" for n in range(50))]),
            "price": chance.choice([None, float(chance.randrange(45))]),
            "at": {"x": chance.uniform(0, 30), "y": chance.uniform(-5, 25)},
        }
        for number in range(120)
    ]


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(rows(), SCHEMA).repartition(3)


@pytest.fixture(scope="module")
def expected() -> dict[int, list[str]]:
    engine = Engine()
    engine.subscribe_many(TEXTS.items())
    return {row["number"]: engine.match(row) for row in rows()}


@pytest.fixture(scope="module", params=["sent", "in a folder"])
def compiled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> ps.CompiledSubscriptions:
    folder = tmp_path_factory.mktemp("shards") / "new" if request.param != "sent" else None
    return ps.compile(TEXTS, strategy=ps.Partition(shards=5, folder=folder))


def test_rows(
    events: DataFrame, compiled: ps.CompiledSubscriptions, expected: dict[int, list[str]]
) -> None:
    found = ps.match(events, compiled, columns=["number", "at"]).collect()
    assert len({row.at.x for row in found}) > 50
    pairs = sorted((row.number, row.subscription) for row in found)
    assert pairs == [(number, id) for number, ids in sorted(expected.items()) for id in ids]


@pytest.mark.parametrize("how", ["inner", "left", "anti"])
def test_one_row_per_event(
    events: DataFrame,
    compiled: ps.CompiledSubscriptions,
    expected: dict[int, list[str]],
    how: Any,
) -> None:
    found = ps.match(events, compiled, columns=["number"], output="array", how=how).collect()
    if how == "anti":
        assert sorted(row.number for row in found) == [
            number for number, ids in expected.items() if not ids
        ]
        return
    wanted = {number: ids for number, ids in expected.items() if ids or how == "left"}
    assert {row.number: row.subscriptions for row in found} == wanted
    assert len(found) == len(wanted)


def test_it_says_what_was_chosen(compiled: ps.CompiledSubscriptions) -> None:
    lines = str(compiled.placement).splitlines()
    assert lines[0] == "partition: as was asked for"
    assert len(lines) == 1 + len(compiled.placement.shards) == 6
    assert sum(shard.subscriptions for shard in compiled.placement.shards) == len(TEXTS)
    assert any("kind BETWEEN 'k" in line for line in lines)
    assert "5 shards" in repr(compiled)
    whole = ps.compile(TEXTS)
    assert whole.placement.strategy == "replicate"
    assert "bytes are no more than 1073741824 per host" in whole.placement.reason
    small = ps.compile(TEXTS, strategy=ps.Partition(host_bytes=20_000))
    assert len(small.placement.shards) > 1


def test_the_whole_can_be_had_again(compiled: ps.CompiledSubscriptions) -> None:
    copy = pickle.loads(pickle.dumps(compiled))
    assert copy == compiled
    assert {each.id: each.text for each in copy.engine().subscriptions()} == TEXTS
    assert compiled.entry("s041").text == TEXTS["s041"]


def test_explained(events: DataFrame, compiled: ps.CompiledSubscriptions) -> None:
    found = ps.explain(events, compiled, "s003", event_id="number").where("line = 1").collect()
    assert len(found) == 120


def test_a_subscription_on_no_column_is_named(events: DataFrame) -> None:
    compiled = ps.compile(TEXTS | {"typo": "prise > 3"}, strategy=ps.Partition(shards=3))
    with pytest.raises(UnknownColumnError, match="subscription 'typo' looks at 'prise'"):
        ps.match(events, compiled)


def test_what_shards_cannot_do_is_refused(
    events: DataFrame, compiled: ps.CompiledSubscriptions
) -> None:
    with pytest.raises(InvalidOptionError, match="strategy='replicate'"):
        ps.matches("price", subscriptions=compiled)
    with pytest.raises(InvalidOptionError, match="strategy is one of"):
        ps.compile(TEXTS, strategy="partitioned")  # type: ignore[call-overload]
    with pytest.raises(InvalidOptionError, match="shards is a positive integer, not 0"):
        ps.compile(TEXTS, strategy=ps.Partition(shards=0))


def test_what_cannot_be_compared_is_refused_whichever_shards_an_event_visits(
    spark: SparkSession,
) -> None:
    """By values that the shards it visits do not look at, also inside of lists."""
    texts = {
        **{f"kind {n}": f"kind = 'k{n}'" for n in range(6)},
        **{f"price {n}": f"price BETWEEN {n} AND {n + 1}" for n in range(6)},
        "list": "exists(parts, p -> p.weight > 1) AND kind = 'k0'",
    }
    compiled = ps.compile(texts, strategy=ps.Partition(shards=4))
    nan = math.nan
    given: list[dict[str, Any]] = [
        {"number": 0, "kind": "k0", "price": 1.0, "parts": [{"weight": 2.0}]},
        {"number": 1, "kind": "k1", "price": nan, "parts": []},
        {"number": 2, "kind": None, "price": 2.5, "parts": [{"weight": nan}]},
        {"number": 3, "kind": "nowhere", "price": None, "parts": None},
    ]
    schema = "number long, kind string, price double, parts array<struct<weight: double>>"
    events = spark.createDataFrame(given, schema)
    for on_invalid in ("skip", "absent"):
        engine = Engine(on_invalid=on_invalid)
        engine.subscribe_many(texts.items())
        expected = {row["number"]: engine.match(row) for row in given}
        assert expected[1] == ([] if on_invalid == "skip" else ["kind 1"])
        found = ps.match(
            events,
            compiled,
            columns=["number"],
            output="array",
            how="left",
            on_invalid=on_invalid,
        )
        assert {row.number: row.subscriptions for row in found.collect()} == expected
    for number, error in ((1, "attribute 'price'"), (2, "attribute 'element.weight'")):
        refused = ps.match(events.where(f"number = {number}"), compiled)
        with pytest.raises(PythonException, match=error):
            refused.collect()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    compiled = ps.compile(TEXTS, strategy=ps.Partition(shards=2, folder=tmp_path))
    image = compiled.placement.shards[0].image
    assert isinstance(image, EngineFile)
    image.path.unlink()
    with pytest.raises(MissingEngineFileError, match="folder= that all hosts see"):
        image.shared()


@pytest.mark.parametrize("strategy", ["replicate", ps.Partition(shards=3)])
def test_in_a_folder_nothing_but_names_travels(
    events: DataFrame,
    expected: dict[int, list[str]],
    tmp_path: Path,
    strategy: Any,
) -> None:
    compiled = ps.compile(TEXTS, strategy=strategy)
    held = compiled.in_folder(tmp_path)
    assert held == compiled
    assert len(pickle.dumps(held)) < len(pickle.dumps(compiled))
    assert len(held) == len(held.engine()) == len(TEXTS)
    found = ps.match(events, held, event_id="number", output="pairs").collect()
    assert sorted((row.number, row.subscription) for row in found) == [
        (number, id) for number, ids in sorted(expected.items()) for id in ids
    ]
    if strategy == "replicate":
        (file,) = tmp_path.iterdir()
        file.write_bytes(file.read_bytes()[:-1])
        held = compiled.in_folder(tmp_path)  # which finds it damaged
        assert "0 bytes" in repr(held)
        ids = ps.matches(subscriptions=held).alias("ids")
        arrays = {row.number: row.ids for row in events.select("number", ids).collect()}
        assert arrays == expected


def test_in_a_stream(spark: SparkSession, tmp_path: Path, expected: dict[int, list[str]]) -> None:
    folder = tmp_path / "events"
    spark.createDataFrame(rows(), SCHEMA).write.json(str(folder))
    stream = spark.readStream.schema(SCHEMA).json(str(folder))
    compiled = ps.compile(TEXTS, strategy=ps.Partition(shards=3))
    with pytest.raises(InvalidOptionError, match="in a stream"):
        ps.match(stream, compiled, output="array")
    name = f"placed_{MODE}"
    query = (
        ps.match(stream, compiled, columns=["number"])
        .writeStream.format("memory")
        .queryName(name)
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(120)
    found = spark.table(name).collect()
    assert sorted((row.number, row.subscription) for row in found) == [
        (number, id) for number, ids in sorted(expected.items()) for id in ids
    ]
