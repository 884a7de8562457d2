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
from collections.abc import Iterable, Sequence
from copy import copy
from datetime import datetime
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from predicast.matching.batches.interval_ends import IntervalEnds
from predicast.model import Absent, Constraint, Interval, Kind, Operator, Value
from predicast.model.decimals import ExactDecimal
from predicast.model.domain import after_prefix, domain_of
from predicast.model.values import INT_MAX, INT_MIN, from_microseconds, microseconds

Mask: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.int64]
Number: TypeAlias = int | float | ExactDecimal


class TypedValues(ABC):
    """Values of one representation, and the rows where they stand (``None``: every row)."""

    kind: ClassVar[Kind]

    def __init__(self, values: npt.NDArray[Any], rows: Rows | None) -> None:
        self.values = values
        self.rows = rows

    def __len__(self) -> int:
        return len(self.values)

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


class Integers(TypedValues):
    """64-bit integers."""

    values: npt.NDArray[np.int64]
    kind = Kind.NUMBER

    def less(self, operand: Number) -> Mask:
        return self._up_to(math.ceil(operand) - 1)

    def at_most(self, operand: Number) -> Mask:
        return self._up_to(math.floor(operand))

    def equal(self, operand: Number) -> Mask:
        if not isinstance(operand, int):  # a canonical float is no 64-bit integer
            return np.zeros(len(self.values), bool)
        return np.equal(self.values, operand)

    def among(self, operands: Sequence[Number]) -> Mask:
        whole = [operand for operand in operands if isinstance(operand, int)]
        return np.isin(self.values, np.array(whole, np.int64))

    def _up_to(self, bound: int) -> Mask:
        if bound < INT_MIN:
            return np.zeros(len(self.values), bool)
        return np.less_equal(self.values, min(bound, INT_MAX))


class Floats(TypedValues):
    """64-bit floats."""

    values: npt.NDArray[np.float64]
    kind = Kind.NUMBER

    def less(self, operand: Number) -> Mask:
        # If the nearest float lies below the operand, it is itself less than the operand.
        nearest = float(operand)
        return self.values <= nearest if nearest < operand else self.values < nearest

    def at_most(self, operand: Number) -> Mask:
        nearest = float(operand)
        return self.values < nearest if nearest > operand else self.values <= nearest

    def equal(self, operand: Number) -> Mask:
        nearest = float(operand)
        if nearest != operand:
            return np.zeros(len(self.values), bool)
        return np.equal(self.values, nearest)


class Decimals(TypedValues):
    """Numbers that are neither 64-bit integers nor floats, as objects."""

    kind = Kind.NUMBER

    def less(self, operand: Number) -> Mask:
        return np.array([value < operand for value in self.values], bool)

    def at_most(self, operand: Number) -> Mask:
        return np.array([value <= operand for value in self.values], bool)

    def equal(self, operand: Number) -> Mask:
        return np.array([value == operand for value in self.values], bool)

    def value(self, position: int) -> ExactDecimal:
        number: ExactDecimal = self.values[position]
        return number


class Booleans(TypedValues):
    """True and false."""

    values: npt.NDArray[np.bool_]
    kind = Kind.BOOLEAN

    def equal(self, operand: bool) -> Mask:
        return np.equal(self.values, operand)

    def less(self, operand: bool) -> Mask:
        raise AssertionError("booleans are not ordered; Constraint refuses to try")

    at_most = less


class Timestamps(TypedValues):
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


class Strings(TypedValues):
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


class ClosedEnds(NamedTuple):
    """Intervals between two columns, with both ends closed where there are any."""

    kind: Kind
    lo: npt.NDArray[Any]  # int64 (microseconds for timestamps) or float64
    hi: npt.NDArray[Any]
    has_lo: Mask
    has_hi: Mask

    def intervals(self) -> npt.NDArray[Any]:
        """The same as objects."""
        boxed = np.empty(len(self.lo), object)
        boxed[:] = [
            Interval(lo if has_lo else None, hi if has_hi else None)
            for lo, has_lo, hi, has_hi in zip(
                self._values(self.lo), self.has_lo, self._values(self.hi), self.has_hi, strict=True
            )
        ]
        return boxed

    def value(self, end: Any) -> int | float | datetime:
        """One end, as the model has it."""
        plain: int | float = end.item()
        return from_microseconds(int(plain)) if self.kind is Kind.TIMESTAMP else plain

    def _values(self, ends: npt.NDArray[Any]) -> Iterable[Any]:
        values = ends.tolist()
        return map(from_microseconds, values) if self.kind is Kind.TIMESTAMP else values

    def take(self, which: slice) -> ClosedEnds:
        """Some of them."""
        return ClosedEnds(self.kind, *(each[which] for each in self[1:]))


class Intervals(TypedValues):
    """Intervals of region events, which all constraints on an attribute must meet together.

    Those that came as two columns stay so, and are made into objects for whoever asks.
    """

    def __init__(self, values: np.ndarray | ClosedEnds, rows: Rows | None) -> None:
        self.rows = rows
        self._ends: IntervalEnds | None = None
        self.closed: ClosedEnds | None = None
        self._boxed: np.ndarray | None = None
        if isinstance(values, ClosedEnds):
            self.closed = values
        else:
            self._boxed = values

    @property
    def values(self) -> npt.NDArray[Any]:  # type: ignore[override]
        if self._boxed is None:
            assert self.closed is not None
            self._boxed = self.closed.intervals()
        return self._boxed

    def __len__(self) -> int:
        return len(self.values) if self.closed is None else len(self.closed.lo)

    def are_discrete(self) -> Mask:
        """Which of them range over integers."""
        if self.closed is None:
            return np.array([ranges_over_integers(each) for each in self.values], bool)
        if self.closed.kind is not Kind.NUMBER or self.closed.lo.dtype == np.float64:
            return np.zeros(len(self), bool)
        return self.closed.has_lo & self.closed.has_hi

    def test_all(self, constraints: tuple[Constraint, ...], absent: Absent) -> Mask:
        if self._ends is None:
            self._ends = IntervalEnds(self.values)
        return self._ends.meets(domain_of(constraints, absent))

    def slice(self, start: int, end: int) -> Self:
        piece = copy(self)
        piece._ends = None
        which = slice(start, end)
        if self.rows is not None:
            first, last = np.searchsorted(self.rows, (start, end))
            which, piece.rows = slice(first, last), self.rows[first:last] - start
        piece.closed = None if self.closed is None else self.closed.take(which)
        piece._boxed = None if self._boxed is None else self._boxed[which]
        return piece

    def less(self, operand: Any) -> Mask:
        raise AssertionError("intervals are tested by domain, not one constraint at a time")

    at_most = less

    def value(self, position: int) -> Interval:
        interval: Interval = self.values[position]
        return interval


def ranges_over_integers(interval: Interval) -> bool:
    """Whether it is one of numbers, and both ends are integers."""
    return interval.kind is Kind.NUMBER and interval.is_discrete()
