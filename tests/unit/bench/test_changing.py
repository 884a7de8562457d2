"""The vector-subscription paper's workload and its runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from bench.measuring.sizes import Size
from bench.papers import changing
from bench.papers.changing import WAYS, Way, WaysDisagreeError, run_changes
from bench.papers.claims.vector_subscriptions import judge_vector_subscriptions
from bench.papers.workloads.vector_subscriptions import (
    SUBSCRIBERS,
    ChangeExperiment,
    Load,
    World,
    vector_subscription_experiments,
)
from predicast.matching import Matcher
from predicast.matching.poset.poset import Poset
from predicast.model import Subscription
from tests.deltas import delta, unasked

LOAD = Load(subscriptions=200, attributes=9, families=(3, 6), keeping=0.3, shareable=0.2)


def tiny(name: str) -> ChangeExperiment:
    found = {each.name: each for each in vector_subscription_experiments(Size.SMALL)}[name]
    return replace(found, values=(20, 40), load=replace(found.load, subscriptions=150))


def test_parameters_are_the_papers() -> None:
    full = {each.name: each for each in vector_subscription_experiments(Size.FULL)}
    assert set(full) == {"fig6a", "fig6b", "fig6c", "fig6d", "fig7", "fig8"}
    assert full["fig6a"].values[0] == 100
    assert full["fig6a"].values[-1] == 2_000
    assert full["fig7"].values == full["fig8"].values == tuple(range(100, 1_001, 100))
    one, two = full["fig7"].load, full["fig8"].load
    assert (one.attributes, one.families, one.keeping, one.shareable) == (7, (1, 5), 0.2, 0.1)
    assert (two.attributes, two.families, two.keeping, two.shareable) == (9, (3, 6), 0.3, 0.2)


def test_windows_hold_the_shares_of_each_sort() -> None:
    world = World(LOAD, seed=0)
    poset = Poset()
    for key, subscription in enumerate(world.subscriptions):
        poset.subscribe(key, subscription)
    window = world.window(100)
    assert len(window) == 100
    gone = [world.subscriptions[key] for key in window]
    assert sum(subscription in gone for subscription in window.values()) == 20
    effect = poset.apply(delta(changed=window), unasked)
    assert effect.shared == 20
    assert sum(effect) == 100


def test_changes_that_keep_the_structure_do() -> None:
    world = World(replace(LOAD, families=(1, 3), keeping=1.0, shareable=0.0), seed=0)
    poset = Poset()
    for key, subscription in enumerate(world.subscriptions):
        poset.subscribe(key, subscription)
    edges = poset.statistics()["edges"]
    assert edges > 50
    assert poset.apply(delta(changed=world.window(100)), unasked).in_place == 100
    poset.relink(1_000)
    assert poset.statistics()["edges"] == edges


def test_the_seed_decides() -> None:
    assert World(LOAD, 1).window(10) == World(LOAD, 1).window(10)
    assert World(LOAD, 1).window(10) != World(LOAD, 2).window(10)


@pytest.fixture
def poset_only(monkeypatch: pytest.MonkeyPatch) -> dict[str, Way]:
    """The ways that need no compiled kernels."""
    ways = {name: way for name, way in WAYS.items() if way.matcher == "poset"}
    monkeypatch.setattr(changing, "WAYS", ways)
    return ways


@pytest.mark.parametrize("name", ["fig6d", "fig7"])
def test_every_way_is_measured_at_every_point(name: str, poset_only: dict[str, Way]) -> None:
    experiment = tiny(name)
    titles: list[str] = []
    result = run_changes(experiment, 2, titles.append)
    assert len(titles) == 4
    assert [point.x for point in result.points] == [20, 40]
    assert [point.inserted for point in result.points] == [20 * SUBSCRIBERS, 40 * SUBSCRIBERS]
    for point in result.points:
        assert set(point.matchers) == set(poset_only)
        assert all(each.insert_median_s > 0 for each in point.matchers.values())
        assert all(each.work["covering_tests"] > 0 for each in point.matchers.values())
    last = result.points[-1].matchers
    assert last["VSS"].work["shared"] > 0 == last["VS"].work["shared"]
    assert last["VSS"].work["nodes_created"] < last["unsub/sub"].work["nodes_created"]


def test_ways_that_disagree_stop_the_run(
    poset_only: dict[str, Way], monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgetful(matcher: Matcher, window: Mapping[int, Subscription]) -> None:
        matcher.apply(delta(changed=dict(list(window.items())[1:])), unasked)

    monkeypatch.setitem(poset_only, "VSS", Way("poset", forgetful))
    with pytest.raises(WaysDisagreeError, match="fig7, 20: after window"):
        run_changes(replace(tiny("fig7"), events_per_window=20), 1, lambda _: None)


@pytest.mark.usefixtures("poset_only")
def test_every_claim_is_judged() -> None:
    results = [run_changes(tiny(name), 1, lambda _: None) for name in ("fig6a", "fig7", "fig8")]
    judged = judge_vector_subscriptions(results)
    assert len(judged) == 8
    three = next(each for each in judged if "about three times" in each.claim)
    assert three.measured is not None
    assert "fig. 7" in three.measured.evidence
    assert "fig. 8" in three.measured.evidence
    assert judge_vector_subscriptions([])[5].outcome == "not measured"
