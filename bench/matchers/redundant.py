"""The redundant-attribute paper's workload at any size: wide, sparse, random.

The names, words, types, operators and events are those of the paper's experiments
(``bench.papers.workloads.redundant_attributes``); the subscriptions are drawn as columns, one row
per constraint:

    subscription   name   operator   kind   number   word
               0    417          2      1    -3.07      -
               0     20          4      2        -     71
               1    ...

Ten and more constraints on names of which an event has one in twenty are hardly ever all met, so
random events match nothing at any size. One event in twenty is therefore *planted*: it is made to
meet one subscription, so that equal numbers of matches say something.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.matchers.workload import constraint_table, encoded, ids
from bench.papers.workloads.redundant_attributes import (
    LIMIT,
    OPERATORS,
    SHARES,
    TYPES,
    WORDS,
    Parameters,
    Vocabulary,
)
from bench.papers.workloads.redundant_attributes import events as random_events
from predicast.model import Event, Operator, Value

INTEGER, FLOAT, STRING, BOOLEAN = range(len(TYPES))
EQUAL: Final = OPERATORS.index(Operator.EQ)
# One event in this many is planted.
PLANTED: Final = 20


@dataclass(frozen=True, slots=True)
class Constraints:
    """Columns, one row per constraint; words and booleans are numbers too."""

    subscription: np.ndarray
    name: np.ndarray
    operator: np.ndarray
    kind: np.ndarray
    number: np.ndarray  # the operand; for strings, the rank of the word

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, slots=True)
class SparseWorkload:
    """Subscriptions as constraints, and events of any attributes."""

    family: str
    subscriptions: int
    constraints: Constraints
    names: tuple[str, ...]
    words: tuple[str, ...]  # sorted, so that ranks compare as words do
    events: tuple[Event, ...]

    @property
    def clauses(self) -> int:
        return self.subscriptions

    @property
    def event_count(self) -> int:
        return len(self.events)

    def table(self) -> pa.Table:
        """The subscriptions as ``Engine.subscribe_arrow`` takes them."""
        held = self.constraints

        def of_kind(kind: int, type_: pa.DataType) -> pa.Array:
            return pa.array(held.number, mask=held.kind != kind).cast(type_)

        words = encoded(np.where(held.kind == STRING, held.number, 0), self.words).cast(pa.string())
        is_string = pa.array(held.kind == STRING)
        return constraint_table(
            encoded(held.subscription, ids(self.subscriptions)),
            np.zeros(len(held), np.int64),
            encoded(held.name, self.names),
            encoded(held.operator, [operator.value for operator in OPERATORS]),
            int_value=of_kind(INTEGER, pa.int64()),
            float_value=of_kind(FLOAT, pa.float64()),
            string_value=pc.if_else(is_string, words, None),
            bool_value=of_kind(BOOLEAN, pa.bool_()),
        )


def redundant_workload(
    subscriptions: int, events: int, seed: int = 0, parameters: Parameters | None = None
) -> SparseWorkload:
    """The usual parameters of the paper, with so many subscriptions and events."""
    parameters = parameters or Parameters()
    vocabulary = Vocabulary(parameters.names, seed)
    words = tuple(sorted(vocabulary.words))
    constraints = draw_constraints(subscriptions, parameters, seed)
    planted = min(events // PLANTED, subscriptions)
    names = tuple(vocabulary.names)
    chosen = list(islice(random_events(parameters, seed), events))
    chosen[: planted * PLANTED : PLANTED] = planted_events(constraints, names, words, planted)
    return SparseWorkload(
        family="redundant",
        subscriptions=subscriptions,
        constraints=constraints,
        names=names,
        words=words,
        events=tuple(chosen),
    )


def draw_constraints(subscriptions: int, parameters: Parameters, seed: int) -> Constraints:
    """Every constraint drawn independently, and again if its subscription has the same one."""
    chance = np.random.default_rng([seed, 2])
    least, most = parameters.constraints
    wanted = chance.integers(least, most + 1, size=subscriptions)
    subscription = np.repeat(np.arange(subscriptions), wanted)
    drawn = _drawn(len(subscription), parameters, chance)
    while len(again := _repeated(subscription, drawn)):
        drawn[again] = _drawn(len(again), parameters, chance)
    return Constraints(subscription, *(drawn[field] for field in _FIELDS))


_FIELDS: Final = ("name", "operator", "kind", "number")
_ROW: Final = np.dtype(
    [("name", np.int16), ("operator", np.int8), ("kind", np.int8), ("number", np.float64)]
)


def _drawn(count: int, parameters: Parameters, chance: np.random.Generator) -> np.ndarray:
    rows = np.empty(count, _ROW)
    rows["name"] = chance.integers(parameters.names, size=count)
    rows["operator"] = chance.integers(len(OPERATORS), size=count)
    shares = np.cumsum(SHARES) / sum(SHARES)
    rows["kind"] = np.searchsorted(shares, chance.random(count), side="right")
    rows["operator"][rows["kind"] == BOOLEAN] = EQUAL
    for kind, values in (
        (INTEGER, lambda n: chance.integers(-LIMIT, LIMIT + 1, size=n)),
        (FLOAT, lambda n: chance.uniform(-LIMIT, LIMIT, size=n)),
        (STRING, lambda n: chance.integers(WORDS, size=n)),
        (BOOLEAN, lambda n: chance.integers(2, size=n)),
    ):
        chosen = rows["kind"] == kind
        rows["number"][chosen] = values(int(chosen.sum()))
    return rows


def _repeated(subscription: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The rows that say what an earlier row of their subscription says."""
    # Only rows that share subscription and name can; those are few, and sorting them is cheap.
    order = np.lexsort((rows["name"], subscription))
    alike = (np.diff(subscription[order]) == 0) & (np.diff(rows["name"][order]) == 0)
    suspects = np.union1d(order[1:][alike], order[:-1][alike])
    seen: set[tuple[int, ...]] = set()
    repeated = []
    for row in suspects.tolist():
        said = (int(subscription[row]), *rows[row].tolist())
        if said in seen:
            repeated.append(row)
        seen.add(said)
    return np.array(repeated, np.int64)


def planted_events(
    constraints: Constraints, names: tuple[str, ...], words: tuple[str, ...], count: int
) -> list[Event]:
    """Events with the names of the first subscriptions, and values that meet what can be met.

    A value is chosen for the first constraint on a name; a second one may contradict it, and then
    the event fails to match, as it should in every matcher.
    """
    ends = np.searchsorted(constraints.subscription, np.arange(count + 1))
    planted = []
    for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        values: dict[str, Value] = {}
        for row in range(first, last):
            values.setdefault(names[constraints.name[row]], _meeting(constraints, row, words))
        planted.append(Event(values))
    return planted


def _meeting(constraints: Constraints, row: int, words: tuple[str, ...]) -> Value:
    """A value that meets the constraint; there is none below the first word or above the last."""
    operator = OPERATORS[constraints.operator[row]]
    number = float(constraints.number[row])
    step = {Operator.GT: 1, Operator.LT: -1}.get(operator, 0)
    match int(constraints.kind[row]):
        case kind if kind == INTEGER:
            return int(number) + step
        case kind if kind == FLOAT:
            return number + step
        case kind if kind == STRING:
            return words[min(max(int(number) + step, 0), len(words) - 1)]
        case _:
            return bool(number)
