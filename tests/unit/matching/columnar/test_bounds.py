"""What is held is bounded by what is live, and no call pays for a pile, whether anyone matches."""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

import numpy as np
import pytest

from predicast import Event
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.typed_values import Integers
from predicast.matching.brute_force import BruteForce
from predicast.matching.columnar import Columnar
from predicast.matching.columnar import recent as recent_module
from predicast.matching.columnar import view as view_module
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.view import ColumnarView
from predicast.model import Clause, Constraint, Operator, Subscription
from tests.deltas import delta, unasked

SMALL = 256


class Tight(Columnar):
    """Segments of a few hundred clauses behave as those of many thousands do."""

    name = "columnar-tight"
    layout = Layout(block=64, family=64, partition=8)
    small = SMALL
    bulk_minimum = 16


def above(number: int, attribute: str = "x") -> Subscription:
    return Subscription((Clause((Constraint(attribute, Operator.GT, number),)),))


def loaded(kind: type[Columnar], many: int) -> Columnar:
    matcher = kind()
    matcher.apply(delta(added={key: above(key) for key in range(many)}), unasked)
    matcher.settle()
    return matcher


def test_windows_without_an_event_in_between_pile_nothing_up() -> None:
    random_ = random.Random(0)
    live = 600
    matcher, oracle = loaded(Tight, live), BruteForce()
    for key in range(live):
        oracle.subscribe(key, above(key))
    for window in range(80):
        keys = random_.sample(range(live), live // 2)
        changed = delta(changed={key: above(key + window) for key in keys})
        matcher.apply(changed, unasked)
        oracle.apply(changed, lambda key: above(-1))
        held = matcher.statistics()
        assert held["clauses"] == live
        assert held["deleted"] <= 5 * (live + SMALL)
        assert held["segments"] <= 16
    event = Event({"x": live // 2})
    assert sorted(matcher.match(event)) == sorted(oracle.match(event))


def waited_for(matcher: Columnar) -> None:
    for worker in list(matcher._workers.values()):
        worker.join()


def test_a_segment_of_which_nothing_is_live_is_gone_at_once() -> None:
    matcher = loaded(Tight, 600)
    for key in range(600):
        assert matcher.statistics()["segments"] > 0
        matcher.unsubscribe(key)
    waited_for(matcher)
    held = matcher.statistics()
    assert (held["segments"], held["deleted"], held["merging"], held["bytes"]) == (0, 0, 0, 0)


def test_a_segment_that_is_mostly_deleted_is_made_anew_without_another_change() -> None:
    matcher = loaded(Tight, 600)
    matcher.apply(delta(removed=range(400)), unasked)
    waited_for(matcher)
    assert len(matcher.match(Event({"x": 10_000}))) == 200
    held = matcher.statistics()
    assert (held["clauses"], held["deleted"], held["segments"]) == (200, 0, 1)


def test_what_nobody_asks_for_any_more_leaves_no_axes_behind() -> None:
    matcher = Tight()
    matcher.apply(delta(added={key: above(key, f"a{key}") for key in range(600)}), unasked)
    matcher.settle()
    matcher.apply(delta(removed=range(1, 600)), unasked)
    matcher.settle()
    (segment,) = matcher.view().parts.segments
    assert [axis.name.attribute for axis in segment.axes] == ["a0"]


def test_no_call_compiles_a_pile() -> None:
    matcher = Columnar()
    most = 17_000
    for key in range(40_000):
        matcher.subscribe(key, above(key))
        assert all(len(recent) <= most for recent in matcher.view().parts.recents)
        assert len(matcher.view().parts.recents) <= 4
    for _ in range(200):
        assert len(matcher.match(Event({"x": 10}))) == 10
    waited_for(matcher)
    assert matcher.statistics()["segments"] <= 5


def test_wide_subscriptions_are_compiled_before_they_are_many() -> None:
    wide = Subscription((Clause(tuple(Constraint(f"a{n}", Operator.GT, n) for n in range(2_000))),))
    matcher = Columnar()
    for key in range(8):
        matcher.subscribe(key, wide)
        assert len(matcher._recent) <= 3
    assert sorted(matcher.match(Event({f"a{n}": n + 1 for n in range(2_000)}))) == list(range(8))
    assert matcher.match(Event({f"a{n}": n + (n != 7) for n in range(2_000)})) == []


def test_recents_lay_out_only_what_a_batch_has() -> None:
    """A value for each event and each attribute that someone asks for would take 180 MB."""
    matcher = Columnar()
    clause = Clause(tuple(Constraint(f"a{n}", Operator.GT, n) for n in range(1_000)))
    matcher.subscribe(0, Subscription((clause,)))
    matcher.subscribe(1, above(19_990, "a5"))
    rows = 20_000
    columns = EventBatch(rows, {"a5": [Integers(np.arange(rows), None)]})
    (recent,) = matcher.view().parts.recents
    recent.match_columns(columns, epoch=2)  # whatever is loaded and cached by it
    tracemalloc.start()
    try:
        recent.match_columns(columns, epoch=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000
    events, keys = matcher.match_columns(columns)
    assert (events.tolist(), keys.tolist()) == ([*range(19_991, rows)], [1] * 9)


def test_a_batch_is_asked_of_recents_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_module, "_MOST_VALUES", 7)
    matcher, oracle = Columnar(), BruteForce()
    for key in range(6):
        for each in (matcher, oracle):
            each.subscribe(key, above(key, "ab"[key % 2]))
    events = [Event({"a": n % 9} if n % 3 else {"b": 4.5, "c": "x"}) for n in range(20)]
    found = [sorted(keys) for keys in matcher.match_batch(events)]
    assert found == [sorted(keys) for keys in oracle.match_batch(events)]
    assert matcher.statistics()["recent"] == 6


def test_segments_are_merged_once_asking_them_all_has_cost_as_much() -> None:
    matcher = loaded(Tight, 600)
    matcher.apply(delta(added={key: above(key) for key in range(600, 640)}), unasked)
    matcher.settle()  # it is a segment by now, and no match for the first
    assert matcher.statistics()["segments"] == 2
    event = Event({"x": 100})
    asked = 0
    merged = matcher.statistics()["merged"]
    while matcher.statistics()["merged"] == merged:
        assert len(matcher.match(event)) == 100
        waited_for(matcher)
        asked += 1
        assert asked < 1_000
    assert asked > 10  # not at once: whoever changes it all the time would merge all the time
    assert len(matcher.match(event)) == 100
    assert matcher.statistics()["segments"] == 1


@pytest.mark.parametrize("removed", [0, 40])
@pytest.mark.parametrize("may_repeat", [False, True])
def test_a_limit_bounds_what_is_found_at_a_time(
    monkeypatch: pytest.MonkeyPatch, removed: int, may_repeat: bool
) -> None:
    def wanted(key: int) -> Subscription:
        clauses = above(key).clauses
        return Subscription(clauses + above(key, "y").clauses if may_repeat else clauses)

    most = 300
    monkeypatch.setattr(view_module, "_MOST_FOUND", most)
    matcher, oracle = Columnar(), BruteForce()
    for each in (matcher, oracle):
        each.apply(delta(added={key: wanted(key) for key in range(200)}), unasked)
        matcher.settle()
        each.apply(delta(removed=range(removed)), unasked)
    found: list[int] = []
    gather = ColumnarView._pairs

    def noted(*asked: Any) -> Any:
        pairs = gather(*asked)
        found.append(len(pairs.keys))
        return pairs

    monkeypatch.setattr(ColumnarView, "_pairs", noted)
    chance = random.Random(1)
    values = [chance.randrange(200) for _ in range(50)]
    batch = EventBatch.from_events([Event({"x": value, "y": value // 2}) for value in values])
    right = oracle.count_columns(batch)
    assert matcher.count_columns(batch).tolist() == right.tolist()
    limited = matcher.match_columns(batch, 20)
    assert limited.counts(50).tolist() == np.minimum(right, 20).tolist()
    assert set(zip(*limited, strict=True)) <= set(zip(*oracle.match_columns(batch), strict=True))
    if removed or may_repeat:
        assert max(found) <= max(most, right.max())
        assert len(found) > 2
