"""NumPy brute force: every event against every subscription, a whole column at a time.

Uniform shapes are scanned comparison by comparison, each narrowing down a mask. The wide, sparse
workload is counted instead: constraints sorted by name, those on an event's names tested at once,
and a subscription matches when as many were met as it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from bench.matchers.redundant import BOOLEAN, FLOAT, INTEGER, STRING, Constraints, SparseWorkload
from bench.matchers.rival import AnyWorkload, Rival, Round
from bench.matchers.workload import Comparison, Shape, Workload
from bench.measuring.timing import timed
from bench.papers.workloads.redundant_attributes import OPERATORS
from predicast.model import Value

_COMPARE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "=": np.equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


class NumpyRival(Rival):
    """Brute force in NumPy."""

    name = "numpy"

    def __init__(self) -> None:
        self._scan: _ShapeScan | _Count | None = None

    def load(self, workload: AnyWorkload) -> None:
        self._scan = (
            _Count(workload) if isinstance(workload, SparseWorkload) else _ShapeScan(workload)
        )

    def match(self, events: int) -> Round:
        assert self._scan is not None
        match_one = self._scan.match
        seconds, found = timed(lambda: [match_one(event) for event in range(events)])
        return Round(seconds, sum(map(len, found)))

    def close(self) -> None:
        self._scan = None


class _ShapeScan:
    """The columns of every shape, scanned for one event after the other."""

    def __init__(self, workload: Workload) -> None:
        self._shapes = workload.shapes
        self._events = {
            name: workload.events[name].to_numpy(zero_copy_only=False)
            for name in workload.events.schema.names
        }

    def match(self, event: int) -> np.ndarray:
        """The numbers of the subscriptions that match."""
        values = {name: column[event] for name, column in self._events.items()}
        return np.concatenate([shape.rows[matching(shape, values)] for shape in self._shapes])


def matching(shape: Shape, event: Mapping[str, Any]) -> np.ndarray:
    """Which rows of a shape match the event: a mask."""
    found = np.zeros(len(shape.rows), bool)
    for clause in shape.clauses:
        held = np.ones(len(shape.rows), bool)
        for comparison in clause:
            held &= _holds(comparison, shape.columns, event[comparison.compared])
        found |= held
    return found


def _holds(comparison: Comparison, columns: Mapping[str, np.ndarray], value: Any) -> np.ndarray:
    first, *others = (columns[name] for name in comparison.columns)
    match comparison.operator:
        case "in":
            equal: np.ndarray = np.equal(value, [first, *others]).any(axis=0)
            return equal
        case "prefix":
            return np.strings.startswith(value, first)
        case "suffix":
            return np.strings.endswith(value, first)
        case "contains":
            return np.strings.find(value, first) >= 0
        case "like":
            (tail,) = others
            room = np.strings.str_len(first) + np.strings.str_len(tail) <= len(value)
            return room & np.strings.startswith(value, first) & np.strings.endswith(value, tail)
        case operator:
            held: np.ndarray = _COMPARE[operator](value, first)
            return held


class _Count:
    """Constraints sorted by name, and how many each subscription has."""

    def __init__(self, workload: SparseWorkload) -> None:
        held = workload.constraints
        order = np.argsort(held.name, kind="stable")
        self._by_name = Constraints(
            *(getattr(held, column)[order] for column in Constraints.__dataclass_fields__)
        )
        self._starts = np.searchsorted(self._by_name.name, np.arange(len(workload.names) + 1))
        self._wanted = np.bincount(held.subscription, minlength=workload.subscriptions)
        self._name_numbers = {name: number for number, name in enumerate(workload.names)}
        self._ranks = {word: rank for rank, word in enumerate(workload.words)}
        self._events = workload.events

    def match(self, event: int) -> np.ndarray:
        """The numbers of the subscriptions that match."""
        met = np.concatenate(
            [self._met(name, value) for name, value in self._events[event].items()]
        )
        return np.flatnonzero(np.bincount(met, minlength=len(self._wanted)) == self._wanted)

    def _met(self, name: str, value: Any) -> np.ndarray:
        """The subscription of every constraint that the value meets."""
        number = self._name_numbers[name]
        those = slice(self._starts[number], self._starts[number + 1])
        kinds, operand = self._coded(value)
        right_kind = np.isin(self._by_name.kind[those], kinds)
        met = np.zeros(len(right_kind), bool)
        for code, operator in enumerate(OPERATORS):
            compare = _COMPARE[operator.value]
            asked = self._by_name.operator[those] == code
            met |= asked & compare(operand, self._by_name.number[those])
        return self._by_name.subscription[those][met & right_kind]

    def _coded(self, value: Value) -> tuple[tuple[int, ...], float]:
        if isinstance(value, bool):
            return (BOOLEAN,), float(value)
        if isinstance(value, str):
            return (STRING,), float(self._ranks[value])
        assert isinstance(value, int | float)
        return (INTEGER, FLOAT), float(value)
