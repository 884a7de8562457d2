"""The engine under bulk loading, churn and batches: all or nothing, and the same answers."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predicast import Change, Engine, Subscribe, Unsubscribe
from predicast.errors import (
    DuplicateIdError,
    InvalidIdError,
    InvalidOptionError,
    UnsupportedByMatcherError,
)
from predicast.language.arrow_form import SCHEMA
from predicast.matching import matcher_names
from predicast.matching.brute_force import BruteForce
from predicast.matching.matcher import Pairs
from predicast.matching.matches import matches_table, sorted_matches
from predicast.model import Operator, Subscription
from tests.threads import run_at_once

MATCHERS = matcher_names()
EVENTS = [{"price": price, "symbol": symbol} for price in range(0, 120, 7) for symbol in "abc"]
BATCH = pa.Table.from_pylist(EVENTS)


def texts(count: int, first: int = 0) -> list[tuple[str, str]]:
    return [
        (f"s{n}", f"price < {n % 100} AND symbol = '{'abc'[n % 3]}'")
        for n in range(first, first + count)
    ]


@pytest.mark.parametrize("matcher", MATCHERS)
def test_the_least_integer_written_as_a_float(matcher: str) -> None:
    """The shape is known by then, and its numbers are floats."""
    engine = Engine(matcher=matcher)
    for number, text in enumerate(["x = -1.5", "x > -2.5", "x = -9223372036854775808.0"]):
        engine.subscribe(text, id=str(number))
    least = {"x": -(2**63)}
    assert engine.match(least) == ["2"]
    assert engine.match_batch([least, least]) == [["2"], ["2"]]
    found = engine.match_arrow(pa.Table.from_pylist([least]))
    assert found["subscription"].to_pylist() == ["2"]


def rows(pairs: list[tuple[str, str]]) -> pa.Table:
    """The same subscriptions as an Arrow table."""
    made = []
    for id, text in pairs:
        words = text.split()
        number = {"attribute": "price", "operator": "<", "int_value": int(words[2])}
        string = {"attribute": "symbol", "operator": "=", "string_value": words[6].strip("'")}
        made += [{"id": id, "clause": 0, **number}, {"id": id, "clause": 0, **string}]
    schema = SCHEMA.remove(SCHEMA.get_field_index("timestamp_value"))  # it may be left out
    return pa.Table.from_pylist(made, schema)


def one_by_one(pairs: list[tuple[str, str]], **options: Any) -> Engine:
    engine = Engine(**options)
    for id, text in pairs:
        engine.subscribe(text, id=id)
    return engine


def state(engine: Engine) -> Any:
    entries = [(e.id, e.subscription, e.owner) for e in engine.subscriptions()]
    return entries, engine.attributes(), engine.match_batch(EVENTS), len(engine)


@pytest.mark.parametrize("count", [0, 1, 20, 500])
def test_every_way_in_gives_the_same_engine(count: int) -> None:
    pairs = texts(count)
    right = state(one_by_one(pairs))
    many, arrow, window = Engine(), Engine(), Engine()
    many.subscribe_many(iter(pairs))
    arrow.subscribe_arrow(rows(pairs))
    window.apply([Subscribe(id, text) for id, text in pairs])
    assert state(many) == state(arrow) == state(window) == right
    assert state(Engine.from_bytes(arrow.to_bytes())) == right


@pytest.mark.parametrize("matcher", MATCHERS)
def test_bulk_after_bulk_and_changes_between(matcher: str) -> None:
    engine = Engine(matcher=matcher)
    engine.subscribe_arrow(rows(texts(200)))
    engine.subscribe_many(texts(100, 200))
    engine.unsubscribe("s7")
    engine.change("s8", "price > 110")
    engine.subscribe_arrow(rows(texts(50, 300)))
    engine.subscribe("price > 115", id="s7", owner="me")
    right = one_by_one(texts(350), matcher="brute-force")
    right.unsubscribe("s7")
    right.change("s8", "price > 110")
    right.subscribe("price > 115", id="s7", owner="me")
    assert state(engine) == state(right)
    assert engine.get("s7").owner == "me"
    expected = sorted_matches(right.match_arrow(BATCH))
    assert sorted_matches(engine.match_arrow(BATCH)).equals(expected)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda e: e.subscribe_arrow(rows([("new", "price < 1 AND symbol = 'a'"), *texts(1)])),
         DuplicateIdError),
        (lambda e: e.subscribe_arrow(rows([("new", "price < 1 AND symbol = 'a'"),
                                           ("", "price < 1 AND symbol = 'a'")])), InvalidIdError),
        (lambda e: e.subscribe_many([("new", "TRUE"), ("s1", "TRUE")]), DuplicateIdError),
        (lambda e: e.subscribe_many([("new", "TRUE"), ("", "TRUE")]), InvalidIdError),
        (lambda e: e.apply([Unsubscribe("s1"), Change("s2", "TRUE"), Subscribe("new", "TRUE"),
                            Subscribe("new", "TRUE")]), DuplicateIdError),
    ],
)  # fmt: skip
@pytest.mark.parametrize("looked_at", [False, True])
def test_a_refused_bulk_changes_nothing(call: Any, error: type[Exception], looked_at: bool) -> None:
    engine = Engine()
    engine.subscribe_arrow(rows(texts(60)))
    if looked_at:
        engine.get("s5")
    with pytest.raises(error) as caught:
        call(engine)
    assert getattr(caught.value, "id") in {"s0", "s1", "new", ""}  # noqa: B009
    entries, *rest = state(engine)
    expected, *right = state(one_by_one(texts(60)))
    assert sorted(entries) == sorted(expected)  # taking back a window may change the order
    assert rest == right
    engine.subscribe_many(texts(10, 60))
    assert engine.match_batch(EVENTS) == one_by_one(texts(70)).match_batch(EVENTS)


class Fussy(BruteForce):
    """Refuses a constraint with the operator !=."""

    name = "fussy"

    def subscribe(self, key: int, subscription: Subscription) -> None:
        if any(each.operator is Operator.NE for each in subscription.constraints()):
            raise UnsupportedByMatcherError("no !=", matcher=self.name)
        super().subscribe(key, subscription)


@pytest.mark.parametrize("place", [0, 40, 80])
@pytest.mark.parametrize("looked_at", [False, True])
def test_what_a_matcher_refuses_is_taken_back(place: int, looked_at: bool) -> None:
    engine = Engine()
    engine._store.matcher = Fussy()
    engine.subscribe_many(texts(50))
    if looked_at:
        engine.get("s5")
    bulk = texts(80, 50)
    bulk.insert(place, ("bad", "price != 3"))
    before = state(engine)
    with pytest.raises(UnsupportedByMatcherError):
        engine.subscribe_many(bulk)
    assert state(engine) == before
    with pytest.raises(UnsupportedByMatcherError):
        engine.subscribe("price != 3", id="bad")
    assert state(engine) == before
    bulk.pop(place)
    engine.subscribe_many(bulk)
    assert state(engine) == state(one_by_one(texts(130)))


def test_one_outline_is_all_or_nothing_to_a_matcher() -> None:
    class Limited(BruteForce):
        def subscribe(self, key: int, subscription: Subscription) -> None:
            if len(self) == 10:
                raise UnsupportedByMatcherError("full", matcher=self.name)
            super().subscribe(key, subscription)

    engine = Engine()
    engine._store.matcher = Limited()
    with pytest.raises(UnsupportedByMatcherError):
        engine.subscribe_many(texts(30))
    assert state(engine) == state(Engine())
    assert engine.statistics()["subscriptions"] == 0
    engine.subscribe_many(texts(10))
    assert len(engine) == 10


@pytest.mark.parametrize("matcher", MATCHERS)
def test_keys_that_are_used_again_answer_for_the_new_subscription(matcher: str) -> None:
    chance = random.Random(3)
    engine = Engine(matcher=matcher)
    engine.subscribe_many((f"b{n}", f"n = {n % 10}") for n in range(300))
    right = {f"b{n}": n % 10 for n in range(300)}
    for step in range(600):
        if right and chance.random() < 0.5:
            id = chance.choice(list(right))
            engine.unsubscribe(id)
            del right[id]
        else:
            right[f"c{step}"] = chance.randrange(10)
            engine.subscribe(f"n = {right[f'c{step}']}", id=f"c{step}")
        if step % 20 == 0:
            value = chance.randrange(10)
            assert engine.match({"n": value}) == sorted(i for i, n in right.items() if n == value)
    assert engine._store.ids.bound() <= 400
    assert list(engine) == list(right)
    found = engine.match_arrow(pa.table({"n": list(range(10))}))
    assert sorted(zip(*map(pa.ChunkedArray.to_pylist, found.columns), strict=True)) == sorted(
        (n, id) for id, n in right.items()
    )


def test_owners_go_with_their_subscriptions(tmp_path: Path) -> None:
    engine = Engine()
    engine.subscribe_many(texts(100))
    engine.subscribe("TRUE", id="mine", owner="me")
    engine.unsubscribe("mine")
    engine.subscribe("TRUE", id="other")  # under the key that was mine
    assert engine.get("other").owner is None
    assert engine.subscriptions(owner="me") == []
    engine.subscribe("x = 1", id="mine", owner="me")
    engine.save(tmp_path / "engine")
    assert state(Engine.load(tmp_path / "engine")) == state(engine)
    assert [e.id for e in Engine.load(tmp_path / "engine").subscriptions(owner="me")] == ["mine"]


def test_made_up_ids_do_not_come_back() -> None:
    engine = Engine()
    first = engine.subscribe("TRUE")
    engine.unsubscribe(first)
    assert engine.subscribe("TRUE") != first
    engine.subscribe_many([(f"s{n}", "TRUE") for n in range(3, 6)])
    assert engine.subscribe("TRUE") not in {first, "s2", "s3", "s4", "s5"}


# Batches.


def test_rows_ascend_by_event_and_the_dictionary_is_that_of_all_ids() -> None:
    engine = Engine()
    engine.subscribe_arrow(rows(texts(30)))
    found = engine.match_arrow(BATCH)
    assert found.num_rows > 30
    events = found.column("event").to_numpy()
    assert np.all(events[1:] >= events[:-1])
    assert (
        found.column("subscription")
        .chunk(0)
        .dictionary.equals(engine._store.ids.indexed(np.zeros(0, np.int32))[1])
    )
    few = engine.match_arrow(pa.table({"price": [98], "symbol": ["a"]}))
    assert few.num_rows == len(few.column("subscription").combine_chunks().dictionary) == 0


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("count", [1, 3, 40])
def test_matches_table(dtype: Any, count: int) -> None:
    engine = one_by_one(texts(9))
    engine.unsubscribe("s3")
    keys = np.resize(np.array([8, 0, 5], dtype), count)
    table = matches_table(Pairs(np.arange(count), keys), engine._store.ids)
    assert table.column("subscription").to_pylist() == np.resize(["s8", "s0", "s5"], count).tolist()
    assert table.column("event").to_pylist() == list(range(count))
    table.validate(full=True)


@pytest.mark.parametrize("count", [0, 1, 3, 40, 200])
def test_a_small_answer_has_a_small_dictionary(count: int) -> None:
    """Of 10,000 subscriptions, by sorting a few keys or by a look at all of them."""
    engine = Engine()
    engine.subscribe_many((f"s{n}", "price < 5") for n in range(10_000))
    keys = np.random.default_rng(count).choice([9_999, 7, 7_000, 0], count).astype(np.int32)
    table = matches_table(Pairs(np.arange(count), keys), engine._store.ids)
    assert table.column("subscription").to_pylist() == [f"s{key}" for key in keys.tolist()]
    dictionaries = [chunk.dictionary for chunk in table.column("subscription").chunks]
    assert sum(map(len, dictionaries)) == len(set(keys.tolist()))
    table.validate(full=True)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 19)), max_size=40))
def test_sorted_matches(pairs: list[tuple[int, int]]) -> None:
    pairs.sort(key=lambda pair: pair[0])
    engine = Engine()
    engine.subscribe_many((f"é{n}" if n % 2 else f"s{n}", "TRUE") for n in range(20))
    events, keys = np.array(pairs, np.int64).reshape(-1, 2).T
    table = matches_table(Pairs(events, keys), engine._store.ids)
    found = sorted_matches(table)
    assert found.schema == table.schema
    as_pairs = [(row["event"], row["subscription"]) for row in found.to_pylist()]
    assert as_pairs == sorted((row["event"], row["subscription"]) for row in table.to_pylist())


@pytest.mark.parametrize("matcher", MATCHERS)
@pytest.mark.parametrize("limit", [None, 1, 2, 7, 10_000])
def test_counts_and_limits(matcher: str, limit: int | None) -> None:
    engine = Engine(matcher=matcher)
    engine.subscribe_many(texts(100))
    right = [set(ids) for ids in engine.match_batch(EVENTS)]
    most = 10_000 if limit is None else limit
    counts = engine.count_arrow(BATCH, limit=limit)
    assert counts.type == pa.int64()
    assert counts.to_pylist() == [min(len(ids), most) for ids in right]
    found = engine.match_arrow(BATCH, limit=limit)
    events = found.column("event").to_numpy()
    assert np.all(events[1:] >= events[:-1])
    by_event: list[list[str]] = [[] for _ in EVENTS]
    for row in found.to_pylist():
        by_event[row["event"]].append(row["subscription"])
    assert [len(ids) for ids in by_event] == counts.to_pylist()
    assert all(set(ids) <= right[event] for event, ids in enumerate(by_event))
    assert all(len(set(ids)) == len(ids) for ids in by_event)
    assert engine.count_arrow(BATCH.slice(0, 0), limit=limit).to_pylist() == []


@pytest.mark.parametrize("limit", [0, -1, True, 1.0, "1"])
def test_a_limit_is_a_positive_integer(limit: Any) -> None:
    engine = one_by_one(texts(3))
    for call in (engine.match_arrow, engine.count_arrow):
        with pytest.raises(InvalidOptionError, match="positive integer") as caught:
            call(BATCH, limit=limit)
        assert caught.value.option == "limit"


def test_counting_regions() -> None:
    engine = Engine()
    engine.subscribe_many([("a", "x BETWEEN 0 AND 10"), ("b", "x > 5"), ("c", "x > 100")])
    batch = pa.table({"lo": [3, 6, None], "hi": [4, 200, None]})
    assert engine.count_arrow(batch, intervals={"x": ("lo", "hi")}).to_pylist() == [1, 3, 0]
    found = engine.match_arrow(batch, intervals={"x": ("lo", "hi")}, limit=1)
    assert found.column("event").to_pylist() == [0, 1]


@given(st.lists(st.integers(0, 4)), st.integers(1, 4))
def test_pairs_at_most(events: list[int], limit: int) -> None:
    events.sort()
    pairs = Pairs(np.array(events, np.int64), np.arange(len(events)))
    found = pairs.at_most(limit)
    assert Counter(found.events.tolist()) == {
        event: min(count, limit) for event, count in Counter(events).items()
    }
    assert all(events[key] == event for event, key in zip(*found, strict=True))
    assert pairs.at_most(None) is pairs


CALLS = ["one", "many", "arrow", "remove", "change", "look"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(CALLS), st.integers(0, 60)), max_size=14))
def test_any_mixture_of_calls(calls: list[tuple[str, int]]) -> None:
    """Against an engine that is told everything one by one."""
    engine, right = Engine(), Engine()
    for fresh, (call, number) in enumerate(calls):
        ids = list(right)
        if call == "one":
            for each in (engine, right):
                each.subscribe(
                    f"price < {number}", id=f"t{fresh}", owner="x" if number % 2 else None
                )
        elif call in {"many", "arrow"}:
            bulk = [(f"{fresh}-{id}", text) for id, text in texts(number)]
            if call == "many":
                engine.subscribe_many(bulk)
            else:
                engine.subscribe_arrow(rows(bulk))
            for id, text in bulk:
                right.subscribe(text, id=id)
        elif ids and call == "remove":
            for id in ids[number : 3 * number]:
                engine.unsubscribe(id)
                right.unsubscribe(id)
        elif ids and call == "change":
            for id in ids[number : number + 5]:
                engine.change(id, f"symbol = 'a' AND price > {number}")
                right.change(id, f"symbol = 'a' AND price > {number}")
        elif call == "look":
            assert engine.match_batch(EVENTS) == right.match_batch(EVENTS)
    assert state(engine) == state(right)
    found, expected = (sorted_matches(each.match_arrow(BATCH)) for each in (engine, right))
    assert found.equals(expected)


def test_threads_load_in_bulk_and_match() -> None:
    engine = Engine()
    failures: list[str] = []

    def work(name: str) -> None:
        for number in range(10):
            bulk = [(f"{name}-{number}-{n}", f"n = {number}") for n in range(40)]
            engine.subscribe_many(bulk)
            found = engine.match_arrow(pa.table({"n": [number]}))
            if not {id for id, _ in bulk} <= set(found.column("subscription").to_pylist()):
                failures.append(f"{name}-{number} was not seen")
            for id, _ in bulk:
                engine.unsubscribe(id)

    run_at_once(work, "abcd")
    assert failures == []
    assert len(engine) == 0
