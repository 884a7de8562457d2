"""``Intake``: the events that come in, each of them answered or set apart.

An event that cannot be matched is a dead letter: one that the source could not read, or one with a
value that cannot be compared. Which ones these are is found by halves. A piece that raises is
divided until a single event does, so that every event ends in one of the two places and none in
neither, however the error comes about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.errors import InvalidValueError, PredicastError, shortened
from predicast.spark.answers import Answer, Answers
from predicast.spark.delivery.drafts import Writers, stored_columns
from predicast.spark.delivery.job import Job
from predicast.spark.delivery.summary import Summary


class Refused(NamedTuple):
    """An event that cannot be matched, by its row, and why."""

    row: int
    reason: str


class Intake:
    """Asks an engine about events, and writes the dead letters among them."""

    def __init__(self, job: Job, answers: Answers, writers: Writers, summary: Summary) -> None:
        self._job = job
        self._answers = answers
        self._writers = writers
        self._summary = summary

    def answered(self, batch: pa.RecordBatch) -> Iterator[tuple[pa.RecordBatch, Answer]]:
        """Events that follow each other with what they match; all others are dead letters."""
        self._summary.events += batch.num_rows
        before = self._answers.invalid
        batch = self._readable(batch)
        refused: list[Refused] = []
        for found in self._found(self._job.reader.attributes(batch), 0):
            if isinstance(found, Refused):
                refused.append(found)
            else:
                yield batch.slice(found.first, found.end - found.first), found
        self._bury(batch, refused)
        self._summary.invalid += self._answers.invalid - before

    def _readable(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The events that the source could read; the others are dead letters."""
        if self._job.unreadable is None:
            return batch
        texts = batch.column(self._job.unreadable)
        if texts.null_count == batch.num_rows:
            return batch
        wrong = pc.is_valid(texts)
        rows = np.flatnonzero(wrong.to_numpy(zero_copy_only=False)).tolist()
        shown = [shortened(_text(texts[row])) for row in rows]
        if not self._job.sets_apart:
            raise InvalidValueError(f"the source could not read an event: {shown[0]}")
        reasons = [f"the source could not read it: {each}" for each in shown]
        self._bury(batch, list(map(Refused, rows, reasons)))
        return batch.filter(pc.invert(wrong))

    def _found(self, attributes: pa.RecordBatch, first: int) -> Iterator[Answer | Refused]:
        """What becomes of each event, in order; ``first`` is the row of the first of them."""
        done = 0
        try:
            for answer in self._answers.of(attributes, self._job.asked, self._job.bounds):
                yield answer._replace(first=first + answer.first, end=first + answer.end)
                done = answer.end
        except PredicastError as error:
            if not self._job.sets_apart:
                raise
            rest = attributes.slice(done)
            if rest.num_rows == 1:
                yield Refused(first + done, _reason(error))
                return
            half = rest.num_rows // 2
            yield from self._found(rest.slice(0, half), first + done)
            yield from self._found(rest.slice(half), first + done + half)

    def _bury(self, batch: pa.RecordBatch, refused: list[Refused]) -> None:
        if not refused:
            return
        self._summary.dead_letters += len(refused)
        rows = pa.array([each.row for each in refused])
        taken = [column.take(rows) for column in batch.columns[: len(self._job.names)]]
        reasons = pa.array([each.reason for each in refused], pa.string())
        table = stored_columns([*self._job.names, "reason"], [*taken, reasons])
        self._writers.write("dead letters", table, None)


def _text(scalar: pa.Scalar) -> str:
    try:
        return str(scalar.as_py())
    except UnicodeDecodeError:
        return bytes(scalar.as_buffer()).decode(errors="replace")


def _reason(error: PredicastError) -> str:
    """What was wrong with an event that was looked at alone, so that its row says nothing."""
    row = getattr(error, "row", None)
    return error.message if row is None else error.message.replace(f", row {row}:", ":")
