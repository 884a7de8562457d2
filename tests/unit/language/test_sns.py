"""SNS filter policies: of attributes and of bodies, and their limits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from predicast import Engine
from predicast.errors import InvalidEventError, ParseError, UnknownDialectError
from predicast.language import dialect_named
from predicast.language.eventbridge import Sns

_MESSAGE: dict[str, Any] = {
    "Type": "Notification",
    "Message": '{"order": {"state": "paid", "total": 12}}',
    "MessageAttributes": {
        "customer_interests": {"Type": "String.Array", "Value": '["soccer", "rugby", 7, null]'},
        "store": {"Type": "String", "Value": "example_corp"},
        "price_usd": {"Type": "Number", "Value": "210.75"},
        "count": {"DataType": "Number.int", "StringValue": "3"},
        "picture": {"Type": "Binary", "Value": "aGVsbG8="},
    },
}


def _matches(policy: dict[str, Any], dialect: str = "sns", message: Any = _MESSAGE) -> bool:
    engine = Engine()
    engine.subscribe(json.dumps(policy), id="p", dialect=dialect)
    return engine.match(dialect_named(dialect).read_event(message)) == ["p"]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"store": ["example_corp"]}, True),
        ({"store": [{"anything-but": "example_corp"}]}, False),
        ({"customer_interests": ["rugby", "tennis"]}, True),
        ({"customer_interests": [7]}, True),
        ({"customer_interests": ["7"]}, False),
        ({"customer_interests": [None]}, True),
        ({"price_usd": [{"numeric": [">=", 100, "<", 211]}]}, True),
        ({"price_usd": ["210.75"]}, False),
        ({"count": [3]}, True),
        ({"picture": [{"exists": True}]}, False),
        ({"event": [{"exists": False}]}, True),
        ({"$or": [{"store": ["other"]}, {"count": [3]}]}, True),
    ],
)
def test_policies_on_attributes(policy: dict[str, Any], *, expected: bool) -> None:
    assert _matches(policy) is expected
    assert _matches(policy, message={"Sns": _MESSAGE}) is expected
    assert _matches(policy, message=json.dumps(_MESSAGE)) is expected


def test_policies_on_the_body() -> None:
    for dialect in ("sns:body", "sns:MessageBody"):
        assert _matches({"order": {"state": ["paid"]}}, dialect)
        assert not _matches({"order": {"total": [{"numeric": [">", 12]}]}}, dialect)


@pytest.mark.parametrize(
    ("dialect", "policy", "message"),
    [
        ("sns", {"a": {"b": [1]}}, "does not support nested filter policy"),
        ("sns", {key: [1] for key in "abcdef"}, "can not have more than 5 keys"),
        ("sns", {key: [1, 2, 3, 4] for key in "abcd"}, "too complex"),
        ("sns:body", {"a": {"b": {"c": {"d": ["x"] * 38}}}}, "too complex"),
        ("sns", {"a": [10**9 + 1]}, "from -10^9 to 10^9"),
        ("sns", {"a": [{"numeric": ["<", 0.000001]}]}, "5 digits"),
        ("sns", {"a": [{"anything-but": [1.123456]}]}, "5 digits"),
    ],
)
def test_limits(dialect: str, policy: dict[str, Any], message: str) -> None:
    with pytest.raises(ParseError) as raised:
        dialect_named(dialect).parse(json.dumps(policy))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "attribute",
    [
        {"Type": "Number", "Value": "many"},
        {"Type": "Number", "Value": True},
        {"Type": "String", "Value": 5},
        {"Type": "String.Array", "Value": '{"a": 1}'},
        {"Type": "String.Array", "Value": '[["a"]]'},
        {"Type": "Picture", "Value": "x"},
        "x",
    ],
)
def test_attributes_that_are_none_are_refused_by_name(attribute: Any) -> None:
    with pytest.raises(InvalidEventError, match="'a'"):
        dialect_named("sns").read_event({"MessageAttributes": {"a": attribute}})


@pytest.mark.parametrize("body", [None, "text", "[1]", 5])
def test_a_body_that_is_no_object_is_refused(body: Any) -> None:
    with pytest.raises(InvalidEventError):
        dialect_named("sns:body").read_event({"Message": body})


def test_an_unknown_scope_is_refused() -> None:
    with pytest.raises(UnknownDialectError, match="'headers'"):
        dialect_named("sns:headers")


def test_a_policy_is_written_again_within_the_limits() -> None:
    sns = Sns()
    assert sns.to_text(sns.parse('{"a": ["x", 1]}')) == '{"a": [1, "x"]}'
