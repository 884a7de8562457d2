"""EventBridge patterns: what they mean, where they are wrong, and how events are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from predicast import Engine
from predicast.errors import (
    InvalidEventError,
    InvalidValueError,
    NestingTooDeepError,
    NotExpressibleError,
    ParseError,
)
from predicast.language import dialect_named
from predicast.language.where import parse_where
from predicast.model import Elements

_EVENTBRIDGE = dialect_named("eventbridge")
_ORDER = {
    "source": "shop.orders",
    "detail-type": "Order Placed",
    "resources": [],
    "detail": {
        "state": "paid",
        "total": 120.5,
        "gift": False,
        "coupon": None,
        "ip": "10.1.2.3",
        "from": "2001:DB8:0:0::7",
        "tags": ["new", "Heavy"],
        "items": [{"sku": "a-1", "count": 1}, {"sku": "b-2", "count": 5, "note": "fragile"}],
    },
}


def _matches(pattern: Any, event: Any = _ORDER) -> bool:
    text = pattern if isinstance(pattern, str) else json.dumps(pattern)
    attributes = _EVENTBRIDGE.read_event(event)
    answers = set()
    for matcher in ("columnar", "brute-force"):
        engine = Engine(matcher=matcher)
        engine.subscribe(text, id="p", dialect="eventbridge")
        answers |= {bool(engine.match(attributes)), bool(engine.match_batch([attributes])[0])}
    (answer,) = answers
    return answer


@pytest.mark.parametrize(
    "tests",
    [
        {"state": ["new", "paid"]},
        {"total": [120.50]},
        {"total": [{"numeric": [">", 120, "<=", 120.5]}]},
        {"gift": [False]},
        {"coupon": [None]},
        {"coupon": [{"exists": True}]},
        {"coupon": [{"anything-but": "X10"}]},
        {"voucher": [{"exists": False}]},
        {"ip": [{"cidr": "10.0.0.0/8"}]},
        {"from": ["2001:db8::7"]},
        {"from": [{"cidr": "2001:db8::/32"}]},
        {"state": [{"prefix": "pa"}]},
        {"state": [{"suffix": "id"}]},
        {"state": [{"equals-ignore-case": "PAID"}]},
        {"state": [{"prefix": {"equals-ignore-case": "PA"}}]},
        {"state": [{"suffix": {"equals-ignore-case": "ID"}}]},
        {"state": [{"wildcard": "p*d"}]},
        {"state": [{"anything-but": ["new", "sent"]}]},
        {"state": [{"anything-but": {"prefix": ["n", "s"]}}]},
        {"state": [{"anything-but": {"wildcard": "*x*"}}]},
        {"total": [{"anything-but": 120}]},
        {"total": [{"anything-but": {"suffix": "5"}}]},
        {"tags": ["new"]},
        {"tags": [{"equals-ignore-case": "heavy"}]},
        {"tags": [{"anything-but": "new"}]},
        {"items": {"sku": ["b-2"], "count": [{"numeric": [">", 3]}]}},
        {"items": {"count": [1], "note": [{"exists": False}]}},
        {"$or": [{"state": ["new"]}, {"total": [{"numeric": [">", 100]}]}]},
    ],
)
def test_what_matches(tests: dict[str, Any]) -> None:
    assert _matches({"detail": tests})


@pytest.mark.parametrize(
    "tests",
    [
        {"state": ["PAID"]},
        {"total": ["120.5"]},
        {"gift": ["false"]},
        {"coupon": [{"exists": False}]},
        {"ip": [{"cidr": "10.2.0.0/16"}]},
        {"ip": [{"cidr": "::/0"}]},
        {"state": [{"anything-but": ["new", "paid"]}]},
        {"state": [{"numeric": [">", 0]}]},
        {"tags": [{"exists": False}]},
        {"items": [{"exists": True}]},
        {"items": {"sku": ["a-1"], "count": [5]}},
        {"items": {"count": [5], "note": [{"exists": False}]}},
        {"$or": [{"state": ["new"]}, {"total": [{"numeric": [">", 200]}]}]},
    ],
)
def test_what_does_not_match(tests: dict[str, Any]) -> None:
    assert not _matches({"detail": tests})


def test_what_is_absent_is_so_beside_what_was_found_before_it() -> None:
    event = {"d": [{"a": 1}, {"b": 2}]}
    assert _matches({"d": {"a": [1], "b": [{"exists": False}]}}, event)
    assert not _matches({"d": {"a": [{"exists": False}], "b": [2]}}, event)


def test_a_field_that_is_given_again_replaces_the_one_before() -> None:
    assert _matches('{"a": [1], "a": [2]}', {"a": 2})
    assert not _matches('{"a": [1], "a": [2]}', {"a": 1})
    within = {"a": [1], "$or": [{"a": [2]}, {"b": [3]}]}
    assert _matches(within, {"a": 2})
    assert not _matches(within, {"a": 1})
    assert _matches(within, {"a": 1, "b": 3})


def test_case_is_ignored_letter_by_letter() -> None:
    assert _matches({"a": [{"equals-ignore-case": "straße"}]}, {"a": "STRASSE"})
    assert not _matches({"a": [{"equals-ignore-case": "k"}]}, {"a": "\u212a"})


def test_numbers_beyond_floats_are_compared_by_their_digits() -> None:
    event = '{"id": 9007199254740993, "x": 0.12345678901234567890123}'
    assert _matches('{"id": [9.007199254740993E15]}', event)
    assert _matches('{"id": [9007199254740993]}', event)
    assert not _matches('{"id": [9007199254740992]}', event)
    assert _matches('{"x": [0.12345678901234567890123]}', event)
    assert not _matches('{"x": [1E400]}', event)


def test_an_event_without_arrays_is_matched_as_it_is() -> None:
    event = {"detail": {"state": "paid"}}
    assert _EVENTBRIDGE.read_event(event) is event
    assert _EVENTBRIDGE.read_event(json.dumps(event)) == event


def test_arrays_of_one_and_of_none_are_no_arrays() -> None:
    event = {"a": ["x"], "b": [], "c": [{"d": [[1]]}], "e": None, "f": {}, "g": [None]}
    null = Elements((None,))
    assert _EVENTBRIDGE.read_event(event) == {"a": "x", "c": {"d": 1}, "e": null, "g": null}


def test_other_arrays_are_lists_of_values_and_of_objects() -> None:
    attributes = _EVENTBRIDGE.read_event({"d": [{"a": 1}, {"a": 2, "b": 3}], "c": 4})
    plain = {n: v.plain() if isinstance(v, Elements) else v for n, v in attributes.items()}
    assert plain == {
        "c": 4,
        "c[]": [4],
        "d.a[]": [1, 2],
        "d.b[]": [3],
        "d{}": [{"a[]": [1]}, {"a[]": [2], "b[]": [3]}],
    }


@pytest.mark.parametrize("document", ["5", "[]", '{"a":', b"\xff", None, [1], "[" * 100_000])
def test_what_is_no_event_is_refused(document: Any) -> None:
    with pytest.raises(InvalidEventError):
        _EVENTBRIDGE.read_event(document)


def test_values_and_depths_that_no_event_has_are_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"'a\.b'"):
        _EVENTBRIDGE.read_event({"a": [{"b": 1}, {"b": float("inf")}]})
    deep: Any = [1, 2]
    for _ in range(80):
        deep = {"a": deep}
    with pytest.raises(NestingTooDeepError):
        _EVENTBRIDGE.read_event(deep)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("[1]", 1, 1, "a pattern is an object"),
        ("{}", 1, 1, "says nothing"),
        ('{"a": [1]', 1, 10, "no JSON"),
        ('{"a": [NaN]}', 1, 8, "no JSON"),
        ('{"a": [1]} x', 1, 12, "no JSON"),
        ('{"a": 1}', 1, 7, "'a' must be an object or an array"),
        ('{"": [1]}', 1, 2, "a field has a name"),
        ('{"a": []}', 1, 7, "empty array"),
        ('{"a": [[1]]}', 1, 8, "a string, a number"),
        ('{\n "a": [1],\n "b": {"c": [{"prefx": "x"}]}\n}', 3, 15, "did you mean 'prefix'?"),
        ('{"a": [1, {"prefix": 3}]}', 1, 22, "prefix takes a string"),
        ('{"a": [{"prefix": "x", "b": 1}]}', 1, 24, "one name"),
        ('{"a": [{"exists": 1}]}', 1, 19, "true or false"),
        ('{"a": [{"wildcard": "a**b"}]}', 1, 21, "two asterisks"),
        ('{"a": [{"wildcard": "a\\\\b"}]}', 1, 21, "a backslash stands before"),
        ('{"a": [{"cidr": "10.0.0.0"}]}', 1, 17, "one '/'"),
        ('{"a": [{"cidr": "10.0.0.0/32"}]}', 1, 17, "fewer than 32 bits"),
        ('{"a": [{"cidr": "host/8"}]}', 1, 17, "no address"),
        ('{"a": [{"numeric": [">", "x"]}]}', 1, 26, "is a number"),
        ('{"a": [{"numeric": [">", 1E309]}]}', 1, 26, "cannot be compared"),
        ('{"a": [{"numeric": ["<", 1, ">", 0]}]}', 1, 21, "> or >= and then < or <="),
        ('{"a": [{"numeric": [">", 5, "<", 1]}]}', 1, 34, "less than the upper"),
        ('{"a": [{"anything-but": ["x", 1]}]}', 1, 31, "not both"),
        ('{"a": [{"anything-but": {"prefix": ["x", ""]}}]}', 1, 42, "empty prefix"),
        ('{"a": [{"anything-but": {"cidr": "x"}}]}', 1, 26, "takes no 'cidr'"),
        ('{"$or": [{"a": [1]}]}', 1, 9, "two objects or more"),
        ('{"$or": {"a": [1]}}', 1, 9, "an array of objects"),
        ('{"$or": [{"a": [1]}, {"prefix": ["x"]}]}', 1, 23, "is a word for tests"),
        ('{"a": ["\\ud800"]}', 1, 8, "lone surrogate"),
        ('{"\\ud800": [1]}', 1, 2, "lone surrogate"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    text: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(ParseError) as raised:
        _EVENTBRIDGE.parse(text)
    assert message in str(raised.value)
    assert (raised.value.line, raised.value.column) == (line, column)


def test_too_deep_a_pattern_is_refused() -> None:
    with pytest.raises(NestingTooDeepError):
        _EVENTBRIDGE.parse('{"a":' * 12_000)
    pattern: Any = [1]
    for _ in range(10):
        pattern = {"a": pattern, "b": [1]}
    with pytest.raises(NestingTooDeepError, match="objects within objects"):
        _EVENTBRIDGE.parse(json.dumps(pattern))


@pytest.mark.parametrize(
    ("where", "pattern"),
    [
        ("a = 'x' AND d.x > 5", '{"a": ["x"], "d": {"x": [{"numeric": [">", 5]}]}}'),
        ("a IN (1, 2) OR b LIKE 'x%'", '{"$or": [{"a": [1, 2]}, {"b": [{"wildcard": "x*"}]}]}'),
        ("a IS NULL", '{"a": [{"exists": false}]}'),
        ("startswith(a, 'x') AND b BETWEEN 1 AND 2",
         '{"a": [{"prefix": "x"}], "b": [{"numeric": [">=", 1, "<=", 2]}]}'),
    ],
)  # fmt: skip
def test_what_where_says_of_single_values_is_written(where: str, pattern: str) -> None:
    assert json.loads(_EVENTBRIDGE.to_text(parse_where(where))) == json.loads(pattern)


@pytest.mark.parametrize(
    "where", ["a != 'x'", "lower(a) = 'x'", "a LIKE 'x_'", "a > 'x'", "exists(a, e -> e = 1)"]
)
def test_what_no_pattern_says_is_refused(where: str) -> None:
    with pytest.raises(NotExpressibleError):
        _EVENTBRIDGE.to_text(parse_where(where))


def test_a_snapshot_keeps_patterns(tmp_path: Any) -> None:
    engine = Engine()
    text = '{"detail": {"items": {"sku": ["b-2"], "count": [5]}, "ip": [{"cidr": "10.0.0.0/8"}]}}'
    engine.subscribe(text, id="p", dialect="eventbridge")
    engine.save(tmp_path / "engine")
    loaded = Engine.load(tmp_path / "engine")
    assert loaded.match(_EVENTBRIDGE.read_event(_ORDER)) == ["p"]
    assert loaded.get("p").text == text


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        ({"=a": "x"}, True),
        ({"=a": ["x", "y"]}, True),
        ({"=a": "x", "b": [1, 2]}, True),
        ({"=a": ["y", "z"]}, False),
        ({"a": ["x", "y"]}, False),
    ],
)
def test_a_name_may_begin_like_that_of_a_computed_attribute(event: Any, wanted: bool) -> None:
    assert _matches({"=a": ["x"]}, event) is wanted
    assert _matches({"=a": ["x"], "c": [{"exists": False}]}, event) is wanted
