"""Near misses: who would have had an event if one test had come out otherwise."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predicast.broker.near_misses import failed_tests, near_misses
from predicast.broker.subscriptions import Subscriptions
from predicast.protocol import Definition, NewEvent, Put, Settings


def held(**expressions: str) -> Subscriptions:
    subscriptions = Subscriptions()
    subscriptions.apply([Put(Definition(id, text)) for id, text in expressions.items()])
    return subscriptions


def event(**attributes: Any) -> NewEvent:
    return NewEvent(b"", attributes, "1", "shop")


def test_one_test_is_in_the_way_and_no_more() -> None:
    subscriptions = held(
        matches="price < 10 AND symbol = 'IBM'",
        dear="price < 5 AND symbol = 'IBM'",
        other="price < 10 AND symbol = 'SAP'",
        far="price < 5 AND symbol = 'SAP'",
    )
    answer = near_misses(subscriptions, event(price=9, symbol="IBM"))
    assert {each.id: each.failed.text for each in answer.found} == {
        "dear": "price < 5",
        "other": "symbol = 'SAP'",
    }
    assert (answer.looked_at, answer.of) == (4, 4)


def test_a_missing_attribute_is_a_near_miss_and_says_what_is_there() -> None:
    answer = near_misses(held(typo="Price < 10"), event(price=9))
    [miss] = answer.found
    assert miss.failed.reason == "the event has price"


def test_of_alternatives_the_nearest_counts() -> None:
    subscriptions = held(
        either="(a = 1 AND b = 1) OR (c = 1 AND d = 1)", neither="NOT (a = 2 OR b = 2)"
    )
    answer = near_misses(subscriptions, event(a=2, b=2, c=1, d=2))
    assert [(each.id, each.failed.text) for each in answer.found] == [("either", "d = 1")]


def test_numbers_are_found_among_any_number_of_subscriptions() -> None:
    many = {f"s{n:04}": f"symbol = 'X{n}' AND price < 1" for n in range(50)}
    subscriptions = held(**many, zz="symbol = 'IBM' AND price < 5")
    answer = near_misses(subscriptions, event(symbol="IBM", price=9), look_at=10)
    assert [each.id for each in answer.found] == ["zz"]
    assert (answer.looked_at, answer.of) == (10, 51)


def test_derived_attributes_and_ephemeral_subscriptions_are_judged_too() -> None:
    subscriptions = held(total="price * qty > 100 AND symbol = 'IBM'")
    passing = Definition("passing", "price < 5", settings=Settings(durable=False))
    subscriptions.apply([Put(passing)])
    answer = near_misses(subscriptions, event(price=9, qty=2, symbol="IBM"))
    assert [(each.id, each.is_durable) for each in answer.found] == [
        ("total", True),
        ("passing", False),
    ]


def test_what_cannot_be_compared_is_no_obstacle() -> None:
    answer = near_misses(held(size="size = 1", other="price = 2"), event(price=[[{}]], size=2))
    assert sorted(each.id for each in answer.found) == ["other", "size"]


def test_of_a_graph_there_are_none() -> None:
    graph = NewEvent(b"", "@prefix : <http://x/> .", "1", "shop")
    assert near_misses(held(a="a = 1"), graph).found == []


def test_no_more_than_asked_for() -> None:
    subscriptions = held(**{f"s{n}": "price < 1" for n in range(9)})
    assert len(near_misses(subscriptions, event(price=2), most=3).found) == 3


values = st.integers(0, 2)
events = st.dictionaries(st.sampled_from("abc"), values)
tests = st.builds("{} {} {}".format, st.sampled_from("abc"), st.sampled_from("=<"), values)
texts = st.recursive(
    tests,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("NOT {}".format, inner),
    ),
    max_leaves=4,
)


@settings(max_examples=25)  # an engine each
@given(texts, events)
def test_nothing_is_in_the_way_of_a_match_and_something_of_any_other(
    text: str, attributes: dict[str, int]
) -> None:
    subscriptions = held(only=text)
    explanation = subscriptions.durable.flat.explain("only", attributes)
    failed = failed_tests(explanation.outcome)
    assert bool(failed) is not explanation.matched
    found = near_misses(subscriptions, event(**attributes)).found
    assert [each.id for each in found] == ["only"] * (len(failed) == 1)


@pytest.mark.parametrize("most", [0, 1])
def test_a_match_is_no_near_miss(most: int) -> None:
    assert near_misses(held(a="price < 10"), event(price=9), most).found == []
