"""Texts with parameters: what they take, and how they refuse."""

import pickle
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest

from predicast.errors import (
    InvalidParameterError,
    MissingParameterError,
    ParameterError,
    ParseError,
    TextTooLongError,
    UnknownParameterError,
)
from predicast.language import Parametric, has_parameters, parametric, parse_where
from predicast.model import Kind, Subscription
from predicast.model.outline import OperandType

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


def filled(text: str, values: Mapping[str, Any]) -> Subscription:
    outline, operands = parametric(text).fill(values)
    return outline.subscription(operands)


@pytest.mark.parametrize(
    ("text", "values", "literal"),
    [
        ("a = :x", {"x": 1}, "a = 1"),
        ("a = :x", {"x": 4.0}, "a = 4"),
        ("a = :x", {"x": -0.0}, "a = 0"),
        ("a = :x", {"x": True}, "a = TRUE"),
        ("a != :x", {"x": "it's"}, "a != 'it''s'"),
        ("a = :x", {"x": r"no \t escape"}, r"a = 'no \\t escape'"),
        (":x <= a", {"x": 1.5}, "a >= 1.5"),
        ("a > :t", {"t": NEW_YEAR}, "a > TIMESTAMP '2026-01-01'"),
        ("a > :t", {"t": NEW_YEAR.date()}, "a > DATE '2026-01-01'"),
        ("a BETWEEN :lo AND :hi AND b = :k", {"lo": 1, "hi": 2.5, "k": "t"},
         "a BETWEEN 1 AND 2.5 AND b = 't'"),
        ("a NOT BETWEEN -1 AND :hi", {"hi": 2}, "a NOT BETWEEN -1 AND 2"),
        ("a IN (:x, 3, :y)", {"x": 5, "y": 3.0}, "a IN (3, 5)"),
        ("a NOT IN (:x)", {"x": "v"}, "a NOT IN ('v')"),
        ("a LIKE :p", {"p": r"50\%"}, r"a LIKE '50\%'"),
        ("a NOT LIKE :p ESCAPE '!'", {"p": "x!%"}, "a NOT LIKE 'x!%' ESCAPE '!'"),
        ("a LIKE 'x!%' ESCAPE :e", {"e": "!"}, "a LIKE 'x!%' ESCAPE '!'"),
        ("a LIKE 'x%' AND b = :x", {"x": 1}, "a LIKE 'x%' AND b = 1"),
        ("NOT a LIKE 'x!%' ESCAPE '!' OR b = :x", {"x": 1}, "a NOT LIKE 'x!%' ESCAPE '!' OR b = 1"),
        ("a RLIKE :p", {"p": r"\d"}, r"a RLIKE r'\d'"),
        ("regexp_like(a, :p)", {"p": "x"}, "a RLIKE 'x'"),
        ("startswith(a, :p)", {"p": "x"}, "startswith(a, 'x')"),
        ("NOT endswith(a, :p)", {"p": "x"}, "NOT endswith(a, 'x')"),
        ("contains(a, :p)", {"p": "x"}, "contains(a, 'x')"),
        ("NOT (a < :x OR b > :x)", {"x": 1}, "a >= 1 AND b <= 1"),
        ("(a = :x OR b = 2) AND (c = :y OR NOT d)", {"x": 1, "y": 3},
         "(a = 1 OR b = 2) AND (c = 3 OR NOT d)"),
        ("a=:x--:y\nAND b = ':z'", {"x": 1}, "a = 1 AND b = ':z'"),
        ("a = :and AND b = :timestamp OR c=:_1", {"and": 1, "timestamp": 2, "_1": 3},
         "a = 1 AND b = 2 OR c = 3"),
        ("a = :x AND FALSE", {"x": 1}, "FALSE"),
        ("TRUE", {}, "TRUE"),
        ("a IS NULL AND b RLIKE 'x' AND c IN (1) AND d", {},
         "a IS NULL AND b RLIKE 'x' AND c IN (1) AND d"),
    ],
)  # fmt: skip
def test_fills(text: str, values: dict[str, Any], literal: str) -> None:
    assert filled(text, values) == parse_where(literal)
    assert filled(text, MappingProxyType(values)) == parse_where(literal)


def test_names_come_in_the_order_of_the_text() -> None:
    assert parametric("b = :z AND (a < :y OR NOT c = :z) AND :x > d").names == ("z", "y", "x")


@pytest.mark.parametrize(
    "text",
    [
        "a != :x AND a != :y",
        "a = :x OR a = :y",
        "a = :x AND a = 1",
        "(a = :x OR b = :y) AND (a = :y OR b = :x)",
        "NOT (a = :x AND a = :x)",
        "a IN (:x, :y) OR a IN (:y, :x)",
    ],
)
def test_tests_that_become_equal_are_all_kept(text: str) -> None:
    statement = parametric(text)
    names = statement.names
    apart = statement.fill({name: number for number, name in enumerate(names, 5)})
    equal = statement.fill(dict.fromkeys(names, 1))
    assert equal.outline == apart.outline
    kept = equal.outline.subscription(equal.operands)
    assert Subscription.of(kept.clauses) == parse_where(text.replace(":x", "1").replace(":y", "1"))


def test_the_outline_follows_the_types() -> None:
    statement = parametric("a BETWEEN :lo AND :hi")
    assert statement.fill({"lo": 4, "hi": 4.5}).outline.places == (
        OperandType.INTEGER,
        OperandType.FLOAT,
    )
    assert statement.fill({"lo": 4.0, "hi": 1}).outline.places == (
        OperandType.INTEGER,
        OperandType.INTEGER,
    )


def test_places() -> None:
    statement = parametric(
        "(a < :x OR b IN (:y, 1)) AND c BETWEEN :x AND :z AND d LIKE :p AND e RLIKE :r AND f = 'k'"
    )
    assert statement.places() == {"x": (0, 1, 7), "y": None, "z": (2, 8), "p": None, "r": None}
    assert parametric("a = :x AND FALSE OR b = :y").places() == {"x": (), "y": (0,)}
    assert parametric("a = :x AND b IN (:x)").places() == {"x": None}


def test_kinds() -> None:
    ordered = {Kind.NUMBER, Kind.STRING, Kind.TIMESTAMP}
    statement = parametric("a = :u AND a < :x AND b BETWEEN 1 AND :y AND c LIKE :z AND d = :z")
    assert statement.kinds() == {
        "u": set(Kind) - {Kind.LIST},
        "x": ordered,
        "y": {Kind.NUMBER},
        "z": {Kind.STRING},
    }


def test_changes_say_what_to_write_where() -> None:
    statement = parametric("(a < :x OR b = :k) AND c BETWEEN :x AND :y AND d IN (:s, 'v')")
    outline, _ = statement.fill({"x": 1.5, "y": 2, "k": "t", "s": "w"})
    assert statement.changed(outline, {"x": 2.5, "k": "u"}) == {0: 2.5, 1: 2.5, 4: "u", 5: 2.5}
    assert statement.changed(outline, {"y": 3.0}) == {2: 3, 6: 3}
    assert statement.changed(outline, {}) == {}


@pytest.mark.parametrize(
    "values", [{"x": 2.0}, {"y": 2.5}, {"x": "a"}, {"y": None}, {"y": True}, {"s": "x"}, {"f": 2}]
)
def test_changes_that_take_a_fresh_filling(values: dict[str, Any]) -> None:
    statement = parametric("c BETWEEN :x AND :y AND d IN (:s, 'v') AND (TRUE OR FALSE AND e = :f)")
    outline, _ = statement.fill({"x": 1.5, "y": 2, "s": "w", "f": 1})
    assert statement.changed(outline, {"x": 3.5, **values}) is None


def test_a_change_of_an_unknown_parameter_is_refused() -> None:
    statement = parametric("a < :low")
    with pytest.raises(UnknownParameterError, match="did you mean low"):
        statement.changed(statement.fill({"low": 1}).outline, {"lo": 1})


@pytest.mark.parametrize(
    ("text", "values", "name", "column", "message"),
    [
        ("a = :x", {"x": [1]}, "x", 5, "list"),
        ("a = :x", {"x": None}, "x", 5, "IS NULL"),
        ("a = :x", {"x": float("nan")}, "x", 5, "not finite"),
        ("a = :x", {"x": 10**400}, "x", 5, "more than 400 digits"),
        ("a = :x", {"x": "\ud800"}, "x", 5, "surrogate"),
        ("a < :x", {"x": True}, "x", 5, "not the boolean True"),
        (":x > a", {"x": True}, "x", 1, "not the boolean True"),
        ("b = 1 AND\n a LIKE :x", {"x": 5}, "x", 9, "takes a string, not the number 5"),
        ("a LIKE :x", {"x": "x\\y"}, "x", 8, "escape"),
        ("a LIKE :x ESCAPE :e", {"x": "x", "e": "ab"}, "e", 18, "one character"),
        ("a RLIKE :x", {"x": "("}, "x", 9, "missing "),
        ("startswith(a, :x)", {"x": 1}, "x", 15, "takes a string"),
        ("a BETWEEN :x AND :y", {"x": 1, "y": "z"}, "y", 18, "it takes a number"),
        ("a BETWEEN :x AND 'k'", {"x": 1}, "x", 11, "it takes a string"),
        ("a BETWEEN :x AND :x", {"x": False}, "x", 11, "not the boolean False"),
        ("a IN (:x, 1, :y)", {"x": 2, "y": True}, "y", 14, "boolean and number"),
        ("b = :x AND c LIKE :x", {"x": 5}, "x", 19, "takes a string"),
        ("b BETWEEN 1 AND :x AND c LIKE :x", {"x": None}, "x", 17, "no value suits"),
        ("a < :x AND FALSE", {"x": True}, "x", 5, "not the boolean True"),
    ],
)
def test_a_wrong_value_is_refused_at_its_place(
    text: str, values: dict[str, Any], name: str, column: int, message: str
) -> None:
    statement = parametric(text)
    for _ in range(2):
        with pytest.raises(InvalidParameterError, match=message) as caught:
            statement.fill(values)
        error = caught.value
        assert (error.name, error.column, error.text) == (name, column, text)
        assert error.value is values[name]
        assert error.attribute in {"a", "b", "c"}
        assert error.operator is not None


def test_a_wrong_value_of_known_types_is_refused_too() -> None:
    statement = parametric("a LIKE :x AND b RLIKE :y AND c = :z")
    statement.fill({"x": "%", "y": "a", "z": 1})
    for wrong in ({"x": "\\"}, {"y": "("}, {"z": 10**400}):
        with pytest.raises(InvalidParameterError) as caught:
            statement.fill({"x": "%", "y": "a", "z": 1} | wrong)
        assert [caught.value.name] == list(wrong)


def test_missing_values_are_named_all_at_once() -> None:
    with pytest.raises(MissingParameterError) as caught:
        parametric("x BETWEEN :x1 AND :x2\n AND kind = :k AND y < :x2").fill({"x1": 1})
    error = caught.value
    assert (error.names, error.line, error.column) == (("x2", "k"), 1, 19)
    assert error.hint == 'parameters={"x2": ..., "k": ...}'


@pytest.mark.parametrize(
    "text", ["a = 1 AND x < :x1 AND y = :y", "a = 1 AND NOT (:x1 > x OR y = :y)"]
)
def test_a_text_with_parameters_needs_their_values(text: str) -> None:
    with pytest.raises(MissingParameterError, match=":x1, :y need values") as caught:
        parse_where(text)
    assert caught.value.names == ("x1", "y")
    assert caught.value.column == text.index(":x1") + 1
    assert caught.value.hint == 'parameters={"x1": ..., "y": ...}'


@pytest.mark.parametrize(
    ("values", "name", "suggestion"),
    [
        ({"low": 1, "high": 2}, "high", None),
        ({"Low": 1}, "Low", "low"),
        ({"low": 1, "lo": 2}, "lo", "low"),
        ({5: 1}, 5, None),
        ({":low": 1}, ":low", "low"),
    ],
)
def test_unknown_parameters_are_corrected(
    values: dict[Any, Any], name: Any, suggestion: str | None
) -> None:
    with pytest.raises(UnknownParameterError) as caught:
        parametric("a < :low").fill(values)
    assert (caught.value.name, caught.value.suggestion) == (name, suggestion)


def test_values_for_a_text_without_parameters_are_refused() -> None:
    with pytest.raises(UnknownParameterError, match="it has no parameters"):
        parametric("a < 1").fill({"x": 1})


@pytest.mark.parametrize("values", [None, 5, [("low", 1)], "low", {"low"}])
def test_values_come_in_a_mapping(values: Any) -> None:
    with pytest.raises(ParameterError, match="parameters are given as"):
        parametric("a < :low").fill(values)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("a = : x", 5, "right after the colon"),
        ("a = :", 5, "right after the colon"),
        ("a = :1", 5, "right after the colon"),
        ("a = :é", 5, "right after the colon"),
        ("a = :`x`", 5, "right after the colon"),
        ("a = -:x", 6, "put the sign into its value"),
        ("a IN :x", 6, r"x IN \(:first, :second\)"),
        ("a IN (:x", 9, "closing parenthesis"),
        (":x < :y", 6, "compares two values"),
        (":x", 3, "expected a comparison"),
        ("a:x = 1", 2, "behind an operator"),
        ("a = TIMESTAMP :x", 5, "TIMESTAMP is followed by a string"),
        ("a = to_date(:x)", 13, "expected a string"),
        ("a = :x AND b RLIKE '('", 20, "missing "),
        ("a = :x AND b = 1e999", 16, "beyond the range"),
        ("a IN (:x, 1e999)", 11, "beyond the range"),
        ("a IN (:x, 1, 'v')", 1, "one kind"),
        ("a BETWEEN TRUE AND :x", 11, "expected a value"),
        ("a LIKE :x ESCAPE 'ab'", 18, "one character"),
    ],
)
def test_a_wrong_text_is_refused_before_there_are_values(
    text: str, column: int, message: str
) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        parametric(text)
    assert caught.value.column == column
    assert not isinstance(caught.value, ParameterError)


def test_limits() -> None:
    with pytest.raises(TextTooLongError):
        parametric("a = :" + "x" * 65_536)
    with pytest.raises(ParseError, match="not list"):
        parametric(["a = :x"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a = 1", False),
        ("a = :x", True),
        ("a = 'urn:x'", False),
        ('a = "urn:x"', False),
        ("`a:x` = 1", False),
        ("a = 'it''s:x'", False),
        (r"a = 'it\':x'", False),
        (r"a = r'\' AND b = :x AND c = ''", True),
        (r"a = 'it\'s' AND b = :x", True),
        ("a > TIMESTAMP '2026-01-01 09:30:00'", False),
        ("a = 1 -- :x", False),
        ("a = '--' AND b = :x", True),
        ("a = 1 /* :x */", False),
    ],
)
def test_has_parameters(text: str, answer: bool) -> None:
    assert has_parameters(text) is answer


def test_a_text_is_parsed_once() -> None:
    assert parametric("a = :once") is parametric("a = :once")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(parametric, [f"a{n % 10} = :x" for n in range(200)]))
    assert {each.text for each in found} == {f"a{n} = :x" for n in range(10)}
    long = "a = :x" + " " * 5_000
    assert parametric(long) is parametric(long)


def test_it_travels_between_processes() -> None:
    statement = parametric("a = :x")
    again = pickle.loads(pickle.dumps(statement))
    assert isinstance(again, Parametric)
    assert (again, hash(again)) == (statement, hash(statement))
    assert repr(again) == "Parametric('a = :x')"
