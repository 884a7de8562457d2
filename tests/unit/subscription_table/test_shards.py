"""Versions of a table in shards: divided now and then, and what changes put where it fits."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from predicast import Change, Engine, Subscribe, Unsubscribe
from predicast import spark as ps
from predicast.engine import Operation
from predicast.errors import InvalidOptionError
from predicast.spark.answers import BOUNDS, Asked
from predicast.spark.workers import shards_of

FOUR = ps.Partition(shards=4)


def visited(compiled: ps.CompiledSubscriptions, event: dict[str, Any]) -> list[int]:
    """The shards that an event has to visit."""
    router = compiled.placement.router
    assert router is not None
    batch = pa.RecordBatch.from_pylist([event])
    with router.lent() as answers:
        (answer,) = answers.of(batch, Asked({}), BOUNDS)
    (numbers,) = shards_of(answer).to_pylist()
    return sorted(numbers)


def held(engine: Engine) -> dict[str, tuple[Any, ...]]:
    return {
        each.id: (each.subscription, each.owner, each.text, each.parameters)
        for each in engine.subscriptions()
    }


def packed(compiled: ps.CompiledSubscriptions) -> list[str]:
    return [shard.image.packed_digest for shard in compiled.placement.shards]


def changed(compiled: ps.CompiledSubscriptions) -> list[list[str]]:
    return [[each.id for each in shard.image.changes] for shard in compiled.placement.shards]


@pytest.fixture
def table(tmp_path: Path) -> ps.SubscriptionTable:
    made = ps.SubscriptionTable(tmp_path / "table")
    made.subscribe_many((f"s{n:03}", f"x BETWEEN {n} AND {n + 1}") for n in range(100))
    return made


class TestWhereChangesGo:
    def test_what_was_divided_stays(self, table: ps.SubscriptionTable) -> None:
        first = table.at().compiled(strategy=FOUR)
        assert first == ps.compile(table.engine(), strategy=FOUR)
        assert [shard.subscriptions for shard in first.placement.shards] == [25] * 4
        table.apply(
            [
                Change("s001", "x = 3 AND y = 1"),  # still in its shard
                Change("s002", "x = 90"),  # in another
                Unsubscribe("s030"),
                Subscribe("new", "x BETWEEN 55 AND 56", owner="ann"),
            ]
        )
        second = table.at().compiled(strategy=FOUR)
        assert packed(second) == packed(first)
        assert changed(second) == [["s001", "s002"], ["s030"], ["new"], ["s002"]]
        assert (len(second), second.attributes) == (100, ("x", "y"))
        assert second != first
        assert visited(second, {"x": 90}) == [3]
        assert held(second.engine()) == held(table.engine())

    def test_what_fits_nowhere_is_in_a_shard_of_recent_ones(
        self, table: ps.SubscriptionTable
    ) -> None:
        first = table.at().compiled(strategy=FOUR)
        table.subscribe("y > 7", id="new")
        second = table.at().compiled(strategy=FOUR)
        assert packed(second)[:4] == packed(first)
        assert changed(second) == [[], [], [], [], ["new"]]
        assert visited(second, {"x": 1, "y": 9}) == [0, 4]
        assert visited(second, {"x": 1, "y": 5}) == [0]  # it has a hull like any other
        table.apply([Subscribe("wide", "y > 3"), Change("s001", "y < 1")])
        third = table.at().compiled(strategy=FOUR)
        assert packed(third) == packed(second)
        assert changed(third) == [["s001"], [], [], [], ["new", "s001", "wide"]]
        assert visited(third, {"x": 1, "y": 5}) == [0, 4]
        table.change("s001", "x = 1")
        assert changed(table.at().compiled(strategy=FOUR))[0] == ["s001"]
        table.change("s001", "x BETWEEN 1 AND 2")  # as it was
        assert changed(table.at().compiled(strategy=FOUR))[0] == []

    def test_going_back_is_a_change_as_well(self, table: ps.SubscriptionTable) -> None:
        first = table.at().compiled(strategy=FOUR)
        table.apply([Change("s001", "x = 90"), Unsubscribe("s050")])
        table.at().compiled(strategy=FOUR)
        again = table.at(version=1).compiled(strategy=FOUR)
        assert held(again.engine()) == held(first.engine())
        assert packed(again) == packed(first)

    def test_many_changes_are_worth_another_division(self, table: ps.SubscriptionTable) -> None:
        first = table.at().compiled(strategy=FOUR)
        table.apply(Change(f"s{n:03}", f"y = {n}") for n in range(20))
        second = table.at().compiled(strategy=FOUR)
        assert changed(second) == [[]] * 4
        assert {*packed(second)}.isdisjoint(packed(first))
        assert second == ps.compile(table.engine(), strategy=FOUR)

    def test_a_table_that_is_empty_has_one_shard(self, tmp_path: Path) -> None:
        table = ps.SubscriptionTable(tmp_path / "empty")
        for compiled in (
            ps.compile({}, strategy=FOUR),
            table.at().compiled(strategy=FOUR),
        ):
            assert [shard.subscriptions for shard in compiled.placement.shards] == [0]


def test_the_size_decides_and_both_are_kept(table: ps.SubscriptionTable) -> None:
    whole = table.at().compiled()
    assert whole.placement.strategy == "replicate"
    assert "bytes are no more than" in whole.placement.summary()
    small = ps.Partition(host_bytes=whole.image.size())
    divided = table.at().compiled(strategy=small)
    assert divided.placement.strategy == "partition"
    table.unsubscribe("s001")
    assert table.at().compiled().image.packed_digest == whole.image.packed_digest
    assert packed(table.at().compiled(strategy=small)) == packed(divided)
    with pytest.raises(InvalidOptionError, match="folder is for compile"):
        table.at().compiled(strategy=ps.Partition(folder="here"))


def expression(chance: random.Random) -> str:
    n, m = chance.randrange(40), chance.randrange(6)
    return chance.choice(
        [
            f"x BETWEEN {n} AND {n + m}",
            f"kind = 'k{m}' AND x > {n}",
            f"kind IN ('k{m}', 'k{m + 1}')",
            f"x < {n} OR kind = 'k{m}'",
            f"exists(parts, p -> p.weight > {n})",
            f"x * 2 > {n} AND y < {m}",
            "y IS NULL",
        ]
    )


def window(chance: random.Random, engine: Engine) -> list[Operation]:
    ids = sorted(each.id for each in engine.subscriptions())
    touched = chance.sample(ids, min(len(ids), 3))
    operations: list[Operation] = [Change(id, expression(chance)) for id in touched[1:]]
    operations += [Unsubscribe(id) for id in touched[:1]]
    new = f"n{chance.randrange(10**6)}"
    return [*operations, Subscribe(new, expression(chance), chance.choice([None, "ann"]))]


def an_event(chance: random.Random) -> dict[str, Any]:
    return {
        "x": chance.choice([None, chance.uniform(-5, 50)]),
        "y": chance.choice([None, float(chance.randrange(8))]),
        "kind": chance.choice([None, f"k{chance.randrange(8)}"]),
        "parts": chance.choice([None, [{"weight": chance.uniform(0, 50)}]]),
    }


@pytest.mark.parametrize("seed", range(3))
def test_every_version_matches_what_its_engine_does(tmp_path: Path, seed: int) -> None:
    """An event meets all that it matches in the shards that the router names."""
    chance = random.Random(seed)
    table = ps.SubscriptionTable(tmp_path)
    table.subscribe_many((f"s{n:02}", expression(chance)) for n in range(60))
    divisions = set()
    for _ in range(6):
        table.apply(window(chance, table.engine()))
        compiled = table.at().compiled(strategy=ps.Partition(shards=3))
        engine = table.engine()
        assert held(compiled.engine()) == held(engine)
        divisions.add(tuple(packed(compiled)[:3]))
        shards = [shard.image.unpacked() for shard in compiled.placement.shards]
        for _ in range(25):
            event = an_event(chance)
            found = [id for n in visited(compiled, event) for id in shards[n].match(event)]
            assert sorted(found) == engine.match(event)
    assert 1 < len(divisions) < 6
