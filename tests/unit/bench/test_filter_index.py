"""The workloads of the Filter Index paper, and the verdicts on its claims."""

from __future__ import annotations

import random
from itertools import islice

from bench.measuring.machine import this_machine
from bench.measuring.sizes import Size
from bench.papers.claims import verdicts
from bench.papers.results import ExperimentResult, MatcherResult, PapersReport, PointResult
from bench.papers.workloads import filter_index
from predicast.matching import make_matcher


def test_the_sizes_are_the_papers() -> None:
    for experiment in filter_index.filter_index_experiments(Size.FULL):
        assert experiment.values == tuple(range(5_000, 45_001, 5_000))


def test_areas_and_locales_are_met_as_often_as_ever() -> None:
    found = []
    for subscriptions, events in (
        (filter_index.areas, filter_index.noticed),
        (filter_index.locales, filter_index.places),
    ):
        matcher = make_matcher("brute-force")
        for key, each in enumerate(islice(subscriptions(random.Random(0)), 1_000)):
            matcher.subscribe(key, each)
        some = list(islice(events(random.Random(1)), 100))
        found.append(sum(map(len, matcher.match_batch(some))))
    assert found == [243, 217]


def measured(match: dict[str, float], insert_growth: float) -> PapersReport:
    points = []
    for number, x in enumerate((1_000, 2_000, 3_000)):
        matchers = {
            name: MatcherResult(
                1 + insert_growth * number, each * x, [], [], {}, {"candidates": int(each * x * 10)}
            )
            for name, each in match.items()
        }
        points.append(PointResult(x, x, 1_000, 10, 3, 20, 15, matchers))
    result = ExperimentResult("filter-index", "exp1", "a test", "subscriptions", points, {})
    return PapersReport(this_machine(), Size.SMALL, 0, 1, list(match), [result])


def outcomes(report: PapersReport) -> list[str]:
    return [verdict.outcome for verdict in verdicts(report, "filter-index")]


def test_claims_are_judged_by_what_was_measured() -> None:
    ahead = outcomes(measured({"filter-index": 1, "brute-force": 10}, insert_growth=0.1))
    assert ahead == ["holds", "does not hold", "holds", "does not hold", "holds", "holds"]
    behind = outcomes(measured({"filter-index": 1, "brute-force": 1}, insert_growth=1))
    assert behind[0] == "does not hold"
    assert behind[3:] == ["holds", "does not hold", "does not hold"]
    assert set(outcomes(measured({"columnar": 1}, insert_growth=0))) == {"not measured"}
