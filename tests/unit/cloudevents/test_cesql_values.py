"""CESQL: what expressions give, beyond the specification's own test kit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from predicast.errors import (
    NestingTooDeepError,
    ParseError,
    PredicastError,
    TextTooLongError,
    UnknownFunctionError,
)
from predicast.language import dialect_named
from predicast.language.cloudevents import evaluate

EVENT: dict[str, Any] = {
    "id": "1",
    "source": "/shop",
    "specversion": "1.0",
    "type": "sold",
    "hop": "5",
    "ttl": 10,
    "urgent": True,
    "price": 2.5,
    "big": 3_000_000_000,
    "whole": 4.0,
    "time": datetime(2026, 1, 31, 12, tzinfo=UTC),
    "tags": ["a"],
}

VALUES = [
    # precedence, and the order of operators that have the same
    ("1 + 2 * 3", 7),
    ("2 - 1 - 1", 0),
    ("TRUE OR FALSE AND FALSE", False),
    ("FALSE AND FALSE OR TRUE", True),
    ("TRUE XOR TRUE OR TRUE", True),
    ("NOT FALSE = TRUE", True),
    ("NOT TRUE OR TRUE", True),
    ("1 = 1 = TRUE", True),
    ("2 * 3 IN (6)", 0),
    ("'a' LIKE 'a' IN (TRUE)", True),
    ("NOT 'true' LIKE 'fal%'", True),
    # integers
    ("5-3", 2),
    ("5 -3", 2),
    ("+5", 5),
    ("-2147483648", -2147483648),
    ("-7 / 2", -3),
    ("-7 % 2", -1),
    ("7 % -2", 1),
    ("hop + ttl", 15),
    ("INT('+0012')", 12),
    # what an attribute is, and what it is cast to
    ("hop = 5", True),
    ("5 = hop", True),
    ("'05' = hop", False),
    ("ttl = '10'", True),
    ("ttl = '010'", False),
    ("urgent = 'true'", True),
    ("urgent = 1", True),
    ("TRUE = ttl", False),
    ("ttl = TRUE", True),
    ("price", "2.5"),
    ("big", "3000000000"),
    ("whole", 4),
    ("whole + 1", 5),
    ("time", "2026-01-31T12:00:00Z"),
    ("HOP < Ttl", True),
    ("ttl IN ('1', '10')", True),
    ("hop NOT IN (5, 6)", False),
    # strings
    (r"'it\'s' = " + '"it\'s"', True),
    (r"'a\b'", r"a\b"),
    (r"'50%' LIKE '50\%'", True),
    (r"'a\b' LIKE 'a\_'", False),
    (r"'a\b' LIKE 'a\b'", True),
    (r"'a\_' LIKE 'a\\_'", True),
    ("'line\nbreak' LIKE 'line_break'", True),
    ("TRIM(' \t a\u00a0')", "a"),
    ("TRIM('\x1fa')", "\x1fa"),
    ("CONCAT_WS('-', hop, ttl, urgent)", "5-10-true"),
    ("SUBSTRING('Sakila', -5, 3)", "aki"),
    ("RIGHT('abc', 0)", ""),
    # what is there
    ("EXISTS hop AND NOT EXISTS hops", True),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_values(text: str, value: Any) -> None:
    found, error = evaluate(text, EVENT)
    assert error is None
    assert (type(found), found) == (type(value), value)


ERRORS = [
    ("2147483647 + 1", 0, "math"),
    ("-2147483648 / -1", 0, "math"),
    ("--2147483648", 0, "math"),
    ("65536 * 65536", 0, "math"),
    ("(5 / 0) + 1", 0, "math"),
    ("INT('2147483648')", 0, "cast"),
    ("INT(' 5')", 0, "cast"),
    ("INT('٣')", 0, "cast"),
    ("BOOL('yes')", False, "cast"),
    ("NOT ttl", True, "cast"),
    ("5 IN (5, 'a')", False, "cast"),
    ("source + 1", 1, "cast"),
    ("missing OR TRUE", False, "missingAttribute"),
    ("TRUE AND missing", False, "missingAttribute"),
    ("hop IN ('5', missing)", False, "missingAttribute"),
    ("CONCAT(missing, 'a')", "", "missingAttribute"),
    ("LENGTH(missing)", 0, "missingAttribute"),
    ("tags = 'a'", False, "missingAttribute"),
    ("NOW()", False, "missingFunction"),
    ("ABS(1, 2)", False, "missingFunction"),
    ("SUBSTRING('abc', 1, -1)", "", "functionEvaluation"),
]


@pytest.mark.parametrize(("text", "value", "kind"), ERRORS)
def test_errors_stand_beside_a_value(text: str, value: Any, kind: str) -> None:
    found, error = evaluate(text, EVENT)
    assert error is not None
    assert (type(found), found, error.kind.value) == (type(value), value, kind)
    assert str(error)


def test_what_follows_a_decision_is_not_looked_at() -> None:
    assert evaluate("FALSE AND missing", EVENT) == (False, None)
    assert evaluate("TRUE OR 1 / 0 = 1", EVENT) == (True, None)


MISTAKES: list[tuple[str, type[PredicastError], str, int]] = [
    ("type = 'sold", ParseError, "no end", 8),
    ("type = ", ParseError, "a value is missing", 8),
    ("type == 'sold'", ParseError, "a value is missing", 7),
    ("(type = 'sold'", ParseError, "closing parenthesis", 15),
    ("type 'sold'", ParseError, "an operator is missing", 6),
    ("data.price = 1", ParseError, "'.' means nothing", 5),
    ("type LIKE source", ParseError, "a pattern in quotes", 11),
    ("type IN ()", ParseError, "one value at least", 10),
    ("type IN 'sold'", ParseError, "a list in parentheses", 9),
    ("hop = 2147483648", ParseError, "integers are between", 7),
    ("my_name = 1", ParseError, "no _", 1),
    ("EXISTS 'a'", ParseError, "the name of an attribute", 8),
    ("type = 'it''s'", ParseError, "two strings side by side", 12),
    ("subject IS NULL", ParseError, "an operator is missing", 9),
    ("LOWERS(type) = 'a'", UnknownFunctionError, "no function LOWERS", 1),
    ("type = 'a' AND LEFT(type) = 'a'", UnknownFunctionError, "does not take 1", 16),
    ("A1(type)", ParseError, "letters and _", 1),
]


@pytest.mark.parametrize(("text", "cls", "message", "column"), MISTAKES)
def test_mistakes_are_pointed_at(
    text: str, cls: type[ParseError], message: str, column: int
) -> None:
    with pytest.raises(cls, match=message) as caught:
        dialect_named("cesql").parse(text)
    assert (caught.value.line, caught.value.column) == (1, column)


def test_the_line_is_that_of_the_text() -> None:
    with pytest.raises(ParseError) as caught:
        dialect_named("cesql").parse("type = 'a'\n  AND ?")
    assert (caught.value.line, caught.value.column) == (2, 7)


@pytest.mark.parametrize(
    "deep", ["(" * 65 + "TRUE" + ")" * 65, "NOT " * 65 + "TRUE", "-" * 66 + "hop"]
)
def test_depth_is_bounded(deep: str) -> None:
    with pytest.raises(NestingTooDeepError):
        dialect_named("cesql").parse(deep)


def test_length_is_bounded_and_long_chains_are_not_deep() -> None:
    with pytest.raises(TextTooLongError):
        evaluate("TRUE" + " " * 70_000, {})
    assert evaluate(" + ".join(["1"] * 10_000), {}) == (10_000, None)
    assert evaluate("hop IN (1) " + "IN (TRUE) " * 60, {"hop": 1}) == (True, None)
