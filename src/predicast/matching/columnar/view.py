"""``ColumnarView``: what the matcher held once, which may be asked while it changes.

::

    view of epoch 32 ──► parts: segments, recents
    view of epoch 33 ──► the same, and what is held since 33, and not what is gone since

A change makes another view. Views of before do not see it: what it adds is held, and what it
deletes is gone, from an epoch on that they have not come to. What is compiled or merged
in a background thread takes the place of what it was made of in the latest view (``parts``, one
assignment): that means the same, and whoever asks has looked at the parts once, at the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.columnar import loops, warming_up
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.merging import Lane, cheapest_merge, together
from predicast.matching.columnar.recent import Recent
from predicast.matching.columnar.runs import in_two
from predicast.matching.columnar.segment import EVERY, Segment
from predicast.matching.matcher import Pairs, Stored, View, joined_pairs
from predicast.model import Absent, Event

# What it costs to ask one more segment, in microseconds or so.
_ASK_ALONE: Final = 7.0
_ASK_BATCH: Final = 50.0
_ASK_EACH: Final = 0.3
_MOST_FOUND: Final = 1 << 24  # matches whose keys are in memory at a time, if that is bounded
_CALL_AGAIN: Final = 1.25  # times what asking had cost when a worker was last called


class Parts(NamedTuple):
    """Where what is held stands."""

    segments: tuple[Segment, ...] = ()  # the largest first
    recents: tuple[Recent, ...] = ()  # the last of them grows

    def live(self) -> int:
        """The clauses in segments that are not deleted."""
        return sum(segment.live() for segment in self.segments)

    def with_segment(self, new: Segment | None, instead_of: Sequence[object] = ()) -> Parts:
        """The same with one more segment, instead of some parts perhaps."""
        segments = [each for each in self.segments if each not in instead_of]
        if new is not None:
            segments.append(new)
        recents = tuple(each for each in self.recents if each not in instead_of)
        return Parts(tuple(sorted(segments, key=len, reverse=True)), recents)


class Ledger:
    """What asking has cost so far: when it is as much as compiling or merging, that is due.

    Threads that ask at the same time may lose a count of each other's: it is an estimate.
    """

    __slots__ = (
        *("_called_at", "_segments", "_worth", "events"),
        *("rent", "spent", "threshold", "wake"),
    )

    def __init__(self, wake: Callable[[Lane], None], threshold: float) -> None:
        """Compiling is due when asking has cost so many times as much."""
        self.wake = wake
        self.threshold = threshold
        self.events = 0
        self.rent = 0.0  # on asking what is recent, since it was last compiled
        self.spent = 0.0  # on asking one more segment, since the last merge was begun
        self._segments: tuple[Segment, ...] = ()
        self._worth = 0.0
        self._called_at: dict[Lane, float] = {"small": 0.0, "large": 0.0}

    def note(self, parts: Parts, events: int) -> None:
        """So many events are about to be asked of more than one part."""
        segments, recents = parts
        of_segment = min(_ASK_ALONE * events, _ASK_BATCH + _ASK_EACH * events)
        if recents:
            for recent in recents:
                self.rent += recent.rent(events, of_segment)
            if self.is_worth_compiling(recents[-1]):
                self._call("small", self.rent)
        if len(segments) > 1:
            if segments is not self._segments:
                self._segments, self._worth = segments, cheapest_merge(segments)
            self.spent += of_segment
            if self.spent > self._worth:
                self._call("large", self.spent)

    def is_worth_compiling(self, recent: Recent) -> bool:
        """Whether asking what is recent has cost as much as compiling it would."""
        return self.rent > self.threshold * recent.compile_cost()

    def _call(self, lane: Lane, cost: float) -> None:
        """Call a worker, who may be at work on something else: not for each event again."""
        before = self._called_at[lane]
        if not before <= cost < _CALL_AGAIN * before:
            self._called_at[lane] = cost
            self.wake(lane)


class Setting(NamedTuple):
    """What all views of a matcher have in common."""

    absent: Absent
    layout: Layout
    ledger: Ledger


class ColumnarView(View):
    """What was held at an epoch."""

    def __init__(self, epoch: int, parts: Parts, subscriptions: int, setting: Setting) -> None:
        self.epoch = epoch
        self.parts = parts
        self.subscriptions = subscriptions
        self._setting = setting
        self._ledger = setting.ledger

    def following(self, epoch: int, parts: Parts, subscriptions: int) -> ColumnarView:
        """What is held at a later epoch."""
        return ColumnarView(epoch, parts, subscriptions, self._setting)

    def _asked(self, events: int) -> Parts:
        parts, ledger = self.parts, self._ledger
        ledger.events += events
        if not loops.now.are_all_compiled:
            warming_up.begin()  # in a forked process it has not begun
        if parts.recents or len(parts.segments) > 1:
            ledger.note(parts, events)
            parts = self.parts
        return parts

    def match(self, event: Event) -> list[int]:
        parts, epoch = self._asked(1), self.epoch
        found: list[int] = []
        may_repeat = False
        for recent in parts.recents:
            found += recent.match(event, epoch)
            may_repeat |= recent.may_repeat
        for segment in parts.segments:
            found += segment.match_one(event, epoch)
            may_repeat |= segment.may_repeat
        return list(dict.fromkeys(found)) if may_repeat else found

    def match_batch(self, events: Sequence[Event]) -> list[list[int]]:
        return self.match_columns(EventBatch.from_events(events)).by_event(len(events))

    def match_columns(self, columns: EventBatch, limit: int | None = None) -> Pairs:
        parts = self._asked(len(columns))
        if limit is None or _is_exact(parts):
            return self._pairs(parts, columns, limit)
        # A limit bounds the memory, also where it only takes effect once keys are known.
        return joined_pairs(
            [
                self._pairs(parts, piece, limit).from_event(start)
                for start, piece in self._pieces(parts, columns)
            ]
        )

    def count_columns(self, columns: EventBatch, limit: int | None = None) -> np.ndarray:
        parts = self._asked(len(columns))
        if _is_exact(parts):
            counts = self._runs(parts, columns, EVERY if limit is None else limit)
            return counts if limit is None else np.minimum(counts, limit)
        return np.concatenate(
            [
                self._pairs(parts, piece, limit).counts(len(piece))
                for _, piece in self._pieces(parts, columns)
            ]
        )

    def _pieces(self, parts: Parts, columns: EventBatch) -> Iterator[tuple[int, EventBatch]]:
        """The events in pieces, so many at a time that what they match is in memory at once."""
        if len(columns) * parts.live() <= _MOST_FOUND:
            yield 0, columns
            return
        ends = np.cumsum(self._runs(parts, columns, EVERY))
        start = 0
        while start < len(columns):
            most = _MOST_FOUND + (int(ends[start - 1]) if start else 0)
            end = max(int(np.searchsorted(ends, most, side="right")), start + 1)
            yield start, columns.slice(start, end)
            start = end

    def _runs(self, parts: Parts, columns: EventBatch, enough: int) -> np.ndarray:
        """How many clauses each event matches, deleted ones and all of a subscription's."""
        pieces = [
            each for recent in parts.recents for each in recent.match_columns(columns, self.epoch)
        ]
        for segment in parts.segments:
            pieces += segment.count(columns, enough=enough)
        counts = np.zeros(len(columns), np.int64)
        for _, runs in pieces:
            np.add.at(counts, runs[:, 0], runs[:, 2] - runs[:, 1])
        return counts

    def _pairs(self, parts: Parts, columns: EventBatch, limit: int | None) -> Pairs:
        pieces = [
            each for recent in parts.recents for each in recent.match_columns(columns, self.epoch)
        ]
        largest = 0 if any(recent.may_repeat for recent in parts.recents) else -1
        for segment in parts.segments:
            exact = not segment.deleted and not segment.may_repeat
            enough = limit if exact and limit is not None else EVERY
            pieces += segment.match(columns, self.epoch, enough=enough)
            if segment.may_repeat:
                largest = max(largest, segment.largest_key)
        most, others = in_two(pieces)
        if largest >= 0:
            for keys, _ in (most, others):
                largest = max(largest, int(keys.max(initial=0)))
        is_plain = largest < 0 and limit is None and not any(s.deleted for s in parts.segments)
        enough = EVERY if limit is None else limit
        return Pairs(*loops.now.gather(*most, *others, len(columns), is_plain, enough, largest))

    def stored(self) -> Stored:
        from predicast.matching.columnar.stored import stored

        segments, recents = self.parts
        absent, layout, _ = self._setting
        fresh = together(recents, (), self.epoch, absent, layout) if recents else None
        return stored([*segments, *([fresh] if fresh else [])], self.epoch, self.subscriptions)


def _is_exact(parts: Parts) -> bool:
    """Whether each clause that an event matches is one match: none is gone, none of several."""
    return not any(recent.may_repeat for recent in parts.recents) and not any(
        segment.may_repeat or segment.deleted for segment in parts.segments
    )
