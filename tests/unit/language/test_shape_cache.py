"""The shape cache: quick where it may be, and never wrong."""

import pytest

from predicast.errors import ParseError
from predicast.language.where import ShapeCache


def test_texts_that_differ_in_literals_share_a_shape() -> None:
    cache = ShapeCache()
    for number in range(100):
        cache.parse(f"price < {number} AND symbol = 'S{number}' AND x IN ({number}, -{number}.5)")
    assert (len(cache), cache.misses, cache.hits) == (1, 1, 99)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a = 1", "a = 1.5"),
        ("a = 1", "a = -1"),
        ("a = 'x'", "a = 'it''s'"),
        ("a = 'x'", r"a = 'tab\t'"),
        ("a = 'x'", 'a = "x"'),
        ("a = 1 OR a = 2", "a = 1 OR a = 1.0"),
        ("a IN (1, 2)", "a IN (2, 2)"),
        ("a BETWEEN 1 AND 2", "a BETWEEN 3 AND -4"),
        ("a1 = 1", "a2 = 1"),
        ("`a 1` = 1", "`a 2` = 1"),
        ("a = 1 -- 'x' 5", "a = 1 -- 'y' 6"),
        ("a = r'x'", "a = r'y'"),
        ("a = TIMESTAMP '2026-01-01'", "a = TIMESTAMP '2027-01-01'"),
        ("a LIKE 'x!%' ESCAPE '!'", "a LIKE 'x#%' ESCAPE '#'"),
        ("a > 10L", "a > 20L"),
        ("a = TRUE", "a = FALSE"),
        ("a AND b = 1", "a AND b = 2"),
        ("1 < a", "2 < a"),
    ],
)
def test_a_remembered_shape_gives_what_a_fresh_parse_gives(first: str, second: str) -> None:
    cache = ShapeCache()
    cache.parse(first)
    assert cache.parse(second) == ShapeCache().parse(second)
    assert cache.parse(first) == ShapeCache().parse(first)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("a RLIKE 'x'", "a RLIKE '('"),
        ("a LIKE 'x'", r"a LIKE 'x\\y'"),
        ("a = 1", "a = " + "9" * 2_000),
        ("a = TIMESTAMP '2026-01-01'", "a = TIMESTAMP 'soon'"),
        ("a = 'x'", r"a = '\ud800'"),
    ],
)
def test_a_bad_literal_in_a_known_shape_is_refused_with_its_place(good: str, bad: str) -> None:
    cache = ShapeCache()
    cache.parse(good)
    with pytest.raises(ParseError) as caught:
        cache.parse(bad)
    assert caught.value.column is not None
    assert caught.value.column > 1


def test_the_cache_is_bounded() -> None:
    cache = ShapeCache(max_bytes=40_000)
    for number in range(100):
        cache.parse(f"a{number} = 1")
        assert cache.cost <= 40_000
    assert 3 <= len(cache) <= 15
    cache.parse("a99 = 2")
    assert cache.hits == 1
