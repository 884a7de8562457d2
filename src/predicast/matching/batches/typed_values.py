"""Values of one representation, tested a whole column at a time.

NumPy compares an int64 with a float64 by rounding the integer, so a threshold is first turned
into an equivalent one of the column's own type: what comes out equals ``Constraint.holds``,
always. Strings are numbers of *words*, bytes that stand side by side (``Words``). Whoever
tests them here has them ranked first, so that equality, order and prefix are comparisons of small
integers, and any other test runs once per distinct string.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from copy import copy
from datetime import datetime
from typing import Any, ClassVar, Final, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from predicast.arrays import Words
from predicast.matching.batches.interval_ends import IntervalEnds
from predicast.model import Absent, Constraint, Held, Interval, Kind, Operator, Value
from predicast.model.decimals import ExactDecimal
from predicast.model.domain import after_prefix, domain_of
from predicast.model.operators import JOINED
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
            mask &= self._test_one(constraint)
        return mask

    def _test_one(self, constraint: Constraint) -> Mask:
        """Which values satisfy a constraint of whatever kind."""
        if constraint.operator in JOINED:
            together = np.logical_or if constraint.operator is Operator.ANY else np.logical_and
            mask = self._test_one(constraint.parts[0])
            for part in constraint.parts[1:]:
                mask = together(mask, self._test_one(part))
            return mask
        if constraint.kind is self.kind:
            return self.test(constraint)
        return np.full(len(self.values), constraint.operator is Operator.EXISTS)

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

    def value(self, position: int) -> Held:
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
    """Numbers of words: those of the batch, each once, or a word for each value.

    They are numbered if they came so. Whoever does much with each word numbers them first.
    """

    values: npt.NDArray[np.int32]
    kind = Kind.STRING

    def __init__(
        self, numbers: npt.NDArray[np.int32] | None, rows: Rows | None, words: Words
    ) -> None:
        """Without numbers every value has a word of its own, in the same order."""
        self.have_own_words = numbers is None
        if numbers is None:
            numbers = np.arange(len(words), dtype=np.int32)
        super().__init__(numbers, rows)
        self.words = words

    @classmethod
    def of(cls, texts: Sequence[str], rows: Rows | None) -> Strings:
        """Python's strings, numbered if they repeat."""
        if not repeats(texts[:SAMPLE]):
            return cls(None, rows, Words.of(texts))
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(text, len(numbers)) for text in texts]
        return cls(np.array(codes, np.int32), rows, Words.of(list(numbers)))

    def numbered(self) -> Strings:
        """The same, with each word once if they repeat."""
        if not self.have_own_words or not repeats(self.words.part(0, SAMPLE).encoded()):
            return self
        numbers, words = self.words.distinct
        return Strings(numbers, self.rows, words)

    def with_words(self, words: Words) -> Strings:
        """The same with others in the place of its words."""
        changed = Strings.__new__(Strings)  # there are many of them, and copy() takes its time
        changed.have_own_words, changed.values = self.have_own_words, self.values
        changed.rows, changed.words = self.rows, words
        return changed

    def test(self, constraint: Constraint) -> Mask:
        operand: Any = constraint.operand
        match constraint.operator:
            case Operator.PREFIX:
                end, words = after_prefix(operand), self.words.ranked[0]
                return self._ranked(
                    bisect_left(words, operand),
                    len(words) if end is None else bisect_left(words, end),
                )
            case Operator.SUFFIX | Operator.CONTAINS | Operator.LIKE | Operator.MATCHES:
                words, ranks = self.words.ranked
                held = [constraint.holds(word) for word in words]
                return np.array(held, bool)[ranks[self.values]]
            case _:
                return super().test(constraint)

    def less(self, operand: str) -> Mask:
        return self._ranked(0, bisect_left(self.words.ranked[0], operand))

    def at_most(self, operand: str) -> Mask:
        return self._ranked(0, bisect_right(self.words.ranked[0], operand))

    def equal(self, operand: str) -> Mask:
        words = self.words.ranked[0]
        return self._ranked(bisect_left(words, operand), bisect_right(words, operand))

    def _ranked(self, first: int, end: int) -> Mask:
        if first >= end:
            return np.zeros(len(self.values), bool)
        ranks = self.words.ranked[1][self.values]
        if first == 0:
            return np.less(ranks, end)
        if first + 1 == end:
            return np.equal(ranks, first)
        return (ranks >= first) & (ranks < end)

    def value(self, position: int) -> str:
        return self.words[int(self.values[position])]

    def slice(self, start: int, end: int) -> Self:
        """The values in these rows, with no more words than they use."""
        piece = super().slice(start, end)
        if self.have_own_words:
            first = 0 if not len(piece) else int(piece.values[0])
            piece.words = self.words.part(first, first + len(piece))
            piece.values = piece.values - np.int32(first)
        elif len(piece) < len(self.words):
            is_used = np.zeros(len(self.words), bool)
            is_used[piece.values] = True
            piece.words = self.words.take(np.flatnonzero(is_used))
            piece.values = (np.cumsum(is_used, dtype=np.int32) - np.int32(1))[piece.values]
        return piece


SAMPLE: Final = 128  # strings that are looked at to see whether they repeat


def repeats(sample: Sequence[Any]) -> bool:
    """Whether strings, of which these are some, are worth numbering: most occur more than once."""
    return 2 * len(set(sample)) <= len(sample)


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


def check_parts(name: str, parts: Sequence[TypedValues]) -> None:
    """See that an attribute has one part of each representation: matchers look at one of each."""
    kinds = len(parts) if len(parts) < 2 else len(set(map(type, parts)))
    assert kinds == len(parts), f"several parts of one type under {name!r}; join them first"


def ranges_over_integers(interval: Interval) -> bool:
    """Whether it is one of numbers, and both ends are integers."""
    return interval.kind is Kind.NUMBER and interval.is_discrete()
