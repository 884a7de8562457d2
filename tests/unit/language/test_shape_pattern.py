"""Patterns of shapes: texts like an earlier one are read by a single match, and never otherwise."""

import pytest

from predicast.errors import ParseError
from predicast.language.where import ShapeCache


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a = 1", "a = 1.5"),
        ("a = 1", "a = 1.0"),
        ("a = 1", "a = -1"),
        ("a = 1.5", "a = 2.0"),
        ("a = 1.5", "a = 1e400"),
        ("a = 1", "a = 1234567890123456789012"),
        ("a = -1", "a = -0"),
        ("a = 1", "a = '1'"),
        ("a = 'x'", "a = 'it''s'"),
        ("a = 'x'", r"a = 'tab\t'"),
        ("a = 'x'", 'a = "x"'),
        ("a = 'x' AND b = 1", "a = 'x'' AND b = ''' AND b = 1"),
        ('a = "x" AND b = 1', 'a = "it\'s" AND b = 1'),
        ("a = 'x' AND b = 'y'", r"a = 'x\' AND b = 'y'"),
        ('a = 1 -- it\'s\nAND b = "x"', "a = 1 -- it's\nAND b = \"y'z\""),
        ("a LIKE 'x%' AND b = 1", "a LIKE '%' AND b = 1"),
        ("a = 'é' AND b = 1", "a = 'e' AND b = 1"),
        ("a = 'e' AND b = 1", "a = 'é' AND b = 1"),
        ("a RLIKE 'x' AND b = 1", "a RLIKE '(' AND b = 1"),
        ("a IN (1, 2)", "a IN (2, 2)"),
        ("a IN (1, 2)", "a IN (2, 1)"),
        ("a = 1 OR a = 2", "a = 1 OR a = 1.0"),
        ("a BETWEEN 1 AND 2", "a BETWEEN 3 AND 4"),
        ("a BETWEEN 1 AND 2", "a BETWEEN 3 AND -4"),
        ("`a 1` = 1", "`a 2` = 1"),
        ("a = TIMESTAMP '2026-01-01'", "a = TIMESTAMP '2027-01-01'"),
        ("a = TIMESTAMP '2026-01-01'", "a = TIMESTAMP 'soon'"),
        ("round(a, 2) < 5", "round(a, 3) < 5"),
        ("a > 10L", "a > 20L"),
        ("a > 0.5F", "a > 0.1F"),
        ("a > 5F", "a > 16777217F"),
        ("a > 5D", "a > 9007199254740993D"),
        ("a > 5D", "a > 1e400D"),
    ],
)
def test_a_pattern_gives_what_a_fresh_parse_gives(first: str, second: str) -> None:
    cache = ShapeCache()
    for _ in range(10):
        cache.outlined(first)
    for text in (second, first):
        assert outcome(cache, text) == outcome(ShapeCache(), text)


def outcome(cache: ShapeCache, text: str) -> object:
    try:
        stated = cache.outlined(text)
    except ParseError as error:
        return str(error)
    return stated, [type(operand) for operand in stated.operands]


def alert(number: int) -> str:
    return f"symbol = 'S{number}' AND price < {number}.5 AND qty BETWEEN {number} AND 99"


def test_texts_like_an_earlier_one_are_not_cut() -> None:
    cache = ShapeCache()
    for number in range(40):
        cache.outlined(alert(number))
    assert (len(cache), cache.misses, cache.hits) == (1, 1, 39)
    [pattern] = cache._latest.values()
    assert pattern.stated(alert(7)) == ShapeCache().outlined(alert(7))


def test_of_shapes_that_begin_alike_the_latest_is_tried() -> None:
    cache = ShapeCache()
    other = alert(1).replace("symbol =", "symbol <")
    for text in (alert(1), other):
        for _ in range(10):
            assert cache.outlined(text) == ShapeCache().outlined(text)
    [pattern] = cache._latest.values()
    assert pattern.stated(other) is not None
    assert pattern.stated(alert(1)) is None


def test_no_pattern_is_made_of_a_shape_that_few_texts_have_or_that_is_large() -> None:
    cache = ShapeCache()
    for _ in range(3):
        cache.outlined(alert(1))
    for _ in range(20):
        cache.outlined(" AND ".join(f"a{n} < {n}" for n in range(50)))
    assert not cache._latest
