"""The suite for dialects, on those of EventBridge and SNS."""

from __future__ import annotations

from predicast.language.eventbridge import EventBridge
from predicast.testing import DialectConformance

_EVENTS = [
    EventBridge().read_event(event)
    for event in (
        {"a": "x", "d": {"b": 5, "c": None}},
        {"a": ["x", "y"], "d": [{"b": 5}, {"b": 1, "c": "z"}], "ip": ["10.0.0.1", "::1"]},
        {"a": None, "d": {"b": [1, 5], "e": "Key"}, "ip": "10.0.0.1"},
    )
]


class TestEventBridge(DialectConformance):
    dialect = "eventbridge"
    texts = (
        '{"a": ["x", 5, true, null], "d": {"b": [{"numeric": [">", 0, "<=", 5]}]}}',
        '{"d": {"b": [5], "c": [{"exists": false}], "e": [{"equals-ignore-case": "key"}]}}',
        '{"a": [{"anything-but": ["x"]}], "$or": [{"d": {"b": [1]}}, {"c": [2]}]}',
        '{"ip": [{"cidr": "10.0.0.0/8"}, "::1", {"suffix": "1"}]}',
        '{"a": [{"wildcard": "x*"}, {"exists": false}], "d": {"c": [{"prefix": "z"}]}}',
        '{"a": [{"anything-but": {"suffix": ["x", "y"]}}]}',
    )
    events = _EVENTS


class TestSns(DialectConformance):
    dialect = "sns"
    texts = ('{"a": ["x"], "b": [{"numeric": ["<", 5]}]}', '{"a": [{"anything-but": "x"}]}')
    events = _EVENTS


class TestSnsOfBodies(DialectConformance):
    dialect = "sns:body"
    texts = ('{"a": ["x"], "d": {"b": [5], "c": [{"exists": true}]}}',)
    events = _EVENTS
