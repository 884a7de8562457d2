"""Rates from counts, quantiles from spans of time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.broker.latencies import Latencies, quantile
from predicast.console.rates import Rates, shown_rate, shown_seconds


def test_a_look_tells_what_happened_since_the_last() -> None:
    rates, latencies = Rates(), Latencies()
    latencies.add(0.5)
    assert rates.look(10.0, {"events_published": 100}, latencies.counts) is None
    latencies.add(0.010, 98)
    latencies.add(0.2, 2)
    look = rates.look(12.0, {"events_published": 200, "new": 1}, latencies.counts)
    assert look is not None
    assert look.rates["published"] == 50
    assert look.rates["dropped"] == 0
    assert look.typical == pytest.approx(0.010, rel=0.25)
    assert look.slowest == pytest.approx(0.2, rel=0.25)


def test_looks_of_several_pages_are_one() -> None:
    rates, latencies = Rates(), Latencies()
    rates.look(0.0, {}, latencies.counts)
    assert rates.look(0.1, {"events_published": 9}, latencies.counts) is None
    look = rates.look(1.0, {"events_published": 10}, latencies.counts)
    assert look is not None
    assert look.rates["published"] == 10
    assert (look.typical, look.slowest) == (None, None)


def test_a_count_that_went_back_is_no_rate() -> None:
    rates, latencies = Rates(), Latencies()
    rates.look(0.0, {"events_published": 100}, latencies.counts)
    look = rates.look(1.0, {"events_published": 3}, latencies.counts)
    assert look is not None
    assert look.rates["published"] == 0


@given(st.lists(st.floats(1e-5, 450), min_size=1), st.floats(0.01, 1))
def test_a_quantile_is_off_by_a_quarter_at_most(seconds: list[float], part: float) -> None:
    latencies = Latencies()
    for each in seconds:
        latencies.add(each)
    found = quantile(latencies.counts, part)
    assert found is not None
    # Of all, this part took at most that long, and not all of them much less.
    assert sum(each <= found * 1.000001 for each in seconds) >= part * len(seconds)
    assert min(seconds) / 1.000001 <= found <= max(seconds) * 1.2500001


def test_figures_for_people() -> None:
    assert [shown_rate(each) for each in (0, 0.25, 5, 1234.5)] == ["0", "0.2", "5", "1,234"]
    shown = [shown_seconds(each) for each in (None, 0.00025, 0.0125, 2.5)]
    assert shown == ["–", "250 µs", "12.5 ms", "2.5 s"]
