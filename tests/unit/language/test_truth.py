"""ILIKE, LIKE ANY, IS TRUE, <=> and their kind: what each becomes."""

import pytest

from predicast.errors import NestingTooDeepError
from predicast.language import parametric, parse_where, to_where
from predicast.language.where import ShapeCache


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("x ILIKE 'Ab%'", "lower(x) LIKE 'ab%'"),
        ("x NOT ILIKE 'Ab%'", "lower(x) NOT LIKE 'ab%'"),
        ("x ILIKE r'A\\%'", r"lower(x) LIKE 'a\\%'"),
        ("a || b ILIKE 'X'", "lower(concat(a, b)) LIKE 'x'"),
        ("x ILIKE 'A!%' ESCAPE '!'", r"lower(x) LIKE 'a\\%'"),
        # The escape is a letter, of either case.
        ("x ILIKE 'A%AAbC_' ESCAPE 'A'", r"lower(x) LIKE '\\%abc_'"),
        ("x ILIKE 'a%A' ESCAPE 'a'", r"lower(x) LIKE '\\%a'"),
        (r"x ILIKE 'A\\b' ESCAPE ''", r"lower(x) LIKE 'a\\\\b'"),
        ("x LIKE ANY ('a%', 'b')", "x LIKE 'a%' OR x LIKE 'b'"),
        ("x like some ('a%')", "x LIKE 'a%'"),
        ("x LIKE ALL ('a%', '%b')", "x LIKE 'a%' AND x LIKE '%b'"),
        ("x NOT LIKE ANY ('a', 'b')", "x NOT LIKE 'a' OR x NOT LIKE 'b'"),
        ("x NOT LIKE ALL ('a', 'b')", "x NOT LIKE 'a' AND x NOT LIKE 'b'"),
        ("NOT x LIKE ANY ('a', 'b')", "NOT (x LIKE 'a' OR x LIKE 'b')"),
        ("x ILIKE ANY ('A', 'b')", "lower(x) LIKE 'a' OR lower(x) LIKE 'b'"),
        ("x IS TRUE", "x = TRUE"),
        ("x IS NOT TRUE", "x != TRUE OR x IS NULL"),
        ("NOT x IS TRUE", "x != TRUE OR x IS NULL"),
        ("NOT x IS NOT TRUE", "x = TRUE"),
        ("x IS FALSE", "x = FALSE"),
        ("x IS NOT FALSE", "x != FALSE OR x IS NULL"),
        ("x IS UNKNOWN", "x IS NULL"),
        ("x IS NOT UNKNOWN", "x IS NOT NULL"),
        ("(a < b) IS TRUE", "a < b"),
        ("(a < b) IS NOT TRUE", "NOT (a < b) OR (a < b) IS NULL"),
        ("a < b IS UNKNOWN", "(a < b) IS NULL"),
        ("5 < x IS NOT TRUE", "x <= 5 OR x IS NULL"),
        ("(a != b) IS FALSE", "a = b"),
        ("(a != b) IS NULL", "(a = b) IS NULL"),
        ("((a != b)) IS NOT NULL", "(a = b) IS NOT NULL"),
        ("(startswith(x, 'a')) IS NULL", "x IS NULL"),
        ("(NULL <=> a) IS NULL", "FALSE"),
        ("(TRUE) IS NULL", "FALSE"),
        ("(a + b) IS NULL", "a + b IS NULL"),
        ("(a = 5) IS NULL", "(a = 5) IS NULL"),
        ("(CASE WHEN a != 1 THEN 2 END) IS NULL", "CASE WHEN a != 1 THEN 2 END IS NULL"),
        ("(a = 1 AND b = 2) IS NOT TRUE", "a != 1 OR a IS NULL OR b != 2 OR b IS NULL"),
        ("NOT (a = 1 OR b = 2) IS FALSE", "a = 1 OR a IS NULL OR b = 2 OR b IS NULL"),
        ("((a IS TRUE) IS NULL)", "FALSE"),
        ("(a IS NULL) IS NOT FALSE", "a IS NULL"),
        ("TRUE IS TRUE AND FALSE IS NOT TRUE AND x", "x = TRUE"),
        ("x <=> 5", "x = 5"),
        ("5 <=> x", "x = 5"),
        ("NOT x <=> 5", "x != 5 OR x IS NULL"),
        ("NOT (x <=> 5) IS UNKNOWN", "TRUE"),
        ("x <=> NULL", "x IS NULL"),
        ("NULL <=> x + 1", "x + 1 IS NULL"),
        ("a <=> b", "a <=> b"),
        ("NOT a <=> b", "NOT (a <=> b)"),
        ("x IS DISTINCT FROM 5", "x != 5 OR x IS NULL"),
        ("TRUE IS NOT DISTINCT FROM x", "x = TRUE"),
        ("x IS DISTINCT FROM NULL", "x IS NOT NULL"),
        ("a IS NOT DISTINCT FROM b", "a <=> b"),
        (
            "CASE WHEN x IS NOT TRUE THEN 1 END = 1",
            "CASE WHEN (NOT x = TRUE) OR x IS NULL THEN 1 END = 1",
        ),
    ],
)
def test_each_becomes_what_there_is(text: str, meant: str) -> None:
    assert parse_where(text) == parse_where(meant)
    shown = to_where(parse_where(text))
    assert parse_where(shown) == parse_where(text)
    assert shown == to_where(parse_where(meant))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x ILIKE 'AB%'", "x ILIKE 'CD%'"),
        ("x ILIKE 'A!%' ESCAPE '!'", "x ILIKE 'A!%' ESCAPE '%'"),
        ("x ILIKE 'A!%' ESCAPE '!'", "x ILIKE 'AB!' ESCAPE 'B'"),
        ("x ILIKE ANY ('A', 'B')", "x ILIKE ANY ('C', 'C')"),
        ("x IS DISTINCT FROM 5", "x IS DISTINCT FROM 6"),
        ("(a = 1 OR b) IS UNKNOWN", "(a = 2 OR b) IS UNKNOWN"),
        ("(a = 1) IS UNKNOWN", "(a = 2) IS UNKNOWN"),
        ("a + 1 <=> b", "a + 2 <=> b"),
        ("WHERE x > 1", "WHERE x > 2"),
    ],
)
def test_shapes_are_remembered_as_they_are_read(first: str, second: str) -> None:
    shared = ShapeCache()
    for text in (first, second, first, second):
        assert outcome(shared, text) == outcome(ShapeCache(), text)


def outcome(cache: ShapeCache, text: str) -> object:
    try:
        assert cache.outlined(text).subscription() == cache.parse(text)
        return cache.parse(text)
    except Exception as error:  # noqa: BLE001  # compared
        return f"{type(error).__name__}: {error}"


def test_parameters_may_stand_there() -> None:
    template = parametric("x <=> :a AND y LIKE ANY (:p, 'b') AND (z = :a) IS NOT TRUE")
    outline, operands = template.fill({"a": 5, "p": "c%"})
    assert outline.subscription(operands) == parse_where(
        "x = 5 AND (y LIKE 'c%' OR y LIKE 'b') AND (z != 5 OR z IS NULL)"
    )


def test_unknown_of_unknown_has_a_limit() -> None:
    text = "x"
    for _ in range(4):
        text = f"({text} OR FALSE) IS UNKNOWN"
    parse_where(text)
    with pytest.raises(NestingTooDeepError) as caught:
        parse_where(f"({text} OR FALSE) IS UNKNOWN")
    assert (caught.value.limit, caught.value.actual) == (4, 5)
