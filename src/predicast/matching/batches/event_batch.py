"""A batch of events as columns.

Each attribute becomes one or more *parts* (``typed_values.py``), one for each representation
that its values have in the batch. A column of a DataFrame is one part; events
given as mappings may hold an integer here and a string there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

import numpy as np

from predicast.arrays import offsets
from predicast.arrow import TableLike, as_table
from predicast.matching.batches.from_arrow import parts_of
from predicast.matching.batches.interval_columns import IntervalColumns
from predicast.matching.batches.lists import Lists, PartsOnDemand, Store
from predicast.matching.batches.refusals import Refusals
from predicast.matching.batches.typed_values import (
    Booleans,
    Decimals,
    Floats,
    Integers,
    Intervals,
    Mask,
    Rows,
    Strings,
    Timestamps,
    TypedValues,
    check_parts,
)
from predicast.model import Absent, Constraint, Elements, Event, Interval
from predicast.model.decimals import ExactDecimal
from predicast.model.elements import ELEMENT
from predicast.model.values import microseconds

# An attribute, the representation of its values, and whether every event has one.
PartKind: TypeAlias = tuple[str, type[TypedValues], bool]


class EventBatch:
    """Events side by side: attribute by attribute instead of event by event.

    An attribute has at most one part of each representation; matchers look at one of each.
    """

    def __init__(self, length: int, parts: Mapping[str, Sequence[TypedValues]]) -> None:
        if not isinstance(parts, PartsOnDemand):  # which looks at them itself
            for name, each in parts.items():
                check_parts(name, each)
        self._length = length
        self._parts = parts

    def __len__(self) -> int:
        return self._length

    @classmethod
    def from_events(cls, events: Sequence[Event]) -> EventBatch:
        """The columns of events of the model."""
        gathered: _Gathered = {}
        for row, event in enumerate(events):
            for name, value in event.items():
                try:  # which costs less than to offer a new one for every value
                    rows, values = gathered[name][type(value)]
                except KeyError:
                    rows, values = gathered.setdefault(name, {})[type(value)] = ([], [])
                rows.append(row)
                values.append(value)
        return cls(len(events), _parts(gathered))

    @classmethod
    def from_elements(cls, lists: Sequence[Elements]) -> EventBatch:
        """The elements of lists, one after the other."""
        gathered: _Gathered = {}
        alone = gathered.setdefault(ELEMENT, {})
        every = [value for elements in lists for value in elements.values]
        for row, value in enumerate(every):
            if type(value) is not dict:
                rows, values = alone.setdefault(type(value), ([], []))
                rows.append(row)
                values.append(value)
                continue
            for name, each in value.items():
                rows, values = gathered.setdefault(name, {}).setdefault(type(each), ([], []))
                rows.append(row)
                values.append(each)
        alone.pop(type(None), None)
        known = {name: each for name, each in gathered.items() if each}
        # Fields may be lists of objects again, which are many, and nobody looks at most of them.
        return cls(len(every), PartsOnDemand(known, lambda name: _of_types(known[name])))

    @classmethod
    def from_arrow(
        cls,
        batch: TableLike,
        attributes: Collection[str] | None = None,
        intervals: IntervalColumns | None = None,
        refusals: Refusals | None = None,
    ) -> EventBatch:
        """The columns of a table; struct fields get dotted names, nulls are absent.

        Only the named attributes are converted, if any are named: a column that no subscription
        looks at may be of any type. ``intervals`` names attributes whose two ends stand
        in two columns; a null end is unbounded, two nulls are absence. ``refusals`` says what
        becomes of values that the model does not have: unless given, they raise an error.
        """
        table = as_table(batch)
        refusals = refusals or Refusals()
        return cls(table.num_rows, parts_of(table, attributes, intervals, refusals))

    def attributes(self) -> Iterable[str]:
        """The names of the attributes that the batch may have values of."""
        return self._parts.keys()

    def parts(self, attribute: str) -> Sequence[TypedValues]:
        """The attribute's values, by representation."""
        return self._parts.get(attribute, ())

    def parts_with_kinds(
        self, attributes: Container[str]
    ) -> tuple[list[PartKind], list[TypedValues]]:
        """The values of some attributes, by representation, and what each part of them is.

        Of batches of the same table or stream the kinds are the same again and again, so that
        whoever works something out for them may keep it.
        """
        kinds: list[PartKind] = []
        parts: list[TypedValues] = []
        for attribute in self.attributes():
            if attribute in attributes:
                for part in self.parts(attribute):
                    if len(part):
                        kinds.append((attribute, type(part), part.rows is None))
                        parts.append(part)
        return kinds, parts

    def test(self, attribute: str, constraints: tuple[Constraint, ...], absent: Absent) -> Mask:
        """The rows in which the attribute satisfies all of the constraints on it."""
        admits_absence = all(constraint.holds_absent(absent) for constraint in constraints)
        parts = self.parts(attribute)
        if len(parts) == 1 and parts[0].rows is None:
            return parts[0].test_all(constraints, absent)
        mask = np.full(self._length, admits_absence)
        for part in parts:
            mask[part.rows] = part.test_all(constraints, absent)
        return mask

    def has_intervals(self, attributes: Iterable[str]) -> Mask:
        """The rows in which one of the attributes is an interval."""
        mask = np.zeros(self._length, bool)
        for attribute in attributes:
            for part in self.parts(attribute):
                if isinstance(part, Intervals):
                    mask[slice(None) if part.rows is None else part.rows] = True
        return mask

    def chunks(self, rows: int) -> Iterator[tuple[int, EventBatch]]:
        """The same events in pieces of at most that many rows, each with its first row."""
        if self._length <= rows:
            yield 0, self
            return
        for start in range(0, self._length, rows):
            yield start, self.slice(start, min(start + rows, self._length))

    def slice(self, start: int, end: int) -> EventBatch:
        """The events from ``start`` up to ``end``."""
        if (start, end) == (0, self._length):
            return self

        def part(name: str) -> list[TypedValues]:
            return [each.slice(start, end) for each in self._parts[name]]

        if isinstance(self._parts, PartsOnDemand):
            return EventBatch(end - start, PartsOnDemand(self._parts, part))
        return EventBatch(end - start, {name: part(name) for name in self._parts})

    def events(self) -> list[Event]:
        """The events one by one, as the model has them."""
        attributes: list[dict[str, Any]] = [{} for _ in range(self._length)]
        for name, parts in self._parts.items():
            for part in parts:
                rows = range(self._length) if part.rows is None else part.rows
                for position, row in enumerate(rows):
                    attributes[row][name] = part.value(position)
        return [Event(each) for each in attributes]


# From Python values, all of one type.

_Gathered: TypeAlias = dict[str, dict[type, tuple[list[int], list[Any]]]]  # rows and values


def _parts(gathered: _Gathered) -> dict[str, list[TypedValues]]:
    return {name: _of_types(by_type) for name, by_type in gathered.items()}


def _of_types(by_type: Mapping[type, tuple[list[int], list[Any]]]) -> list[TypedValues]:
    return [
        _FROM_PYTHON[type_](values, np.array(rows, np.int64))
        for type_, (rows, values) in by_type.items()
    ]


def _boxed(values: list[Any]) -> np.ndarray:
    boxed = np.empty(len(values), object)
    boxed[:] = values
    return boxed


def _lists(values: list[Elements], rows: Rows) -> TypedValues:
    store = Store(offsets([*map(len, values)]), EventBatch.from_elements(values))
    return Lists(np.arange(len(values)), rows, store)


_FROM_PYTHON: Final[dict[type, Callable[[list[Any], Rows], TypedValues]]] = {
    int: lambda values, rows: Integers(np.array(values, np.int64), rows),
    float: lambda values, rows: Floats(np.array(values, np.float64), rows),
    ExactDecimal: lambda values, rows: Decimals(_boxed(values), rows),
    bool: lambda values, rows: Booleans(np.array(values, bool), rows),
    datetime: lambda values, rows: Timestamps(
        np.array([microseconds(value) for value in values], np.int64), rows
    ),
    str: Strings.of,
    Interval: lambda values, rows: Intervals(_boxed(values), rows),
    Elements: _lists,
}
