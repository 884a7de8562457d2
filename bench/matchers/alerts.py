"""Alerts: ``category = c AND price BETWEEN p AND q AND quantity BETWEEN m AND n``.

What most users have: many categories, with many alerts on a few of them and a few on each of the
others. Categories are drawn evenly or by Zipf's law, of alerts and events alike. Each column is
drawn from a stream of its own, so that a smaller workload is the beginning of a larger one.
"""

from __future__ import annotations

import enum
from typing import Final

import numpy as np
import pyarrow as pa

from bench.matchers.workload import Comparison, Shape, Workload

ZIPF: Final = 1.1
PRICES: Final = 100_000  # cents
QUANTITIES: Final = 1_000
WIDEST: Final = 0.1  # part of all prices or quantities that one alert spans


class Skew(enum.StrEnum):
    """How categories are drawn."""

    UNIFORM = "uniform"
    ZIPF = "zipf"


def alerts_workload(
    skew: Skew, categories: int, subscriptions: int, events: int, seed: int = 0
) -> Workload:
    """So many alerts on so many categories."""
    streams = iter(np.random.default_rng([seed, categories]).spawn(8))
    price_low, price_high = _spans(next(streams), next(streams), subscriptions, PRICES)
    low, high = _spans(next(streams), next(streams), subscriptions, QUANTITIES)
    columns = {
        "category": _categories(skew, categories, subscriptions, next(streams)),
        "price_low": price_low / 100,
        "price_high": price_high / 100,
        "low": low.astype(np.int32),
        "high": high.astype(np.int32),
    }
    clause = (
        Comparison("category", "=", ("category",)),
        Comparison("price", ">=", ("price_low",)),
        Comparison("price", "<=", ("price_high",)),
        Comparison("quantity", ">=", ("low",)),
        Comparison("quantity", "<=", ("high",)),
    )
    asked = {
        "category": _categories(skew, categories, events, next(streams)),
        "price": next(streams).integers(PRICES, size=events) / 100,
        "quantity": next(streams).integers(QUANTITIES, size=events),
    }
    return Workload(
        family=f"alerts-{skew}-{categories}",
        subscriptions=subscriptions,
        shapes=(Shape(np.arange(subscriptions), (clause,), columns),),
        events=pa.RecordBatch.from_pydict(asked),
    )


def _categories(skew: Skew, count: int, size: int, chance: np.random.Generator) -> np.ndarray:
    weights = np.arange(1, count + 1) ** (-ZIPF if skew == Skew.ZIPF else 0.0)
    shares = np.cumsum(weights) / weights.sum()
    return np.searchsorted(shares, chance.random(size)).astype(np.int32)


def _spans(
    starts: np.random.Generator, lengths: np.random.Generator, size: int, top: int
) -> tuple[np.ndarray, np.ndarray]:
    low = starts.integers(top, size=size)
    return low, low + lengths.integers(int(top * WIDEST), size=size)
