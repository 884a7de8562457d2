"""The workloads of the CEEM paper, table 1: areas of interest in a virtual environment.

A subscription asks for one value of each equality attribute and for an open range of each range
attribute: two predicate families for each of those, one for each of these. An event is a point.
Everything is uniform. The paper inserts 50,000 subscriptions and samples every 5,000; experiment 2
differs from experiment 1 in its number of attributes only.

Subscriptions and events are streams of their own, so that a smaller workload is the beginning of
a larger one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from bench.measuring.sizes import Size
from bench.papers.workloads.experiment import Experiment, Point
from predicast.model import Constraint, Event, Operator, Subscription

TOP: Final = 65_535  # range values are 0..65535
EQUAL: Final = 6  # equality values are 0..5


@dataclass(frozen=True, slots=True)
class Attributes:
    """How many attributes there are of each sort, and the seed that goes with them."""

    equality: int
    range: int
    seed: int

    @property
    def families(self) -> int:
        """Predicate families, which is also the number of constraints of a subscription."""
        return self.equality + 2 * self.range


EXPERIMENTS: Final = {
    "exp1": Attributes(equality=2, range=3, seed=11),
    "exp2": Attributes(equality=3, range=4, seed=22),
}


@dataclass(frozen=True, slots=True)
class Sampling:
    """How many subscriptions are inserted between samples, how many samples, how many events."""

    step: int
    samples: int
    events: int


SAMPLING: Final = {
    Size.SMALL: Sampling(step=500, samples=10, events=30),
    Size.FULL: Sampling(step=5_000, samples=10, events=200),
}


def ceem_experiments(size: Size, seed: int = 0) -> list[Experiment]:
    """Experiments 1 and 2."""
    sampling = SAMPLING[size]
    values = tuple(sampling.step * (number + 1) for number in range(sampling.samples))
    return [
        Experiment(
            paper="ceem",
            name=name,
            title=f"{attributes.equality + attributes.range} attributes, "
            f"{attributes.families} predicate families",
            x_label="subscriptions",
            values=values,
            point=_Points(attributes, sampling, seed).point,
            grows=True,
        )
        for name, attributes in EXPERIMENTS.items()
    ]


class _Points:
    """The points of one experiment; every repeat asks for them again, so they are kept."""

    def __init__(self, attributes: Attributes, sampling: Sampling, seed: int) -> None:
        self._step = sampling.step
        self._stream = subscriptions(attributes, seed)
        self._made: list[Subscription] = []
        self._events = list(islice(events(attributes, seed), sampling.events))

    def point(self, value: int) -> Point:
        self._made += islice(self._stream, max(0, value - len(self._made)))
        return Point(value, self._made[value - self._step : value], self._events)


def subscriptions(attributes: Attributes, seed: int = 0) -> Iterator[Subscription]:
    """An endless stream of subscriptions."""
    chance = random.Random(attributes.seed + seed)
    draw = chance.randrange
    while True:
        clause = [
            Constraint(f"e{number}", Operator.EQ, draw(EQUAL))
            for number in range(attributes.equality)
        ]
        for number in range(attributes.range):
            one, other = draw(TOP + 1), draw(TOP + 1)
            while one == other:
                other = draw(TOP + 1)
            clause += [
                Constraint(f"r{number}", Operator.GT, min(one, other)),
                Constraint(f"r{number}", Operator.LT, max(one, other)),
            ]
        yield Subscription.of([clause])


def events(attributes: Attributes, seed: int = 0) -> Iterator[Event]:
    """An endless stream of events that give every attribute a value."""
    chance = random.Random(attributes.seed + seed + 1)
    while True:
        values = {f"e{number}": chance.randrange(EQUAL) for number in range(attributes.equality)}
        values |= {f"r{number}": chance.randrange(TOP + 1) for number in range(attributes.range)}
        yield Event(values)
