"""Region workload: subscriptions are boxes, events are points and small boxes.

A subscription's sides are drawn around a mean w, half of the events are points and half are boxes
of sides w/4. A box of sides w meets a point with probability (w/R)^d and a box of sides w/4 with
probability (1.25 w/R)^d, where R is the width of the world and d the number of dimensions; w is
chosen so that n subscriptions give the wanted number of hits:

    n / 2 * (w/R)^d * (1 + 1.25^d)  =  hits

All ends are closed: boxes that touch meet.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from bench.matchers.workload import Comparison, Shape, Workload

WORLD: Final = 1_000_000.0
AXES: Final = ("x", "y", "z")
# An event's sides as a share of a subscription's.
EVENT_SIDE: Final = 0.25


def regions_workload(
    dimensions: int, hits: int, subscriptions: int, events: int, seed: int = 0
) -> Workload:
    """Boxes in 2 or 3 dimensions with about so many hits per event."""
    chance = np.random.default_rng([seed, 7, dimensions, hits])
    side = mean_side(dimensions, hits, subscriptions)
    axes = AXES[:dimensions]
    columns: dict[str, np.ndarray] = {}
    clause: list[Comparison] = []
    for axis in axes:
        low, high = f"{axis}_low", f"{axis}_high"
        columns[low] = chance.uniform(0, WORLD, subscriptions)
        columns[high] = columns[low] + side * chance.uniform(0.5, 1.5, subscriptions)
        clause.append(Comparison(axis, ">=", (low,), f"{axis}_max"))
        clause.append(Comparison(axis, "<=", (high,), f"{axis}_min"))
    return Workload(
        family=f"regions-{dimensions}d-{hits}",
        subscriptions=subscriptions,
        shapes=(Shape(np.arange(subscriptions), (tuple(clause),), columns),),
        events=_events(axes, events, side * EVENT_SIDE, np.random.default_rng([seed, 8])),
        intervals={axis: (f"{axis}_min", f"{axis}_max") for axis in axes},
    )


def mean_side(dimensions: int, hits: int, subscriptions: int) -> float:
    """The w of the module's formula."""
    grown = 1 + (1 + EVENT_SIDE) ** dimensions
    share = (2 * hits / (subscriptions * grown)) ** (1 / dimensions)
    return float(share) * WORLD


def _events(
    axes: tuple[str, ...], events: int, side: float, chance: np.random.Generator
) -> pa.RecordBatch:
    """Every other event is a point."""
    is_box = np.arange(events) % 2 == 1
    columns = {}
    for axis in axes:
        low = chance.uniform(0, WORLD, events)
        columns[f"{axis}_min"] = low
        columns[f"{axis}_max"] = np.where(is_box, low + side, low)
    return pa.RecordBatch.from_pydict(columns)
