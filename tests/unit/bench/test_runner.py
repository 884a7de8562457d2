"""The runner measures every matcher at every point, and says where one stops or is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.measuring.sizes import Size
from bench.papers.runner import Effort, MatchersDisagreeError, run, turns
from bench.papers.workloads import PAPERS, Experiment, Point
from predicast.errors import UnsupportedByMatcherError
from predicast.matching import OneByOne
from predicast.model import Constraint, Event, Operator, Subscription

QUICK = Effort(repeats=2, point_budget_s=60, repeat_budget_s=60)


class Recorder(OneByOne):
    """Matches everything; counts; writes down when it is asked to match."""

    name = "recorder"

    def __init__(self, name: str = "recorder", log: list[str] | None = None) -> None:
        super().__init__()
        self._name = name
        self._log = [] if log is None else log
        self.keys: list[int] = []
        self.tested = 0

    def subscribe(self, key: int, subscription: Subscription) -> None:
        self.keys.append(key)

    def unsubscribe(self, key: int) -> None:
        raise AssertionError("never asked for")

    def change(self, key: int, subscription: Subscription) -> None:
        raise AssertionError("never asked for")

    def match(self, event: Event) -> list[int]:
        raise AssertionError("batches only")

    def match_batch(self, events: object) -> list[list[int]]:
        assert isinstance(events, list)
        self._log.append(self._name)
        self.tested += len(self.keys) * len(events)
        return [list(self.keys) for _ in events]

    def statistics(self) -> dict[str, int]:
        return {"bytes": 8 * len(self.keys), "constraints_tested": self.tested}


class Limited(Recorder):
    """Holds at most 25 subscriptions."""

    def subscribe(self, key: int, subscription: Subscription) -> None:
        if len(self.keys) == 25:
            raise UnsupportedByMatcherError("the limit is 25", matcher="limited")
        super().subscribe(key, subscription)


class Forgetful(Recorder):
    """Never finds the subscription 3."""

    def match_batch(self, events: object) -> list[list[int]]:
        return [[key for key in keys if key != 3] for keys in super().match_batch(events)]


def experiment(*, grows: bool) -> Experiment:
    subscription = Subscription.of([[Constraint("x", Operator.GT, 0)]])
    values = (10, 20, 30)

    def point(value: int) -> Point:
        return Point(
            value, [subscription] * (10 if grows else value), [Event({"x": 1}), Event({"x": 1})]
        )

    return Experiment("ceem", "exp1", "a test", "subscriptions", values, point, grows=grows)


@pytest.mark.parametrize("grows", [False, True])
def test_every_matcher_is_measured_at_every_point(grows: bool) -> None:
    titles: list[str] = []
    report = run(
        [experiment(grows=grows)],
        ["a", "b"],
        size=Size.SMALL,
        effort=QUICK,
        progress=titles.append,
        make=Recorder,
    )
    assert len(titles) == turns([experiment(grows=grows)], QUICK) == 6
    (result,) = report.experiments
    assert [point.x for point in result.points] == [10, 20, 30]
    for point in result.points:
        assert list(point.matchers) == ["a", "b"]
        assert (point.subscriptions, point.events, point.matches) == (point.x, 2, 2 * point.x)
        assert (point.attributes, point.distinct_attributes) == (2, 1)
        for measured in point.matchers.values():
            assert len(measured.insert_s) == len(measured.match_s) == 2
            assert min(measured.match_s) <= measured.match_median_s <= max(measured.match_s)
            assert measured.held == {"bytes": 8 * point.x}
            assert measured.work == {"constraints_tested": 2 * point.x}


def test_matchers_take_turns_to_go_first() -> None:
    log: list[str] = []
    run(
        [experiment(grows=True)],
        ["a", "b"],
        size=Size.SMALL,
        effort=QUICK,
        make=lambda name: Recorder(name, log),
    )
    assert log[::2] == ["a", "b", "a", "b", "a", "b"]
    assert log[1::2] == ["b", "a", "b", "a", "b", "a"]


@pytest.mark.parametrize("grows", [False, True])
def test_a_matcher_that_hits_its_limit_is_left_out_from_there_on(grows: bool) -> None:
    report = run(
        [experiment(grows=grows)],
        ["a", "limited"],
        size=Size.SMALL,
        effort=QUICK,
        make=lambda name: Limited(name) if name == "limited" else Recorder(name),
    )
    (result,) = report.experiments
    assert [list(point.matchers) for point in result.points] == [
        ["a", "limited"],
        ["a", "limited"],
        ["a"],
    ]
    stop = result.stopped["limited"]
    assert (stop.x, stop.reason, stop.message, stop.measured) == (
        30,
        "limit",
        "the limit is 25",
        False,
    )


@pytest.mark.parametrize("grows", [False, True])
def test_a_matcher_that_matches_too_long_is_left_out_after_that_point(grows: bool) -> None:
    effort = replace(QUICK, point_budget_s=0)
    # Inserting looks at the clock too, but only after the first subscription of each hundred.
    report = run([experiment(grows=grows)], ["a"], size=Size.SMALL, effort=effort, make=Recorder)
    (result,) = report.experiments
    assert result.stopped["a"].reason == "time"
    assert result.stopped["a"].x == 10
    assert [list(point.matchers) for point in result.points[1:]] == [[], []]


def test_matching_is_not_repeated_once_it_took_long_enough() -> None:
    effort = replace(QUICK, repeats=3, repeat_budget_s=0)
    report = run([experiment(grows=True)], ["a"], size=Size.SMALL, effort=effort, make=Recorder)
    for point in report.experiments[0].points:
        assert len(point.matchers["a"].insert_s) == 3
        assert len(point.matchers["a"].match_s) == 1


def test_a_wrong_matcher_is_named_with_the_first_difference() -> None:
    with pytest.raises(MatchersDisagreeError, match=r"exp1, 10: for event 0.*only a: \[3\]"):
        run(
            [experiment(grows=False)],
            ["a", "forgetful"],
            size=Size.SMALL,
            effort=QUICK,
            make=lambda name: Forgetful(name) if name == "forgetful" else Recorder(name),
        )


def test_the_papers_matchers_agree_on_the_beginning_of_every_experiment() -> None:
    chosen = [
        replace(each, values=each.values[:1])
        for paper in PAPERS.values()
        for each in paper.experiments(Size.SMALL, 0)
        if isinstance(each, Experiment)
    ]
    report = run(chosen, size=Size.SMALL, effort=replace(QUICK, repeats=1))
    assert {"ceem", "filter-index"} <= set(report.matchers)
    for result in report.experiments:
        assert result.stopped == {}
        for name in PAPERS[result.paper].matchers:
            measured = result.points[0].matchers[name]
            assert measured.match_median_s > 0
            assert sum(measured.work.values()) > 0
