"""The sets of an Arrow table: members in several rows become one operand in the first of them.

::

    row        0      1       2       3             row        0      1
    slot       a =    b in    b in    b in     →    slot       a =    b in
    value      5      3       1       3             operand    5      (1, 3)

That is done for members that stand side by side and are of one type. A subscription whose
sets are scattered or mixed is *odd* and read row by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from predicast.language.arrow_columns import OBJECT, TIMESTAMP, ColumnRows
from predicast.language.arrow_order import Arrangement
from predicast.model.constraint import sorted_set
from predicast.model.values import from_microseconds


def gather_sets(rows: ColumnRows, arrangement: Arrangement, odd: np.ndarray) -> Arrangement:
    """Make one row of each set; subscriptions for which that cannot be done are marked odd."""
    members = rows.sets()
    if not len(members):
        return arrangement
    if arrangement.order is None:
        places = members
    else:
        position = np.empty(rows.length, np.int64)
        position[arrangement.order] = np.arange(rows.length)
        places = np.sort(position[members])
        members = arrangement.order[places]
    clause = np.cumsum(arrangement.opens)[places]
    test = rows.attributes[members] * np.int64(256) + rows.operators[members]
    same = (clause[1:] == clause[:-1]) & (test[1:] == test[:-1])
    starts = np.flatnonzero(np.concatenate(([True], ~(same & (np.diff(places) == 1)))))
    of = arrangement.subscription[members]
    _mark_odd(odd, of, starts, clause[starts], test[starts], rows.types[members])
    _fill(rows, members, starts, odd[of])
    return _without(arrangement, rows.length, np.delete(places, starts))


def _mark_odd(
    odd: np.ndarray,
    of: np.ndarray,
    starts: np.ndarray,
    clause: np.ndarray,
    test: np.ndarray,
    types: np.ndarray,
) -> None:
    """Find the subscriptions with a set in several runs, or with members of several types."""
    order = np.lexsort((test, clause))
    repeats = (np.diff(clause[order]) == 0) & (np.diff(test[order]) == 0)
    odd[of[starts[order[1:][repeats]]]] = True
    changes = np.diff(types, prepend=types[:1]) != 0
    changes[starts] = False
    odd[of[changes]] = True


def _fill(rows: ColumnRows, members: np.ndarray, starts: np.ndarray, skipped: np.ndarray) -> None:
    """Put each whole set into the row of its first member."""
    rows.objects = np.full(rows.length, None, object)
    ends = np.append(starts[1:], len(members))
    types = rows.types[members[starts]]
    for code in np.unique(types).tolist():
        chosen = np.flatnonzero((types == code) & ~skipped[starts])
        values: list[Any] = rows.values(code)[members].tolist()
        if code == TIMESTAMP:
            values = list(map(from_microseconds, values))
        bounds = zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True)
        sets = [sorted_set(values[start:end]) for start, end in bounds]
        rows.objects[members[starts[chosen]]] = np.fromiter(sets, object, len(sets))
    rows.types[members[starts]] = OBJECT


def _without(arrangement: Arrangement, length: int, dropped: np.ndarray) -> Arrangement:
    """The same without some of its places."""
    kept = np.ones(length, bool)
    kept[dropped] = False
    order = np.flatnonzero(kept) if arrangement.order is None else arrangement.order[kept]
    of = arrangement.subscription[order]
    counts = np.bincount(of, minlength=len(arrangement.ids))
    starts = np.concatenate(([0], np.cumsum(counts[:-1])))
    return arrangement._replace(
        order=order, starts=starts, counts=counts, opens=arrangement.opens[kept]
    )
