"""The leaves of the constraint index: constraints of one type, name and operator.

Each list finds the constraints that a value satisfies, in the way that suits its operator. A row is
inserted and removed in place, and the index never holds one constraint twice.

=======================  ===========================================  ==========================
operator                 structure                                    steps of one search
=======================  ===========================================  ==========================
<  ≤  >  ≥               sorted by covering                           binary search
=                        hash                                         1
in                       hash of the members                          1
between                  sorted by low end, high ends tested          binary search, then 1 per
                                                                      constraint that begins below
prefix                   trie, walked along the value                 1 per character
suffix                   trie of the reversed operands                1 per character
contains                 trie, walked from every place in the value   1 per character, per place
!=, not …, like,         none: tested one by one                      1 per constraint
matches
=======================  ===========================================  ==========================

**Order.** In a list sorted by covering every constraint covers those before it, so from the
first one that a value satisfies, all the later ones are satisfied too (paper, section 3.1). For
< and ≤ that order is ascending by operand. For > and ≥ it is descending; those lists are kept
ascending all the same and read from the end, since ``bisect`` wants it so::

    <   3 │ 5  8      value 4: from the first operand above it, all the later
    >   1  2 │ 6      value 4: from the last operand below it, all the earlier

The string operators are in ``predicast.matching.counting.constraint_tries``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any, TypeAlias

from predicast.matching.counting.constraint_subscription_list import HeldConstraint
from predicast.model import Interval

# Distinct values of an attribute with the numbers of the events that carry them.
Carried: TypeAlias = Mapping[Any, list[int]]


class ConstraintList(ABC):
    """Constraints of one type, name and operator."""

    __slots__ = ("_rows", "tested")

    _rows: Collection[Any]

    def __init__(self) -> None:
        self.tested = 0  # steps of all searches so far

    @abstractmethod
    def insert(self, row: HeldConstraint) -> None:
        """Add a constraint."""

    @abstractmethod
    def remove(self, row: HeldConstraint) -> None:
        """Take a constraint out."""

    @abstractmethod
    def matching(self, value: Any) -> list[HeldConstraint]:
        """The constraints that the value satisfies, each once."""

    @abstractmethod
    def rows(self) -> list[HeldConstraint]:
        """All the constraints."""

    def is_empty(self) -> bool:
        return not self._rows

    def matching_batch(self, carried: Carried) -> Iterator[tuple[HeldConstraint, list[int]]]:
        """Constraints with events that satisfy them: each pair once, in any number of pieces.

        The list of events is lent: copy what is to be kept.
        """
        for value, events in carried.items():
            for row in self.matching(value):
                yield row, events

    def meeting(self, interval: Interval) -> list[HeldConstraint]:
        """The constraints that some point of the interval satisfies."""
        rows = self.rows()
        self.tested += len(rows)
        return [row for row in rows if row.meets(interval)]


class OrderList(ConstraintList):
    """<, ≤, > or ≥: operands ascending, constraints beside them."""

    __slots__ = ("_operands", "_search", "_steps")

    _rows: list[HeldConstraint]

    def __init__(self, search: Callable[[list[Any], Any], int]) -> None:
        super().__init__()
        self._search = search  # the place in the operands that parts what matches from the rest
        self._operands: list[Any] = []
        self._rows = []
        self._steps = 0  # of one binary search

    def insert(self, row: HeldConstraint) -> None:
        position = bisect_left(self._operands, row.constraint.operand)
        self._operands.insert(position, row.constraint.operand)
        self._rows.insert(position, row)
        self._steps = len(self._rows).bit_length()

    def remove(self, row: HeldConstraint) -> None:
        position = bisect_left(self._operands, row.constraint.operand)
        del self._operands[position]
        del self._rows[position]
        self._steps = len(self._rows).bit_length()

    def rows(self) -> list[HeldConstraint]:
        return self._rows

    def _arrivals(self, carried: Carried) -> dict[int, list[int]]:
        """The events of all values, each at its value's place."""
        self.tested += self._steps * len(carried)
        arrivals: dict[int, list[int]] = defaultdict(list)
        search, operands = self._search, self._operands
        for value, events in carried.items():
            arrivals[search(operands, value)] += events
        return arrivals


class UpperBounds(OrderList):
    """< and ≤: later operands are larger and cover the earlier ones."""

    __slots__ = ()

    def matching(self, value: Any) -> list[HeldConstraint]:
        self.tested += self._steps
        return self._rows[self._search(self._operands, value) :]

    def matching_batch(self, carried: Carried) -> Iterator[tuple[HeldConstraint, list[int]]]:
        """One walk for all values: events join at their first constraint and stay to the end."""
        arrivals = self._arrivals(carried)
        joined: list[int] = []
        for first, following in pairwise([*sorted(arrivals), len(self._rows)]):
            joined += arrivals[first]
            for row in self._rows[first:following]:
                yield row, joined

    def meeting(self, interval: Interval) -> list[HeldConstraint]:
        self.tested += self._steps
        first = bisect_left(self._rows, True, key=lambda row: row.meets(interval))
        return self._rows[first:]


class LowerBounds(OrderList):
    """> and ≥: earlier operands are smaller and cover the later ones."""

    __slots__ = ()

    def matching(self, value: Any) -> list[HeldConstraint]:
        self.tested += self._steps
        return self._rows[: self._search(self._operands, value)]

    def matching_batch(self, carried: Carried) -> Iterator[tuple[HeldConstraint, list[int]]]:
        """One walk for all values, backwards: events join at their last and stay to the start."""
        arrivals = self._arrivals(carried)
        joined: list[int] = []
        for end, following in pairwise([*sorted(arrivals, reverse=True), 0]):
            joined += arrivals[end]
            for row in self._rows[following:end]:
                yield row, joined

    def meeting(self, interval: Interval) -> list[HeldConstraint]:
        self.tested += self._steps
        end = bisect_left(self._rows, True, key=lambda row: not row.meets(interval))
        return self._rows[:end]


class RangeList(ConstraintList):
    """Between: ascending by low end; those that begin low enough are tested at the high end."""

    __slots__ = ("_ends",)

    _rows: list[HeldConstraint]

    def __init__(self) -> None:
        super().__init__()
        self._ends: list[tuple[Any, Any]] = []
        self._rows = []

    def insert(self, row: HeldConstraint) -> None:
        ends: Any = row.constraint.operand
        position = bisect_left(self._ends, ends)
        self._ends.insert(position, ends)
        self._rows.insert(position, row)

    def remove(self, row: HeldConstraint) -> None:
        ends: Any = row.constraint.operand
        position = bisect_left(self._ends, ends)
        del self._ends[position]
        del self._rows[position]

    def matching(self, value: Any) -> list[HeldConstraint]:
        begun = bisect_right(self._ends, value, key=itemgetter(0))
        self.tested += len(self._ends).bit_length() + begun
        return [self._rows[i] for i in range(begun) if self._ends[i][1] >= value]

    def rows(self) -> list[HeldConstraint]:
        return self._rows


class EqualityHash(ConstraintList):
    """=: the operand leads to the constraint."""

    __slots__ = ()

    _rows: dict[Any, HeldConstraint]

    def __init__(self) -> None:
        super().__init__()
        self._rows = {}

    def insert(self, row: HeldConstraint) -> None:
        self._rows[row.constraint.operand] = row

    def remove(self, row: HeldConstraint) -> None:
        del self._rows[row.constraint.operand]

    def matching(self, value: Any) -> list[HeldConstraint]:
        self.tested += 1
        row = self._rows.get(value)
        return [] if row is None else [row]

    def rows(self) -> list[HeldConstraint]:
        return list(self._rows.values())


class MemberHash(ConstraintList):
    """In: every member leads to the constraints that list it."""

    __slots__ = ()

    _rows: dict[Any, dict[HeldConstraint, None]]

    def __init__(self) -> None:
        super().__init__()
        self._rows = {}

    def insert(self, row: HeldConstraint) -> None:
        members: Any = row.constraint.operand
        for member in members:
            self._rows.setdefault(member, {})[row] = None

    def remove(self, row: HeldConstraint) -> None:
        members: Any = row.constraint.operand
        for member in members:
            rows = self._rows[member]
            del rows[row]
            if not rows:
                del self._rows[member]

    def matching(self, value: Any) -> list[HeldConstraint]:
        self.tested += 1
        return list(self._rows.get(value, ()))

    def rows(self) -> list[HeldConstraint]:
        return list(dict.fromkeys(chain.from_iterable(self._rows.values())))


class OneByOne(ConstraintList):
    """What has no better structure: every constraint is tested."""

    __slots__ = ()

    _rows: dict[HeldConstraint, None]

    def __init__(self) -> None:
        super().__init__()
        self._rows = {}

    def insert(self, row: HeldConstraint) -> None:
        self._rows[row] = None

    def remove(self, row: HeldConstraint) -> None:
        del self._rows[row]

    def matching(self, value: Any) -> list[HeldConstraint]:
        self.tested += len(self._rows)
        return [row for row in self._rows if row.constraint.holds(value)]

    def rows(self) -> list[HeldConstraint]:
        return list(self._rows)
