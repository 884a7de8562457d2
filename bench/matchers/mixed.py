"""A mixed workload: what subscribers of a market place write, in five shapes.

======================  ========================================================================
shape                   text
======================  ========================================================================
either of two (OR)      ``brand = b AND price < p  OR  region = r AND stock >= s AND rating >= g``
a few kinds (IN)        ``kind IN (k, l, m) AND price BETWEEN p AND q``
one-sided               ``rating > g AND stock > s AND brand = b``
a flag                  ``active = f AND kind = k AND price >= p AND price < q``
two regions (IN, OR)    ``region IN (r, t) AND kind = k  OR  brand = b AND rating <= g``
======================  ========================================================================

About one subscription in four hundred matches an event. Names are drawn by Zipf's law: some
brands are everybody's, most are nobody's.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from bench.matchers.workload import Comparison, Shape, Workload

BRANDS: Final = tuple(f"brand-{number:03}" for number in range(500))
REGIONS: Final = tuple(f"region-{number:02}" for number in range(60))
KINDS: Final = 200  # 0..199
PRICES: Final = 1_000.0
STOCK: Final = 10_000
SHAPES: Final = 5


def mixed_workload(subscriptions: int, events: int, seed: int = 0) -> Workload:
    """Subscriptions by shape in turn."""
    chance = np.random.default_rng([seed, 5])
    rows = np.arange(subscriptions)
    makers = (_either, _few_kinds, _one_sided, _flagged, _two_regions)
    shapes = (make(rows[number::SHAPES], chance) for number, make in enumerate(makers))
    return Workload(
        family="mixed",
        subscriptions=subscriptions,
        shapes=tuple(shape for shape in shapes if len(shape.rows)),
        events=mixed_events(events, np.random.default_rng([seed, 6])),
    )


def mixed_events(events: int, chance: np.random.Generator) -> pa.RecordBatch:
    """Offers: a brand, a region, a kind, a price, a stock, a rating, a flag."""
    return pa.RecordBatch.from_pydict(
        {
            "brand": _named(BRANDS, events, chance),
            "region": _named(REGIONS, events, chance),
            "kind": chance.integers(KINDS, size=events),
            "price": _cents(chance.random(events) * PRICES),
            "stock": chance.integers(STOCK, size=events),
            "rating": np.round(chance.random(events) * 5, 1),
            "active": chance.random(events) < 0.8,
        }
    )


def _either(rows: np.ndarray, chance: np.random.Generator) -> Shape:
    columns = {
        "brand": _named(BRANDS, len(rows), chance),
        "price": _cents(chance.random(len(rows)) * PRICES / 5),
        "region": _named(REGIONS, len(rows), chance),
        "stock": STOCK - chance.integers(STOCK // 20, size=len(rows)),
        "rating": np.round(4 + chance.random(len(rows)), 1),
    }
    cheap = (Comparison("brand", "=", ("brand",)), Comparison("price", "<", ("price",)))
    near = (
        Comparison("region", "=", ("region",)),
        Comparison("stock", ">=", ("stock",)),
        Comparison("rating", ">=", ("rating",)),
    )
    return Shape(rows, (cheap, near), columns)


def _few_kinds(rows: np.ndarray, chance: np.random.Generator) -> Shape:
    columns = {f"kind{number}": _kinds(len(rows), chance) for number in range(3)}
    # A set has no member twice: a second or third that is drawn again becomes a neighbour.
    for name, others in (("kind1", ("kind0",)), ("kind2", ("kind0", "kind1", "kind0"))):
        for other in others:
            columns[name] = (columns[name] + (columns[name] == columns[other])) % KINDS
    price = _cents(chance.random(len(rows)) * PRICES)
    columns |= {"low": price, "high": _cents(price + PRICES / 20)}
    clause = (
        Comparison("kind", "in", ("kind0", "kind1", "kind2")),
        Comparison("price", ">=", ("low",)),
        Comparison("price", "<=", ("high",)),
    )
    return Shape(rows, (clause,), columns)


def _one_sided(rows: np.ndarray, chance: np.random.Generator) -> Shape:
    columns = {
        "rating": np.round(3 + 2 * chance.random(len(rows)), 1),
        "stock": STOCK // 2 + chance.integers(STOCK // 2, size=len(rows)),
        "brand": _named(BRANDS, len(rows), chance),
    }
    clause = (
        Comparison("rating", ">", ("rating",)),
        Comparison("stock", ">", ("stock",)),
        Comparison("brand", "=", ("brand",)),
    )
    return Shape(rows, (clause,), columns)


def _flagged(rows: np.ndarray, chance: np.random.Generator) -> Shape:
    price = _cents(chance.random(len(rows)) * PRICES)
    columns = {
        "active": chance.random(len(rows)) < 0.9,
        "kind": _kinds(len(rows), chance),
        "low": price,
        "high": _cents(price + PRICES / 10),
    }
    clause = (
        Comparison("active", "=", ("active",)),
        Comparison("kind", "=", ("kind",)),
        Comparison("price", ">=", ("low",)),
        Comparison("price", "<", ("high",)),
    )
    return Shape(rows, (clause,), columns)


def _two_regions(rows: np.ndarray, chance: np.random.Generator) -> Shape:
    first = chance.integers(len(REGIONS), size=len(rows))
    second = (first + 1 + chance.integers(len(REGIONS) - 1, size=len(rows))) % len(REGIONS)
    columns = {
        "region0": np.array(REGIONS)[first],
        "region1": np.array(REGIONS)[second],
        "kind": _kinds(len(rows), chance),
        "brand": _named(BRANDS, len(rows), chance),
        "rating": np.round(chance.random(len(rows)), 1),
    }
    nearby = (
        Comparison("region", "in", ("region0", "region1")),
        Comparison("kind", "=", ("kind",)),
    )
    poor = (Comparison("brand", "=", ("brand",)), Comparison("rating", "<=", ("rating",)))
    return Shape(rows, (nearby, poor), columns)


def _named(words: tuple[str, ...], count: int, chance: np.random.Generator) -> np.ndarray:
    shares = 1 / np.arange(1, len(words) + 1)
    drawn = np.searchsorted(np.cumsum(shares) / shares.sum(), chance.random(count))
    return np.array(words)[np.minimum(drawn, len(words) - 1)]


def _kinds(count: int, chance: np.random.Generator) -> np.ndarray:
    return chance.integers(KINDS, size=count)


def _cents(amounts: np.ndarray) -> np.ndarray:
    return np.round(amounts, 2)
