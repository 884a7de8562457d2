"""``columnar``: the production matcher, a log-structured set of immutable segments.

None of the papers' structures is how a matcher is built on today's processors. This one compiles
clauses into *segments* (``segment.py``): every span becomes a pair of rank codes (``cuts.py``),
clauses that look alike are scanned in blocks (``blocks.py``), the others are reached one by one
through their most selective test (``rows.py``), and the loops over them are compiled
(``kernels/``).

Segments do not change. What was subscribed since the last one waits as it is (``recent.py``), so
that a change is visible to the very next event; when asking has cost about as much as compiling
would, or compiling is about to take long, it is compiled. What was unsubscribed is marked as
deleted where it stands, and a segment of which nothing is left is gone at once. Segments of similar
size, and those that are mostly deleted, are merged in a background thread (``merging.py``), as in a
log-structured merge tree, so that there are few of them and each clause is merged O(log n) times.

All that is held is one immutable record. Matching never changes any part of it: what it compiles or
merges makes another record, which takes the place of the old one in a single assignment. So a match
may be interrupted anywhere, by a signal or for lack of memory, and nothing is lost or seen twice.

Invariants, whether or not anybody matches: no segment is without a live clause; deleted clauses
are at most about three times as many as live ones, and ``small``; there are O(log n) segments.

Cost: a batch pays per segment for coding its events (a lookup per event and axis), then for the
blocks and rows that it reaches. Space: two codes per axis and two numbers per clause in blocks,
some 30 bytes per test in rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

import numpy as np

from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.columnar import loops, warming_up
from predicast.matching.columnar.compile.coded_tests import DELETED, CodedTests
from predicast.matching.columnar.compile.from_alike import coded_alike
from predicast.matching.columnar.compile.uniting import merged
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.merging import Merge, due, together, worth_merging
from predicast.matching.columnar.recent import Recent
from predicast.matching.columnar.runs import joined
from predicast.matching.columnar.segment import EVERY, Segment
from predicast.matching.delta import Before, Delta, Effect, Group
from predicast.matching.matcher import Matcher, Pairs, Stored
from predicast.model import Absent, Event
from predicast.model.outline import Stated

_SMALL: Final = 8_192  # clauses; merging a few such segments takes some milliseconds
_MANY: Final = 3  # small segments that are not merged yet
_PRESSING: Final = 6  # segments that may wait for a merge to be over

# What it costs to ask one more segment, and to merge a clause; in microseconds or so.
_ASK_ALONE: Final = 7.0
_ASK_BATCH: Final = 50.0
_ASK_EACH: Final = 0.3
_MERGE_EACH: Final = 1.0


class _State(NamedTuple):
    """All that is held, and what came of it so far."""

    recent: Recent
    waiting: tuple[CodedTests, ...] = ()  # compiled, to be a segment at the next event
    segments: tuple[Segment, ...] = ()  # the largest first
    merge: Merge | None = None
    compiled: int = 0
    merged: int = 0

    def live(self) -> int:
        """The clauses in segments that are not deleted."""
        return sum(segment.live() for segment in self.segments)

    def idle(self) -> tuple[Segment, ...]:
        """The segments that are not being merged."""
        if self.merge is None:
            return self.segments
        return tuple(each for each in self.segments if each not in self.merge.segments)

    def with_segment(self, new: Segment, instead_of: Sequence[Segment] = ()) -> _State:
        """The same with one more segment, instead of some perhaps."""
        segments = [new, *(each for each in self.segments if each not in instead_of)]
        return self._replace(segments=tuple(sorted(segments, key=len, reverse=True)))


class Columnar(Matcher):
    """Compiled segments, the largest first, and what came after them.

    A match may be interrupted at any point, as may ``settle``, ``stored`` and ``statistics``. A
    change that is interrupted leaves the matcher half changed: it must be filled anew.
    """

    name = "columnar"
    survives_interrupted_matches: ClassVar[bool] = True
    layout: ClassVar[Layout] = Layout()
    small: ClassVar[int] = _SMALL
    bulk_minimum: ClassVar[int] = 512  # subscriptions at a time that are not compiled at once
    compile_threshold: ClassVar[float] = 1.0  # at 0 all is compiled before the next event

    def __init__(self, *, absent: Absent = "fails") -> None:
        super().__init__(absent=absent)
        self._state = _State(Recent(absent))
        self._subscriptions = 0
        self._events = 0
        self._spent = 0.0  # on asking one more segment, since the last merge was begun
        warming_up.begin()

    # Changes.

    def apply(self, delta: Delta, before: Before) -> Effect:
        gone = [*delta.removed, *(key for key, _ in delta.changed)]
        for keys, _ in delta.changed_groups:
            gone += keys.tolist()
        if gone:
            self._drop(gone)
        for key, stated in delta.added:
            self._add_recent(key, stated)
        for key, stated in delta.changed:
            self._add_recent(key, stated)
        for group in (*delta.added_groups, *delta.changed_groups):
            self._add_group(group)
        added = len(delta.added) + sum(len(keys) for keys, _ in delta.added_groups)
        in_place = len(gone) - len(delta.removed)
        return Effect(0, in_place, added + len(delta.removed))

    def _add_group(self, group: Group) -> None:
        keys, operands = group
        if len(keys) <= self.bulk_minimum:
            for row, key in enumerate(keys.tolist()):
                self._add_recent(key, operands.stated(row))
            return
        self._subscriptions += len(keys)
        self._add_tables(coded_alike(keys, operands, self.absent))
        self._settle_many()

    def _add_recent(self, key: int, stated: Stated) -> None:
        self._subscriptions += 1
        recent = self._state.recent
        recent.add(key, stated)
        if recent.is_full():
            self._compile_recent()
            self._settle_many()

    def _drop(self, keys: Sequence[int]) -> None:
        """Forget the subscriptions under some keys."""
        recent, waiting, segments, merge, *_ = self._state
        self._subscriptions -= len(keys)
        left = np.array([key for key in keys if not recent.drop(key)], np.int64)
        for table in waiting if len(left) else ():
            # A subscription of several clauses may be in several tables, but then in no segment.
            gone = table.keys == left[0] if len(left) == 1 else np.isin(table.keys, left)
            if gone.any():
                table.keys[gone] = DELETED
        is_worn = False
        for segment in reversed(segments):  # the latest are the likeliest to change again
            if not len(left):
                break
            found = segment.mark_deleted(left)
            if not found.any():
                continue
            if merge is not None and segment in merge.segments:
                merge.note_deleted(left[found])
            left = left[~found]
            is_worn |= segment.is_worn()
        if is_worn:
            self._tidy()

    # Matching.

    def match(self, event: Event) -> list[int]:
        self._prepare(1, can_answer=self._state.recent.can_answer_one(event))
        state = self._state
        found = state.recent.match(event) if len(state.recent) else []
        may_repeat = state.recent.may_repeat
        for segment in state.segments:
            keys = segment.match_one(event)
            if segment.deleted:
                keys = keys[keys >= 0]
            found += keys.tolist()
            may_repeat |= segment.may_repeat()
        return list(dict.fromkeys(found)) if may_repeat else found

    def match_batch(self, events: Sequence[Event]) -> list[list[int]]:
        return self.match_columns(EventBatch.from_events(events)).by_event(len(events))

    def match_columns(self, columns: EventBatch, limit: int | None = None) -> Pairs:
        self._prepare(len(columns), can_answer=self._state.recent.can_answer(columns))
        return _pairs(self._state, columns, limit)

    def count_columns(self, columns: EventBatch, limit: int | None = None) -> np.ndarray:
        self._prepare(len(columns), can_answer=self._state.recent.can_answer(columns))
        state = self._state
        if state.recent.may_repeat or any(
            segment.deleted or segment.may_repeat() for segment in state.segments
        ):
            return _pairs(state, columns, limit).counts(len(columns))
        pieces = state.recent.match_columns(columns)
        enough = EVERY if limit is None else limit
        for segment in state.segments:
            pieces += segment.match(columns, counting=True, enough=enough)
        counts = np.zeros(len(columns), np.int64)
        for _, runs in pieces:
            np.add.at(counts, runs[:, 0], runs[:, 2] - runs[:, 1])
        return counts if limit is None else np.minimum(counts, limit)

    def statistics(self) -> dict[str, int]:
        """What is held, and the work done.

        ``deleted`` clauses take room though nobody asks for them any more. ``compiled`` and
        ``merged`` count clauses, the same one as often as it was.
        """
        state = self._state
        waiting = sum(int(np.count_nonzero(table.keys >= 0)) for table in state.waiting)
        return {
            "subscriptions": self._subscriptions,
            "clauses": state.live() + state.recent.clauses() + waiting,
            "deleted": sum(segment.deleted for segment in state.segments),
            "events": self._events,
            "segments": len(state.segments),
            "recent": len(state.recent),
            "compiled": state.compiled,
            "merged": state.merged,
            "merging": int(state.merge is not None),
            "bytes": sum(segment.nbytes() for segment in state.segments),
        }

    # Files.

    def stored(self) -> Stored:
        from predicast.matching.columnar.stored import stored

        self._compile_recent()
        self._settle_waiting()
        return stored(self._state.segments, self._subscriptions)

    def restore(self, stored: Stored, bound: int) -> bool:
        from predicast.matching.columnar.stored import FORM, restored

        if stored.form != FORM:
            return False
        segments, self._subscriptions = restored(stored, self.absent, bound)
        self._state = self._state._replace(segments=tuple(segments))
        return True

    def warm_up(self) -> None:
        warming_up.wait()

    # Compiling and merging: each step publishes one state that means what the one before did.

    def settle(self) -> None:
        """Compile and merge whatever waits: a quiet moment spares the next events the work."""
        self._compile_recent()
        self._settle_waiting()
        self._tidy(room=0)
        while (merge := self._state.merge) is not None:
            merge.wait()
            self._tidy(room=0)

    def _prepare(self, events: int, *, can_answer: bool) -> None:
        """Before events: compile what is due, and take over what a merge made."""
        self._events += events
        if loops.now is loops.PLAIN:
            warming_up.begin()  # in a forked process it has not begun
        recent = self._state.recent
        if len(recent) and (recent.is_due(events, self.compile_threshold) or not can_answer):
            self._compile_recent()
        _, waiting, segments, merge, *_ = self._state
        if waiting:
            self._settle_waiting()
        elif merge is not None:
            if merge.is_over():
                self._tidy()
        elif len(segments) > 1:
            self._merge_if_worth_it(events)

    def _merge_if_worth_it(self, events: int) -> None:
        """Merge segments once asking all of them has cost as much as merging them would."""
        state = self._state
        self._spent += min(_ASK_ALONE * events, _ASK_BATCH + _ASK_EACH * events)
        chosen = worth_merging(state.segments, self._spent / _MERGE_EACH)
        if chosen:
            self._spent = 0.0
            count = state.merged + sum(segment.live() for segment in chosen)
            merge = Merge(chosen, self.absent, self.layout)
            self._state = state._replace(merge=merge, merged=count)

    def _compile_recent(self) -> None:
        """Make tables of what came one by one."""
        if len(self._state.recent):
            self._add_tables(self._state.recent.tables(), Recent(self.absent))

    def _add_tables(self, tables: Sequence[CodedTests], recent: Recent | None = None) -> None:
        """Let compiled clauses wait; with what is left then of those that came one by one."""
        state = self._state
        self._state = state._replace(
            recent=state.recent if recent is None else recent,
            waiting=(*state.waiting, *tables),
            compiled=state.compiled + sum(map(len, tables)),
        )

    def _settle_many(self) -> None:
        """Make a segment of what waits before it takes long, whether or not an event comes."""
        if sum(table.weight() for table in self._state.waiting) > self.small:
            self._settle_waiting()

    def _settle_waiting(self) -> None:
        """Make a segment of the tables that wait; with the smallest ones, if these are many."""
        state = self._state
        tables = [live for table in state.waiting if len(live := table.live())]
        if not tables:
            self._state = state._replace(waiting=())
            return
        small = [each for each in state.idle() if each.weight() <= self.small]
        if len(small) < _MANY:
            small = []
        tables += [segment.tests() for segment in small]
        new = Segment.of(merged(tables), self.absent, self.layout)
        count = state.merged + sum(segment.live() for segment in small)
        self._state = state._replace(waiting=(), merged=count).with_segment(new, small)
        self._tidy()

    def _tidy(self, room: int | None = None) -> None:
        """See to it that what is held is bounded by what is live, and that segments are few."""
        room = self.small // 8 if room is None else room
        if not self._take_over():
            return
        state = self._state
        chosen = due(state.idle(), self.small, room)
        if not chosen:
            return
        count = state.merged + sum(segment.live() for segment in chosen)
        if state.merge is None:
            merge = Merge(chosen, self.absent, self.layout)
            self._state = state._replace(merge=merge, merged=count)
        elif self._is_pressing(chosen):
            new = together(chosen, self.absent, self.layout)
            self._state = state._replace(merged=count).with_segment(new, chosen)

    def _is_pressing(self, chosen: Sequence[Segment]) -> bool:
        """Whether segments cannot wait until the merge that is under way is over."""
        deleted = sum(segment.deleted for segment in chosen)
        return len(chosen) > _PRESSING or deleted > self._state.live() + self.small

    def _take_over(self) -> bool:
        """Drop what is deleted altogether, take over what a merge made; whether to go on."""
        state = self._state
        merge = state.merge
        if merge is not None and merge.is_over():
            state = state._replace(merge=None)
            try:
                result = merge.result()
            except MemoryError:
                # All is as before, only larger than need be: go without, until the next change.
                self._state = state
                return False
            except BaseException:
                self._state = state
                raise
            if result is not None:
                state = state.with_segment(result, merge.segments)
        elif merge is not None and merge.is_idle():
            state = state._replace(merge=None)
        live = tuple(segment for segment in state.segments if segment.live())
        self._state = state._replace(segments=live)
        return True


def _pairs(state: _State, columns: EventBatch, limit: int | None) -> Pairs:
    pieces = state.recent.match_columns(columns)
    largest = 0 if state.recent.may_repeat else -1
    for segment in state.segments:
        exact = not segment.deleted and not segment.may_repeat()
        enough = limit if exact and limit is not None else EVERY
        pieces += segment.match(columns, counting=False, enough=enough)
        if segment.may_repeat():
            largest = max(largest, segment.largest_key)
    keys, runs = joined(pieces)
    if largest >= 0:
        largest = max(largest, int(keys.max(initial=0)))
    is_plain = largest < 0 and limit is None and not any(s.deleted for s in state.segments)
    most = EVERY if limit is None else limit
    return Pairs(*loops.now.gather(keys, runs, len(columns), is_plain, most, largest))
