"""The counting matchers, and the mistakes of the redundant-attribute paper, one by one."""

from __future__ import annotations

import pytest

from predicast.language import to_subscription
from predicast.matching import Matcher, make_matcher
from predicast.matching.counting import redundant_attributes as module
from predicast.matching.counting.redundant_attributes import AttributeEventList
from predicast.model import Absent, Clause, Constraint, Event, Interval, Operator, Subscription

MATCHERS = ["counting", "improved-counting", "redundant-attributes"]
every_matcher = pytest.mark.parametrize("name", MATCHERS)


def holding(name: str, *expressions: str, absent: Absent = "fails") -> Matcher:
    matcher = make_matcher(name, absent=absent)
    for key, expression in enumerate(expressions):
        matcher.subscribe(key, to_subscription(expression))
    return matcher


# The digest's counter-examples to the paper.


@every_matcher
def test_two_values_that_satisfy_one_constraint_count_once(name: str) -> None:
    # The paper's event {x=1, x=2} against {x > 0, y = 1}; a region is how we say it.
    matcher = holding(name, "x > 0 AND y = 1", "x > 0")
    assert matcher.match(Event({"x": Interval(1, 2)})) == [1]


@every_matcher
def test_a_constraint_satisfied_in_two_places_counts_once(name: str) -> None:
    matcher = holding(name, "contains(x, 'ab') AND y = 1", "x IN ('abab', 'b') AND y = 1")
    assert matcher.match(Event({"x": "abab"})) == []


@every_matcher
def test_a_constraint_written_twice_counts_once(name: str) -> None:
    twice = Clause((Constraint("x", Operator.GT, 0), Constraint("x", Operator.GT, 0.0)))
    matcher = make_matcher(name)
    matcher.subscribe(0, Subscription((twice,)))
    assert matcher.match(Event({"x": 1})) == [0]
    matcher.unsubscribe(0)
    assert matcher.statistics()["constraints"] == 0


@every_matcher
@pytest.mark.parametrize("absent", ["fails", "passes"])
def test_the_empty_subscription_matches_everything(name: str, absent: Absent) -> None:
    matcher = holding(name, "TRUE", "FALSE", absent=absent)
    assert matcher.match_batch([Event({}), Event({"x": 1})]) == [[0], [0]]


@every_matcher
def test_types_are_part_of_the_key(name: str) -> None:
    matcher = holding(name, "x = 1", "x = 1.0", "x = TRUE", "x = '1'")
    values = (1, 1.0, True, "1")
    found = matcher.match_batch([Event({"x": value}) for value in values])
    assert [sorted(keys) for keys in found] == [[0, 1], [0, 1], [2], [3]]


@every_matcher
def test_numbers_compare_exactly_across_int_and_float(name: str) -> None:
    matcher = holding(name, "x = 9007199254740993", "x <= 9007199254740992", "x = 0")
    found = matcher.match_batch(
        [Event({"x": 2.0**53}), Event({"x": 2**53 + 1}), Event({"x": -0.0})]
    )
    assert [sorted(keys) for keys in found] == [[1], [0], [1, 2]]


@every_matcher
def test_strings_are_not_ordered_by_covering(name: str) -> None:
    matcher = holding(name, "startswith(x, 'ab')", "startswith(x, 'abc')", "startswith(x, 'b')")
    assert matcher.match(Event({"x": "abx"})) == [0]


# What the papers leave open.


@every_matcher
def test_several_constraints_on_an_interval_need_one_common_point(name: str) -> None:
    matcher = holding(name, "x > 3 AND x < 4", "x > 3 AND x < 2", "x BETWEEN 3 AND 4 AND x != 3")
    events = [Event({"x": Interval(0, 9)}), Event({"x": Interval(0.0, 9.0)})]
    assert [sorted(keys) for keys in matcher.match_batch(events)] == [[2], [0, 2]]


@every_matcher
def test_equal_intervals_of_integers_and_of_reals_stay_apart(name: str) -> None:
    assert Interval(0, 1) == Interval(0.0, 1.0)
    matcher = holding(name, "x > 0 AND x < 1")
    events = [Event({"x": Interval(0, 1)}), Event({"x": Interval(0.0, 1.0)})]
    assert matcher.match_batch(events) == [[], [0]]


@every_matcher
def test_absent_attributes_pass_when_they_should(name: str) -> None:
    matcher = holding(
        name, "x > 1 AND y = 2", "x IS NULL", "x IS NOT NULL AND y = 2", absent="passes"
    )
    events = [Event({}), Event({"x": 2}), Event({"x": 1}), Event({"y": 2, "x": 3})]
    found = [sorted(keys) for keys in matcher.match_batch(events)]
    assert found == [[0, 1], [0, 2], [2], [0, 2]]


@every_matcher
def test_constraints_that_subscriptions_share_are_held_and_tested_once(name: str) -> None:
    matcher = holding(name, *["x != 1 AND y = 2"] * 50)
    assert matcher.statistics()["constraints"] == 2
    assert len(matcher.match(Event({"x": 2, "y": 2}))) == 50
    statistics = matcher.statistics()
    assert statistics["constraints_tested"] == 2
    assert statistics["candidates"] == 100


@every_matcher
@pytest.mark.parametrize("absent", ["fails", "passes"])
def test_everything_is_forgotten(name: str, absent: Absent) -> None:
    matcher = make_matcher(name, absent=absent)
    left = []
    for _ in range(40):
        matcher.subscribe(0, to_subscription("x > 1 AND y IS NULL OR z IN (1, 2)"))
        matcher.subscribe(1, to_subscription("x > 1 AND x < 3 AND w LIKE '%a_'"))
        matcher.subscribe(2, to_subscription("TRUE"))
        matcher.change(2, to_subscription("startswith(x, 'ab') OR y IS NOT NULL"))
        for key in range(3):
            matcher.unsubscribe(key)
        assert matcher.match(Event({"x": 2})) == matcher.match(Event({})) == []
        left.append(matcher.statistics())
    assert [left[0][what] for what in ("subscriptions", "clauses", "constraints")] == [0, 0, 0]
    sizes = [each["bytes"] for each in left]
    assert max(sizes[20:]) <= max(sizes[:20]), "nothing is left behind each time"


def test_a_repeated_attribute_is_looked_up_once_per_batch() -> None:
    matcher = holding("redundant-attributes", "x > 1", "x > 5", "y = 'a'")
    matcher.match_batch([Event({"x": 3, "y": "a"}), Event({"x": 3.0}), Event({"x": 9})] * 10)
    statistics = matcher.statistics()
    assert statistics["attributes"] == 3
    assert statistics["constraints_tested"] == 2 * 2 + 1  # two searches of two steps, one probe


def test_big_batches_go_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH_EVENTS", 3)
    matcher = holding("redundant-attributes", "x >= 5", "x < 2", "TRUE")
    found = matcher.match_batch([Event({"x": value}) for value in range(8)])
    right = [[1, 2]] * 2 + [[2]] * 3 + [[0, 2]] * 3
    assert [sorted(keys) for keys in found] == right


def test_the_attribute_event_list_merges_equal_attributes() -> None:
    listed = AttributeEventList([Event({"x": 1, "y": True}), Event({"x": 1.0}), Event({"y": 1})])
    points = {(type_, name): dict(carried) for type_, name, carried in listed.points()}
    assert points == {(int, "x"): {1: [0, 1]}, (bool, "y"): {True: [0]}, (int, "y"): {1: [2]}}
    assert len(listed) == 3
    assert sorted(listed.carriers("y")) == [0, 2]


def test_work_falls_from_counting_to_improved_counting_to_redundant_attributes() -> None:
    expressions = [f"x > {bound} AND y < {bound} AND z = {bound % 7}" for bound in range(100)]
    events = [Event({"x": n % 10, "y": n % 20, "z": n % 3}) for n in range(200)]
    tested = []
    for name in MATCHERS:
        matcher = holding(name, *expressions)
        matcher.match_batch(events)
        tested.append(matcher.statistics()["constraints_tested"])
    assert tested == sorted(tested, reverse=True)
    assert len(set(tested)) == 3
