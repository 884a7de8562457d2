"""Lists of a batch: all their elements side by side, as a batch of their own.

::

    tags      [a, b], [], [b]         values  [0  1  2]       which list stands in a row
                                      first   [0  2  2  3]    where its elements begin
    elements  a  b  b                 a batch of three, with the attribute ``element``

So a condition on elements is tested on columns like any other, once for all the lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from predicast.arrays import Array, expand
from predicast.matching.batches.typed_values import Mask, Rows, TypedValues, check_parts
from predicast.model import (
    Constraint,
    Elements,
    Expression,
    Kind,
    Leaf,
    Not,
    Operator,
    Or,
    Subscription,
)
from predicast.model.elements import ELEMENT, Element

if TYPE_CHECKING:
    from predicast.matching.batches.event_batch import EventBatch
    from predicast.model import Event


class PartsOnDemand(Mapping[str, Sequence[TypedValues]]):
    """The parts of attributes, each read when it is asked for first.

    A field of a list of objects may be anything if nobody looks at it.
    """

    def __init__(self, names: Iterable[str], read: Callable[[str], Sequence[TypedValues]]) -> None:
        self._names = dict.fromkeys(names)
        self._read = read
        self._known: dict[str, Sequence[TypedValues]] = {}

    def __getitem__(self, name: str) -> Sequence[TypedValues]:
        if name not in self._names:
            raise KeyError(name)
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._read(name)
            check_parts(name, found)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Store(NamedTuple):
    """Lists one after the other: where each begins among the elements, and these as a batch."""

    first: npt.NDArray[np.int64]
    elements: EventBatch


class Lists(TypedValues):
    """Numbers of lists in a store."""

    values: npt.NDArray[np.int64]
    kind = Kind.LIST

    def __init__(self, numbers: npt.NDArray[np.int64], rows: Rows | None, store: Store) -> None:
        super().__init__(numbers, rows)
        self.store = store

    def lengths(self) -> npt.NDArray[np.int64]:
        """How many elements each list has."""
        return np.diff(self.store.first)[self.values]

    def positions(self) -> Array:
        """Where the elements of these lists stand, list after list."""
        return expand(self.store.first, self.values)

    def test(self, constraint: Constraint) -> Mask:
        wanted = constraint.operand
        assert isinstance(wanted, Subscription)
        true, false = truths(self.store.elements, wanted)
        if constraint.operator is Operator.HAS:
            return self._some(true)
        return ~self._some(~false)

    def having(self, mask: Mask) -> Rows:
        """The positions of lists that have an element where the mask is set."""
        return np.flatnonzero(self._some(mask))

    def _some(self, mask: Mask) -> Mask:
        before = np.zeros(len(mask) + 1, np.int64)
        np.cumsum(mask, out=before[1:])
        found: Mask = np.diff(before[self.store.first])[self.values] > 0
        return found

    def less(self, operand: Any) -> Mask:
        raise AssertionError("lists are not compared; Constraint refuses to try")

    at_most = less

    def value(self, position: int) -> Elements:
        begin, end = self.store.first[self.values[position] :][:2]
        events = self.store.elements.slice(int(begin), int(end)).events()
        return Elements(tuple([_element(event) for event in events]))

    def slice(self, start: int, end: int) -> Self:
        piece = super().slice(start, end)
        if len(piece.values):  # what stands in later rows has later numbers
            least, most = int(piece.values[0]), int(piece.values[-1]) + 1
            first = self.store.first[least : most + 1]
            elements = self.store.elements.slice(int(first[0]), int(first[-1]))
            piece.values, piece.store = piece.values - least, Store(first - first[0], elements)
        return piece


def _element(event: Event) -> Element:
    """An element of a list, from the attributes that conditions look at."""
    attributes: dict[str, Any] = dict(event.items())
    if not attributes:
        return None
    return attributes[ELEMENT] if attributes.keys() == {ELEMENT} else attributes


def truths(batch: EventBatch, subscription: Subscription) -> tuple[Mask, Mask]:
    """In which rows it is true, and in which false; it is unknown in the others."""
    true, false = np.zeros(len(batch), bool), np.ones(len(batch), bool)
    for clause in subscription.clauses:
        all_true, some_false = np.ones(len(batch), bool), np.zeros(len(batch), bool)
        rest = () if clause.rest is None else (clause.rest,)
        for part in (*map(Leaf, clause.constraints), *rest):
            part_true, part_false = _truths_of(batch, part)
            all_true &= part_true
            some_false |= part_false
        true |= all_true
        false &= some_false
    return true, false


def _truths_of(batch: EventBatch, node: Expression) -> tuple[Mask, Mask]:
    if isinstance(node, Leaf):
        test = node.constraint
        true = batch.test(test.attribute, (test,), "fails")
        return true, batch.test(test.attribute, (test.negated(),), "fails")
    assert not isinstance(node, Not), "the rest of a clause has no NOT"
    parts = [_truths_of(batch, part) for part in node.parts]
    all_of, some_of = (np.logical_and.reduce, np.logical_or.reduce)
    if isinstance(node, Or):
        all_of, some_of = some_of, all_of
    return all_of([true for true, _ in parts]), some_of([false for _, false in parts])
