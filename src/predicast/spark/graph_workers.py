"""What runs in Spark's Python workers where events are graphs, as texts in one column."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from predicast.errors import UnsupportedTableError
from predicast.spark.answers import BOUNDS, Bounds
from predicast.spark.graph_answers import AskedOfGraphs, GraphAnswers
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
        with self.image.lent() as lent, _counted(lent) as answers:
            for batch in batches:
                for answer in answers.of(batch.column(self.texts), self.asked, self.bounds):
                    piece = batch.slice(answer.first, answer.end - answer.first)
                    yield with_matched(piece, answer, self.kept, self.how)


@dataclass(frozen=True, slots=True)
class MatchingTexts:
    """The lists alone, for events that come as a column of texts."""

    image: GraphImage
    asked: AskedOfGraphs
    bounds: Bounds = BOUNDS

    def __call__(self, columns: Iterable[pa.Array]) -> Iterator[pa.ListArray]:
        with self.image.lent() as lent, _counted(lent) as answers:
            for texts in columns:
                for answer in answers.of(_checked(texts), self.asked, self.bounds):
                    yield answer.lists()


def _checked(texts: object) -> pa.Array:
    if isinstance(texts, pa.StringArray | pa.LargeStringArray):
        return texts
    given = "several arguments" if isinstance(texts, tuple) else f"one of type {texts.type}"  # type: ignore[attr-defined]
    raise UnsupportedTableError(
        f"matches takes one text of a graph, not {given}; in SQL: matches(graph)", type="string"
    )


@contextmanager
def _counted(answers: GraphAnswers) -> Iterator[GraphAnswers]:
    """Log in the end how many events could not be read."""
    before = answers.invalid
    yield answers
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
