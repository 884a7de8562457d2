"""What runs in Spark's Python workers where events are graphs, as texts in one column."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from predicast.spark.answers import BOUNDS, Bounds
from predicast.spark.graph_answers import AskedOfGraphs
from predicast.spark.graph_image import GraphImage
from predicast.spark.workers import with_matched

_log: Final = logging.getLogger(__name__)

REASON: Final = pa.field("reason", pa.string(), nullable=False)


@dataclass(frozen=True, slots=True)
class MatchingGraphs:
    """Adds to events the list of the subscriptions that they match."""

    image: GraphImage
    texts: int  # the column that holds them
    kept: tuple[int, ...]
    how: str
    asked: AskedOfGraphs
    bounds: Bounds = BOUNDS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with self.image.lent() as answers:
            before = answers.invalid
            for batch in batches:
                for answer in answers.of(batch.column(self.texts), self.asked, self.bounds):
                    piece = batch.slice(answer.first, answer.end - answer.first)
                    yield with_matched(piece, answer, self.kept, self.how)
            if answers.invalid > before:
                _log.warning(
                    "%d events could not be read and were skipped; the last: %s",
                    answers.invalid - before,
                    answers.latest,
                )


@dataclass(frozen=True, slots=True)
class FindingDeadLetters:
    """Leaves the events that cannot be read, and adds to them why."""

    image: GraphImage
    texts: int
    kept: tuple[int, ...]
    asked: AskedOfGraphs

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with self.image.lent() as answers:
            for batch in batches:
                reasons = answers.reasons(batch.column(self.texts), self.asked)
                dead = pc.is_valid(reasons)
                columns = [batch.column(place).filter(dead) for place in self.kept]
                fields = [batch.schema.field(place) for place in self.kept]
                schema = pa.schema([*fields, REASON])
                yield pa.RecordBatch.from_arrays([*columns, reasons.filter(dead)], schema=schema)
