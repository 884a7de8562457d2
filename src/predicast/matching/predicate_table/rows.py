"""The rows of the predicate table (``predicast.matching.predicate_table.table``), one per family.

A row says which of its predicates hold for an event's value. Two sets of them are asked for at
once: the row's *match bucket*, and its *heads*, the predicates with which a clause begins and
which no bucket holds.

- ``EqualityRow`` (``=``) looks the heads up.
- ``BoundRow`` (``<`` and ``<=`` descending, ``>`` and ``>=`` ascending) finds the split position
  among the heads by binary search: those left of it hold.
- ``ListedRow`` (every other test) tests them one by one.
- ``PresenceRow`` (exists, absent) holds or fails whole.

A predicate of the bucket is compared with the event's value itself. That says the same as comparing
its column with the split position, costs one comparison as well, and needs no column. Before
that, the two ends of a sorted row tell whether the whole of it holds, or nothing.

**Regions** (theorem 1). An event's interval is compared crosswise: an upper bound with the
interval's lower end, a lower bound with its upper end. For one predicate that is exact once the
ends of an interval of integers or microseconds are closed (``(3, 7)`` becomes ``[4, 6]``) and an
equality asks whether the interval holds its threshold. Several predicates on one attribute need
one common point besides; the table sees to that.
"""

from __future__ import annotations

import operator as python_operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from predicast.matching.predicate_table.cells import (
    Cells,
    HashedCells,
    ListedCells,
    Predicate,
    SortedCells,
)
from predicast.matching.predicate_table.families import NO_VALUE, UPPER_BOUNDS, Family, scalar
from predicast.model import Absent, Constraint, Held, Interval, Kind, Operator
from predicast.model.constraint import trusted_constraint
from predicast.model.domain import domain_of
from predicast.model.operators import JOINED, ORDER, PRESENCE
from predicast.model.spans import Span
from predicast.model.values import from_microseconds, kind_of

# Each compares a value, or the end of a region, with a threshold.
_TESTS: Final[dict[Operator, Callable[[Any, Any], bool]]] = {
    Operator.LT: python_operator.lt,
    Operator.LE: python_operator.le,
    Operator.GT: python_operator.gt,
    Operator.GE: python_operator.ge,
}
_TESTS_OF_OPEN_END: Final = _TESTS | {
    Operator.LE: python_operator.lt,
    Operator.GE: python_operator.gt,
}


class Work:
    """What the rows of one table have done."""

    __slots__ = ("candidates", "tested")

    def __init__(self) -> None:
        self.tested = 0
        self.candidates = 0


class Row(ABC):
    """All predicates of one family."""

    __slots__ = ("absent", "family", "heads", "holds_absent", "predicates", "work")

    predicates: Cells
    heads: Cells

    def __init__(self, family: Family, absent: Absent, work: Work) -> None:
        self.family = family
        self.absent: Absent = absent
        bare = trusted_constraint(family.attribute, family.operator, None, family.kind)
        # Of any and all it depends on what they join: no row of theirs asks this.
        self.holds_absent = family.operator not in JOINED and bare.holds_absent(absent)
        self.work = work

    def insert(self, predicate: Predicate, *, is_head: bool) -> None:
        """Give a predicate its place in the row."""
        self.predicates.insert(predicate)
        if is_head:
            self.heads.insert(predicate)

    def remove(self, predicate: Predicate, *, is_head: bool) -> None:
        """Free a predicate's place in the row."""
        self.predicates.remove(predicate)
        if is_head:
            self.heads.remove(predicate)

    def holding(self, value: Held | None, bucket: Sequence[Predicate]) -> Sequence[Predicate]:
        """Those heads and predicates of the bucket that hold for what the event says."""
        self.work.candidates += len(bucket)
        if value is None:
            return self._whole(bucket) if self.holds_absent else ()
        if isinstance(value, Interval):
            return self._of_interval(value, bucket)
        return self._of_value(value, bucket) if kind_of(value) is self.family.kind else ()

    @abstractmethod
    def _of_value(self, value: Any, bucket: Sequence[Predicate]) -> Sequence[Predicate]:
        """What holds for a value of the row's kind."""

    @abstractmethod
    def _of_interval(self, interval: Interval, bucket: Sequence[Predicate]) -> Sequence[Predicate]:
        """What holds for some point of an interval."""

    def constraints(self, predicate: Predicate) -> tuple[Constraint, ...]:
        """What one of the row's predicates says, as constraints of the model."""
        attribute, operator, kind = self.family
        operand = predicate.threshold
        if kind is Kind.TIMESTAMP:
            operand = from_microseconds(operand)
        return (trusted_constraint(attribute, operator, operand, kind),)

    def _whole(self, bucket: Sequence[Predicate]) -> Sequence[Predicate]:
        self.work.candidates += len(self.heads)
        return [*self.heads, *bucket]

    def _those_that(
        self, holds: Callable[[Any], bool], candidates: Sequence[Predicate]
    ) -> list[Predicate]:
        """The candidates whose thresholds hold, tested one by one."""
        self.work.tested += len(candidates)
        return [each for each in candidates if holds(each.threshold)]


class EqualityRow(Row):
    """``=``: hashed by threshold."""

    __slots__ = ()

    predicates: HashedCells
    heads: HashedCells

    def __init__(self, family: Family, absent: Absent, work: Work) -> None:
        super().__init__(family, absent, work)
        self.predicates, self.heads = HashedCells(), HashedCells()

    def _of_value(self, value: Any, bucket: Sequence[Predicate]) -> Sequence[Predicate]:
        value = scalar(value, self.family.kind)
        self.work.tested += 1
        if not self.predicates.equal_to(value):
            return ()
        heads = self.heads.equal_to(value)
        self.work.candidates += len(heads)
        return [*heads, *self._those_that(partial(python_operator.eq, value), bucket)]

    def _of_interval(self, interval: Interval, bucket: Sequence[Predicate]) -> Sequence[Predicate]:
        ends = closed_ends(interval, self.family.kind)
        if ends is None:
            return ()
        only_integers = interval.is_discrete()

        def holds(threshold: Any) -> bool:
            if threshold is NO_VALUE or (only_integers and not isinstance(threshold, int)):
                return False
            return not (Span(threshold, threshold) & ends).is_empty()

        # A hash table has no order: each threshold is tested, once for all of its predicates.
        thresholds = self.heads.thresholds()
        self.work.tested += len(thresholds)
        heads = [p for t in thresholds if holds(t) for p in self.heads.equal_to(t)]
        self.work.candidates += len(heads)
        return [*heads, *self._those_that(holds, bucket)]


class BoundRow(Row):
    """``<``, ``<=``, ``>`` or ``>=``: sorted so that what holds is on the left."""

    __slots__ = ()

    predicates: SortedCells
    heads: SortedCells

    def __init__(self, family: Family, absent: Absent, work: Work) -> None:
        super().__init__(family, absent, work)
        descending = family.operator in UPPER_BOUNDS
        self.predicates = SortedCells(descending=descending)
        self.heads = SortedCells(descending=descending)

    def _of_value(self, value: Any, bucket: Sequence[Predicate]) -> Sequence[Predicate]:
        _, operator, kind = self.family
        return self._left_of(partial(_TESTS[operator], scalar(value, kind)), bucket)

    def _of_interval(self, interval: Interval, bucket: Sequence[Predicate]) -> Sequence[Predicate]:
        ends = closed_ends(interval, self.family.kind)
        if ends is None:
            return ()
        operator = self.family.operator
        if operator in UPPER_BOUNDS:
            end, is_open = ends.lo, ends.lo_open
        else:
            end, is_open = ends.hi, ends.hi_open
        if end is None:
            return self._whole(bucket)
        test = _TESTS_OF_OPEN_END[operator] if is_open else _TESTS[operator]
        return self._left_of(partial(test, end), bucket)

    def _left_of(
        self, holds: Callable[[Any], bool], bucket: Sequence[Predicate]
    ) -> Sequence[Predicate]:
        heads = self.heads.left_of_split(holds)
        self.work.tested += len(self.heads).bit_length()  # the steps of the search
        self.work.candidates += len(heads)
        return [*heads, *self._of_bucket(holds, bucket)] if bucket else heads

    def _of_bucket(
        self, holds: Callable[[Any], bool], bucket: Sequence[Predicate]
    ) -> Sequence[Predicate]:
        self.work.tested += 2
        if not holds(self.predicates.easiest().threshold):
            return ()
        if holds(self.predicates.hardest().threshold):
            return bucket
        return self._those_that(holds, bucket)


class ListedRow(Row):
    """Any other test. A clause's constraints in one family are one predicate, tested together."""

    __slots__ = ()

    def __init__(self, family: Family, absent: Absent, work: Work) -> None:
        super().__init__(family, absent, work)
        self.predicates, self.heads = ListedCells(), ListedCells()

    def _of_value(self, value: Any, bucket: Sequence[Predicate]) -> Sequence[Predicate]:
        return self._those_that(
            lambda constraints: all(each.holds(value) for each in constraints),
            self._whole(bucket),
        )

    def _of_interval(self, interval: Interval, bucket: Sequence[Predicate]) -> Sequence[Predicate]:
        return self._those_that(
            lambda constraints: domain_of(constraints, self.absent).meets(interval),
            self._whole(bucket),
        )

    def constraints(self, predicate: Predicate) -> tuple[Constraint, ...]:
        return predicate.threshold  # type: ignore[no-any-return]


class PresenceRow(ListedRow):
    """Exists and absent: the same answer for all, whatever the value."""

    __slots__ = ()

    def holding(self, value: Held | None, bucket: Sequence[Predicate]) -> Sequence[Predicate]:
        self.work.candidates += len(bucket)
        return self._whole(bucket) if (value is None) == self.holds_absent else ()


class JoinedRow(ListedRow):
    """Any and all: each says for itself what holds of any kind, and of absence."""

    __slots__ = ()

    def holding(self, value: Held | None, bucket: Sequence[Predicate]) -> Sequence[Predicate]:
        self.work.candidates += len(bucket)
        if value is None:
            return self._those_that(
                lambda constraints: all(each.holds_absent(self.absent) for each in constraints),
                self._whole(bucket),
            )
        if isinstance(value, Interval):
            return self._of_interval(value, bucket)
        return self._of_value(value, bucket)


def row_of(family: Family, absent: Absent, work: Work) -> Row:
    """A new row of the class that the family's operator asks for."""
    if family.operator is Operator.EQ:
        return EqualityRow(family, absent, work)
    if family.operator in ORDER:
        return BoundRow(family, absent, work)
    if family.operator in PRESENCE:
        return PresenceRow(family, absent, work)
    if family.operator in JOINED:
        return JoinedRow(family, absent, work)
    return ListedRow(family, absent, work)


def closed_ends(interval: Interval, kind: Kind | None) -> Span | None:
    """The interval's ends, closed if it ranges over integers; ``None`` if of another kind.

    An interval without ends is of no kind and meets numbers and timestamps alike.
    """
    if kind not in {Kind.NUMBER, Kind.TIMESTAMP} or interval.kind not in {kind, None}:
        return None
    ends = interval.span()
    if kind is Kind.TIMESTAMP or interval.is_discrete():
        return ends.closed_over_integers()
    return ends
