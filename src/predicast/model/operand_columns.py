"""``OperandColumns``: many subscriptions of one outline, their operands in columns.

::

    outline   price < INTEGER AND symbol = STRING
    columns     uint8 [10, 12, 9, …]   object ['IBM', 'SAP', 'IBM', …]
    row 1       12                     'SAP'

A subscription costs the width of its operands and nothing else: no object, no header, no pointer
except for strings, and equal strings are one object. Integers take the fewest bytes that hold
the whole column. Looking at a row makes its subscription anew, in microseconds.

Rejected: Arrow arrays as columns. They would share more, but whoever reads a single operand would
pay for a scalar object and matchers want NumPy arrays anyway.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from predicast.model.outline import OperandType, Outline, Stated, outlined
from predicast.model.subscription import Subscription
from predicast.model.values import from_microseconds, microseconds

_WIDTHS: Final = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.int64)
_PIECE: Final = 1 << 16  # subscriptions of one outline that wait to be put into columns


class OperandColumns:
    """Operands in columns, one column per place of the outline; not to be changed."""

    __slots__ = ("_columns", "_length", "outline")

    outline: Outline

    def __init__(
        self,
        outline: Outline,
        columns: Sequence[np.ndarray] | Callable[[], Sequence[np.ndarray]],
        length: int,
    ) -> None:
        """``columns`` may also be what makes them, once somebody asks."""
        self.outline = outline
        self._length = length  # an outline without operands has no column to ask
        self._columns = columns if callable(columns) else self._checked(columns)

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """The operands, one column per place."""
        if callable(self._columns):
            self._columns = self._checked(self._columns())
        return self._columns

    def _checked(self, columns: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        assert len(columns) == len(self.outline.places)
        assert all(len(column) == self._length for column in columns)
        return tuple(columns)

    @classmethod
    def of(cls, outline: Outline, operands: Sequence[tuple[Any, ...]]) -> OperandColumns:
        """From the operands of each subscription, as ``outlined`` gives them."""
        by_place = zip(*operands, strict=True) if operands else ((),) * len(outline.places)
        columns = [
            column_of(type_, values) for type_, values in zip(outline.places, by_place, strict=True)
        ]
        return cls(outline, columns, len(operands))

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"<OperandColumns: {self._length} of {self.outline!r}>"

    def operands(self, row: int) -> tuple[Any, ...]:
        """The operands of one subscription, as Python values."""
        return tuple(
            [
                _value(type_, column[row])
                for type_, column in zip(self.outline.places, self.columns, strict=True)
            ]
        )

    def stated(self, row: int) -> Stated:
        """What one of the subscriptions states."""
        return Stated(self.outline, self.operands(row))

    def subscription(self, row: int) -> Subscription:
        """One of the subscriptions."""
        return self.stated(row).subscription()

    def subscriptions(self) -> Iterator[Subscription]:
        """All of them, row after row."""
        if not self.columns:
            alone = self.outline.subscription(())
            return iter([alone] * self._length)
        return map(self.outline.subscription, self._rows())

    def all_stated(self) -> Iterator[Stated]:
        """What they state, row after row."""
        return (Stated(self.outline, operands) for operands in self._rows())

    def _rows(self) -> Iterable[tuple[Any, ...]]:
        if not self.columns:
            return [()] * self._length
        values = [
            _values(type_, column)
            for type_, column in zip(self.outline.places, self.columns, strict=True)
        ]
        return zip(*values, strict=True)

    def take(self, rows: np.ndarray) -> OperandColumns:
        """Some of them: positions, or a mask."""
        length = int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows)
        columns = [
            narrowed(column[rows]) if type_ is OperandType.INTEGER else column[rows]
            for type_, column in zip(self.outline.places, self.columns, strict=True)
        ]
        return OperandColumns(self.outline, columns, length)

    def overwritten(
        self, rows: np.ndarray, other: OperandColumns, which: np.ndarray, *, in_place: bool
    ) -> OperandColumns:
        """The same with some of another's operands in some rows.

        In place, if nobody else looks at the columns.
        """
        columns = []
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            new, kind = theirs[which], mine.dtype
            if not np.can_cast(new.dtype, kind):
                kind = np.promote_types(kind, narrowed(new).dtype)
            writable = in_place and kind == mine.dtype and mine.flags.writeable
            column = mine if writable else mine.astype(kind)
            column[rows] = new
            columns.append(column)
        return OperandColumns(self.outline, columns, self._length)

    def nbytes(self) -> int:
        """Bytes of the columns, and of each object that they point to, once."""
        shared = {
            id(value): sys.getsizeof(value)
            for column in self.columns
            if column.dtype == object
            for value in column
        }
        return sum(column.nbytes for column in self.columns) + sum(shared.values())


def column_of(type_: OperandType, values: Sequence[Any]) -> np.ndarray:
    """Operands of one type as a column."""
    return _COLUMNS[type_](values)


def narrowed(integers: np.ndarray) -> np.ndarray:
    """The same integers in the fewest bytes that hold them all."""
    lo, hi = (int(integers.min()), int(integers.max())) if len(integers) else (0, 0)
    for width in _WIDTHS:
        held = np.iinfo(width)
        if held.min <= lo and hi <= held.max:
            return integers.astype(width, copy=False)
    raise AssertionError("integers are of 64 bits")


class Gathering:
    """Operands on their way into columns: groups by outline, in the order in which they came.

    Operands wait as tuples, some tens of bytes per operand, so that each group is turned into
    columns a piece at a time.
    """

    def __init__(self) -> None:
        self._waiting: dict[Outline, tuple[list[int], list[tuple[Any, ...]]]] = {}
        self._done: dict[Outline, list[tuple[np.ndarray, OperandColumns]]] = {}

    def add(self, key: int, outline: Outline, operands: tuple[Any, ...]) -> None:
        """Take in one subscription."""
        group = self._waiting.get(outline)
        if group is None:
            group = self._waiting[outline] = ([], [])
        group[0].append(key)
        group[1].append(operands)
        if len(group[0]) >= _PIECE:
            self._finish(outline)

    def groups(self) -> list[tuple[np.ndarray, OperandColumns]]:
        """All subscriptions with their keys, one group per outline."""
        for outline in list(self._waiting):
            self._finish(outline)
        return [
            (
                np.concatenate([keys for keys, _ in pieces]),
                joined([operands for _, operands in pieces]),
            )
            for pieces in self._done.values()
        ]

    def _finish(self, outline: Outline) -> None:
        keys, operands = self._waiting.pop(outline)
        piece = (np.array(keys, np.int64), OperandColumns.of(outline, operands))
        self._done.setdefault(outline, []).append(piece)


def grouped(
    pairs: Iterable[tuple[int, Subscription]],
) -> list[tuple[np.ndarray, OperandColumns]]:
    """Subscriptions with their keys, grouped by outline; each group in the order given."""
    return gathered((key, outlined(subscription)) for key, subscription in pairs)


def gathered(pairs: Iterable[tuple[int, Stated]]) -> list[tuple[np.ndarray, OperandColumns]]:
    """The same of what subscriptions state."""
    gathering = Gathering()
    for key, stated in pairs:
        gathering.add(key, *stated)
    return gathering.groups()


def joined(groups: Sequence[OperandColumns]) -> OperandColumns:
    """Groups of one outline as one, the rows of each after those of the one before."""
    if len(groups) == 1:
        return groups[0]
    outline = groups[0].outline
    columns = []
    for place, type_ in enumerate(outline.places):
        column = np.concatenate([each.columns[place] for each in groups])
        if type_ is OperandType.INTEGER:
            column = narrowed(column)
        elif type_ is OperandType.STRING:
            column = _strings(column)  # equal strings of two groups become one
        columns.append(column)
    return OperandColumns(outline, columns, sum(map(len, groups)))


def _objects(values: Sequence[Any]) -> np.ndarray:
    return np.fromiter(values, object, len(values))


def _strings(values: Sequence[str] | np.ndarray) -> np.ndarray:
    shared: dict[str, str] = {}
    return _objects([shared.setdefault(value, value) for value in values])


_COLUMNS: Final[dict[OperandType, Callable[[Sequence[Any]], np.ndarray]]] = {
    OperandType.INTEGER: lambda values: narrowed(np.array(values, np.int64)),
    OperandType.FLOAT: lambda values: np.array(values, np.float64),
    OperandType.BOOLEAN: lambda values: np.array(values, bool),
    OperandType.TIMESTAMP: lambda values: np.array([*map(microseconds, values)], np.int64),
    OperandType.STRING: _strings,
    OperandType.DECIMAL: _objects,
    OperandType.OBJECT: _objects,
}


_AS_THEY_ARE: Final = frozenset({OperandType.STRING, OperandType.DECIMAL, OperandType.OBJECT})


def _value(type_: OperandType, held: Any) -> Any:
    if type_ in _AS_THEY_ARE:
        return held
    plain = held.item()
    return from_microseconds(plain) if type_ is OperandType.TIMESTAMP else plain


def _values(type_: OperandType, column: np.ndarray) -> Iterable[Any]:
    values = column.tolist()
    return map(from_microseconds, values) if type_ is OperandType.TIMESTAMP else values
