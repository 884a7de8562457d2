"""What runs in Spark's Python workers where events are graphs, as texts in one column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from predicast.errors import UnsupportedTableError
from predicast.graph import GraphEngine, GraphExplanation
from predicast.spark.answers import BOUNDS, Bounds
from predicast.spark.graph_answers import AskedOfGraphs
from predicast.spark.graph_image import GraphImage
from predicast.spark.workers import EXPLAINED_ROWS, counted, with_matched, with_outcomes

_UNREAD: Final = "could not be read and were skipped"
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
        with self.image.lent() as lent, counted(lent, _UNREAD) as answers:
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
        with self.image.lent() as lent, counted(lent, _UNREAD) as answers:
            for texts in columns:
                for answer in answers.of(_checked(texts), self.asked, self.bounds):
                    yield answer.lists()


@dataclass(frozen=True, slots=True)
class ExplainingGraphs:
    """Adds to events how it went with one pattern."""

    image: GraphImage
    id: str
    texts: int
    kept: int
    format: str | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with self.image.lent() as answers:
            for batch in batches:
                for start in range(0, batch.num_rows, EXPLAINED_ROWS):
                    piece = batch.slice(start, EXPLAINED_ROWS)
                    found = [self._explained(answers.engine, text) for text in _texts(piece, self)]
                    outcomes = [_lines(each) for each in found]
                    matched = [each is not None and each.matched is True for each in found]
                    yield with_outcomes(piece, self.kept, outcomes, matched)

    def _explained(self, engine: GraphEngine, text: str | None) -> GraphExplanation | None:
        return None if text is None else engine.explain(self.id, text, format=self.format)


def _texts(piece: pa.RecordBatch, job: ExplainingGraphs) -> list[str | None]:
    texts: list[str | None] = piece.column(job.texts).to_pylist()
    return texts


def _lines(explanation: GraphExplanation | None) -> list[dict[str, Any]]:
    """The pattern as a whole; inside it, the variables and what nothing satisfied."""
    if explanation is None:
        return [_line(1, 0, "the pattern", None, False, "there is no text")]
    undecided = "undecided within the budget" if explanation.matched is None else None
    lines = [_line(1, 0, "the pattern", None, explanation.matched, undecided)]
    for variable, term in explanation.mapping.items():
        lines.append(_line(len(lines) + 1, 1, str(variable), str(term), True, None))
    if explanation.failed is not None:
        why = "nothing satisfies it"
        lines.append(_line(len(lines) + 1, 1, explanation.failed, None, False, why))
    return lines


def _line(
    number: int, depth: int, part: str, value: str | None, held: bool | None, reason: str | None
) -> dict[str, Any]:
    return {
        "line": number,
        "depth": depth,
        "part": part,
        "value": value,
        "held": held,
        "reason": reason,
    }


def _checked(texts: object) -> pa.Array:
    if isinstance(texts, pa.StringArray | pa.LargeStringArray):
        return texts
    given = "several arguments" if isinstance(texts, tuple) else f"one of type {texts.type}"  # type: ignore[attr-defined]
    raise UnsupportedTableError(
        f"matches takes one text of a graph, not {given}; in SQL: matches(graph)", type="string"
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
