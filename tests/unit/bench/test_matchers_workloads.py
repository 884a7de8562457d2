"""The generators of ``python -m bench matchers``: distributions, determinism, true matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import islice

import numpy as np
import pytest

from bench.matchers.alerts import Skew, alerts_workload
from bench.matchers.ceem import ceem_workload
from bench.matchers.duckdb_rival import DuckdbRival
from bench.matchers.engine_rival import EngineRival
from bench.matchers.mixed import mixed_workload
from bench.matchers.numpy_rival import NumpyRival
from bench.matchers.redundant import PLANTED, SparseWorkload, draw_constraints, redundant_workload
from bench.matchers.regions import regions_workload
from bench.matchers.rival import AnyWorkload
from bench.matchers.texts import texts_workload
from bench.papers.workloads import redundant_attributes as ra
from predicast import Engine
from predicast.model import Operator

MAKERS: dict[str, Callable[[int, int, int], AnyWorkload]] = {
    "ceem-exp1": partial(ceem_workload, "exp1"),
    "ceem-exp2": partial(ceem_workload, "exp2"),
    "redundant": redundant_workload,
    "strings": texts_workload,
    "mixed": mixed_workload,
    "alerts": partial(alerts_workload, Skew.ZIPF, 50),
    "regions-2d": partial(regions_workload, 2, 10),
    "regions-3d": partial(regions_workload, 3, 10),
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_seed_gives_the_same_workload_and_another_seed_another(name: str) -> None:
    one, same, other = (MAKERS[name](300, 20, seed) for seed in (1, 1, 2))
    assert one.table().equals(same.table())
    assert not one.table().equals(other.table())
    assert one.events == same.events
    assert one.events != other.events


@pytest.mark.parametrize("name", MAKERS)
def test_every_rival_finds_what_brute_force_finds(name: str) -> None:
    workload = MAKERS[name](400, 40, 3)
    truth = EngineRival("brute-force")
    truth.load(workload)
    expected = truth.match(40).matches
    assert expected > 0, "a test that matches nothing says nothing"
    for rival in (NumpyRival(), DuckdbRival(), EngineRival("columnar")):
        rival.load(workload)
        assert rival.match(40).matches == expected, rival.name
        assert rival.match(10).matches == truth.match(10).matches, rival.name
        rival.close()


@pytest.mark.parametrize("name", MAKERS)
def test_the_table_holds_every_subscription_and_clause(name: str) -> None:
    workload = MAKERS[name](203, 5, 0)  # no multiple of the number of shapes
    engine = Engine(matcher="brute-force")
    engine.subscribe_arrow(workload.table())
    assert set(engine) == {f"s{number}" for number in range(203)}
    clauses = sum(len(engine.get(id).subscription.clauses) for id in engine)
    assert clauses == workload.clauses


@pytest.mark.parametrize("name", ["ceem-exp1", "ceem-exp2"])
def test_ceem_is_uniform_and_its_ends_are_distinct(name: str) -> None:
    workload = ceem_workload(name.removeprefix("ceem-"), 60_000, 10)
    columns = workload.shapes[0].columns
    equalities = [column for column in columns if column.startswith("e")]
    lows = [column for column in columns if column.startswith("low")]
    assert (len(equalities), len(lows)) == {"ceem-exp1": (2, 3), "ceem-exp2": (3, 4)}[name]
    for equality in equalities:
        counts = np.bincount(columns[equality])
        assert len(counts) == 6
        assert abs(counts - 10_000).max() < 500
    for low in lows:
        high = low.replace("low", "high")
        assert (columns[low] < columns[high]).all()
        # The lesser and the greater of two uniform numbers.
        assert columns[low].mean() == pytest.approx(65_535 / 3, rel=0.02)
        assert columns[high].mean() == pytest.approx(65_535 * 2 / 3, rel=0.02)
        assert 0 <= columns[low].min() < 10
        assert 65_525 < columns[high].max() <= 65_535


def test_redundant_draws_as_the_paper_s_own_generator_does() -> None:
    count = 3_000
    drawn = draw_constraints(count, ra.Parameters(), seed=0)
    sizes = np.bincount(drawn.subscription)
    assert set(sizes.tolist()) == set(range(10, 16))
    kinds = np.bincount(drawn.kind) / len(drawn)
    assert kinds == pytest.approx(np.array(ra.SHARES) / 100, abs=0.01)
    theirs = Counter(
        constraint.operator
        for subscription in islice(ra.subscriptions(ra.Parameters()), count)
        for constraint in subscription.clauses[0].constraints
    )
    total = sum(theirs.values())
    for code, operator in enumerate(ra.OPERATORS):
        share = (drawn.operator == code).mean()
        assert share == pytest.approx(theirs[operator] / total, abs=0.01), operator
    booleans = drawn.operator[drawn.kind == 3]
    assert {ra.OPERATORS[code] for code in booleans.tolist()} == {Operator.EQ}
    assert np.abs(drawn.number).max() <= ra.LIMIT
    assert len(np.unique(drawn.name)) == ra.Parameters().names


def test_redundant_has_no_constraint_twice_in_a_subscription() -> None:
    # With one name, repeats are certain to be drawn at first.
    parameters = ra.Parameters(names=1, constraints=(10, 15))
    drawn = draw_constraints(200, parameters, seed=0)
    rows = set(
        zip(
            drawn.subscription.tolist(),
            drawn.operator.tolist(),
            drawn.kind.tolist(),
            drawn.number.tolist(),
            strict=True,
        )
    )
    assert len(rows) == len(drawn)


def test_planted_events_match() -> None:
    workload = redundant_workload(500, 200)
    assert isinstance(workload, SparseWorkload)
    rival = EngineRival("brute-force")
    rival.load(workload)
    found = rival.matches_per_event(200)
    assert found[::PLANTED].sum() >= 5  # of ten; a few contradict themselves
    assert found.sum() == found[::PLANTED].sum()


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("hits", [1, 10, 100])
def test_regions_hit_as_often_as_wanted(dimensions: int, hits: int) -> None:
    workload = regions_workload(dimensions, hits, 20_000, 400)
    rival = NumpyRival()
    rival.load(workload)
    # At the edges of the world there is a little less to hit.
    assert rival.match(400).matches / 400 == pytest.approx(hits, rel=0.25)


def test_half_of_the_region_events_are_points() -> None:
    events = regions_workload(2, 10, 100, 50).events
    points = events["x_min"].to_numpy() == events["x_max"].to_numpy()
    assert points.sum() == 25


def test_strings_look_like_addresses_and_names() -> None:
    (event,) = texts_workload(10, 1).events.to_pylist()
    assert event["url"].startswith("https://")
    assert f"/{event['section']}/" in event["url"]
    assert event["name"].istitle()
    assert "%" not in event["url"] + event["name"]
