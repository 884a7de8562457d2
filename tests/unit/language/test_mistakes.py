"""What people write who know SQL, and what they are told.

A message that misleads costs a new user more than one that is missing: each of these says what is
not supported, where, and what to write instead.
"""

import pytest

from predicast.errors import ParseError, UnknownFunctionError, UnsupportedSyntaxError
from predicast.language import parse_where, to_where

REFUSED = [
    ("x IN ()", ParseError, "which is empty", 7),
    ("x NOT NULL", ParseError, "write x IS NOT NULL", 7),
    ("x NOT = 5", ParseError, "write x != 5", 7),
    ("x NOT ILIKE 'a'", UnsupportedSyntaxError, "RLIKE '(?i)", 7),
    ("x = NULL", UnsupportedSyntaxError, "x IS NULL", 5),
    ("x = None", UnsupportedSyntaxError, "x IS NULL", 5),
    ("x IS None", ParseError, "write x IS NULL", 6),
    ("x IS TRUE", ParseError, "write x = TRUE", 6),
    ("x IS 5", ParseError, "write x = 5", 6),
    ("x IS DISTINCT FROM 5", ParseError, "x != 5 OR x IS NULL", 6),
    ("x <=> 5", UnsupportedSyntaxError, "= or IS NULL", 3),
    ("x ISNULL", UnsupportedSyntaxError, "write x IS NULL", 3),
    ("x NOTNULL", UnsupportedSyntaxError, "write x IS NOT NULL", 3),
    ("EXISTS (SELECT 1)", UnsupportedSyntaxError, "write x IS NOT NULL", 1),
    ("x ~ 'a'", UnsupportedSyntaxError, "RLIKE", 3),
    ("x SIMILAR TO 'a'", UnsupportedSyntaxError, "RLIKE", 3),
    ("x =~ 'a'", UnsupportedSyntaxError, "write RLIKE", 3),
    ("x LIKE 5", ParseError, "strings stand in quotes", 8),
    ("x LIKE ANY ('a', 'b')", ParseError, "x LIKE 'a' OR x LIKE 'b'", 8),
    ("x CONTAINS 'a'", UnsupportedSyntaxError, "contains(x, 'part')", 3),
    ("x starts with 'a'", UnsupportedSyntaxError, "startswith(x, 'a')", 3),
    ("x.contains('a')", UnsupportedSyntaxError, "contains(x, 'part')", 11),
    ("contains('a', x)", ParseError, "contains(x, 'part')", 10),
    ("begins_with(x, 'a')", UnknownFunctionError, "did you mean startswith", 1),
    ("array_contains(x, 5)", UnknownFunctionError, "arrays are not supported yet", 1),
    ("lower(x) = 'a'", UnknownFunctionError, "(?i)", 1),
    ("coalesce(x, 0) = 0", UnknownFunctionError, "x IS NULL OR x = 0", 1),
    ("length(x) > 5", UnknownFunctionError, "not supported yet", 1),
    ("DATE(x) = DATE '2026-01-31'", UnknownFunctionError, "x >= DATE '2026-01-31'", 1),
    ("CAST(x AS INT) = 5", UnknownFunctionError, "does not convert", 1),
    ("x = CAST('5' AS INT)", UnsupportedSyntaxError, "does not convert", 5),
    ("x = '5'::int", UnsupportedSyntaxError, "does not convert", 8),
    ("x BETWEEN 5", ParseError, "write x BETWEEN 1 AND 5", 12),
    ("x BETWEEN (1, 5)", UnsupportedSyntaxError, "x BETWEEN 1 AND 5", 11),
    ("x BETWEEN SYMMETRIC 1 AND 5", UnsupportedSyntaxError, "SYMMETRIC is not supported", 11),
    ("x IN 1, 2", ParseError, "x IN (1, 2)", 6),
    ("x IN (SELECT y FROM t)", UnsupportedSyntaxError, "no subquery", 7),
    ("x = ANY (1, 2)", UnsupportedSyntaxError, "x IN (1, 2)", 5),
    ("x = (5)", UnsupportedSyntaxError, "without parentheses", 5),
    ("x = [1, 2]", UnsupportedSyntaxError, "x IN (1, 2)", 5),
    ("a < b", UnsupportedSyntaxError, "not the attribute 'b'", 5),
    ("1 < x < 5", UnsupportedSyntaxError, "do not chain", 7),
    ("x > 5 AND < 10", ParseError, "name the attribute each time", 11),
    ("x = 1 OR 2", ParseError, "x IN (1, 2)", 11),
    ("(x = 5) = TRUE", UnsupportedSyntaxError, "leave out = TRUE", 9),
    ("x = 5 IS TRUE", UnsupportedSyntaxError, "leave out = TRUE", 7),
    ("1 = 1", ParseError, "TRUE matches every event", 5),
    ('"order" = 5', ParseError, "back-quotes: `order`", 11),
    ('"order" IS NULL', ParseError, "back-quotes: `order`", 9),
    ("'order' = 5", ParseError, "back-quotes: `order`", 11),
    ("my-name = 5", UnsupportedSyntaxError, "quote the name: `a-b`", 3),
    ("my name = 5", ParseError, "in back-quotes", 4),
    ("select = 5", UnsupportedSyntaxError, "back-quotes: `select`", 1),
    ("x = ‘a’", UnsupportedSyntaxError, "straight ones", 5),  # noqa: RUF001
    ("x = “a”", UnsupportedSyntaxError, "straight ones", 5),
    ("x = −5", UnsupportedSyntaxError, "write - for minus", 5),  # noqa: RUF001
    ("-x > 5", ParseError, "x < -5 instead of", 2),
    ("x ≥ 5", UnsupportedSyntaxError, "write >=", 3),
    ("x => 5", UnsupportedSyntaxError, "write >=", 3),
    ("x =< 5", UnsupportedSyntaxError, "write <=", 3),
    ("x = > 5", UnsupportedSyntaxError, "write >=", 3),
    ("x === 5", UnsupportedSyntaxError, "write =", 3),
    ("x := 5", UnsupportedSyntaxError, "write =", 3),
    ("x ! = 5", UnsupportedSyntaxError, "write !=", 3),
    ("x EQ 5", UnsupportedSyntaxError, "write =", 3),
    ("x = 1 && y = 2", UnsupportedSyntaxError, "write AND", 7),
    ("x = 1 || y = 2", UnsupportedSyntaxError, "joins strings", 7),
    ("x = 1 & y = 2", UnsupportedSyntaxError, "write AND", 7),
    ("x = 1, y = 2", UnsupportedSyntaxError, "write AND or OR", 6),
    ("x XOR y", UnsupportedSyntaxError, "(a AND NOT b)", 3),
    ("x % 2 = 0", UnsupportedSyntaxError, "move the arithmetic", 3),
    ("x DIV 2 = 0", UnsupportedSyntaxError, "move the arithmetic", 3),
    ("x['y'] = 5", UnsupportedSyntaxError, "write x.y", 2),
    ("x->>'y' = 5", UnsupportedSyntaxError, "write x.y", 2),
    ("x = 0xFF", UnsupportedSyntaxError, "write 255", 5),
    ("x = X'1F'", UnsupportedSyntaxError, "bytes are not supported", 5),
    ("x = N'abc'", UnsupportedSyntaxError, "no such prefix", 5),
    ("x = 1_000", UnsupportedSyntaxError, "write 1000", 5),
    ("x = 1,000", UnsupportedSyntaxError, "no commas inside", 6),
    ("x = 5k", UnsupportedSyntaxError, "neither a number nor a name", 5),
    ("x>5AND y<3", UnsupportedSyntaxError, "put a space behind 5", 3),
    ("x = 1e400", ParseError, "beyond the range", 5),
    ("x = NaN", UnsupportedSyntaxError, "numbers are finite", 5),
    ("x > 2026-01-31", UnsupportedSyntaxError, "DATE '2026-01-31'", 9),
    ("x > 31.01.2026", UnsupportedSyntaxError, "DATE '2026-01-31'", 10),
    ("x > 10:30", UnsupportedSyntaxError, "TIMESTAMP '2026-01-31 09:30:00'", 7),
    ("x > DATE 2026-01-31", UnsupportedSyntaxError, "followed by a string", 5),
    ("x > now()", UnsupportedSyntaxError, "no clock yet", 5),
    ("x > CURRENT_DATE", UnsupportedSyntaxError, "no clock yet", 5),
    ("x > INTERVAL 1 DAY", UnsupportedSyntaxError, "spans of time", 5),
    ("x > date_sub(y, 7)", UnsupportedSyntaxError, "functions do not make values yet", 5),
    ("WHERE x > 1", UnsupportedSyntaxError, "leave out WHERE", 1),
    ("where (x > 1)", UnsupportedSyntaxError, "leave out WHERE", 1),
    ("WHERE NOT x", UnsupportedSyntaxError, "leave out WHERE", 1),
    ("SELECT * FROM t WHERE x > 1", UnsupportedSyntaxError, "behind WHERE", 1),
    ("x > 1 ORDER BY x", UnsupportedSyntaxError, "leave out ORDER BY", 7),
    ("x = 1;", UnsupportedSyntaxError, "leave out the semicolon", 6),
    ("x = 1 # c", UnsupportedSyntaxError, "comments are like", 7),
    ("x = --5", ParseError, "is a comment", 8),
    ("x = $p", UnsupportedSyntaxError, "a parameter is like :low", 5),
    ("x = {p}", UnsupportedSyntaxError, "a parameter is like :low", 5),
    ("x = ?", UnsupportedSyntaxError, "a parameter such as :low", 5),
    ("x = 'abc", ParseError, "never closed", 5),
    ("(x = 1", ParseError, "never closed", 1),
    ("x = 1)", ParseError, "never opened", 6),
    ("AND x", ParseError, "expected a condition", 1),
    ("x = 1 AND", ParseError, "ends where a condition", 10),
]


@pytest.mark.parametrize(("text", "error", "part", "column"), REFUSED)
def test_a_mistake_is_told_with_what_would_be_right(
    text: str, error: type[ParseError], part: str, column: int
) -> None:
    with pytest.raises(ParseError) as caught:
        parse_where(text)
    assert type(caught.value) is error
    assert part in str(caught.value)
    assert (caught.value.line, caught.value.column) == (1, column)
    assert str(caught.value).splitlines()[2] == "  " + " " * (column - 1) + "^"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("x == 1", "x = 1"),
        ("x <> 1", "x != 1"),
        ("!x", "x != TRUE"),
        ("5 < x", "x > 5"),
        ("TRUE = x", "x = TRUE"),
        ("x REGEXP 'a'", "x RLIKE 'a'"),
        ("x = 1 -- why", "x = 1"),
        ("/* why */ x = 1", "x = 1"),
        ("x = 'it''s'", r"x = 'it\'s'"),
        ('x = "IBM"', "x = 'IBM'"),
        ("x = .5", "x = 0.5"),
        ("x = 5.", "x = 5"),
        ("x = - 5", "x = -5"),
        ("x = 5L", "x = 5"),
        # Words of SQL that are also names: an event may well have such attributes.
        ("order = 5", "order = 5"),
        ("where = 5", "`where` = 5"),
        ("where NOT IN (1)", "`where` NOT IN (1)"),
        ("on AND limit > 5", "on = TRUE AND limit > 5"),
        ("now > 5 AND eq = 1", "now > 5 AND eq = 1"),
        ("interval = 5 OR current_date", "`interval` = 5 OR current_date = TRUE"),
    ],
)
def test_what_is_sound_is_read(text: str, meant: str) -> None:
    assert to_where(parse_where(text)) == meant
