"""Backtests: what would have fired, what a new version gains and loses, and samples of events."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast import Engine
from predicast.engine.backtest import Backtest, Fired, State
from predicast.errors import InvalidEventError, InvalidOptionError, InvalidValueError, ParseError

OLD = {"kept": "price < 10", "moved": "price < 10 AND kind = 'a'", "gone": "kind = 'b'"}
NEW = {"kept": "10 > price", "moved": "price < 20 AND kind = 'a'", "added": "price > 100"}
EVENTS: list[dict[str, Any]] = [
    {"price": 5, "kind": "a"},
    {"price": 15, "kind": "a"},
    {"price": 5, "kind": "b"},
    {"price": None, "kind": "a"},
]


def backtest(events: Any, subscriptions: dict[str, str], **asked: Any) -> Backtest:
    engine = Engine()
    engine.subscribe_many(subscriptions)
    return engine.backtest(events, **asked)


def frames() -> list[Any]:
    table = pa.Table.from_pylist(EVENTS)
    present = [{k: v for k, v in each.items() if v is not None} for each in EVENTS]
    readers = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(3))
    return [present, iter(present), table, readers, pl.LazyFrame(table), pd.DataFrame(EVENTS)]


@pytest.mark.parametrize("events", frames(), ids=lambda each: type(each).__name__)
def test_what_a_new_version_gains_and_loses(events: Any) -> None:
    found = backtest(events, NEW, against=OLD)
    assert found.events == 4
    counts = [(e.id, e.state, e.fired, e.before, e.gained, e.lost) for e in found.fired]
    assert counts == [
        ("kept", State.SAME, 2, 2, 0, 0),
        ("moved", State.CHANGED, 2, 1, 1, 0),
        ("added", State.NEW, 0, 0, 0, 0),
        ("gone", State.REMOVED, 0, 1, 0, 1),
    ]
    assert found.never() == ["added"]
    assert [each["price"] for each in found["kept"].samples] == [5, 5]
    assert [each["price"] for each in found["moved"].gained_samples] == [15]
    assert [each["kind"] for each in found["gone"].lost_samples] == ["b"]
    assert found.table().column("lost").to_pylist() == [0, 0, 0, 1]


def test_without_an_old_version_only_what_fires_is_counted() -> None:
    engine = Engine()
    engine.subscribe("price < :most", id="a", parameters={"most": 10})
    found = engine.backtest(pa.Table.from_pylist(EVENTS), samples=1)
    assert found.fired == [Fired("a", State.NEW, 2, samples=[EVENTS[0]])]


def test_samples_are_kept_up_to_a_number() -> None:
    events = [{"x": n} for n in range(10_000)]
    found = backtest(events, {"a": "x >= 4095"}, samples=2)["a"]
    assert (found.fired, found.samples) == (5905, [{"x": 4095}, {"x": 4096}])
    assert backtest(events, {"a": "x >= 4095"}, samples=0)["a"].samples == []


def test_nothing_at_all() -> None:
    assert backtest([], {}).fired == []
    assert backtest([{"x": 1}], {}, against={}).events == 1
    assert backtest([], NEW, against=OLD)["kept"].fired == 0


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ParseError):
        backtest([], {}, against={"a": "x <"})
    with pytest.raises(InvalidOptionError, match="samples"):
        backtest([], {}, samples=-1)
    with pytest.raises(InvalidOptionError, match="what absence means"):
        backtest([], {}, against=Engine(absent="passes"))
    with pytest.raises((InvalidEventError, InvalidValueError)):
        backtest([{"x": float("nan")}], {"a": "x < 1"})
    assert backtest([{"x": float("nan")}], {"a": "x < 1"}, on_invalid="skip").events == 1


_TEXTS = st.dictionaries(
    st.sampled_from("abcd"),
    st.sampled_from(["x < 3", "x > 1", "x = 2 OR y = 1", "y = 1", "x IS NULL", "x != 2"]),
)


@given(
    new=_TEXTS,
    old=_TEXTS,
    events=st.lists(
        st.fixed_dictionaries({}, optional={"x": st.integers(0, 4), "y": st.integers(0, 2)}),
        max_size=12,
    ),
)
def test_counts_are_those_of_two_engines(
    new: dict[str, str], old: dict[str, str], events: list[dict[str, int]]
) -> None:
    found = backtest(events, new, against=old, samples=100)

    def matched(texts: dict[str, str]) -> dict[str, set[int]]:
        engine = Engine(matcher="brute-force")
        engine.subscribe_many(texts)
        by_event = list(enumerate(engine.match_batch(events)))
        return {id: {place for place, ids in by_event if id in ids} for id in texts}

    after, before = matched(new), matched(old)
    assert {each.id for each in found.fired} == new.keys() | old.keys()
    for each in found.fired:
        now, then = after.get(each.id, set()), before.get(each.id, set())
        assert (each.fired, each.before) == (len(now), len(then))
        assert (each.gained, each.lost) == (len(now - then), len(then - now))
        assert each.samples == [events[place] for place in sorted(now)]
        assert each.gained_samples == [events[place] for place in sorted(now - then)]
        assert each.lost_samples == [events[place] for place in sorted(then - now)]
