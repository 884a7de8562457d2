"""Matching by definition: point events, region events, absence; the digest's counter-examples."""

from typing import Any

import pytest

from predicast import Event, Interval
from predicast.errors import LanguageError, NestingTooDeepError
from predicast.language import attr, parse_where, to_subscription
from predicast.model import Absent


@pytest.mark.parametrize(
    ("expression", "attributes", "matches"),
    [
        # paper 1: x = 5 against x < 3; contradictory bounds; integers are not reals
        ("x = 5", {"x": Interval(None, 3, hi_open=True)}, False),
        ("x > 3 AND x < 2", {"x": Interval(0, 9)}, False),
        ("x > 3", {"x": Interval(0, 4, hi_open=True)}, False),
        ("x > 3", {"x": Interval(0.0, 4.0, hi_open=True)}, True),
        ("x > 3 AND x > 5", {"x": Interval(0, 5)}, False),
        # the common point must bind every attribute of both sides
        ("x < 1", {"x": Interval(9, None, lo_open=True)}, False),
        ("x < 1 AND y = 1", {"x": Interval(0, 9)}, False),
        # one point for all constraints on an attribute
        ("x != 5", {"x": Interval(5, 5)}, False),
        ("x != 5", {"x": Interval(5, 6)}, True),
        ("x NOT BETWEEN 2 AND 8", {"x": Interval(3, 7)}, False),
        ("x IN (1, 9)", {"x": Interval(2, 8)}, False),
        ("x IN (1, 5)", {"x": Interval(2, 8)}, True),
        ("x = 2.5", {"x": Interval(2, 3)}, False),
        ("x = 2.5", {"x": Interval(2, 3.0)}, True),
        ("x = 'a'", {"x": Interval(2, 3)}, False),
        ("x IS NOT NULL", {"x": Interval(2, 3)}, True),
        ("x IS NULL", {"x": Interval(2, 3)}, False),
        ("x > 2 OR x < 1", {"x": Interval(1, 2)}, False),
        ("t > TIMESTAMP '2026-01-01'", {"t": Interval(1, None)}, False),
        ("t > TIMESTAMP '2026-01-01'", {"t": Interval()}, True),
        # three-valued NOT
        ("NOT x = 1", {}, False),
        ("NOT (x = 1 AND y = 1)", {"y": 2}, True),
        ("NOT (x = 1 OR y = 1)", {"y": 2}, False),
        ("NOT x = 'a'", {"x": 5}, False),
        ("NOT x IS NULL", {"x": 5}, True),
        ("NOT NOT x", {"x": True}, True),
        ("NOT x", {"x": False}, True),
        ("NOT x", {"x": 0}, False),
    ],
)
def test_matches(expression: str, attributes: dict[str, Any], matches: bool) -> None:
    assert parse_where(expression).matches(Event(attributes)) is matches


@pytest.mark.parametrize(
    ("expression", "absent", "matches"),
    [
        ("x = 1", "fails", False),
        ("x = 1", "passes", True),
        ("NOT x = 1", "passes", True),
        ("x > 3 AND x < 2", "passes", True),
        ("x IS NULL", "fails", True),
        ("x IS NULL", "passes", True),
        ("x IS NOT NULL", "fails", False),
        ("x IS NOT NULL", "passes", False),
    ],
)
def test_absent_attributes(expression: str, absent: Absent, matches: bool) -> None:
    assert parse_where(expression).matches(Event({}), absent) is matches


def test_an_expression_in_an_expression_is_refused_past_a_depth() -> None:
    node = attr("a0") == 0
    for number in range(1, 5_000):
        node = (node | (attr(f"a{number}") == 1)) & (attr("b") == number)
    with pytest.raises(NestingTooDeepError) as caught:
        to_subscription(node)
    assert (caught.value.limit, caught.value.actual) == (200, 201)


def test_python_cannot_drop_half_of_a_condition() -> None:
    with pytest.raises(LanguageError, match="instead of and"):
        bool((attr("a") == 1) and (attr("b") == 2))
    with pytest.raises(LanguageError, match="between"):
        bool(0 < attr("a") < 10)
    with pytest.raises(LanguageError, match="combine"):
        (attr("a") == 1) & "b = 2"  # type: ignore[operator]
