"""The workloads of the vector-subscription paper, section 7: radars that follow aircraft.

Ten subscribers hold subscriptions with one-sided comparisons (a predicate family is an attribute
and an operator) on attitude, position, speed and time, all of them doubles but for time. What
arrives in one window is a list of changes to distinct subscriptions, of three sorts in given
shares:

- *keeping*: a threshold moves by so little that it passes no other: the structure can stay;
- *altering*: the radar is aimed elsewhere: the same attributes, everything else drawn anew;
- *shareable*: two subscribers exchange their subscriptions.

The paper does not say how many subscriptions are held, how long a window is, or what the changes
are; these are ours. No subscription changes twice in a window, so that nothing is gained by
collapsing, which the paper does not count on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Final

from bench.measuring.sizes import Size
from predicast.model import Constraint, Event, Operator, Subscription

SUBSCRIBERS: Final = 10
ATTRIBUTES: Final = ("x", "y", "z", "yaw", "pitch", "roll", "time", "speed", "climb")
TOP: Final = 1_000.0
STEP: Final = 1e-7  # how far a keeping change moves a threshold: past no other
WINDOWS_PER_SECOND: Final = 100


@dataclass(frozen=True, slots=True)
class Load:
    """What is held, and the shares of each sort of change; what is left over alters."""

    subscriptions: int
    attributes: int
    families: tuple[int, int]
    keeping: float
    shareable: float


@dataclass(frozen=True, slots=True)
class Stage:
    """One point: windows of changes, each followed by events to match."""

    x: int
    windows: list[dict[int, Subscription]]
    events: list[list[Event]]

    @property
    def changes(self) -> int:
        return sum(map(len, self.windows))


@dataclass(frozen=True, slots=True)
class ChangeExperiment:
    """An experiment in which subscriptions change; see ``Experiment``."""

    name: str
    title: str
    x_label: str
    values: tuple[int, ...]
    load: Load
    window: int  # changes in a window, or 0: as many as arrive in a hundredth of a second
    events_per_window: int
    # Whether a point goes on where the one before ended, and its costs are added to that one's.
    grows: bool
    seed: int
    paper: str = "vector-subscriptions"

    def start(self) -> list[Subscription]:
        """What is held before the first change."""
        return World(self.load, self.seed).subscriptions

    def stages(self) -> Iterator[Stage]:
        """The points from left to right."""
        world = World(self.load, self.seed)
        done = 0
        for value in self.values:
            if not self.grows:
                world, done = World(self.load, self.seed), 0
            total = value * SUBSCRIBERS
            size = self.window or total // WINDOWS_PER_SECOND
            windows = [world.window(size) for _ in range((total - done) // size)]
            done = total
            events = [
                list(islice(world.events, self.events_per_window)) for _ in range(len(windows))
            ]
            yield Stage(value, windows, events)


class World:
    """The subscriptions as they stand, and what happens to them."""

    def __init__(self, load: Load, seed: int) -> None:
        self._load = load
        self._chance = random.Random(f"{seed}/changes")
        self._attributes = ATTRIBUTES[: load.attributes]
        self.subscriptions = [self._drawn() for _ in range(load.subscriptions)]
        self.events = self._events(random.Random(f"{seed}/events"))
        self._held = list(self.subscriptions)
        self._pairs_owed = self._keeping_owed = 1e-9  # shares are not exact in binary

    def window(self, size: int) -> dict[int, Subscription]:
        """What so many distinct subscriptions change to, by key."""
        keys = self._chance.sample(range(len(self._held)), size)
        # What does not make a whole pair or change is carried over to the next window.
        self._pairs_owed += size * self._load.shareable / 2
        self._keeping_owed += size * self._load.keeping
        pairs, keeping = int(self._pairs_owed), int(self._keeping_owed)
        keeping = min(keeping, size - 2 * pairs)
        self._pairs_owed -= pairs
        self._keeping_owed -= keeping
        new: dict[int, Subscription] = {}
        for one, other in zip(keys[: 2 * pairs : 2], keys[1 : 2 * pairs : 2], strict=True):
            new[one], new[other] = self._held[other], self._held[one]
        for key in keys[2 * pairs : 2 * pairs + keeping]:
            new[key] = self._nudged(self._held[key])
        for key in keys[2 * pairs + keeping :]:
            new[key] = self._aimed_elsewhere(self._held[key])
        self._chance.shuffle(keys)
        window = {key: new[key] for key in keys}
        for key, subscription in window.items():
            self._held[key] = subscription
        return window

    def _drawn(self) -> Subscription:
        families = [(name, end) for name in self._attributes for end in ("from", "to")]
        return self._with(self._chance.sample(families, self._chance.randint(*self._load.families)))

    def _aimed_elsewhere(self, old: Subscription) -> Subscription:
        ends = [
            (each.attribute, "from" if each.operator is Operator.GE else "to")
            for each in old.constraints()
        ]
        return self._with(ends)

    def _with(self, families: list[tuple[str, str]]) -> Subscription:
        clause = []
        for name in dict.fromkeys(name for name, _ in families):
            ends = [end for other, end in families if other == name]
            values = sorted(self._value(name) for _ in ends)
            for end, value in zip(sorted(ends), values, strict=True):
                operator = Operator.GE if end == "from" else Operator.LE
                clause.append(Constraint(name, operator, value))
        return Subscription.of([clause])

    def _nudged(self, old: Subscription) -> Subscription:
        """One threshold a little lower."""
        constraints = list(old.constraints())
        position = self._chance.randrange(len(constraints))
        moved = constraints[position]
        assert isinstance(moved.operand, int | float)
        constraints[position] = Constraint(
            moved.attribute, moved.operator, moved.operand - STEP * self._chance.random()
        )
        return Subscription.of([constraints])

    def _value(self, name: str) -> float:
        value = self._chance.uniform(0, TOP)
        return int(value * 1_000) if name == "time" else value

    def _events(self, chance: random.Random) -> Iterator[Event]:
        for moment in count():
            values: dict[str, float] = {name: chance.uniform(0, TOP) for name in self._attributes}
            if "time" in values:
                values["time"] = moment * 997 % 1_000_000
            yield Event(values)


def vector_subscription_experiments(size: Size, seed: int = 0) -> list[ChangeExperiment]:
    """Figure 6 (a) to (d), then experiments 1 and 2 (figures 7 and 8)."""
    full = size is Size.FULL
    held = 2_000 if full else 500
    many = (100, 500, 1_000, 1_500, 2_000) if full else (20, 40, 60, 80, 100)
    rates = tuple(range(100, 1_001, 100)) if full else (100, 300, 500, 750, 1_000)
    return [
        ChangeExperiment(
            name=name,
            title=title,
            x_label="changes per subscriber",
            values=many,
            load=Load(held, 9, (3, 6), keeping, shareable),
            window=100,
            events_per_window=1,
            grows=True,
            seed=seed,
        )
        for name, title, keeping, shareable in (
            ("fig6a", "changes alter the structure", 0.0, 0.0),
            ("fig6b", "changes keep the structure", 1.0, 0.0),
            ("fig6c", "changes keep the structure, 30% can be shared", 0.7, 0.3),
            ("fig6d", "changes alter the structure, 30% can be shared", 0.0, 0.3),
        )
    ] + [
        ChangeExperiment(
            name=name,
            title=f"{load.attributes} attributes, {load.families[0]} to {load.families[1]} "
            f"predicate families, {load.keeping:.0%} keep the structure, "
            f"{load.shareable:.0%} can be shared",
            x_label="changes per second and subscriber",
            values=rates,
            load=load,
            window=0,
            events_per_window=4,
            grows=False,
            seed=seed,
        )
        for name, load in (
            ("fig7", Load(held, 7, (1, 5), 0.2, 0.1)),
            ("fig8", Load(held, 9, (3, 6), 0.3, 0.2)),
        )
    ]
