"""Values of one representation, tested a whole column at a time.

NumPy compares an int64 with a float64 by rounding the integer, so a threshold is first turned
into an equivalent one of the column's own type: what comes out equals ``Constraint.holds``,
always. Strings are numbered by rank among the distinct strings of the batch, so that equality,
order and prefix are comparisons of small integers, and any other test runs once per distinct
string.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from copy import copy
from datetime import datetime
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from predicast.matching.interval_ends import IntervalEnds
from predicast.model import Absent, Constraint, Interval, Kind, Operator, Value
from predicast.model.domain import after_prefix, domain_of
from predicast.model.values import INT_MAX, INT_MIN, from_microseconds, microseconds

Mask: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.int64]


class Part(ABC):
    """Values of one representation, and the rows where they stand (``None``: every row)."""

    kind: ClassVar[Kind]

    def __init__(self, values: npt.NDArray[Any], rows: Rows | None) -> None:
        self.values = values
        self.rows = rows

    def test_all(self, constraints: tuple[Constraint, ...], absent: Absent) -> Mask:
        """Which values satisfy all of the constraints."""
        mask = np.ones(len(self.values), bool)
        for constraint in constraints:
            if constraint.kind is self.kind:
                mask &= self.test(constraint)
            elif constraint.operator is not Operator.EXISTS:
                mask[:] = False
        return mask

    def test(self, constraint: Constraint) -> Mask:
        """Which values satisfy a constraint of this part's kind."""
        operand: Any = constraint.operand
        match constraint.operator:
            case Operator.EQ:
                return self.equal(operand)
            case Operator.LT:
                return self.less(operand)
            case Operator.LE:
                return self.at_most(operand)
            case Operator.BETWEEN:
                return ~self.less(operand[0]) & self.at_most(operand[1])
            case Operator.IN:
                return self.among(operand)
            case _:
                return ~self.test(constraint.negated())

    def equal(self, operand: Any) -> Mask:
        return ~self.less(operand) & self.at_most(operand)

    @abstractmethod
    def less(self, operand: Any) -> Mask: ...

    @abstractmethod
    def at_most(self, operand: Any) -> Mask: ...

    def among(self, operands: Sequence[Any]) -> Mask:
        mask = np.zeros(len(self.values), bool)
        for operand in operands:
            mask |= self.equal(operand)
        return mask

    def value(self, position: int) -> Value | Interval:
        """One of the values, as the model has it."""
        value: Value = self.values[position].item()
        return value

    def slice(self, start: int, end: int) -> Self:
        """The values that stand in rows from ``start`` up to ``end``."""
        piece = copy(self)
        if self.rows is None:
            piece.values = self.values[start:end]
        else:
            first, last = np.searchsorted(self.rows, (start, end))
            piece.values, piece.rows = self.values[first:last], self.rows[first:last] - start
        return piece


class Integers(Part):
    """64-bit integers."""

    values: npt.NDArray[np.int64]
    kind = Kind.NUMBER

    def less(self, operand: int | float) -> Mask:
        return self._up_to(math.ceil(operand) - 1)

    def at_most(self, operand: float) -> Mask:
        return self._up_to(math.floor(operand))

    def equal(self, operand: int | float) -> Mask:
        if isinstance(operand, float):  # a canonical float is no 64-bit integer
            return np.zeros(len(self.values), bool)
        return np.equal(self.values, operand)

    def among(self, operands: Sequence[float]) -> Mask:
        whole = [operand for operand in operands if isinstance(operand, int)]
        return np.isin(self.values, np.array(whole, np.int64))

    def _up_to(self, bound: int) -> Mask:
        if bound < INT_MIN:
            return np.zeros(len(self.values), bool)
        return np.less_equal(self.values, min(bound, INT_MAX))


class Floats(Part):
    """64-bit floats."""

    values: npt.NDArray[np.float64]
    kind = Kind.NUMBER

    def less(self, operand: float) -> Mask:
        # If the nearest float lies below the operand, it is itself less than the operand.
        nearest = float(operand)
        return self.values <= nearest if nearest < operand else self.values < nearest

    def at_most(self, operand: float) -> Mask:
        nearest = float(operand)
        return self.values < nearest if nearest > operand else self.values <= nearest

    def equal(self, operand: float) -> Mask:
        nearest = float(operand)
        if nearest != operand:
            return np.zeros(len(self.values), bool)
        return np.equal(self.values, nearest)


class Booleans(Part):
    """True and false."""

    values: npt.NDArray[np.bool_]
    kind = Kind.BOOLEAN

    def equal(self, operand: bool) -> Mask:
        return np.equal(self.values, operand)

    def less(self, operand: bool) -> Mask:
        raise AssertionError("booleans are not ordered; Constraint refuses to try")

    at_most = less


class Timestamps(Part):
    """Microseconds since the epoch."""

    values: npt.NDArray[np.int64]
    kind = Kind.TIMESTAMP

    def less(self, operand: datetime) -> Mask:
        return self.values < microseconds(operand)

    def at_most(self, operand: datetime) -> Mask:
        return self.values <= microseconds(operand)

    def equal(self, operand: datetime) -> Mask:
        return np.equal(self.values, microseconds(operand))

    def value(self, position: int) -> datetime:
        return from_microseconds(self.values[position].item())


class Strings(Part):
    """Ranks among the sorted distinct strings of the batch."""

    values: npt.NDArray[np.int32]
    kind = Kind.STRING

    def __init__(self, ranks: npt.NDArray[np.int32], rows: Rows | None, words: list[str]) -> None:
        super().__init__(ranks, rows)
        self.words: list[str] = words

    def test(self, constraint: Constraint) -> Mask:
        operand: Any = constraint.operand
        match constraint.operator:
            case Operator.PREFIX:
                end = after_prefix(operand)
                return self._ranked(
                    bisect_left(self.words, operand),
                    len(self.words) if end is None else bisect_left(self.words, end),
                )
            case Operator.SUFFIX | Operator.CONTAINS | Operator.LIKE | Operator.MATCHES:
                held = [constraint.holds(word) for word in self.words]
                return np.array(held, bool)[self.values]
            case _:
                return super().test(constraint)

    def less(self, operand: str) -> Mask:
        return self._ranked(0, bisect_left(self.words, operand))

    def at_most(self, operand: str) -> Mask:
        return self._ranked(0, bisect_right(self.words, operand))

    def equal(self, operand: str) -> Mask:
        return self._ranked(bisect_left(self.words, operand), bisect_right(self.words, operand))

    def _ranked(self, first: int, end: int) -> Mask:
        if first >= end:
            return np.zeros(len(self.values), bool)
        if first == 0:
            return np.less(self.values, end)
        if first + 1 == end:
            return np.equal(self.values, first)
        return (self.values >= first) & (self.values < end)

    def value(self, position: int) -> str:
        word: str = self.words[self.values[position]]
        return word


class Intervals(Part):
    """Intervals of region events, which all constraints on an attribute must meet together."""

    def __init__(self, values: np.ndarray, rows: Rows | None) -> None:
        super().__init__(values, rows)
        self._ends: IntervalEnds | None = None

    def test_all(self, constraints: tuple[Constraint, ...], absent: Absent) -> Mask:
        if self._ends is None:
            self._ends = IntervalEnds(self.values)
        return self._ends.meets(domain_of(constraints, absent))

    def slice(self, start: int, end: int) -> Self:
        piece = super().slice(start, end)
        piece._ends = None
        return piece

    def less(self, operand: Any) -> Mask:
        raise AssertionError("intervals are tested by domain, not one constraint at a time")

    at_most = less

    def value(self, position: int) -> Interval:
        interval: Interval = self.values[position]
        return interval
