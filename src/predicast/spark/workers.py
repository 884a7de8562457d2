"""What runs in Spark's Python workers: Arrow batches of events in, events with their matches out.

A batch of events is matched in pieces. Their size follows the number of matches seen so far, so
that what is in memory at a time is bounded by matches and not by events: ten thousand events that
match ten thousand subscriptions each would fill it otherwise. An event leaves with one list of
ids; making rows of lists is left to Spark, which repeats an event's columns without copying them
through Python.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.engine import Engine
from predicast.engine.asking import OnInvalid
from predicast.engine.derivation import Derivation
from predicast.engine.explanation import Explanation, Outcome
from predicast.engine.judging import judged
from predicast.language.wording import Wording
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.matches import sorted_matches
from predicast.model import Absent, Subscription
from predicast.spark.image import EngineImage
from predicast.spark.shipping import Source

_log: Final = logging.getLogger(__name__)

_FIRST_ROWS: Final = 64  # events in the first piece, when nothing is known of their matches
_MATCHES: Final = 262_144  # matches to aim for in a piece: tens of megabytes
_EXPLAINED_ROWS: Final = 1_024  # events explained at a time: each is many Python objects


@dataclass(frozen=True, slots=True)
class AttributeReader:
    """How to read attributes from the columns that were sent."""

    sources: tuple[Source, ...]
    intervals: Mapping[str, tuple[str, str]]

    def attributes(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The attributes of a batch of events, flat and by name."""
        # A column that no attribute can be called keeps the number of rows when there is no other.
        arrays: dict[str, pa.Array] = {"": pa.nulls(batch.num_rows)}
        for name, column, path in self.sources:
            array = batch.column(column)
            # struct_field makes a field null where its struct is.
            arrays[name] = pc.struct_field(array, list(path)) if path else array
        return pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))


@dataclass(frozen=True, slots=True)
class Matching:
    """Adds to events the list of the subscriptions that they match."""

    image: EngineImage
    reader: AttributeReader
    kept: int
    how: str
    on_invalid: OnInvalid = "raise"
    now: str | None = None  # the attribute that says when an event arrives

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        engine = self.image.shared()
        before = engine.invalid
        rows = _FIRST_ROWS
        for batch in batches:
            start = 0
            while start < batch.num_rows:
                piece = batch.slice(start, rows)
                offsets, ids = self._matches(engine, piece)
                yield self._result(piece, offsets, ids)
                start += piece.num_rows
                rows = max(1, _MATCHES * piece.num_rows // max(1, len(ids)))
        invalid = engine.invalid
        if invalid.events > before.events:
            _log.warning(
                "%d events had values that cannot be compared (on_invalid=%r); the last: %s",
                invalid.events - before.events,
                self.on_invalid,
                invalid.latest,
            )

    def _matches(self, engine: Engine, piece: pa.RecordBatch) -> tuple[np.ndarray, pa.Array]:
        """All ids, sorted, event after event, and where those of each event begin and end."""
        attributes = self.reader.attributes(piece)
        table = sorted_matches(
            engine.match_arrow(
                attributes,
                intervals=self.reader.intervals,
                on_invalid=self.on_invalid,
                now=self.now,
            )
        )
        counts = np.bincount(table.column("event").to_numpy(), minlength=piece.num_rows)
        offsets = np.concatenate(([0], np.cumsum(counts)))
        return offsets, table.column("subscription").combine_chunks().dictionary_decode()

    def _result(self, piece: pa.RecordBatch, offsets: np.ndarray, ids: pa.Array) -> pa.RecordBatch:
        kept: list[Any] = piece.columns[: self.kept]
        if self.how != "left":
            matched = offsets[1:] > offsets[:-1]
            wanted = matched if self.how == "inner" else ~matched
            kept = [column.filter(pa.array(wanted)) for column in kept]
            offsets = np.append(offsets[:-1][wanted], offsets[-1])
        if self.how != "anti":
            kept.append(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), ids))
        return pa.RecordBatch.from_arrays(kept, names=[f"k{place}" for place in range(len(kept))])


OUTCOMES: Final = pa.list_(
    pa.struct(
        [
            ("line", pa.int32()),
            ("depth", pa.int32()),
            ("part", pa.string()),
            ("value", pa.string()),
            ("held", pa.bool_()),
            ("reason", pa.string()),
        ]
    )
)


@dataclass(frozen=True, slots=True)
class Explaining:
    """Adds to events the outcome of every part of one subscription, and of the whole."""

    id: str
    subscription: Subscription
    wording: Wording
    absent: Absent
    reader: AttributeReader
    kept: int
    now: datetime

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for start in range(0, batch.num_rows, _EXPLAINED_ROWS):
                yield self._explained(batch.slice(start, _EXPLAINED_ROWS))

    def _explained(self, piece: pa.RecordBatch) -> pa.RecordBatch:
        attributes = self.subscription.attributes()
        columns = EventBatch.from_arrow(
            self.reader.attributes(piece),
            Derivation(attributes).read(attributes),
            self.reader.intervals,
        )
        explanations = [
            judged(self.id, self.subscription, self.wording, event, self.absent, self.now)
            for event in columns.events()
        ]
        arrays: list[Any] = piece.columns[: self.kept]
        arrays.append(pa.array(map(_outcomes, explanations), OUTCOMES))
        arrays.append(pa.array([each.matched for each in explanations], pa.bool_()))
        return pa.RecordBatch.from_arrays(
            arrays, names=[f"k{place}" for place in range(len(arrays))]
        )


def _outcomes(explanation: Explanation) -> list[dict[str, Any]]:
    lines = enumerate(explanation.outcome.lines(), 1)
    return [_line(number, depth, outcome) for number, (depth, outcome) in lines]


def _line(number: int, depth: int, outcome: Outcome) -> dict[str, Any]:
    is_absent = len(outcome.seen) == 1 and outcome.value is None
    return {
        "line": number,
        "depth": depth,
        "part": outcome.text,
        "value": None if is_absent else outcome.saw,
        "held": outcome.held,
        "reason": outcome.reason,
    }
