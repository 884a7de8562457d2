"""Intervals: what they range over, and which ones there cannot be."""

from datetime import UTC, datetime, timedelta

import pytest

from predicast import Interval
from predicast.errors import InvalidIntervalError, InvalidValueError

NOW = datetime(2026, 1, 31, tzinfo=UTC)
SOON = NOW + timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(3, 7), "[3, 7]"),
        (Interval(3, 7, lo_open=True), "(3, 7]"),
        (Interval(None, 5.5, hi_open=True), "(-∞, 5.5)"),
        (Interval(), "(-∞, ∞)"),
    ],
)
def test_text(interval: Interval, text: str) -> None:
    assert str(interval) == text


def test_two_integer_ends_range_over_integers() -> None:
    assert Interval(3, 4).is_discrete()
    assert Interval(NOW, SOON).is_discrete()
    assert not Interval(3, 4.0).is_discrete()
    assert not Interval(3, None).is_discrete()


@pytest.mark.parametrize(
    "ends",
    [
        (7, 3),
        (3, 3, True, False),
        (3, 4, True, True),
        (0.5, 0.5, False, True),
        (NOW, SOON, True, True),
        (1, NOW),
        ("a", "b"),
        (True, False),
    ],
)
def test_empty_or_incomparable_intervals_are_refused(ends: tuple[object, ...]) -> None:
    with pytest.raises(InvalidIntervalError):
        Interval(*ends)  # type: ignore[arg-type]


def test_ends_are_checked_values() -> None:
    with pytest.raises(InvalidValueError, match=r"Interval\.hi"):
        Interval(0, float("nan"))


def test_an_open_interval_between_reals_is_not_empty() -> None:
    assert Interval(3.0, 4.0, True, True).lo == 3.0
