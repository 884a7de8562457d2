"""What runs in Spark's Python workers: Arrow batches of events in, events with their matches out.

An event leaves with one list of ids (``answers.py``); making rows of lists is left to Spark, which
repeats an event's columns without copying them through Python. What leaves has the very schema that
Spark was told, names and nullability included: it can be made to compare them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.arrays import offsets
from predicast.engine.explanation import Explanation, Outcome
from predicast.engine.judging import Explainer
from predicast.errors import UnsupportedTableError
from predicast.language.wording import Wording
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.interval_columns import (
    Ends,
    IntervalColumns,
    ends_in_struct,
    ends_of,
    interval_fields,
)
from predicast.matching.batches.leaf_columns import find_leaves
from predicast.model import Absent, Subscription
from predicast.model.vocabulary import Vocabulary
from predicast.spark.answers import BOUNDS, IDS, Answer, Asked, Bounds
from predicast.spark.image import EngineFile, EngineImage
from predicast.spark.schemas import GivenBy, unknown_column
from predicast.spark.shard_router import LOOKS
from predicast.spark.shipping import Source

_log: Final = logging.getLogger(__name__)

MATCHED: Final = pa.field("matched", IDS, nullable=False)
SHARDS: Final = pa.field(
    "shards", pa.list_(pa.field("element", pa.int32(), nullable=False)), nullable=False
)
_NO_IDS: Final = pa.array([], pa.string())
EXPLAINED_ROWS: Final = 1_024  # events explained at a time: each is many Python objects


@dataclass(frozen=True, slots=True)
class AttributeReader:
    """How to read attributes from the columns that were sent."""

    sources: tuple[Source, ...]
    intervals: IntervalColumns

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

    image: EngineImage | EngineFile
    reader: AttributeReader
    kept: tuple[int, ...]
    how: str
    asked: Asked
    bounds: Bounds = BOUNDS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with self.image.lent() as lent, counted(lent, incomparable(self.asked)) as answers:
            for batch in batches:
                attributes = self.reader.attributes(batch)
                for answer in answers.of(attributes, self.asked, self.bounds):
                    piece = batch.slice(answer.first, answer.end - answer.first)
                    yield with_matched(piece, answer, self.kept, self.how)


def with_matched(
    piece: pa.RecordBatch, answer: Answer, kept: Sequence[int], how: str
) -> pa.RecordBatch:
    """The kept columns of events, and the lists of what they match."""
    columns: list[Any] = [piece.column(place) for place in kept]
    fields = [piece.schema.field(place) for place in kept]
    if how != "left":
        wanted = answer.has_any() if how == "inner" else ~answer.has_any()
        if not wanted.all():
            rows = pa.array(np.flatnonzero(wanted))
            columns = [column.take(rows) for column in columns]
    if how != "anti":
        columns.append(answer.lists() if how == "left" else answer.lists_of_some())
        fields.append(MATCHED)
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


@dataclass(frozen=True, slots=True)
class Routing:
    """Adds to events the list of the shards that hold what they may match."""

    router: EngineImage
    reader: AttributeReader
    asked: Asked
    bounds: Bounds = BOUNDS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with self.router.lent() as lent, counted(lent, incomparable(self.asked)) as answers:
            for batch in batches:
                attributes = self.reader.attributes(batch)
                for answer in answers.of(attributes, self.asked, self.bounds):
                    piece = batch.slice(answer.first, answer.end - answer.first)
                    schema = pa.schema([*piece.schema, SHARDS])
                    columns = [*piece.columns, shards_of(answer)]
                    yield pa.RecordBatch.from_arrays(columns, schema=schema)


def shards_of(answer: Answer) -> pa.ListArray:
    """The numbers of the shards that a router names of each event."""
    numbers = answer.ids.cast(pa.int32()).to_numpy()
    is_shard = numbers != int(LOOKS)
    first = offsets(is_shard)[answer.offsets]
    named = pa.array(numbers[is_shard])
    return pa.ListArray.from_arrays(pa.array(first, pa.int32()), named, type=SHARDS.type)


@dataclass(frozen=True, slots=True)
class MatchingShards:
    """Matches events against the shard that is named in their last column, if one is."""

    images: tuple[EngineImage | EngineFile, ...]
    reader: AttributeReader
    kept: tuple[int, ...]
    how: str
    asked: Asked
    bounds: Bounds = BOUNDS

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number, events in by_shard(batch, batch.column(batch.num_columns - 1)):
                if number is None:
                    nothing = Answer(0, len(events), np.zeros(len(events) + 1, int), _NO_IDS)
                    yield with_matched(events, nothing, self.kept, self.how)
                    continue
                yield from self._matched(number, events)

    def _matched(self, number: int, events: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        attributes, asked = self.reader.attributes(events), in_shard(self.asked)
        with self.images[number].lent() as answers:
            for answer in answers.of(attributes, asked, self.bounds):
                piece = events.slice(answer.first, answer.end - answer.first)
                yield with_matched(piece, answer, self.kept, self.how)


def by_shard(batch: pa.RecordBatch, shard: pa.Array) -> Iterator[tuple[int | None, pa.RecordBatch]]:
    """The events of each shard, and under ``None`` those of none."""
    if shard.null_count:
        yield None, batch.filter(shard.is_null())
    for number in sorted(pc.unique(shard.drop_null()).to_pylist()):
        yield number, batch.filter(pc.equal(shard, number))


def in_shard(asked: Asked) -> Asked:
    """How a shard is asked about events that the router has let pass.

    None of them has anything to be refused for; if a shard found something, it would have to stop.
    """
    return asked if asked.on_invalid == "absent" else asked._replace(on_invalid="raise")


@dataclass(frozen=True, slots=True)
class MatchingColumns:
    """The lists alone, for events that come as structs of their attributes."""

    image: EngineImage | EngineFile
    given_by: GivenBy  # of all that is looked at
    asked: Asked
    bounds: Bounds = BOUNDS

    def __call__(self, structs: Iterable[pa.StructArray]) -> Iterator[pa.ListArray]:
        with self.image.lent() as lent, counted(lent, incomparable(self.asked)) as answers:
            for array in structs:
                events = _fields(array)
                asked = self.asked_of(events.schema)
                for answer in answers.of(events, asked, self.bounds):
                    yield answer.lists()

    def asked_of(self, schema: pa.Schema) -> Asked:
        """How to read events of a schema, some of whose structs may be intervals."""
        givers = {each for several in self.given_by.values() for each in several}
        given = self.asked.intervals
        structs = {*givers, *(each for each in given.values() if isinstance(each, str))}
        fields = [field for each in structs for field in interval_fields(each)]
        names = find_leaves(schema, {*structs, *fields})
        found = {each: ends_in_struct(each, names) for each in givers}
        recognised = {name: ends for name, ends in found.items() if ends is not None}
        intervals = recognised | {name: ends_of(name, each, names) for name, each in given.items()}
        self._check(schema, intervals)
        return self.asked._replace(intervals=intervals)

    def _check(self, schema: pa.Schema, intervals: Ends) -> None:
        """Refuse events that lack an attribute by their type, as opposed to by their values."""
        leaves = find_leaves(schema)
        for name, givers in sorted(self.given_by.items()):
            there = [each for each in givers if each in intervals or each in leaves] or [name]
            for lacking in (
                column
                for each in there
                for column in intervals.get(each, (each,))
                if column not in leaves
            ):
                raise unknown_column(
                    f"a subscription looks at {lacking!r}, which none of the columns provides",
                    lacking,
                    leaves,
                )


class Counts(Protocol):
    """What answers, and counts the events that it could make nothing of."""

    invalid: int

    @property
    def latest(self) -> str | None:
        """What was wrong with the last of them."""


A = TypeVar("A", bound=Counts)


@contextmanager
def counted(answers: A, what: str) -> Iterator[A]:
    """Log in the end how many events were invalid; ``what`` says in which way."""
    before = answers.invalid
    yield answers
    if answers.invalid > before:
        number = answers.invalid - before
        events = "event" if number == 1 else "events"
        _log.warning("%d %s %s; the last: %s", number, events, what, answers.latest)


def incomparable(asked: Asked) -> str:
    """What is told of events that were invalid."""
    return f"had values that cannot be compared (on_invalid={asked.on_invalid!r})"


def _fields(events: object) -> pa.RecordBatch:
    """The fields of a struct column, null where the struct is."""
    if not isinstance(events, pa.StructArray):
        given = "several arguments" if isinstance(events, tuple) else f"one of type {events.type}"  # type: ignore[attr-defined]
        raise UnsupportedTableError(
            f"matches takes one struct of the columns that subscriptions look at, not {given}; "
            "in SQL: matches(struct(price, symbol))",
            type="struct",
        )
    return pa.RecordBatch.from_arrays(events.flatten(), names=[f.name for f in events.type])


_OUTCOME: Final = pa.struct(
    [
        pa.field("line", pa.int32(), nullable=False),
        pa.field("depth", pa.int32(), nullable=False),
        pa.field("part", pa.string(), nullable=False),
        pa.field("value", pa.string()),
        pa.field("held", pa.bool_()),
        pa.field("reason", pa.string()),
    ]
)
OUTCOMES: Final = pa.list_(pa.field("element", _OUTCOME, nullable=False))
_EXPLAINED: Final = [
    pa.field("outcomes", OUTCOMES, nullable=False),
    pa.field("matched", pa.bool_(), nullable=False),
]


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
    vocabulary: Vocabulary | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        about = self.id, self.subscription, self.wording, self.absent
        explainer = Explainer(*about, self.vocabulary)
        for batch in batches:
            for start in range(0, batch.num_rows, EXPLAINED_ROWS):
                yield self._explained(explainer, batch.slice(start, EXPLAINED_ROWS))

    def _explained(self, explainer: Explainer, piece: pa.RecordBatch) -> pa.RecordBatch:
        columns = EventBatch.from_arrow(
            self.reader.attributes(piece), explainer.reader.names, self.reader.intervals
        )
        explanations = [explainer.explanation(event, self.now) for event in columns.events()]
        outcomes = [_outcomes(each) for each in explanations]
        return with_outcomes(piece, self.kept, outcomes, [each.matched for each in explanations])


def with_outcomes(
    piece: pa.RecordBatch, kept: int, outcomes: Sequence[Any], matched: Sequence[bool]
) -> pa.RecordBatch:
    """The first columns of events, and how it went with each of them."""
    arrays: list[Any] = piece.columns[:kept]
    arrays += [pa.array(outcomes, OUTCOMES), pa.array(matched, pa.bool_())]
    fields = [piece.schema.field(place) for place in range(kept)]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema([*fields, *_EXPLAINED]))


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
