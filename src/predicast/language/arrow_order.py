"""The rows of an Arrow table brought together by subscription and clause.

Subscriptions, and the clauses of each, stand in order of appearance, the rows of a clause as they
do in the table. A table that is written subscription after subscription is in that order already,
which is found out without sorting or hashing its rows: neighbours are compared, and only the ids at
which runs begin are checked for repeats. Other tables are sorted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from predicast.language.arrow_columns import ColumnRows, differs_from_previous


class Arrangement(NamedTuple):
    """Rows brought together by subscription and clause."""

    ids: pa.StringArray
    subscription: np.ndarray  # of each row of the table
    order: np.ndarray | None  # the rows of the table as arranged; None if they stand so
    starts: np.ndarray  # where the rows of each subscription start, as arranged
    counts: np.ndarray  # how many they are
    opens: np.ndarray  # which rows open a clause, as arranged

    def rows(self, places: np.ndarray) -> np.ndarray:
        """The rows of the table that stand at these places."""
        return places if self.order is None else self.order[places]


def arranged(rows: ColumnRows) -> Arrangement:
    """Find the rows of each subscription, and of each of its clauses."""
    opens = differs_from_previous(rows.ids)
    firsts = np.flatnonzero(opens)
    runs = rows.ids.take(pa.array(firsts)).cast(pa.string()).dictionary_encode()
    ids = runs.dictionary
    lengths = np.diff(firsts, append=rows.length)
    subscription = np.repeat(runs.indices.to_numpy(), lengths)
    clauses = rows.clauses.to_numpy()
    opens[1:] |= clauses[1:] != clauses[:-1]
    if len(ids) == len(firsts) and not _scattered(subscription, clauses, np.flatnonzero(opens)):
        return Arrangement(ids, subscription, None, firsts, lengths, opens)
    order = _order(subscription, clauses)
    of, clauses = subscription[order], clauses[order]
    opens = np.ones(rows.length, bool)
    opens[1:] = (of[1:] != of[:-1]) | (clauses[1:] != clauses[:-1])
    counts = np.bincount(subscription, minlength=len(ids))
    starts = np.concatenate(([0], np.cumsum(counts[:-1])))
    return Arrangement(ids, subscription, order, starts, counts, opens)


def _scattered(subscription: np.ndarray, clauses: np.ndarray, runs: np.ndarray) -> bool:
    """Whether some clause has several runs of rows."""
    if len(runs) == subscription[-1] + 1:  # as many as there are subscriptions
        return False
    of, clause = subscription[runs], clauses[runs]
    order = np.lexsort((clause, of))
    of, clause = of[order], clause[order]
    return bool(np.any((of[1:] == of[:-1]) & (clause[1:] == clause[:-1])))


def _order(subscription: np.ndarray, clauses: np.ndarray) -> np.ndarray:
    """Rows by subscription, then by the first row of their clause, then as they stand."""
    order = np.lexsort((clauses, subscription))
    of, clause = subscription[order], clauses[order]
    opens = np.ones(len(order), bool)
    opens[1:] = (of[1:] != of[:-1]) | (clause[1:] != clause[:-1])
    starts = np.flatnonzero(opens)
    # The sort is stable: the first row of a run is the first of its clause.
    first = np.repeat(order[starts], np.diff(starts, append=len(order)))
    return order[np.lexsort((order, first, of))]
