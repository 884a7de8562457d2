"""How a series of measurements runs: its slope, its growth, whether it rises or falls."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bench.papers.results import Series


def slope(series: Series) -> float:
    """What one unit of x adds to y, by least squares."""
    return _fitted([x for x, _ in series], [y for _, y in series])


def growth(series: Series) -> float:
    """The k for which y grows as x to the power of k, by least squares over the logarithms."""
    positive = [(x, y) for x, y in series if x > 0 and y > 0]
    return _fitted([math.log(x) for x, _ in positive], [math.log(y) for _, y in positive])


def rank_correlation(series: Series) -> float:
    """Spearman's: 1 when y always rises with x, -1 when it always falls, 0 without a trend."""
    return _correlation(_ranks([x for x, _ in series]), _ranks([y for _, y in series]))


def _fitted(xs: Sequence[float], ys: Sequence[float]) -> float:
    mean_x, mean_y = _mean(xs), _mean(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    if not spread:
        return math.nan
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread


def _correlation(xs: Sequence[float], ys: Sequence[float]) -> float:
    mean_x, mean_y = _mean(xs), _mean(ys)
    together = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    spread = math.sqrt(sum((x - mean_x) ** 2 for x in xs) * sum((y - mean_y) ** 2 for y in ys))
    return together / spread if spread else math.nan


def _ranks(values: Sequence[float]) -> list[float]:
    """The place of each value among them; equal values share the mean of their places."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
