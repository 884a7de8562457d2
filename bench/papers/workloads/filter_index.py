"""The workloads of the Filter Index paper, section 4: areas of interest in a virtual environment.

The paper inserts 45,000 subscriptions and samples every 5,000; it says nothing of the regions but
that space is divided into locales, of which a region is a set. Two workloads stand for that:

- *areas*: a subscription is a box in two dimensions, a sixty-fourth to a sixteenth of the world
  wide, an event a box of a quarter of that, the region in which something can be noticed;
- *locales*: the world is divided into 64 × 64 cells, a subscription is the set of those that an
  area of one to five cells each way takes up, an event happens in one cell.

Everything is uniform. Subscriptions and events are streams of their own, so that a smaller workload
is the beginning of a larger one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Final

from bench.measuring.sizes import Size
from bench.papers.workloads.experiment import Experiment, Point
from predicast.model import Constraint, Event, Interval, Operator, Subscription

WORLD: Final = 65_536
AREA: Final = (1_024, 4_096)  # the least and the greatest width of an area of interest
NOTICED: Final = (256, 1_024)  # and of the region of an event
CELLS: Final = 64  # each way
WIDEST: Final = 5  # cells each way that an area takes up


@dataclass(frozen=True, slots=True)
class Sampling:
    """How many subscriptions are inserted between samples, and how many events are matched."""

    step: int
    events: int


SAMPLES: Final = 9
SAMPLING: Final = {
    Size.SMALL: Sampling(step=500, events=30),
    Size.FULL: Sampling(step=5_000, events=20),
}


def filter_index_experiments(size: Size, seed: int = 0) -> list[Experiment]:
    """Areas as boxes, and as sets of locales."""
    sampling = SAMPLING[size]
    titles = {"exp1": "areas of interest in two dimensions", "exp2": "sets of 64 × 64 locales"}
    streams = {"exp1": (areas, noticed), "exp2": (locales, places)}
    return [
        Experiment(
            paper="filter-index",
            name=name,
            title=title,
            x_label="subscriptions",
            values=tuple(sampling.step * number for number in range(1, SAMPLES + 1)),
            point=_Points(*streams[name], sampling, seed).point,
            grows=True,
        )
        for name, title in titles.items()
    ]


class _Points:
    """The points of one experiment; every repeat asks for them again, so they are kept."""

    def __init__(
        self,
        subscriptions: Callable[[random.Random], Iterator[Subscription]],
        events: Callable[[random.Random], Iterator[Event]],
        sampling: Sampling,
        seed: int,
    ) -> None:
        self._step = sampling.step
        self._stream = subscriptions(random.Random(2 * seed))
        self._made: list[Subscription] = []
        self._events = list(islice(events(random.Random(2 * seed + 1)), sampling.events))

    def point(self, value: int) -> Point:
        self._made += islice(self._stream, max(0, value - len(self._made)))
        return Point(value, self._made[value - self._step : value], self._events)


def areas(chance: random.Random) -> Iterator[Subscription]:
    """An endless stream of boxes."""
    while True:
        sides = ((name, _side(chance, *AREA)) for name in "xy")
        yield Subscription.of([[Constraint(name, Operator.BETWEEN, side) for name, side in sides]])


def noticed(chance: random.Random) -> Iterator[Event]:
    """An endless stream of events that are smaller boxes."""
    while True:
        yield Event({name: Interval(*_side(chance, *NOTICED)) for name in "xy"})


def locales(chance: random.Random) -> Iterator[Subscription]:
    """An endless stream of sets of cells, each those of a box."""
    while True:
        columns, rows = (_run_of_cells(chance) for _ in range(2))
        cells = tuple(row * CELLS + column for row, column in product(rows, columns))
        operator = Operator.IN if len(cells) > 1 else Operator.EQ
        operand = cells if len(cells) > 1 else cells[0]
        yield Subscription.of([[Constraint("cell", operator, operand)]])


def places(chance: random.Random) -> Iterator[Event]:
    """An endless stream of events in one cell each."""
    while True:
        yield Event({"cell": chance.randrange(CELLS * CELLS)})


def _side(chance: random.Random, least: int, greatest: int) -> tuple[int, int]:
    width = chance.randint(least, greatest)
    lo = chance.randrange(WORLD - width)
    return lo, lo + width


def _run_of_cells(chance: random.Random) -> range:
    width = chance.randint(1, WIDEST)
    first = chance.randrange(CELLS - width + 1)
    return range(first, first + width)
