"""Events: flattening, absence, and refusals."""

import pickle
from typing import Any

import pytest

from predicast import Event, Interval
from predicast.errors import InvalidEventError, InvalidValueError, NestingTooDeepError


def test_nested_objects_flatten_to_dotted_names() -> None:
    event = Event({"order": {"total": 9.5, "buyer": {"id": 7}}, "kind": "sale"})
    assert dict(event.items()) == {"order.total": 9.5, "order.buyer.id": 7, "kind": "sale"}


def test_none_is_absent() -> None:
    assert Event({"a": None, "b": {"c": None}}) == Event({})


def test_types_tell_events_apart() -> None:
    assert Event({"a": 1}) != Event({"a": True})
    assert Event({"a": 1}) != Event({"a": 1.0})
    assert len({Event({"a": 1}), Event({"a": 1})}) == 1


def test_an_event_is_a_region_event_if_an_attribute_is_an_interval() -> None:
    assert Event({"deep": {"x": Interval(1, 2)}}).is_region
    assert not Event({"x": 1}).is_region


def test_events_are_read_only_and_travel() -> None:
    event = Event({"x": Interval(1, 2), "y": {"z": "a"}})
    with pytest.raises(AttributeError):
        event.is_region = False
    assert pickle.loads(pickle.dumps(event)) == event


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"": 1}, "non-empty"),
        ({1: 2}, "non-empty"),
        ({"a": {"": 1}}, "inside 'a'"),
        ({"a.b": 1, "a": {"b": 2}}, "'a.b' is given twice"),
        ([("a", 1)], "mapping"),
        ("text", "mapping"),
    ],
)
def test_misnamed_attributes_are_refused(attributes: Any, message: str) -> None:
    with pytest.raises(InvalidEventError, match=message):
        Event(attributes)


def test_a_bad_value_is_named_by_its_path() -> None:
    with pytest.raises(InvalidValueError, match=r"'a\.b'"):
        Event({"a": {"b": float("nan")}})


def test_endless_nesting_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    with pytest.raises(NestingTooDeepError) as caught:
        Event(loop)
    assert caught.value.limit == 64
