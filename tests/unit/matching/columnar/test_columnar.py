"""Segments: what is compiled when, what is deleted, and agreement with brute force at size."""

import random

import pyarrow as pa
import pytest

from predicast import Change, Engine, Unsubscribe
from predicast.matching.columnar import Columnar, segment
from predicast.matching.matches import sorted_matches
from tests.thorough import LONG


def expression(random_: random.Random) -> str:
    if random_.random() < 0.6:  # alike, so that they fill blocks
        low = random_.randrange(100)
        return f"kind = {random_.randrange(4)} AND x > {low} AND x < {low + random_.randrange(40)}"
    tests = [
        f"x IN ({random_.randrange(50)}, {random_.randrange(50)})",
        f"y != {random_.randrange(9)}",
        f"y <= {random_.random() * 100:.3f}",
        f"startswith(name, '{random_.choice('abc')}')",
        f"endswith(name, '{random_.randrange(9)}')",
        f"contains(name, '{random_.randrange(9)}')",
        "name IS NULL",
        "NOT flag",
    ]
    chosen = random_.sample(tests, random_.randrange(1, 4))
    return random_.choice([" AND ", " OR "]).join(chosen)


def events(random_: random.Random, count: int) -> pa.Table:
    def column(make: object, kind: pa.DataType) -> pa.Array:
        values = [None if random_.random() < 0.1 else make() for _ in range(count)]  # type: ignore[operator]
        return pa.array(values, kind)

    return pa.table(
        {
            "kind": column(lambda: random_.randrange(5), pa.int8()),
            "x": column(lambda: random_.randrange(120), pa.int64()),
            "y": column(lambda: random_.random() * 100, pa.float64()),
            "name": column(lambda: f"{random_.choice('abcd')}{random_.randrange(12)}", pa.string()),
            "flag": column(lambda: random_.random() < 0.5, pa.bool_()),
            "low": column(lambda: random_.randrange(60), pa.int64()),
            "high": pa.array([random_.randrange(60, 120) for _ in range(count)]),
        }
    )


def same(found: pa.Table, right: pa.Table) -> bool:
    """Whether these are the same matches; columns of events ascend already."""
    events = found.column("event").to_numpy()
    assert (events[1:] >= events[:-1]).all()
    return bool(sorted_matches(found).equals(sorted_matches(right)))


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_brute_force_through_changes_and_merges(seed: int) -> None:
    random_ = random.Random(seed)
    engines = [
        Engine(matcher=name, absent="passes" if seed == 3 else "fails")
        for name in ("columnar", "brute-force")
    ]
    live: list[str] = []
    for step in range(8):
        for number in range(random_.choice([10, 300, 1500])):
            text, chance = expression(random_), random_.random()
            for engine in engines:
                if chance < 0.6 or not live:
                    engine.subscribe(text, id=f"{step}-{number}")
                elif chance < 0.8:
                    engine.change(live[number % len(live)], text)
                else:
                    engine.unsubscribe(live[-1])
            if chance < 0.6 or not live:
                live.append(f"{step}-{number}")
            elif chance >= 0.8:
                live.pop()
        batch = events(random_, 150)
        for intervals in (None, {"x": ("low", "high")}, {"kind": ("low", "high")}):
            found, right = (engine.match_arrow(batch, intervals=intervals) for engine in engines)
            assert same(found, right), f"seed {seed}, step {step}, {intervals}"


@pytest.mark.usefixtures("plain_loops")
@pytest.mark.parametrize("seed", range(4) if LONG else [0, 3])
def test_the_plain_loops_agree_with_brute_force(seed: int) -> None:
    test_agrees_with_brute_force_through_changes_and_merges(seed)


def test_a_batch_is_coded_in_pieces_that_fit_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "_MOST_CODES", 40)
    engines = [Engine(matcher=name) for name in ("columnar", "brute-force")]
    for number in range(1_000):
        for engine in engines:
            engine.subscribe(expression(random.Random(number)), id=str(number))
    batch = events(random.Random(0), 100)
    found, right = (engine.match_arrow(batch) for engine in engines)
    assert right.num_rows > 0
    assert same(found, right)


def test_a_few_wait_until_asking_them_has_cost_as_much_as_compiling() -> None:
    engine = Engine(matcher="columnar")
    for number in range(10):
        engine.subscribe(f"x = {number}", id=str(number))
    assert engine.match({"x": 7}) == ["7"]
    assert engine.statistics()["segments"] == 0
    for _ in range(1_000):
        assert engine.match({"x": 7}) == ["7"]
    for worker in engine._store.matcher._workers.values():  # type: ignore[attr-defined]
        worker.join()
    assert (engine.statistics()["segments"], engine.statistics()["recent"]) == (1, 0)


def test_what_is_deleted_is_gone_and_compiled_away_in_the_end() -> None:
    engine = Engine(matcher="columnar")
    for number in range(1_000):
        engine.subscribe(f"x >= {number % 10}", id=str(number))
    assert len(engine.match({"x": 9})) == 1_000
    for number in range(0, 1_000, 2):
        engine.change(str(number), "x < 0")
    assert len(engine.match({"x": 9})) == 500
    for number in range(0, 1_000, 2):
        engine.unsubscribe(str(number))
    for number in range(1, 999, 2):
        engine.unsubscribe(str(number))
    assert engine.match({"x": 9}) == ["999"]
    engine._store.matcher.settle()
    assert engine.match({"x": 9}) == ["999"]
    assert engine.statistics()["bytes"] < 10_000


def test_segments_are_few() -> None:
    engine = Engine(matcher="columnar")
    matcher = engine._store.matcher
    assert isinstance(matcher, Columnar)
    for number in range(5_000):
        engine.subscribe(f"x = {number}", id=str(number))
        if number % 300 == 299:
            assert engine.match({"x": number}) == [str(number)]
            for worker in matcher._workers.values():
                worker.join()  # few, as long as merging keeps up
    assert engine.statistics()["segments"] <= 8
    assert engine.statistics()["compiled"] <= 5_000
    assert engine.statistics()["merged"] <= 5 * 5_000


def test_what_waits_to_be_compiled_can_change() -> None:
    """Two clauses of one outline wait in two tables; both must go."""
    engine = Engine()
    engine.subscribe_many((f"s{n}", f"x = {n} OR y > {n}") for n in range(600))
    engine.apply([Change(f"s{n}", "x = -1 OR y > 10000") for n in range(0, 600, 2)])
    engine.apply([Unsubscribe(f"s{n}") for n in range(1, 600, 4)])
    assert engine.match({"x": 4, "y": 0}) == []
    assert engine.match({"x": 0, "y": 8}) == ["s3", "s7"]
    assert engine.match({"x": 3}) == ["s3"]
    assert engine.match({"x": 5}) == []
    assert len(engine.match({"x": -1})) == 300
    engine._store.matcher.settle()
    assert engine.match({"x": 0, "y": 8}) == ["s3", "s7"]
    assert len(engine.match({"x": -1})) == 300


def test_what_changes_without_an_event_in_between_takes_no_more_room() -> None:
    engine = Engine()
    engine.subscribe("x > 5 OR y < 3", id="kept")
    engine.subscribe("x > :a", id="moving", parameters={"a": 0})
    for number in range(5_000):
        engine.change("moving", parameters={"a": number})
    matcher = engine._store.matcher
    assert isinstance(matcher, Columnar)
    assert len(matcher._recent.stated) < 2_000
    assert engine.match({"x": 4_999.5}) == ["kept", "moving"]
    assert engine.match({"x": 4_999}) == ["kept"]
