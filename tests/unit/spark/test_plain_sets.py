"""Which subscriptions are plain enough for a join of Spark's own, and the ends of their ranges."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast import Engine
from predicast import spark as ps
from predicast.model.spans import Span
from predicast.spark.plain_join import _double_ends, _integer_ends
from predicast.spark.plain_sets import PlainSet, plain_set


def plain(texts: Mapping[str, str], **options: str) -> PlainSet | None:
    engine = Engine(**options)  # type: ignore[arg-type]
    engine.subscribe_many(texts.items())
    return plain_set(engine)


def test_a_plain_set_is_a_table() -> None:
    found = plain(
        {
            "a": "kind = 'x' AND price < 10 AND price >= 2.5",
            "b": "kind = 'y' AND size = 3",
            "c": "kind = 'x'",
            "never": "price > 3 AND price < 1",
            "nor": "FALSE",
        }
    )
    assert found is not None
    assert found.ids == ("a", "b", "c")
    assert found.equals == {"kind": ("x", "y", "x")}
    assert found.ranges == {
        "price": (Span(2.5, 10, hi_open=True), None, None),
        "size": (None, Span(3, 3), None),
    }
    assert found.meets == (2 * 2 + 1) / 3


def test_integers_are_equal_where_no_text_is() -> None:
    found = plain({"a": "level = 1 AND x > 2", "b": "level = 2 AND host = 7"})
    assert found is not None
    assert found.equals == {"level": (1, 2)}
    assert list(found.ranges) == ["host", "x"]
    with_text = plain({"a": "level = 1 AND kind = 'x'", "b": "level = 2 AND kind = 'y'"})
    assert with_text is not None
    assert (list(with_text.equals), list(with_text.ranges)) == (["kind"], ["level"])


@pytest.mark.parametrize(
    "text",
    [
        "price < 10",
        "kind = 'x' OR price < 10",
        "kind IN ('x', 'y')",
        "kind = 'x' AND NOT price = 3",
        "kind = 'x' AND price IS NULL",
        "kind = 'x' AND price IS NOT NULL",
        "kind = 'x' AND other = 'y'",  # which the other subscription does not say
        "kind LIKE 'x%'",
        "kind = 'x' AND flag",
        "kind = 'x' AND price * 2 < 3",
        "kind = 'x' AND price > 0.1000000000000000000001",
        "kind = 'x' AND at > TIMESTAMP '2026-01-01'",
        "kind = 'x' AND at > now()",
        "kind = 'x' AND array_contains(tags, 'a')",
        "kind = 3",
        "level = 1.5",
        "TRUE",
    ],
)
def test_what_is_not_plain(text: str) -> None:
    assert plain({"plain": "kind = 'z' AND level = 1", "a": text}) is None


def test_options_and_sizes_that_are_left_to_workers() -> None:
    texts = {f"s{n}": f"kind = 'k{n}' AND price < {n}" for n in range(100)}
    assert plain(texts) is not None
    assert plain(texts, absent="passes") is None
    assert plain(texts, matcher="brute-force") is None
    assert plain({}) is None
    assert plain({"never": "FALSE"}) is None
    crowded = {f"s{n}": f"kind = 'k{n % 2}' AND price < {n}" for n in range(100)}
    assert plain(crowded) is None
    one_crowd = texts | {f"t{n}": "kind = 'k1'" for n in range(50)}
    assert plain(one_crowd) is not None
    many = {f"s{n}": f"kind = 'k{n}'" for n in range(20_001)}
    assert plain(many) is None


def test_the_placement_says_so() -> None:
    texts = {"a": "kind = 'x' AND price < 10", "b": "kind = 'y'"}
    lines = str(ps.compile(texts).placement).splitlines()
    assert lines[0].startswith("replicate: ")
    assert lines[1:] == [
        "  match to rows may be Spark's own join, by kind: an event meets 1 of 2 subscriptions"
    ]
    assert ps.compile(texts, strategy="replicate").placement.plain is None
    assert ps.compile(texts, strategy="partition").placement.plain is None


INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0, 2**53 + 1, -(2**53) - 1])
FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [-0.0, 2.0**53, 2.0**63]
)
ENDS = st.none() | INTEGERS | FLOATS
SPANS = st.builds(Span, ENDS, ENDS, st.booleans(), st.booleans())


def holds(span: Span, value: float) -> bool:
    """By Python's comparisons, which are exact between integers and floats."""
    if span.lo is not None and (value < span.lo or (span.lo_open and value == span.lo)):
        return False
    return span.hi is None or value < span.hi or (value == span.hi and not span.hi_open)


@given(SPANS, INTEGERS | FLOATS)
def test_ends_of_integers(span: Span, value: float) -> None:
    near = [math.floor(each) for each in (value, span.lo, span.hi) if each is not None]
    lo, hi = _integer_ends(span)
    assert -(2**63) <= lo < 2**63 > hi >= -(2**63)
    for each in (other for one in near for other in (one - 1, one, one + 1)):
        if -(2**63) <= each < 2**63:
            assert (lo <= each <= hi) == holds(span, each)


@given(SPANS, FLOATS)
def test_ends_of_floats(span: Span, value: float) -> None:
    near = [float(each) for each in (value, span.lo, span.hi) if each is not None]
    lo, hi = _double_ends(span)
    for one in near:
        for each in (math.nextafter(one, -math.inf), one, math.nextafter(one, math.inf)):
            if math.isfinite(each):
                assert (lo <= each <= hi) == holds(span, each)
