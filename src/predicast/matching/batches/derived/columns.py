"""Columns of values of several types: bringing rows together, and putting results in place.

An attribute of a batch has one part for each type that its values are of (``typed_values.py``). A
function of two attributes is computed for each pair of parts, in the rows where both stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from predicast.arrays import Words, expand, offsets
from predicast.matching.batches.lists import Lists
from predicast.matching.batches.typed_values import (
    Booleans,
    Decimals,
    Floats,
    Integers,
    Mask,
    Rows,
    Strings,
    Timestamps,
    TypedValues,
)
from predicast.model import Value
from predicast.model.decimals import ExactDecimal
from predicast.model.values import microseconds

_MOST_BYTES: Final = 1 << 20  # that are compared at once
_FEW_TEXTS: Final = 16  # that are compared one by one sooner

Column: TypeAlias = list[TypedValues]  # parts that share no row

TYPES: Final[dict[type, type[TypedValues]]] = {
    int: Integers,
    float: Floats,
    ExactDecimal: Decimals,
    bool: Booleans,
    str: Strings,
    datetime: Timestamps,
}
_DTYPES: Final[dict[type[TypedValues], Any]] = {
    Integers: np.int64,
    Floats: np.float64,
    Decimals: object,
    Booleans: np.bool_,
    Timestamps: np.int64,
}


def constant(value: Value, length: int) -> TypedValues:
    """The same value in every row."""
    cls = TYPES[type(value)]
    if isinstance(value, str):
        return Strings(np.zeros(length, np.int32), None, Words.of([value]))
    number = microseconds(value) if isinstance(value, datetime) else value
    return made(cls, np.full(length, number, _DTYPES[cls]), None)


def made(cls: type[TypedValues], values: npt.NDArray[Any], rows: Rows | None) -> TypedValues:
    """A part; not of strings, which need their words."""
    return cls(values, rows)


def rows_of(part: TypedValues) -> Rows:
    """The rows where its values stand."""
    return np.arange(len(part)) if part.rows is None else part.rows


def taken(part: TypedValues, which: npt.NDArray[Any], rows: Rows | None) -> TypedValues:
    """Some of a part's values, by mask or position, that stand in these rows."""
    return with_values(part, part.values[which], rows)


def with_values(part: TypedValues, values: npt.NDArray[Any], rows: Rows | None) -> TypedValues:
    """Other values of the same type."""
    if isinstance(part, Strings):
        return Strings(values, rows, part.words)
    if isinstance(part, Lists):
        return Lists(values, rows, part.store)
    return made(type(part), values, rows)


def kept(part: TypedValues, mask: Mask) -> TypedValues:
    """The values whose own place in the mask, by position, is set."""
    if mask.all():
        return part
    return taken(part, mask, rows_of(part)[mask])


def kept_rows(part: TypedValues, rows: Mask) -> TypedValues:
    """The values that stand in rows of which the batch's mask is set."""
    return kept(part, rows if part.rows is None else rows[part.rows])


def aligned(parts: Sequence[TypedValues]) -> list[TypedValues] | None:
    """The parts in those rows where all of them stand; ``None`` if there are none."""
    limited = [part for part in parts if part.rows is not None]
    if not limited:
        return list(parts) if len(parts[0]) else None
    rows = limited[0].rows
    assert rows is not None
    for part in limited[1:]:
        if part.rows is not rows:
            assert part.rows is not None
            rows = _common(rows, part.rows)
    if not len(rows):
        return None
    return [_in_rows(part, rows) for part in parts]


def _common(some: Rows, others: Rows) -> Rows:
    """The rows that are among both, which ascend."""
    if not len(some):
        return some
    places = np.searchsorted(some, others)
    places[places == len(some)] = 0
    both: Rows = others[some[places] == others]
    return both


def _in_rows(part: TypedValues, rows: Rows) -> TypedValues:
    if part.rows is rows:
        return part
    places = rows if part.rows is None else np.searchsorted(part.rows, rows)
    return taken(part, places, rows)


def merged(parts: Iterable[TypedValues]) -> Column:
    """One part per type, rows ascending, without parts that have no values."""
    by_type: dict[type[TypedValues], list[TypedValues]] = {}
    for part in parts:
        if len(part):
            by_type.setdefault(type(part), []).append(part)
    return [group[0] if len(group) == 1 else _joined(group) for group in by_type.values()]


def _joined(group: list[TypedValues]) -> TypedValues:
    rows = np.concatenate([rows_of(part) for part in group])
    order = np.argsort(rows, kind="stable")
    if isinstance(group[0], Strings):
        texts = [part for part in group if isinstance(part, Strings)]
        starts = offsets([len(part.words) for part in texts]).astype(np.int32)
        numbers = [part.values + start for part, start in zip(texts, starts, strict=False)]
        words = Words.joined([part.words for part in texts])
        return Strings(np.concatenate(numbers)[order], rows[order], words)
    values = np.concatenate([part.values for part in group])
    return made(type(group[0]), values[order], rows[order])


def ranked_together(
    left: Strings, right: Strings
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The strings of both by their ranks among all of them."""
    ranks = Words.joined([left.words, right.words]).ranked[1]
    return ranks[left.values], ranks[len(left.words) :][right.values]


def are_same(left: Strings, right: Strings) -> Mask:
    """Where two columns have the same string; only those of one length are looked at."""
    (one, other), (a, b) = (left.values, right.values), (left.words, right.words)
    sizes = a.first[one + 1] - a.first[one]
    same: Mask = np.equal(sizes, b.first[other + 1] - b.first[other])
    places = np.flatnonzero(same)
    if len(places) <= _FEW_TEXTS or sizes[places].sum() > _MOST_BYTES:
        for place in places.tolist():
            same[place] = a.bytes_at(one[place]) == b.bytes_at(other[place])
        return same
    which = np.repeat(places, sizes[places])
    differs = a.raw[expand(a.first, one[places])] != b.raw[expand(b.first, other[places])]
    same[which[differs]] = False
    return same


def from_values(values: Sequence[Any], inverse: npt.NDArray[Any], rows: Rows | None) -> Column:
    """A column of values of Python's, each in as many rows as ``inverse`` has it."""
    if set(map(type, values)) == {str}:
        return [_of_texts(values, inverse, rows)]
    types = np.array([_ORDER.get(type(value), 0) for value in values], np.int8)
    codes = types[inverse]
    found: Column = []
    for type_, order in _ORDER.items():
        if not (types == order).any():
            continue
        mask = codes == order
        here = np.flatnonzero(mask) if rows is None else rows[mask]
        found.append(_of_type(type_, values, types == order, inverse[mask], here))
    if rows is None and len(found) == 1 and (codes != 0).all():
        found[0].rows = None
    return found


_ORDER: Final = {type_: order for order, type_ in enumerate(TYPES, 1)}


def _of_type(
    type_: type, values: Sequence[Any], is_type: Mask, places: npt.NDArray[Any], rows: Rows
) -> TypedValues:
    some = [value for value, wanted in zip(values, is_type.tolist(), strict=True) if wanted]
    position = np.cumsum(is_type) - 1
    if type_ is str:
        return _of_texts(some, position[places], rows)
    if type_ is datetime:
        some = [microseconds(value) for value in some]
    cls = TYPES[type_]
    return made(cls, np.array(some, _DTYPES[cls])[position[places]], rows)


def _of_texts(texts: Sequence[str], inverse: npt.NDArray[Any], rows: Rows | None) -> Strings:
    return Strings(inverse.astype(np.int32), rows, Words.of(texts))
