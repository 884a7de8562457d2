"""A batch of events to lists of ids, in pieces whose size is known before they are made.

What matches is counted first, unless there are so few subscriptions that all of them may match all
of the events. So what is in memory at a time is bounded, whatever events may match: ten thousand
of them that match ten thousand subscriptions each would fill it otherwise, and an Arrow array holds
no more than 2 GB of text. Only a single event is never divided: it has each id at most once, and
all ids of an engine fit into one array.

Ids are sorted within an event by one integer that holds both. That needs the rank of every id
among all ids, which is worked out once per engine; ids that were compiled from a table are in order
already.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.engine import Engine
from predicast.engine.asking import OnInvalid
from predicast.spark.schemas import Intervals

_RANK_BITS: Final = 32
_RANK_MASK: Final = (1 << _RANK_BITS) - 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a worker holds at a time."""

    unasked: int = 1 << 24  # events times subscriptions that may all match: there is room for that
    matches: int = 1 << 20  # as (event, subscription) pairs, some dozen bytes each
    id_bytes: int = 1 << 25  # of the ids that leave at a time


BOUNDS: Final = Bounds()


class Asked(NamedTuple):
    """How events are to be read."""

    intervals: Intervals
    on_invalid: OnInvalid = "raise"
    now: str | None = None  # the attribute that says when an event arrives


class Answer(NamedTuple):
    """The matches of events that follow each other, from one row of a batch up to another."""

    first: int
    end: int
    offsets: Any  # where the ids of each event begin, and the last ones end
    ids: pa.StringArray

    def lists(self) -> pa.ListArray:
        """One list per event."""
        return _lists(self.offsets, self.ids)

    def has_any(self) -> Any:
        """Which events match something."""
        return self.offsets[1:] > self.offsets[:-1]

    def lists_of_some(self) -> pa.ListArray:
        """One list per event that matches something."""
        return _lists(np.append(self.offsets[:-1][self.has_any()], self.offsets[-1]), self.ids)


class IdOrder:
    """The order of the ids in an array, which stand there as they came."""

    def __init__(self, texts: pa.StringArray) -> None:
        self._texts = texts
        self.sizes: Any = np.diff(_offsets(texts))
        # What is compared with a null, as a free key has, is in no order.
        ascends = pc.all(pc.less(texts[:-1], texts[1:]), skip_nulls=False).as_py()
        self._order: Any = None if ascends else pc.sort_indices(texts).to_numpy()
        if self._order is not None:
            self._rank = np.empty(len(texts), np.int64)
            self._rank[self._order] = np.arange(len(texts))

    def is_of(self, texts: pa.StringArray) -> bool:
        """Whether it is the order of just this array."""
        mine, other = self._texts.buffers()[1:], texts.buffers()[1:]
        return len(texts) == len(self._texts) and all(
            a is b or (a is not None and b is not None and a.address == b.address)
            for a, b in zip(mine, other, strict=True)
        )

    def sorted(self, events: Any, places: Any) -> Any:
        """The places of ids, given event by event, sorted by id within each event."""
        both = events << _RANK_BITS
        both |= places if self._order is None else self._rank[places]
        both.sort()
        both &= _RANK_MASK
        return both if self._order is None else self._order[both]


class Answers:
    """An engine with what is worked out once to answer with sorted ids."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.invalid = 0  # events with something that could not be compared
        self._count = len(engine)
        self._order: IdOrder | None = None

    def anew(self) -> Answers:
        """The same for an engine that has changed, with what of it may still hold."""
        answers = Answers(self.engine)
        answers._order = self._order
        return answers

    def of(self, attributes: pa.RecordBatch, asked: Asked, bounds: Bounds) -> Iterator[Answer]:
        """The ids that events match, sorted, for as many events at a time as the bounds allow."""
        for first, end in self._pieces(attributes, asked, bounds):
            piece = attributes.slice(first, end - first)
            before = self.engine.invalid.events
            table = self.engine.match_arrow(piece, **asked._asdict())
            self.invalid += self.engine.invalid.events - before
            for answer in self._divided(table, len(piece), bounds.id_bytes):
                yield answer._replace(first=first + answer.first, end=first + answer.end)

    def _pieces(
        self, attributes: pa.RecordBatch, asked: Asked, bounds: Bounds
    ) -> Iterator[tuple[int, int]]:
        """Rows to match at a time."""
        rows = attributes.num_rows
        if rows * self._count <= bounds.unasked:
            return iter([(0, rows)])
        counts = self.engine.count_arrow(attributes, **asked._asdict()).to_numpy()
        return _cut(np.concatenate(([0], np.cumsum(counts))), bounds.matches)

    def _divided(self, table: pa.Table, rows: int, most: int) -> Iterator[Answer]:
        """The matches of a piece as lists, with at most so many bytes of ids at a time."""
        events = table.column("event").to_numpy()
        offsets = np.concatenate(([0], np.cumsum(np.bincount(events, minlength=rows))))
        if not len(events):
            yield Answer(0, rows, offsets, pa.array([], pa.string()))
            return
        subscriptions = table.column("subscription").chunk(0)
        texts = subscriptions.dictionary
        order = self._order_of(texts)
        places = order.sorted(events, subscriptions.indices.to_numpy())
        sizes = np.concatenate(([0], np.cumsum(order.sizes[places])))
        for first, end in _cut(sizes[offsets], most):
            ids = texts.take(pa.array(places[offsets[first] : offsets[end]]))
            yield Answer(first, end, offsets[first : end + 1] - offsets[first], ids)

    def _order_of(self, texts: pa.StringArray) -> IdOrder:
        """The order of all ids, kept, or of the few that a small answer names."""
        if self._order is not None and self._order.is_of(texts):
            return self._order
        order = IdOrder(texts)
        if len(texts) >= self._count:
            self._order = order
        return order


def _cut(ends: Any, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of at least one and with at most so much in them, given what there is before each."""
    first, last = 0, len(ends) - 1
    while first < last:
        end = int(np.searchsorted(ends, ends[first] + most, side="right")) - 1
        end = min(max(end, first + 1), last)
        yield first, end
        first = end


def _offsets(texts: pa.StringArray) -> Any:
    """Where each text begins and the last one ends."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)
    return offsets[texts.offset : texts.offset + len(texts) + 1]


def _lists(offsets: Any, ids: pa.StringArray) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), ids, type=IDS)


# Named as Spark names them, which compares names if it validates what workers send.
IDS: Final = pa.list_(pa.field("element", pa.string(), nullable=False))
