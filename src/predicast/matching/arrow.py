"""Matches as an Arrow table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from predicast.matching.matcher import Pairs

MATCHES_SCHEMA: Final = pa.schema(
    [("event", pa.int64()), ("subscription", pa.dictionary(pa.int32(), pa.string()))]
)


def matches_table(pairs: Pairs, ids: Mapping[int, str]) -> pa.Table:
    """(event, key) pairs as a table of events and ids, sorted by event, then by id."""
    keys, position = np.unique(pairs.keys, return_inverse=True)
    names = [ids[key] for key in keys.tolist()]
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    codes = rank[position]
    by_event = np.lexsort((codes, pairs.events))
    subscriptions = pa.DictionaryArray.from_arrays(
        pa.array(codes[by_event], pa.int32()),
        pa.array([names[place] for place in order], pa.string()),
    )
    return pa.table(
        [pa.array(pairs.events[by_event], pa.int64()), subscriptions], schema=MATCHES_SCHEMA
    )
