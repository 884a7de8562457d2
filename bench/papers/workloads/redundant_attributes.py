"""The workloads of the redundant-attribute paper, section 4: random names, types and values.

Types (40% integer, 30% float, 20% string, 10% boolean), names, operators and values are drawn
independently, as the paper says. Two points follow from our model and not from the paper:
an event gives a name one value, so its names are drawn without repeats; and booleans are not
ordered, so that their constraints are all equalities.

One experiment varies one parameter and leaves the others where ``Parameters`` has them. Names,
subscriptions and events are streams of their own, so that a smaller workload is the beginning
of a larger one.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Final

from bench.measuring.sizes import Size
from bench.papers.workloads.experiment import Experiment, Point
from predicast.model import Constraint, Event, Operator, Subscription, Value

TYPES: Final = ("integer", "float", "string", "boolean")
SHARES: Final = (40, 30, 20, 10)
OPERATORS: Final = (Operator.GT, Operator.LT, Operator.GE, Operator.LE, Operator.EQ)
LIMIT: Final = 100  # numbers lie between -100 and 100
WORDS: Final = 100
WORD_LENGTH: Final = 8
NAME_LENGTH: Final = 6


@dataclass(frozen=True, slots=True)
class Parameters:
    """The paper's E, [a_l, a_h], A_n, S and [c_l, c_h], each with its usual value."""

    events: int = 1_000
    attributes: tuple[int, int] = (20, 30)
    names: int = 500
    subscriptions: int = 1_000
    constraints: tuple[int, int] = (10, 15)


USUAL: Final = {
    Size.SMALL: Parameters(events=200, subscriptions=200),
    Size.FULL: Parameters(),
}


@dataclass(frozen=True, slots=True)
class Varied:
    """The parameter that an experiment varies: a field of ``Parameters``, and its range."""

    field: str
    label: str
    first: int
    last: int
    # Whether the small workload divides the range by as much as it divides E and S.
    shrinks: bool = False

    def values(self, size: Size) -> tuple[int, ...]:
        count, divisor = (10, 1) if size is Size.FULL else (5, 5 if self.shrinks else 1)
        step = (self.last - self.first) / (count - 1)
        return tuple(round((self.first + step * number) / divisor) for number in range(count))

    def applied(self, usual: Parameters, value: int) -> Parameters:
        changed: Any = (value, value) if self.field in {"attributes", "constraints"} else value
        return replace(usual, **{self.field: changed})


EXPERIMENTS: Final = {
    "exp1": Varied("attributes", "attributes per event", 20, 200),
    "exp2": Varied("events", "events", 500, 5_000, shrinks=True),
    "exp3": Varied("names", "attribute names", 50, 500),
    "exp4": Varied("constraints", "constraints per subscription", 5, 50),
    "exp5": Varied("subscriptions", "subscriptions", 500, 5_000, shrinks=True),
}


def redundant_attribute_experiments(size: Size, seed: int = 0) -> list[Experiment]:
    """Experiments 1 to 5."""
    return [
        Experiment(
            paper="redundant-attributes",
            name=name,
            title=varied.label,
            x_label=varied.label,
            values=varied.values(size),
            point=partial(_point, varied, USUAL[size], seed),
            grows=False,
        )
        for name, varied in EXPERIMENTS.items()
    ]


def _point(varied: Varied, usual: Parameters, seed: int, value: int) -> Point:
    parameters = varied.applied(usual, value)
    return Point(
        value,
        list(islice(subscriptions(parameters, seed), parameters.subscriptions)),
        list(islice(events(parameters, seed), parameters.events)),
    )


def subscriptions(parameters: Parameters, seed: int = 0) -> Iterator[Subscription]:
    """An endless stream of subscriptions."""
    vocabulary = Vocabulary(parameters.names, seed)
    chance = random.Random(f"{seed}/subscriptions")
    while True:
        clause: dict[Constraint, None] = {}
        wanted = chance.randint(*parameters.constraints)
        while len(clause) < wanted:  # a constraint drawn twice would be one constraint fewer
            clause[vocabulary.constraint(chance)] = None
        yield Subscription.of([clause])


def events(parameters: Parameters, seed: int = 0) -> Iterator[Event]:
    """An endless stream of events."""
    vocabulary = Vocabulary(parameters.names, seed)
    chance = random.Random(f"{seed}/events")
    while True:
        names = chance.sample(vocabulary.names, chance.randint(*parameters.attributes))
        yield Event({name: vocabulary.value(chance) for name in names})


class Vocabulary:
    """The tables of names and words, and what is drawn from them."""

    def __init__(self, names: int, seed: int) -> None:
        chance = random.Random(f"{seed}/names")
        self.names = _distinct_words(names, NAME_LENGTH, chance)
        self.words = _distinct_words(WORDS, WORD_LENGTH, random.Random(f"{seed}/words"))

    def value(self, chance: random.Random) -> Value:
        match chance.choices(TYPES, SHARES)[0]:
            case "integer":
                return chance.randint(-LIMIT, LIMIT)
            case "float":
                return chance.uniform(-LIMIT, LIMIT)
            case "string":
                return chance.choice(self.words)
            case _:
                return chance.random() < 0.5

    def constraint(self, chance: random.Random) -> Constraint:
        name, operator, value = (
            chance.choice(self.names),
            chance.choice(OPERATORS),
            self.value(chance),
        )
        return Constraint(name, Operator.EQ if isinstance(value, bool) else operator, value)


def _distinct_words(count: int, length: int, chance: random.Random) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(chance.choices(string.ascii_lowercase, k=length))] = None
    return list(words)
