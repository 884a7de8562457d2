"""A claim is judged by its rule, and by nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from operator import mul, truediv

import pytest

from bench.measuring.machine import this_machine
from bench.measuring.sizes import Size
from bench.measuring.verdict import Finding, Verdict
from bench.papers.claims import verdicts
from bench.papers.claims.comparisons import (
    explodes,
    falls,
    far_below_everywhere,
    linear,
    lower_slope_in_second,
    lowest,
    order_at_last,
    rises,
    slope_far_below,
)
from bench.papers.quantities import INSERT, MATCH, MEMORY, STEPS_PER_EVENT
from bench.papers.results import ExperimentResult, MatcherResult, PapersReport, PointResult, Stop
from bench.papers.trends import growth, rank_correlation, slope

XS = (1_000, 2_000, 3_000, 4_000, 5_000)


def result(
    name: str = "exp1", paper: str = "ceem", **lines: Callable[[int], float]
) -> ExperimentResult:
    """An experiment in which each matcher's time, memory and steps are a function of x."""
    points = []
    for x in XS:
        matchers = {}
        for matcher, line in lines.items():
            y = line(x)
            if not math.isnan(y):
                held, work = {"bytes": round(y * 2**20)}, {"candidates": round(y * 1000)}
                matchers[matcher.replace("_", "-")] = MatcherResult(y, y, [y], [y], held, work)
        points.append(PointResult(x, x, x, 10, 3, 20, 15, matchers))
    return ExperimentResult(paper, name, "a test", "subscriptions", points, {})


def held(finding: Finding | None) -> bool:
    assert finding is not None
    return finding.holds


def test_trends() -> None:
    assert slope([(1, 3.0), (2, 5.0), (3, 7.0)]) == pytest.approx(2)
    assert growth([(x, 4.0 * x**1.5) for x in XS]) == pytest.approx(1.5)
    assert rank_correlation([(1, 1.0), (2, 9.0), (3, 10.0)]) == pytest.approx(1)
    assert rank_correlation([(1, 3.0), (2, 2.0), (3, 1.0)]) == pytest.approx(-1)
    assert math.isnan(rank_correlation([(1, 2.0), (2, 2.0)]))


def test_linear_is_a_power_near_one() -> None:
    found = result(ceem=lambda x: 2.0 * x, counting=lambda x: x**1.5)
    assert held(linear([found], ["ceem"], MATCH))
    assert not held(linear([found], ["ceem", "counting"], MATCH))
    assert linear([found], ["unknown"], MATCH) is None
    flat = result(ceem=lambda x: 5.0)
    assert not held(linear([flat], ["ceem"], INSERT))


def test_a_slope_is_far_below_from_a_factor_of_two_on() -> None:
    found = result(ceem=lambda x: 1.0 * x, counting=lambda x: 2.5 * x, other=lambda x: 1.5 * x)
    assert held(slope_far_below([found], "ceem", "counting", MATCH))
    assert not held(slope_far_below([found], "ceem", "other", STEPS_PER_EVENT))


def test_orders_compare_the_points_that_both_reached() -> None:
    found = result(
        ceem=lambda x: 1.0 * x,
        matching_tree=lambda x: 5.0 * x if x < 3_000 else math.nan,
        counting=lambda x: 0.5 * x if x > 4_000 else 3.0 * x,
    )
    assert held(far_below_everywhere([found], "ceem", "matching-tree", MEMORY))
    assert not held(far_below_everywhere([found], "ceem", "counting", MEMORY))
    assert not held(order_at_last([found], "ceem", "counting", MATCH))
    assert held(order_at_last([found], "ceem", "matching-tree", MATCH))
    finding = lowest([found], "ceem", MATCH)
    assert finding == Finding(False, "exp. 1: lowest at 4 of 5 points, elsewhere counting")
    assert held(lowest([found], "counting", MATCH)) is False


def test_a_single_slip_does_not_cost_the_first_place() -> None:
    found = result(ceem=lambda x: 9.0 * x if x == 2_000 else 1.0 * x, counting=lambda x: 2.0 * x)
    assert held(lowest([found], "ceem", MATCH))
    assert not held(lowest([found], "counting", MATCH))


def test_rising_and_falling_need_a_trend_and_a_difference() -> None:
    found = result(
        up=lambda x: 1.0 * x,
        down=lambda x: 1e6 / x,
        flat=lambda x: 1.0 + x / 1e9,
        wild=lambda x: 1.0 * (x % 3_000 + 1),
    )
    assert held(rises([found], ["up"], MATCH))
    assert held(falls([found], ["down"], MATCH))
    for name in ("down", "flat", "wild"):
        assert not held(rises([found], [name], MATCH))
    for name in ("up", "flat", "wild"):
        assert not held(falls([found], [name], MATCH))


def test_the_second_experiment_is_faster_when_its_slope_is_lower() -> None:
    slow, fast = result("exp1", ceem=lambda x: 2.0 * x), result("exp2", ceem=lambda x: 1.0 * x)
    assert held(lower_slope_in_second([slow, fast], "ceem", MATCH))
    assert not held(lower_slope_in_second([fast, slow], "ceem", MATCH))
    assert lower_slope_in_second([slow], "ceem", MATCH) is None


def test_memory_explodes_at_a_limit_or_by_its_growth() -> None:
    linear_tree = result(matching_tree=lambda x: 5.0 * x)
    assert not held(explodes([linear_tree], "matching-tree", MEMORY))
    assert held(explodes([result(matching_tree=lambda x: 1.0 * x**2)], "matching-tree", MEMORY))
    linear_tree.stopped["matching-tree"] = Stop(4_000, "limit", "full", measured=False)
    assert held(explodes([linear_tree], "matching-tree", MEMORY))
    linear_tree.stopped["matching-tree"] = Stop(4_000, "time", "slow", measured=False)
    assert not held(explodes([linear_tree], "matching-tree", MEMORY))


@pytest.mark.parametrize(
    ("measured", "counted", "outcome"),
    [
        (True, True, "holds"),
        (True, None, "holds"),
        (False, False, "does not hold"),
        (False, None, "does not hold"),
        (True, False, "holds by time only"),
        (False, True, "holds by steps only"),
        (None, None, "not measured"),
    ],
)
def test_outcomes(measured: bool | None, counted: bool | None, outcome: str) -> None:
    first, second = (None if each is None else Finding(each, "") for each in (measured, counted))
    assert Verdict("a claim", "a rule", first, second).outcome == outcome


def test_every_claim_of_the_digest_is_judged() -> None:
    lines = {
        "brute_force": 9.0,
        "counting": 8.0,
        "improved_counting": 4.0,
        "redundant_attributes": 3.0,
        "ceem": 1.0,
        "matching_tree": 0.5,
    }
    growing = {name: partial(mul, factor) for name, factor in lines.items()}
    falling = {name: partial(truediv, factor * 1e6) for name, factor in lines.items()}
    report = PapersReport(
        this_machine(),
        Size.SMALL,
        0,
        3,
        list(lines),
        [
            *(result(name, "ceem", **growing) for name in ("exp1", "exp2")),
            *(
                result(name, "redundant-attributes", **(falling if name == "exp3" else growing))
                for name in ("exp1", "exp2", "exp3", "exp4", "exp5")
            ),
        ],
    )
    assert [verdict.outcome for verdict in verdicts(report, "ceem")] == [
        "holds",  # insertion is linear
        "holds",  # matching is linear
        "holds",  # CEEM's slope is far below counting's
        "does not hold",  # both experiments are alike
        "holds",  # the tree is fastest
        "does not hold",  # its memory does not explode
        "does not hold",  # and is below CEEM's
    ]
    assert {verdict.outcome for verdict in verdicts(report, "redundant-attributes")} == {"holds"}
    assert len(verdicts(report, "redundant-attributes")) == 8
