"""``Batch``: events as objects and, where one type per attribute allows it, as an Arrow batch.

The oracle is always given the objects; what the matcher under test reads from Arrow is therefore
compared with what the model has, not with another reading of the same columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any, Final

import pyarrow as pa

from predicast.model import Elements, Event, Interval
from predicast.model.decimals import ExactDecimal

_ENDS: Final = (" from", " to")  # behind an attribute's name: the columns of its intervals' ends
_EXACT: Final = 2**53  # integers up to here are floats without loss
_TYPES: Final[Mapping[type, tuple[pa.DataType, ...]]] = {
    int: (pa.int64(),),
    float: (pa.float64(),),
    bool: (pa.bool_(),),
    datetime: (pa.timestamp("us", "UTC"),),
    str: (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())),
}


@dataclass(frozen=True, slots=True)
class Batch:
    """Events, and the same ones as Arrow has them if it can."""

    events: tuple[Event, ...]
    arrow: pa.RecordBatch | None = None
    intervals: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.events)


def batch_of(events: Sequence[Event], chance: Random) -> Batch:
    """The batch of these events; types of columns that are a matter of taste are drawn."""
    columns: dict[str, pa.Array] = {}
    intervals: dict[str, tuple[str, str]] = {}
    for name in sorted({name for event in events for name, _ in event.items()}):
        values = [event.get(name) for event in events]
        if any(isinstance(value, Interval) for value in values):
            ends = _ends(values)
            if ends is None:
                return Batch(tuple(events))
            intervals[name] = (name + _ENDS[0], name + _ENDS[1])
            columns |= dict(zip(intervals[name], ends, strict=True))
        else:
            column = _column(values, chance)
            if column is None:
                return Batch(tuple(events))
            columns[name] = column
    if not columns:  # Arrow has no rows without columns
        return Batch(tuple(events))
    return Batch(tuple(events), _sliced(pa.RecordBatch.from_pydict(columns), chance), intervals)


def _sliced(batch: pa.RecordBatch, chance: Random) -> pa.RecordBatch:
    """The same rows, now and then as the end of a longer batch: readers forget about offsets."""
    if chance.random() < 0.7:
        return batch
    before = batch.slice(0, chance.randint(0, batch.num_rows))
    whole = pa.Table.from_batches([before, batch]).combine_chunks().to_batches()
    return whole[0].slice(before.num_rows) if len(whole) == 1 else batch


def _column(values: Sequence[Any], chance: Random) -> pa.Array | None:
    types = {type(value) for value in values if value is not None}
    if types == {int, float}:
        if any(type(value) is int and abs(value) > _EXACT for value in values):
            return None
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    if ExactDecimal in types and types <= {int, ExactDecimal}:
        return _decimals(values)
    if len(types) != 1:
        return None
    (type_,) = types
    if type_ is Elements:
        return _list_column(values)
    if type_ is int and all(value is None or abs(value) < 2**15 for value in values):
        return pa.array(values, chance.choice((pa.int16(), pa.int32(), pa.int64())))
    return pa.array(values, chance.choice(_TYPES[type_]))


def _decimals(values: Sequence[Any]) -> pa.Array | None:
    """Numbers as decimals, if there is a type that holds them all."""
    try:
        return pa.array([None if value is None else Decimal(value) for value in values])
    except pa.ArrowInvalid:
        return None


def _list_column(values: Sequence[Elements | None]) -> pa.Array | None:
    """Lists of values, or of objects, of one type throughout; Arrow has no others."""
    lists = [None if each is None else each.plain() for each in values]
    present = [each for some in lists if some is not None for each in some if each is not None]
    if any(isinstance(each, dict) for each in present):
        if not all(isinstance(each, dict) for each in present):
            return None
        names = {name for each in present for name in each}
        columns = [[each[name] for each in present if name in each] for name in names]
        if not names:
            return None
    else:
        columns = [present]
    if any(len(set(map(type, column))) > 1 for column in columns):
        return None
    if any(isinstance(each, list) for column in columns for each in column):
        return None
    return pa.array(lists) if present else None


def _ends(values: Sequence[Any]) -> tuple[pa.Array, pa.Array] | None:
    """The two columns of closed intervals: an end that is not there is null."""
    present = [value for value in values if value is not None]
    for each in present:
        if not isinstance(each, Interval) or (each.lo is None and each.hi is None):
            return None
        if (each.lo_open and each.lo is not None) or (each.hi_open and each.hi is not None):
            return None
    columns = []
    for end in ("lo", "hi"):
        found = [None if value is None else getattr(value, end) for value in values]
        types = {type(value) for value in found if value is not None}
        if len(types) > 1 or ExactDecimal in types:
            return None
        columns.append(pa.array(found, _TYPES[types.pop()][0] if types else pa.int64()))
    return columns[0], columns[1]
