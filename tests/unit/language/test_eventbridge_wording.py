"""Explanations of EventBridge patterns and SNS policies, in their own words."""

from __future__ import annotations

from typing import Any

import pytest

from predicast import Engine
from predicast.errors import ParseError
from predicast.language import dialect_named

_PATTERN = """{
  "source": ["shop.orders"],
  "detail": {
    "state": [{"anything-but": ["draft", "void"]}],
    "total": [{"numeric": [">", 100.0]}],
    "$or": [{"country": ["DE", "FR"]}, {"ip": [{"cidr": "10.0.0.0/8"}], "vpn": [{"exists": false}]}]
  }
}"""
_ITEM = '{"detail": {"items": {"sku": ["b-2"], "count": [5]}}}'


def _explained(text: str, event: Any, dialect: str = "eventbridge") -> list[str]:
    engine = Engine()
    engine.subscribe(text, id="p", dialect=dialect)
    attributes = dialect_named(dialect).read_event(event)
    explanation = engine.explain("p", attributes)
    assert explanation.outcome.held is bool(engine.match(attributes))
    return str(explanation).splitlines()


def test_an_event_without_arrays() -> None:
    detail = {"state": "paid", "total": 120, "country": "FR"}
    assert _explained(_PATTERN, {"source": "shop.orders", "detail": detail}) == [
        "p: matched",
        "  ✓ {source, detail}",
        "    ✓ AND",
        "      ✓ source: \"shop.orders\"    saw 'shop.orders'",
        "      ✓ detail: {state, total, $or}",
        "        ✓ AND",
        '          ✓ detail.state: {"anything-but": ["draft", "void"]}    saw \'paid\'',
        '          ✓ detail.total: {"numeric": [">", 100.0]}    saw 120',
        "          ✓ detail.$or",
        "            ✓ OR",
        '              ✓ detail.country: ["DE", "FR"]    saw \'FR\' (met by "FR")',
        "              ✗ detail: {ip, vpn}",
        "                ✗ AND",
        (
            '                  ✗ detail.ip: {"cidr": "10.0.0.0/8"}    saw absent '
            "(the event has detail.total)"
        ),
        (
            '                  ✓ detail.vpn: {"exists": false}    saw absent '
            "(the event has detail.country)"
        ),
    ]


def test_fields_that_are_met_by_different_objects_of_an_array() -> None:
    items = [{"sku": "a-1", "count": 5}, {"sku": "b-2", "count": 1}]
    assert _explained(_ITEM, {"detail": {"items": items}}) == [
        "p: did not match",
        "  ✗ detail.items: {sku, count}",
        "    ✓ AND",
        "      ✓ detail.items.sku: \"b-2\"    saw array('a-1', 'b-2')",
        "      ✓ detail.items.count: 5    saw array(5, 1)",
    ]
    items[1]["count"] = 5
    assert _explained(_ITEM, {"detail": {"items": items}})[:2] == [
        "p: matched",
        "  ✓ detail.items: {sku, count}",
    ]


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("x", '✓ a: ["x", null]    saw \'x\' (met by "x")'),
        (["y", "x"], "✓ a: [\"x\", null]    saw array('y', 'x') (met by \"x\")"),
        (None, '✓ a: ["x", null]    saw array(NULL) (met by null)'),
        (["y", 1], "✗ a: [\"x\", null]    saw array('y', 1)"),
        ([], '✗ a: ["x", null]    saw absent'),
    ],
)
def test_one_path(value: Any, line: str) -> None:
    assert _explained('{"a": ["x", null]}', {"a": value})[1:] == [f"  {line}"]


def test_beside_an_array_a_single_value_is_one() -> None:
    lines = _explained('{"a": [1], "b": [2]}', {"a": 1, "b": [2, 3]})
    assert [each.strip() for each in lines[3:]] == ["✓ a: 1    saw 1", "✓ b: 2    saw array(2, 3)"]


def test_a_name_that_is_close_is_one_that_was_given() -> None:
    lines = _explained('{"detail": {"state": ["x"]}}', {"detail": {"Stat": "x", "b": [1, 2]}})
    assert lines[1:] == ['  ✗ detail.state: "x"    saw absent (the event has detail.Stat)']


def test_a_name_that_looks_computed() -> None:
    lines = _explained('{"=a": ["x"], "b": [2]}', {"=a": "x", "b": 2})
    assert lines[3].strip() == "✓ =a: \"x\"    saw 'x', from =a = 'x'"


def test_a_path_that_is_given_again_replaces_the_first() -> None:
    assert "a = 5" in _explained('{"a": [4], "a": [5]}', {"a": 5})[2]
    text = '{"a": [1], "$or": [{"a": [2]}, {"b": [3]}]}'
    assert _explained(text, {"a": 2})[0] == "p: matched"


def test_alternatives_may_name_the_same_path() -> None:
    lines = _explained('{"$or": [{"a": [1]}, {"a": [2]}]}', {"a": 2})
    assert [each.strip() for each in lines[1:]] == [
        "✓ $or",
        "✓ OR",
        "✗ a: 1    saw 2",
        "✓ a: 2    saw 2",
    ]


def test_a_policy_of_sns() -> None:
    store = {"Type": "String", "Value": "example_corp"}
    price = {"Type": "Number", "Value": "99.5"}
    text = '{"store": ["example_corp"], "price": [{"numeric": [">=", 100]}]}'
    message = {"Message": "", "MessageAttributes": {"store": store, "price": price}}
    assert _explained(text, message, "sns") == [
        "p: did not match",
        "  ✗ {store, price}",
        "    ✗ AND",
        "      ✓ store: \"example_corp\"    saw 'example_corp'",
        '      ✗ price: {"numeric": [">=", 100]}    saw 99.5',
    ]
    body = _explained('{"order": {"state": ["paid"]}}', {"Message": {"order": {}}}, "sns:body")
    assert body[1:] == ['  ✗ order.state: "paid"    saw absent']


@pytest.mark.parametrize("dialect", ["eventbridge", "sns"])
def test_what_is_no_pattern_has_no_wording(dialect: str) -> None:
    with pytest.raises(ParseError, match="line 1, column 7"):
        dialect_named(dialect).wording('{"a": []}')
