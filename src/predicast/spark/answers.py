"""A batch of events to lists of ids, in pieces whose size is bounded.

Events that match ten thousand subscriptions each would fill the memory, and an Arrow array holds no
more than 2 GB of text. So a batch is asked for a limited number of matches of each event, as many
as there is room for if all of its events had them. Where no event comes to that limit, which is
nearly always, the answer is complete. Where one does, what matches is counted, and the batch
is divided accordingly. Only a single event is never divided: it has each id at most once, and all
ids of an engine fit into one array.

Ids that become a list are sorted within an event by one integer that holds both. That needs the
rank of every id among all ids, which is worked out once per engine; ids that were compiled from a
table are in order already. Ids that become rows are in no order, like rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predicast.arrays import offsets
from predicast.engine import Engine
from predicast.engine.asking import OnInvalid
from predicast.matching.batches.interval_columns import IntervalColumns

_RANK_BITS: Final = 32
_RANK_MASK: Final = (1 << _RANK_BITS) - 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a worker holds at a time."""

    unasked: int = 1 << 24  # matches that there is room for, if need be
    matches: int = 1 << 20  # that are made at a time where they were counted
    id_bytes: int = 1 << 25  # of the ids that leave at a time


BOUNDS: Final = Bounds()


class Asked(NamedTuple):
    """How events are to be read."""

    intervals: IntervalColumns
    on_invalid: OnInvalid = "raise"
    now: str | None = None  # the attribute that says when an event arrives
    in_order: bool = True  # whether the ids of an event are to be sorted

    def options(self) -> dict[str, Any]:
        """What the engine is told of it."""
        return {"intervals": self.intervals, "on_invalid": self.on_invalid, "now": self.now}


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


class _Found(NamedTuple):
    """What events match, event by event."""

    events: Any
    subscriptions: pa.ChunkedArray
    offsets: Any  # where those of each event begin, and the last ones end
    invalid: int  # events with something that could not be compared

    def most(self) -> int:
        """How many the event has that matches the most."""
        return int(np.diff(self.offsets).max(initial=0))


class IdOrder:
    """The order of the ids in an array, which stand there as they came."""

    def __init__(self, texts: pa.StringArray) -> None:
        self._texts = texts
        self._sizes: Any = np.diff(_offsets(texts))
        self._longest = int(self._sizes.max(initial=0))

    @cached_property
    def _ranked(self) -> tuple[Any, Any] | None:
        """The places of the ids in order, and the rank of each; ``None`` if they are in order."""
        texts = self._texts
        # What is compared with a null, as a free key has, is in no order.
        if pc.all(pc.less(texts[:-1], texts[1:]), skip_nulls=False).as_py():
            return None
        order = pc.sort_indices(texts).to_numpy()
        rank = np.empty(len(texts), np.int64)
        rank[order] = np.arange(len(texts))
        return order, rank

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
        both |= places if self._ranked is None else self._ranked[1][places]
        both.sort()
        both &= _RANK_MASK
        return both if self._ranked is None else self._ranked[0][both]

    def bytes_before(self, begins: Any, places: Any, most: int) -> Any:
        """How many bytes the ids before each event have; no fewer, if that is no matter."""
        if self._longest * len(places) <= most:
            return self._longest * begins
        return offsets(self._sizes[places])[begins]

    def taken(self, places: Any) -> pa.StringArray:
        """The ids at some places."""
        chosen = pa.array(places)
        if self._alike is None:
            return self._texts.take(chosen)
        ends = np.arange(len(places) + 1, dtype=np.int32) * np.int32(self._longest)
        text = self._alike.take(chosen).buffers()[1]
        return pa.StringArray.from_buffers(len(places), pa.py_buffer(ends), text)

    @cached_property
    def _alike(self) -> pa.FixedSizeBinaryArray | None:
        """The ids as bytes, if all have the same number of them: several times as quick to take."""
        texts, size = self._texts, self._longest
        if not size or texts.null_count or int(self._sizes.min()) < size:
            return None
        text = texts.buffers()[2].slice(int(_offsets(texts)[0]))
        return pa.FixedSizeBinaryArray.from_buffers(pa.binary(size), len(texts), [None, text])


class Answers:
    """An engine with what is worked out once to answer with sorted ids."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.invalid = 0  # events with something that could not be compared
        self._count = len(engine)
        self._counts_first = False
        self._order: IdOrder | None = None

    @property
    def latest(self) -> str | None:
        """What could not be compared the last time."""
        return self.engine.invalid.latest

    def anew(self) -> Answers:
        """The same for an engine that has changed, with what of it may still hold."""
        answers = Answers(self.engine)
        answers._order = self._order
        return answers

    def of(self, attributes: pa.RecordBatch, asked: Asked, bounds: Bounds) -> Iterator[Answer]:
        """The ids that events match, for as many events at a time as the bounds allow."""
        if not self._counts_first:
            limit = max(bounds.unasked // max(attributes.num_rows, 1), 1)
            found = self._found(attributes, asked, limit if limit < self._count else None)
            if limit >= self._count or found.most() < limit:
                yield from self._divided(found, asked, bounds.id_bytes)
                return
        counts = self.engine.count_arrow(attributes, **asked.options()).to_numpy()
        ends = offsets(counts)
        self._counts_first = bool(ends[-1] > bounds.unasked)  # the next batch is probably alike
        for first, end in cut(ends, bounds.matches):
            found = self._found(attributes.slice(first, end - first), asked, None)
            for answer in self._divided(found, asked, bounds.id_bytes):
                yield answer._replace(first=first + answer.first, end=first + answer.end)

    def _found(self, attributes: pa.RecordBatch, asked: Asked, limit: int | None) -> _Found:
        """What events match, at most so many of each."""
        before = self.engine.invalid.events
        table = self.engine.match_arrow(attributes, limit=limit, **asked.options())
        events = table.column("event").to_numpy()
        begins = offsets(np.bincount(events, minlength=attributes.num_rows))
        invalid = self.engine.invalid.events - before
        return _Found(events, table.column("subscription"), begins, invalid)

    def _divided(self, found: _Found, asked: Asked, most: int) -> Iterator[Answer]:
        """What was found as lists, with at most so many bytes of ids at a time."""
        self.invalid += found.invalid
        if not len(found.events):
            yield Answer(0, len(found.offsets) - 1, found.offsets, pa.array([], pa.string()))
            return
        subscriptions = found.subscriptions.chunk(0)
        texts, places = subscriptions.dictionary, subscriptions.indices.to_numpy()
        order = self._order_of(texts)
        if asked.in_order:
            places = order.sorted(found.events, places)
        for first, end in cut(order.bytes_before(found.offsets, places, most), most):
            here = slice(found.offsets[first], found.offsets[end])
            ids = order.taken(places[here])
            yield Answer(first, end, found.offsets[first : end + 1] - found.offsets[first], ids)

    def _order_of(self, texts: pa.StringArray) -> IdOrder:
        """The order of all ids, kept, or of the few that a small answer names."""
        if self._order is not None and self._order.is_of(texts):
            return self._order
        order = IdOrder(texts)
        if len(texts) >= self._count:
            self._order = order
        return order


def cut(ends: Any, most: int) -> Iterator[tuple[int, int]]:
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
