"""Matches as an Arrow table.

Ids are dictionary-encoded. The dictionary is that of all ids, which takes neither sorting nor
copying, unless there are far fewer matches than subscriptions: then it holds only the ids that
occur, so that a small answer of a large engine stays small.
"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.matching.matcher import Pairs

MATCHES_SCHEMA: Final = pa.schema(
    [("event", pa.int64()), ("subscription", pa.dictionary(pa.int32(), pa.string()))]
)


_FEWER: Final = 32  # times fewer matches than subscriptions make a dictionary of their own
_SPARSE: Final = 512  # times fewer, and to sort them is quicker than to look at all keys there are


class IdsByKey(Protocol):
    """The ids that keys stand for."""

    def indexed(self, keys: np.ndarray) -> tuple[np.ndarray, pa.StringArray]:
        """Where the ids of some keys stand in an array of texts, and that array."""
        ...

    def texts(self, keys: np.ndarray) -> pa.StringArray:
        """The ids of some keys."""
        ...

    def bound(self) -> int:
        """All keys are below it."""
        ...


def matches_table(pairs: Pairs, ids: IdsByKey) -> pa.Table:
    """(event, key) pairs, ascending by event, as a table of events and ids in the same order."""
    if _FEWER * len(pairs.keys) >= ids.bound():
        indices, dictionary = ids.indexed(pairs.keys)
    else:
        keys, indices = _numbered(pairs.keys, ids.bound())
        dictionary = ids.texts(keys)
    codes = pa.array(indices.astype(np.int32, copy=False))
    # Keys come from the engine: that each has an id need not be checked row by row.
    subscriptions = pa.DictionaryArray.from_arrays(codes, dictionary, safe=False)
    events = pa.array(pairs.events.astype(np.int64, copy=False))
    return pa.table([events, subscriptions], schema=MATCHES_SCHEMA)


def _numbered(keys: np.ndarray, bound: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct keys, ascending, and where each key is among them."""
    if bound > _SPARSE * len(keys):
        return np.unique(keys, return_inverse=True)
    occurs = np.zeros(bound, bool)
    occurs[keys] = True
    distinct = np.flatnonzero(occurs)
    number = np.empty(bound, np.int32)
    number[distinct] = np.arange(len(distinct), dtype=np.int32)
    return distinct, number[keys]


def sorted_matches(table: pa.Table) -> pa.Table:
    """The same matches sorted by event, then by id, for people and for comparisons."""
    events = table.column("event").to_numpy()
    subscriptions = table.column("subscription").combine_chunks()
    if isinstance(subscriptions, pa.ChunkedArray):  # an empty table combines to no chunk at all
        return table
    used, position = np.unique(subscriptions.indices.to_numpy(), return_inverse=True)
    names = subscriptions.dictionary.take(pa.array(used))
    order = pc.sort_indices(names)
    rank = np.empty(len(used), np.int32)
    rank[order.to_numpy()] = np.arange(len(used), dtype=np.int32)
    codes = rank[position]
    by_event = np.lexsort((codes, events))
    ids = pa.DictionaryArray.from_arrays(pa.array(codes[by_event]), names.take(order))
    return pa.table([pa.array(events[by_event]), ids], schema=MATCHES_SCHEMA)
