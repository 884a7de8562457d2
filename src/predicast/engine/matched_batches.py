"""Events of any form, matched a batch at a time: for whoever counts matches of many events.

A stream of batches, a plan of Polars and an iterator are read as they come: memory is bounded by a
batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from predicast.arrow import as_table

if TYPE_CHECKING:
    from predicast.engine.engine import Engine

_BATCH_EVENTS: Final = 4_096
_BATCH_ROWS: Final = 16_384


class MatchedBatch(NamedTuple):
    """The matches of a batch, as ``Engine.match_arrow`` gives them, and its events."""

    pairs: pa.Table
    size: int
    event_at: Callable[[int], Any]


def matched_batches(engine: Engine, events: Any, now: datetime) -> Iterator[MatchedBatch]:
    """The matches of events, a batch at a time, with what gives an event of it."""
    if hasattr(events, "collect_batches"):  # a plan of Polars
        for frame in events.collect_batches():
            yield from _matched_table(engine, as_table(frame), now)
    elif isinstance(events, pa.RecordBatchReader):
        for batch in events:
            yield from _matched_table(engine, pa.Table.from_batches([batch]), now)
    elif hasattr(events, "__arrow_c_stream__") or hasattr(events, "__arrow_c_array__"):
        yield from _matched_table(engine, as_table(events), now)
    else:
        yield from _matched_events(engine, iter(events), now)


def _matched_table(engine: Engine, table: pa.Table, now: datetime) -> Iterator[MatchedBatch]:
    for start in range(0, table.num_rows, _BATCH_ROWS):
        rows = table.slice(start, _BATCH_ROWS)

        def row(event: int, rows: pa.Table = rows) -> Any:
            return rows.slice(event, 1).to_pylist()[0]

        yield MatchedBatch(engine.match_arrow(rows, now=now), rows.num_rows, row)


def _matched_events(engine: Engine, events: Iterator[Any], now: datetime) -> Iterator[MatchedBatch]:
    while batch := list(islice(events, _BATCH_EVENTS)):
        ids = engine.match_batch(batch, now=now)
        yield MatchedBatch(_pairs(ids), len(batch), batch.__getitem__)


def _pairs(ids: Sequence[Sequence[str]]) -> pa.Table:
    counts = [len(each) for each in ids]
    return pa.table(
        {
            "event": pa.array(np.repeat(np.arange(len(ids)), counts), pa.int64()),
            "subscription": pa.array([id for each in ids for id in each], pa.string()),
        }
    )
