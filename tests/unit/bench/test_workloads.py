"""The papers' workloads are what the papers say, and depend on the seed alone."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from bench.measuring.sizes import Size
from bench.papers.workloads import PAPERS, Experiment, ceem
from bench.papers.workloads import redundant_attributes as ra
from predicast.matching import make_matcher
from predicast.model import Operator

EXPERIMENTS = {
    f"{name} {each.name}": each
    for name, paper in PAPERS.items()
    for each in paper.experiments(Size.FULL, 0)
}


@pytest.mark.parametrize(("name", "families"), [("exp1", 8), ("exp2", 11)])
def test_ceem_subscriptions_have_table_1s_predicate_families(name: str, families: int) -> None:
    attributes = ceem.EXPERIMENTS[name]
    assert attributes.families == families
    for subscription in islice(ceem.subscriptions(attributes), 200):
        (clause,) = subscription.clauses
        operators = Counter(constraint.operator for constraint in clause)
        assert operators == {
            Operator.EQ: attributes.equality,
            Operator.GT: attributes.range,
            Operator.LT: attributes.range,
        }
        for constraint in clause:
            top = 5 if constraint.operator is Operator.EQ else 65_535
            assert isinstance(constraint.operand, int)
            assert 0 <= constraint.operand <= top


@pytest.mark.parametrize(("name", "matches"), [("exp1", 226), ("exp2", 12)])
def test_ceem_matches_are_as_many_as_ever(name: str, matches: int) -> None:
    attributes = ceem.EXPERIMENTS[name]
    matcher = make_matcher("brute-force")
    for key, subscription in enumerate(islice(ceem.subscriptions(attributes), 1_000)):
        matcher.subscribe(key, subscription)
    events = list(islice(ceem.events(attributes), 200))
    assert sum(map(len, matcher.match_batch(events))) == matches


def test_ceem_points_hold_the_subscriptions_in_between() -> None:
    (experiment, _) = ceem.ceem_experiments(Size.SMALL)
    first, second = (experiment.point(value) for value in experiment.values[:2])
    stream = ceem.subscriptions(ceem.EXPERIMENTS["exp1"])
    expected = list(islice(stream, experiment.values[1]))
    assert [*first.subscriptions, *second.subscriptions] == expected
    assert experiment.point(experiment.values[0]) == first
    assert len(first.events) == 30


def test_the_full_sizes_are_the_papers() -> None:
    values = {name: each.values for name, each in EXPERIMENTS.items()}
    for name in ("ceem exp1", "ceem exp2"):
        assert values[name] == tuple(range(5_000, 50_001, 5_000))
    assert values["redundant-attributes exp1"] == tuple(range(20, 201, 20))
    assert values["redundant-attributes exp2"] == tuple(range(500, 5_001, 500))
    assert values["redundant-attributes exp3"] == tuple(range(50, 501, 50))
    assert values["redundant-attributes exp4"] == tuple(range(5, 51, 5))
    assert values["redundant-attributes exp5"] == tuple(range(500, 5_001, 500))


@pytest.mark.parametrize("size", Size)
def test_each_experiment_has_points_of_its_own_in_order(size: Size) -> None:
    for paper in PAPERS.values():
        for experiment in paper.experiments(size, 0):
            assert len(experiment.values) >= 5
            assert sorted(set(experiment.values)) == list(experiment.values)


def _varied(experiment: Experiment, value: int) -> tuple[int, int, set[int], set[int]]:
    point = experiment.point(value)
    return (
        len(point.subscriptions),
        len(point.events),
        {len(subscription.clauses[0]) for subscription in point.subscriptions},
        {len(event) for event in point.events},
    )


def test_redundant_attribute_experiments_vary_one_parameter() -> None:
    small = {each.name: each for each in ra.redundant_attribute_experiments(Size.SMALL)}
    usual_constraints, usual_attributes = set(range(10, 16)), set(range(20, 31))
    assert _varied(small["exp1"], 65) == (200, 200, usual_constraints, {65})
    assert _varied(small["exp2"], 325) == (200, 325, usual_constraints, usual_attributes)
    assert _varied(small["exp3"], 50) == (200, 200, usual_constraints, usual_attributes)
    assert _varied(small["exp4"], 5) == (200, 200, {5}, usual_attributes)
    assert _varied(small["exp5"], 100) == (100, 200, usual_constraints, usual_attributes)


def test_redundant_attribute_names_words_types_and_operators() -> None:
    parameters = ra.Parameters(names=50)
    subscriptions = list(islice(ra.subscriptions(parameters), 400))
    constraints = [each for subscription in subscriptions for each in subscription.constraints()]
    names = {constraint.attribute for constraint in constraints}
    assert len(names) == 50
    assert all(len(name) == 6 and name.isalpha() for name in names)
    values = [constraint.operand for constraint in constraints]
    strings = {value for value in values if isinstance(value, str)}
    assert len(strings) == 100
    assert all(len(word) == 8 for word in strings)
    shares = Counter(type(value) for value in values)
    for type_, share in zip((int, float, str, bool), (0.4, 0.3, 0.2, 0.1), strict=True):
        assert shares[type_] / len(values) == pytest.approx(share, abs=0.03)
    numbers = [value for value in values if type(value) in {int, float}]
    assert all(-100 <= value <= 100 for value in numbers)  # type: ignore[operator]
    for constraint in constraints:
        assert constraint.operator is Operator.EQ or not isinstance(constraint.operand, bool)
    ordered = Counter(each.operator for each in constraints if not isinstance(each.operand, bool))
    assert set(ordered) == set(ra.OPERATORS)
    for count in ordered.values():
        assert count / ordered.total() == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_seed_decides(seed: int) -> None:
    def made(seed: int) -> list[object]:
        parameters, attributes = ra.Parameters(), ceem.EXPERIMENTS["exp1"]
        streams = (
            ra.subscriptions(parameters, seed),
            ra.events(parameters, seed),
            ceem.subscriptions(attributes, seed),
            ceem.events(attributes, seed),
        )
        return [next(stream) for stream in streams]

    assert made(seed) == made(seed)
    assert all(one != other for one, other in zip(made(seed), made(seed + 7), strict=True))
