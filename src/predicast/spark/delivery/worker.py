"""What runs in Spark's Python workers to deliver: match, write to drafts, say what was written.

A batch passes through the workers once and nothing but a few numbers comes back, so that the
driver holds no event and no delivery.

An event that cannot be matched is a dead letter: one that the source could not read, or one with a
value that cannot be compared. Which ones these are is found by halves. A piece that raises is
divided until a single event does, so that every event ends in one of the two places and none in
neither, however the error comes about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.errors import InvalidValueError, PredicastError, shortened
from predicast.spark.answers import BOUNDS, IDS, Answer, Answers, Asked, Bounds
from predicast.spark.delivery.drafts import (
    Content,
    Draft,
    DraftFile,
    FlatWriter,
    OwnerWriter,
    stored_columns,
)
from predicast.spark.image import EngineFile, EngineImage
from predicast.spark.workers import AttributeReader

Output: TypeAlias = Literal["rows", "array"]

MOST_MATCHED: Final = 20  # subscriptions that a task names
_ROWS: Final = 1 << 16  # deliveries that are made at a time: each repeats its event's columns

SUMMARY: Final = (
    "events bigint, matches bigint, dead_letters bigint, invalid bigint, "
    "most_matched array<struct<id: string, matches: bigint>>, "
    "files array<struct<draft: int, name: string, rows: bigint, bytes: bigint>>"
)
_SUMMARY: Final = pa.schema(
    [
        ("events", pa.int64()),
        ("matches", pa.int64()),
        ("dead_letters", pa.int64()),
        ("invalid", pa.int64()),
        (
            "most_matched",
            pa.list_(
                pa.field("element", pa.struct([("id", pa.string()), ("matches", pa.int64())]))
            ),
        ),
        (
            "files",
            pa.list_(
                pa.field(
                    "element",
                    pa.struct(
                        [
                            ("draft", pa.int32()),
                            ("name", pa.string()),
                            ("rows", pa.int64()),
                            ("bytes", pa.int64()),
                        ]
                    ),
                )
            ),
        ),
    ]
)


class Refused(NamedTuple):
    """An event that cannot be matched, by its row, and why."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class Delivering:
    """Matches events and writes what they match, and what cannot be matched."""

    image: EngineImage | EngineFile
    reader: AttributeReader
    names: tuple[str, ...]  # of the columns that are kept: dead letters have all of them
    delivered: tuple[int, ...]  # the positions of those that deliveries have
    unreadable: int | None  # the position of what the source could not read
    output: Output
    asked: Asked
    drafts: tuple[Draft, ...]
    bounds: Bounds = BOUNDS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with self.image.lent() as answers, ExitStack() as opened:
            task = _Task(self, answers, opened)
            for batch in batches:
                task.take(batch)
            yield task.summary()

    def sets_apart(self) -> bool:
        """Whether there is a place for dead letters."""
        return any(draft.content == "dead letters" for draft in self.drafts)


class _Task:
    """One attempt of a task: its files, and its counts."""

    def __init__(self, job: Delivering, answers: Answers, opened: ExitStack) -> None:
        self._job = job
        self._answers = answers
        self._invalid_before = answers.invalid
        self._most: Counter[str] = Counter()
        self._events = self._matches = self._dead = 0
        self._writers: list[tuple[Content, FlatWriter | OwnerWriter]] = []
        for position, draft in enumerate(job.drafts):
            writer = (
                OwnerWriter(position, draft, self._owner)
                if draft.by_owner
                else FlatWriter(position, draft)
            )
            opened.callback(writer.abandon)
            self._writers.append((draft.content, writer))

    def _owner(self, id: str) -> str | None:
        return self._answers.engine.get(id).owner

    def take(self, batch: pa.RecordBatch) -> None:
        """Deliver the events of a batch."""
        self._events += batch.num_rows
        batch = self._readable(batch)
        attributes = self._job.reader.attributes(batch)
        refused: list[Refused] = []
        for found in self._found(attributes, 0):
            if isinstance(found, Refused):
                refused.append(found)
            else:
                self._deliver(batch.slice(found.first, found.end - found.first), found)
        self._bury(batch, refused)

    def summary(self) -> pa.RecordBatch:
        """What was done, in one row."""
        files: list[DraftFile] = [file for _, writer in self._writers for file in writer.finished()]
        row = {
            "events": self._events,
            "matches": self._matches,
            "dead_letters": self._dead,
            "invalid": self._answers.invalid - self._invalid_before,
            "most_matched": [
                {"id": id, "matches": count} for id, count in self._most.most_common(MOST_MATCHED)
            ],
            "files": [file._asdict() for file in files],
        }
        return pa.RecordBatch.from_pylist([row], _SUMMARY)

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
        if not self._job.sets_apart():
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
            if not self._job.sets_apart():
                raise
            rest = attributes.slice(done)
            if rest.num_rows == 1:
                yield Refused(first + done, _reason(error))
                return
            half = rest.num_rows // 2
            yield from self._found(rest.slice(0, half), first + done)
            yield from self._found(rest.slice(half), first + done + half)

    def _deliver(self, piece: pa.RecordBatch, answer: Answer) -> None:
        self._matches += len(answer.ids)
        self._count(answer.ids)
        columns = [piece.column(place) for place in self._job.delivered]
        names = [self._job.names[place] for place in self._job.delivered]
        if self._job.output == "array":
            some = pa.array(np.flatnonzero(answer.has_any()))
            lists = answer.lists_of_some()
            self._write_lists([*names, "subscriptions"], columns, some, lists)
            return
        events = np.repeat(np.arange(piece.num_rows), np.diff(answer.offsets))
        for first in range(0, len(events), _ROWS):
            rows = pa.array(events[first : first + _ROWS])
            ids = answer.ids.slice(first, _ROWS)
            taken = [column.take(rows) for column in columns]
            self._write("deliveries", stored_columns([*names, "subscription"], [*taken, ids]), ids)

    def _write_lists(
        self, names: list[str], columns: list[Any], rows: pa.Array, lists: pa.ListArray
    ) -> None:
        if len(rows):
            taken = [column.take(rows) for column in columns]
            self._write("deliveries", stored_columns(names, [*taken, lists.cast(IDS)]), None)

    def _bury(self, batch: pa.RecordBatch, refused: list[Refused]) -> None:
        if not refused:
            return
        self._dead += len(refused)
        rows = pa.array([each.row for each in refused])
        taken = [column.take(rows) for column in batch.columns[: len(self._job.names)]]
        reasons = pa.array([each.reason for each in refused], pa.string())
        table = stored_columns([*self._job.names, "reason"], [*taken, reasons])
        self._write("dead letters", table, None)

    def _write(self, content: Content, table: pa.Table, ids: pa.Array | None) -> None:
        for what, writer in self._writers:
            if what == content:
                writer.write(table, ids)

    def _count(self, ids: pa.StringArray) -> None:
        """Note the subscriptions that most events match, of each piece the first few."""
        if not len(ids):
            return
        counts = pa.RecordBatch.from_struct_array(pc.value_counts(ids))
        first = pc.select_k_unstable(counts, MOST_MATCHED * 5, [("counts", "descending")])
        for each in counts.take(first).to_pylist():
            self._most[each["values"]] += each["counts"]


def _text(scalar: pa.Scalar) -> str:
    try:
        return str(scalar.as_py())
    except UnicodeDecodeError:
        return bytes(scalar.as_buffer()).decode(errors="replace")


def _reason(error: PredicastError) -> str:
    """What was wrong with an event that was looked at alone, so that its row says nothing."""
    row = getattr(error, "row", None)
    return error.message if row is None else error.message.replace(f", row {row}:", ":")
