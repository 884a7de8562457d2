"""Several columns as one: what stands in different rows of them, under one name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from predicast.arrays import Array
from predicast.arrays.words import Words
from predicast.matching.batches.lists import Lists
from predicast.matching.batches.typed_values import Strings, TypedValues


def joined_parts(parts: Iterable[TypedValues]) -> list[TypedValues] | None:
    """The same values with one part for each representation, which is what matchers expect.

    No two stand in the same row. ``None`` if several are of lists, which are not joined here: their
    elements would have to be, attribute by attribute.
    """
    by_type: dict[type[TypedValues], list[TypedValues]] = {}
    for part in parts:
        by_type.setdefault(type(part), []).append(part)
    if len(by_type.get(Lists, ())) > 1:
        return None
    return [each[0] if len(each) == 1 else _joined(each) for each in by_type.values()]


def _joined(parts: Sequence[TypedValues]) -> TypedValues:
    rows = np.concatenate([_rows(part) for part in parts])
    order = np.argsort(rows)
    if all(isinstance(part, Strings) for part in parts):
        words = Words.joined([p.words.take(p.values) for p in parts if isinstance(p, Strings)])
        return Strings(None, rows[order], words.take(order))
    values: Any = np.concatenate([part.values for part in parts])[order]
    return type(parts[0])(values, rows[order])


def _rows(part: TypedValues) -> Array:
    assert part.rows is not None, "a column with a value in every row has no other beside it"
    return part.rows
