"""Lists in events, and what it means that one has an element."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from typing import Any

import pytest

from predicast.errors import (
    InvalidConstraintError,
    InvalidEventError,
    InvalidValueError,
    ListTooLongError,
    NestingTooDeepError,
)
from predicast.language import parse_where
from predicast.model import Constraint, Elements, Event, Interval, Kind, Operator, Subscription
from predicast.model.constraint import MAX_LISTS
from predicast.model.domain import domain_of
from predicast.model.elements import MAX_ELEMENTS
from predicast.model.values import kind_of, show


def elements(values: list[Any]) -> Elements:
    found = Event({"x": values}).get("x")
    assert isinstance(found, Elements)
    return found


def has(text: str) -> Constraint:
    """What an element is to match, as a condition on ``element``."""
    return Constraint("x", Operator.HAS, parse_where(text))


def test_a_list_is_one_attribute_of_a_kind_of_its_own() -> None:
    event = Event({"tags": ["a", 1.0, None, True], "at": ()})
    tags = event.get("tags")
    assert isinstance(tags, Elements)
    assert kind_of(tags) is Kind.LIST
    assert tags.plain() == ["a", 1.0, None, True]
    assert len(event.get("at")) == 0  # type: ignore[arg-type]
    assert not event.is_region


def test_objects_in_lists_are_flattened_as_events_are() -> None:
    at = datetime(2026, 1, 31, tzinfo=UTC)
    made = elements([{"price": 5, "at": {"city": "Rome", "time": at}, "none": None}, {}])
    assert [*made.attributes()] == [
        {"element.price": 5, "element.at.city": "Rome", "element.at.time": at},
        {},
    ]
    assert made.plain() == [{"price": 5, "at.city": "Rome", "at.time": at}, {}]


def test_lists_are_compared_by_type_and_hash_alike() -> None:
    assert elements([1, "a", [2]]) == elements([1, "a", (2,)])
    assert hash(elements([1, "a", [2]])) == hash(elements([1, "a", (2,)]))
    assert elements([1]) != elements([True])
    assert elements([{"a": 1}]) != elements([{"a": True}])
    assert elements([None]) != elements([])
    assert elements([1]) != [1]


def test_a_list_is_read_only_and_can_be_pickled() -> None:
    event = Event({"x": [1, {"a": [None, "b"]}]})
    assert pickle.loads(pickle.dumps(event)) == event
    with pytest.raises(AttributeError, match="read-only"):
        event.get("x").values = ()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([float("nan")], InvalidValueError, "'x': nan"),
        ([{"a": object()}], InvalidValueError, "'element.a'"),
        ([Interval(1, 2)], InvalidEventError, "interval"),
        ([{"a": Interval(1, 2)}], InvalidEventError, "interval"),
        ([{"": 1}], InvalidEventError, "non-empty"),
        ([{"a": 1, "a.b": 2, "c": {"d": 1}, "c.d": 2}], InvalidEventError, "twice"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    values: list[Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Event({"x": values})


def test_lists_are_bounded_in_length_and_depth() -> None:
    with pytest.raises(ListTooLongError) as refused:
        Event({"x": [0] * (MAX_ELEMENTS + 1)})
    assert refused.value.limit == MAX_ELEMENTS
    cyclic: list[Any] = []
    cyclic += [cyclic, cyclic]
    with pytest.raises(NestingTooDeepError):
        Event({"x": cyclic})


@pytest.mark.parametrize(
    ("condition", "values", "truth"),
    [
        ("element = 'a'", ["b", "a"], True),
        ("element = 'a'", ["b"], False),
        ("element = 'a'", [], False),
        ("element = 'a'", ["b", None], None),
        ("element = 'a'", ["a", None], True),
        ("element = 'a'", ["b", 5], None),
        ("element IS NULL", ["b", None], True),
        ("element IS NULL", ["b"], False),
        ("element.a = 1 AND element.b = 2", [{"a": 1}, {"b": 2}], None),
        ("element.a = 1 AND element.b = 2", [{"a": 1, "b": 3}, {"a": 2}], False),
        ("element.a = 1 AND element.b = 2", [{"a": 1, "b": 2}], True),
        ("element.a = 1 OR element.b = 2", [{"a": 1}], True),
        ("exists(element.b, e -> e = 1)", [{"b": [2]}, {"b": [1]}], True),
        ("exists(element.b, e -> e = 1)", [{"b": [2, None]}], None),
        ("exists(element, e -> e = 1)", [[2], [3, 1]], True),
        ("TRUE", [None], True),
        ("TRUE", [], False),
        ("FALSE", [1], False),
    ],
)
def test_some_element_matches_as_in_sql(
    condition: str, values: list[Any], truth: bool | None
) -> None:
    test, found = has(condition), elements(values)
    assert test.truth(found) is truth
    assert test.holds(found) is (truth is True)
    negated = test.negated()
    assert negated.operator is Operator.NOT_HAS
    assert negated.holds(found) is (truth is False)
    assert negated.truth(found) is (None if truth is None else not truth)
    assert negated.negated() == test


def test_what_is_no_list_is_unknown() -> None:
    test = has("element = 1")
    assert test.truth(None) is test.truth(1) is None
    assert not test.holds(1)
    assert not test.negated().holds(1)
    assert test.holds_absent("passes")
    assert not test.holds_absent("fails")
    assert not domain_of((test,), "fails").meets(Interval(0, 9))


def test_a_constraint_on_elements_takes_a_subscription() -> None:
    with pytest.raises(InvalidConstraintError, match="takes a Subscription, not 'a'"):
        Constraint("x", Operator.HAS, "a")
    nested = Subscription.of([[Constraint("element", Operator.EQ, 1)]])
    for _ in range(MAX_LISTS):
        nested = Subscription.of([[Constraint("element", Operator.HAS, nested)]])
    with pytest.raises(NestingTooDeepError, match=f"more than {MAX_LISTS} times"):
        Constraint("x", Operator.HAS, nested)


def test_either_of_two_conditions_is_one_constraint() -> None:
    either = Constraint("x", Operator.ANY, (has("element = 1"), has("element = 'a'")))
    assert either.operator is Operator.HAS
    assert either.truth(elements(["b", "a"])) is True
    assert either.truth(elements(["b"])) is None, "of 'b' it is unknown whether it is 1"
    both = Constraint("x", Operator.ALL, (has("element = 1"), has("element = 2")))
    assert both.operator is Operator.ALL, "they may be two elements"
    assert both.truth(elements([1, 2])) is True
    assert both.truth(elements([1])) is False


def test_equal_conditions_include_each_other_and_contradictions_are_empty() -> None:
    test = has("element = 1")
    domain = domain_of((test,), "fails")
    assert domain.includes(domain_of((test, has("element = 2")), "fails"))
    assert not domain.includes(domain_of((has("element = 2"),), "fails"))
    assert domain_of((test, test.negated()), "fails").is_empty()


def test_lists_are_shown_as_the_language_writes_them() -> None:
    assert show(elements(["a", 1, None, [True]])) == "array('a', 1, NULL, array(TRUE))"
    assert show(elements([{"a": {"b": 1}}])) == "array({a.b: 1})"
    assert show(elements(list(range(15)))).endswith("8, 9, and 5 more)")
