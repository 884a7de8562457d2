"""Predicates, and the three ways in which a row of the predicate table keeps them.

The vocabulary is that of ``predicast.matching.predicate_table.table``. A row keeps its predicates

- *hashed*: the predicates of each threshold, for ``=``;
- *sorted* by threshold, for the bounds, so that those which a value satisfies are a slice;
- *listed* by the number of their clause, for tests that have no order.

Invariant: predicates with the same threshold stand in the order of their clauses' numbers. So each
has one place of its own, which a binary search finds again when it is removed, however many share
its threshold. Numbers only grow and are never used twice: they are the stable ids that take the
place of the paper's column indices, which shift with every insertion.

Cost for ``n`` predicates: O(log n) comparisons to insert or to remove, and the rest of the list
moves by one place (a fast block copy; the paper counts it too); O(1) where they are listed.
"""

from __future__ import annotations

import operator as python_operator
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from predicast.matching.predicate_table.rows import Row


class SubscriptionEntry:
    """An entry of the subscription list: a clause, by its number and its first predicate."""

    __slots__ = ("first", "key", "number")

    def __init__(self, number: int, key: int) -> None:
        self.number = number
        self.key = key
        self.first: Predicate | None = None  # None: the empty clause

    def predicates(self) -> Iterator[Predicate]:
        """The clause's predicates, from the top of the table to the bottom."""
        predicate = self.first
        while predicate is not None:
            yield predicate
            predicate = predicate.successor


class Predicate:
    """A cell of the table, linked to the next predicate of its clause, further down.

    The threshold of an equality or a bound is its operand (a timestamp in microseconds); that of
    any other predicate is the constraints themselves, which are tested together.
    """

    __slots__ = ("entry", "row", "successor", "threshold")

    def __init__(self, threshold: Any, row: Row, entry: SubscriptionEntry) -> None:
        self.threshold = threshold
        self.row = row
        self.entry = entry
        self.successor: Predicate | None = None  # None: the last of its clause


class Cells(Protocol):
    """Some predicates of one row."""

    def insert(self, predicate: Predicate) -> None:
        """Give a predicate its place."""

    def remove(self, predicate: Predicate) -> None:
        """Free a predicate's place."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Predicate]: ...


class SortedCells:
    """Predicates by threshold, ascending or descending, then by number."""

    __slots__ = ("_before", "_predicates")

    def __init__(self, *, descending: bool) -> None:
        self._before = python_operator.gt if descending else python_operator.lt
        self._predicates: list[Predicate] = []

    def insert(self, predicate: Predicate) -> None:
        self._predicates.insert(self._place(predicate), predicate)

    def remove(self, predicate: Predicate) -> None:
        place = self._place(predicate)
        assert self._predicates[place] is predicate
        del self._predicates[place]

    def __len__(self) -> int:
        return len(self._predicates)

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self._predicates)

    def easiest(self) -> Predicate:
        """The predicate that holds if any does."""
        return self._predicates[0]

    def hardest(self) -> Predicate:
        """The predicate that holds only if all do."""
        return self._predicates[-1]

    def left_of_split(self, holds: Callable[[Any], bool]) -> list[Predicate]:
        """The predicates whose thresholds hold."""
        return self._predicates[: self._split(lambda each: not holds(each.threshold))]

    def _place(self, predicate: Predicate) -> int:
        """Where the predicate stands, or would stand."""
        threshold, number, before = predicate.threshold, predicate.entry.number, self._before
        return self._split(
            lambda each: (
                before(threshold, each.threshold)
                or (each.threshold == threshold and each.entry.number >= number)
            )
        )

    def _split(self, is_right: Callable[[Predicate], bool]) -> int:
        """The split position, by binary search: all to its right are, none to its left is."""
        return bisect_left(self._predicates, True, key=is_right)


class HashedCells:
    """Predicates by threshold, then by number."""

    __slots__ = ("_by_threshold", "_count")

    def __init__(self) -> None:
        self._by_threshold: dict[Any, list[Predicate]] = {}
        self._count = 0

    def insert(self, predicate: Predicate) -> None:
        equals = self._by_threshold.setdefault(predicate.threshold, [])
        equals.insert(_place_by_number(equals, predicate), predicate)
        self._count += 1

    def remove(self, predicate: Predicate) -> None:
        equals = self._by_threshold[predicate.threshold]
        place = _place_by_number(equals, predicate)
        assert equals[place] is predicate
        del equals[place]
        if not equals:
            del self._by_threshold[predicate.threshold]
        self._count -= 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Predicate]:
        return chain.from_iterable(self._by_threshold.values())

    def equal_to(self, value: Any) -> list[Predicate]:
        """The predicates with this threshold."""
        return self._by_threshold.get(value, [])

    def thresholds(self) -> list[Any]:
        """Every threshold once."""
        return list(self._by_threshold)


class ListedCells:
    """Predicates by number alone."""

    __slots__ = ("_by_number",)

    def __init__(self) -> None:
        self._by_number: dict[int, Predicate] = {}

    def insert(self, predicate: Predicate) -> None:
        self._by_number[predicate.entry.number] = predicate

    def remove(self, predicate: Predicate) -> None:
        del self._by_number[predicate.entry.number]

    def __len__(self) -> int:
        return len(self._by_number)

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self._by_number.values())


def _place_by_number(equals: list[Predicate], predicate: Predicate) -> int:
    return bisect_left(equals, predicate.entry.number, key=lambda each: each.entry.number)
