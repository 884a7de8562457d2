"""The ``where`` dialect: what it reads, and how it refuses."""

from datetime import UTC, datetime

import pytest

from predicast.errors import (
    NestingTooDeepError,
    ParseError,
    TextTooLongError,
    UnknownFunctionError,
    UnsupportedSyntaxError,
)
from predicast.language import attr, expr, parse_where, to_subscription, to_where
from predicast.model import Expression

A, B = attr("a"), attr("b")
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("a = 1", A == 1),
        ("a == 1", A == 1),
        ("a <> 1", A != 1),
        ("a != 1", A != 1),
        ("10 > a", A < 10),
        ("10 <= a", A >= 10),
        ("TRUE = a", A == True),  # noqa: E712
        ("a < -5", A < -5),
        ("a > +.5", A > 0.5),
        ("a > 1e3", A > 1000),
        ("a > 10L", A > 10),
        ("a > 1.5D", A > 1.5),
        ("a > 9007199254740993D", A > 9007199254740992),
        ("a = 0.1F", A == 0.10000000149011612),
        ("a IN (-0.1f, 16777217F)", A.isin([-0.10000000149011612, 16777216])),
        # Just above the middle of two: by way of 64 bits it would come out as the lower one.
        ("a = 1.000000059604644775390625001F", A == 1.0000001192092896),
        ("a = 1.000000059604644775390625F", A == 1),
        ("a * 0.5F > 1", expr("a * 0.5") > 1),
        ("a = -9223372036854775808", A == -(2**63)),
        ("a BETWEEN 1 AND 2 AND b = 3", A.between(1, 2) & (B == 3)),
        ("a NOT BETWEEN 1 AND 2", ~A.between(1, 2)),
        ("a IN ('x', 'y')", A.isin(["x", "y"])),
        ("a NOT IN (1)", ~A.isin([1])),
        ("a LIKE 'x%'", A.like("x%")),
        ("a LIKE 'x!%' ESCAPE '!'", A.like("x!%", escape="!")),
        (r"a LIKE '50\%'", A.like(r"50\%")),
        ("a NOT LIKE 'x'", ~A.like("x")),
        ("a RLIKE '^x+$'", A.matches("^x+$")),
        (r"a RLIKE '\\d'", A.matches(r"\d")),
        (r"a RLIKE r'\d'", A.matches(r"\d")),
        ("a NOT RLIKE 'x'", ~A.matches("x")),
        ("regexp_like(a, 'x')", A.matches("x")),
        ("startswith(a, 'x')", A.startswith("x")),
        ("EndsWith(a, 'x')", A.endswith("x")),
        ("NOT contains(a, 'x')", ~A.contains("x")),
        ("a IS NULL", A.is_absent()),
        ("a IS NOT NULL", A.exists()),
        ("isnotnull(a)", A.exists()),
        ("a", A == True),  # noqa: E712
        ("NOT a", ~(A == True)),  # noqa: E712
        ("a AND NOT b", (A == True) & ~(B == True)),  # noqa: E712
        ("a = 1 OR b = 2 AND a = 3", (A == 1) | ((B == 2) & (A == 3))),
        ("(a = 1 OR b = 2) AND a = 3", ((A == 1) | (B == 2)) & (A == 3)),
        ("NOT (a = 1 OR b = 2)", ~((A == 1) | (B == 2))),
        ("order.total > 5", attr("order.total") > 5),
        ("`order`.`grand total` > 5", attr("order.grand total") > 5),
        ("`a``b` > 5", attr("a`b") > 5),
        ("date > 5 AND timestamp = 1", (attr("date") > 5) & (attr("timestamp") == 1)),
        ("a >= TIMESTAMP '2026-01-01'", A >= NEW_YEAR),
        ("a >= timestamp '2026-01-01 02:00:00+02:00'", A >= NEW_YEAR),
        ("a >= TIMESTAMP '2026-01-01T00:00:00Z'", A >= NEW_YEAR),
        ("a >= DATE '2026-01-01'", A >= NEW_YEAR),
        ("a >= to_timestamp('2026-01-01 00:00')", A >= NEW_YEAR),
        ("DATE '2026-01-01' < a", A > NEW_YEAR),
        ("a = 'O''Brien'", A == "O'Brien"),
        (r"a = 'O\'Brien'", A == "O'Brien"),
        (r"a = 'x\ty\u00e9\101'", A == "x\tyéA"),
        (r"a = 'x\'''\\%'", A == "x''\\%"),  # an escaped quote, then a doubled one
        (r"a = '\341'", A == "341"),  # octal escapes end at \177, as in Spark
        (r"a = '\uD83D\uDE00'", A == "😀"),  # the two halves of one character
        ('a = "quoted"', A == "quoted"),
        ("a = 1 -- it's a comment\n AND b = 2", (A == 1) & (B == 2)),
        ("/* 'one' */ a = 1", A == 1),
        ("a\n=\n1", A == 1),
        ("é = 1", attr("é") == 1),
    ],
)
def test_reads(text: str, expression: Expression) -> None:
    assert parse_where(text) == to_subscription(expression)


def test_true_and_false() -> None:
    assert [len(clause) for clause in parse_where("TRUE").clauses] == [0]
    assert parse_where("FALSE").clauses == ()
    assert parse_where("a = 1 AND TRUE") == parse_where("a = 1")
    assert parse_where("a = 1 OR FALSE") == parse_where("a = 1")


def test_what_is_said_twice_is_kept_once() -> None:
    assert parse_where("a = 1 AND a = 1.0") == parse_where("a = 1")
    assert parse_where("a = 1 OR a = 1") == parse_where("a = 1")


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("price <", 1, 8, "ends where a value"),
        ("price < 5 )", 1, 11, "never opened"),
        ("(price < 5", 1, 1, "never closed"),
        ("a = 1 AND\n  AND b = 2", 2, 3, "expected a condition"),
        ("a = 1\nadn b = 2", 2, 1, "did you mean AND"),
        ("", 1, 1, "empty"),
        ("-- nothing", 1, 1, "empty"),
        ("a = 'x", 1, 5, "never closed"),
        ("a = `x", 1, 5, "never closed"),
        ("a = 1 /* x", 1, 7, "never closed"),
        ("a IN 1", 1, 6, "parenthesis after IN"),
        ("a IN ()", 1, 7, "expected a value"),
        ("a IN (1, 'x')", 1, 1, "one kind, not number and string"),
        ("a IN (1", 1, 8, "closing parenthesis"),
        ("a BETWEEN 1 OR 2", 1, 13, "AND between"),
        ("a BETWEEN TRUE AND FALSE", 1, 11, "expected a value"),
        ("a LIKE 5", 1, 8, "expected a string"),
        ("a IS 5", 1, 6, "NULL, TRUE, FALSE or UNKNOWN"),
        ("a RLIKE '('", 1, 9, "missing "),
        (r"a LIKE 'x\\y'", 1, 8, "escape"),
        ("a = 1" + "0" * 400, 1, 5, "more than 400 digits"),
        ("a = 1e999", 1, 5, "beyond the range"),
        ("a = TIMESTAMP 'soon'", 1, 15, "not a timestamp"),
        ("a = TIMESTAMP '2026-02-30'", 1, 15, "not a timestamp"),
        ("a < TRUE", 1, 1, "does not order booleans"),
        ("1 < '2'", 1, 5, "two values"),
        ("a.1 = 2", 1, 3, "name after the dot"),
        ("a = 'x' 'y'", 1, 9, "two strings"),
        ("`` = 1", 1, 1, "empty"),
        ("startswith(a)", 1, 13, "comma"),
        ("startswith('x', a)", 1, 12, "attribute as the first argument"),
        ("a NOT 5", 1, 7, "after NOT"),
    ],
)
def test_an_error_points_at_the_spot(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        parse_where(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.text == text


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a = NULL", "IS NULL"),
        ("a IN (SELECT 1)", "list the values"),
        ("a = 1; DROP", "semicolon"),
        ("a = 1 && b = 2", "AND"),
        ("a = ?", "the value itself"),
    ],
)
def test_other_sql_is_refused_with_a_hint(text: str, hint: str) -> None:
    with pytest.raises(UnsupportedSyntaxError) as caught:
        parse_where(text)
    assert hint in (caught.value.hint or "")


def test_an_error_shows_a_caret() -> None:
    with pytest.raises(ParseError) as caught:
        parse_where("price < 10 AND symbol == NULL")
    assert str(caught.value).splitlines()[1:3] == [
        "  price < 10 AND symbol == NULL",
        "                           ^",
    ]


def test_unknown_functions_are_corrected() -> None:
    with pytest.raises(UnknownFunctionError, match="did you mean startswith") as caught:
        parse_where("starts_with(a, 'x')")
    assert caught.value.suggestion == "startswith"


def test_limits_have_errors_of_their_own() -> None:
    parse_where("(" * 64 + "a = 1" + ")" * 64)
    parse_where("NOT " * 64 + "a = 1")
    with pytest.raises(NestingTooDeepError) as nesting:
        parse_where("(" * 65 + "a = 1" + ")" * 65)
    assert (nesting.value.limit, nesting.value.actual) == (64, 65)
    with pytest.raises(NestingTooDeepError):
        parse_where("NOT " * 65 + "a")
    with pytest.raises(TextTooLongError) as length:
        parse_where("a = '" + "x" * 65_536 + "'")
    assert length.value.limit == 65_536


def test_many_siblings_are_not_nesting() -> None:
    assert len(parse_where(" AND ".join("NOT (a = 1)" for _ in range(500))).clauses) == 1
    assert len(parse_where(" AND ".join(f"a{n} = {n}" for n in range(3_000))).clauses[0]) == 3_000


def test_text_is_the_only_thing_parsed() -> None:
    with pytest.raises(ParseError, match="not int"):
        parse_where(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a=1 and(b<2 or c)", "(a = 1 AND b < 2) OR (a = 1 AND c = TRUE)"),
        ("not(startswith(a,'x'))", "NOT startswith(a, 'x')"),
        ("`select` = 1", "`select` = 1"),
        ("`a b`.c in (2, 1, 2)", "`a b`.c IN (1, 2)"),
        ("true", "TRUE"),
        ("false", "FALSE"),
    ],
)
def test_prints(text: str, printed: str) -> None:
    assert to_where(parse_where(text)) == printed


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("1 = 1 AND x > 5", "x > 5"),
        ("x > 5 OR 1 = 0", "x > 5"),
        ("NOT (2 <= 1.5) AND x > 5", "x > 5"),
        ("(1 = 1) IS TRUE AND x > 5", "x > 5"),
        ("1 + 1 != 2", "FALSE"),
        ("x > CURRENT_TIMESTAMP - INTERVAL 5 MINUTES", "x > now() - INTERVAL 5 MINUTES"),
        ("CURRENT_TIMESTAMP > x", "now() > x"),
        (
            "x >= current_date AND hour(Current_Timestamp) = 5",
            "x >= current_date() AND hour(now()) = 5",
        ),
    ],
)
def test_what_programs_and_standards_write(text: str, same: str) -> None:
    assert parse_where(text) == parse_where(same)
    assert parse_where(text) == parse_where(same)  # also the second time


def test_an_attribute_may_be_called_as_the_time_is() -> None:
    assert parse_where("`current_date` = 5").attributes() == {"current_date"}
    assert parse_where("current_date.day = 5 AND a.current_timestamp = 6").attributes() == {
        "current_date.day",
        "a.current_timestamp",
    }
