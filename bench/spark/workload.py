"""Events and subscriptions: a category and a range of prices, as alerts on offers have them.

Categories are uniform or follow Zipf's law, among events and subscriptions alike: a few of them
then make most of the pairs that an equi-join on the category has to look at. The ranges are as wide
as gives about ten matches per event at 100,000 subscriptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

Distribution = Literal["uniform", "zipf"]

CATEGORIES: Final = 1_000
_PRICES: Final = 1_000.0
_WIDTH: Final = {"uniform": 100.0, "zipf": 3.5}  # of a range of prices


@dataclass(frozen=True)
class Workload:
    """One size of one distribution."""

    distribution: Distribution
    events: pa.Table  # id, category, price, quantity
    subscriptions: pa.Table  # id, category, low, high

    def texts(self) -> Iterator[tuple[str, str]]:
        """The subscriptions as (id, expression) pairs."""
        for id, category, low, high in zip(
            *(column.to_pylist() for column in self.subscriptions.columns), strict=True
        ):
            yield id, f"category = '{category}' AND price BETWEEN {low} AND {high}"

    def pairs_of_a_category(self) -> float:
        """How many subscriptions of its own category an event has, on average."""
        share = _shares(self.distribution)
        return float(len(self.subscriptions) * (share**2).sum())


def make_workload(
    distribution: Distribution,
    *,
    events: int,
    subscriptions: int,
    seed: int,
    alike_at: int | None = None,
) -> Workload:
    """The same for the same seed.

    With ``alike_at``, ranges are so wide that an event has as many matches as with that number of
    subscriptions.
    """
    width = _WIDTH[distribution] * (alike_at or subscriptions) / subscriptions
    chance = np.random.default_rng(seed)
    low = chance.uniform(0, _PRICES, subscriptions).round(2)
    return Workload(
        distribution,
        pa.table(
            {
                "id": np.arange(events),
                "category": _categories(chance, distribution, events),
                "price": chance.uniform(0, _PRICES, events).round(2),
                "quantity": chance.integers(1, 100, events),
            }
        ),
        pa.table(
            {
                "subscription": [f"s{number:07}" for number in range(subscriptions)],
                "wanted": _categories(chance, distribution, subscriptions),
                "low": low,
                "high": (low + width).round(2),
            }
        ),
    )


def _shares(distribution: Distribution) -> Any:
    weights = 1 / np.arange(1, CATEGORIES + 1) if distribution == "zipf" else np.ones(CATEGORIES)
    return weights / weights.sum()


def _categories(chance: np.random.Generator, distribution: Distribution, count: int) -> pa.Array:
    names = pa.array([f"category {number:04}" for number in range(CATEGORIES)])
    return names.take(pa.array(chance.choice(CATEGORIES, count, p=_shares(distribution))))
