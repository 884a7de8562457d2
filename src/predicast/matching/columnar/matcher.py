"""``columnar``: the production matcher, a log-structured set of immutable segments.

None of the papers' structures is how a matcher is built on today's processors. This one compiles
clauses into *segments* (``segment.py``): every span becomes a pair of rank codes
(``compile/cuts.py``), clauses that look alike are scanned in blocks (``layout/blocks.py``), the
others are reached one by one through their most selective test (``layout/rows.py``), and the loops
over them are compiled (``kernels/``).

What was subscribed since the last segment waits as it is (``recent.py``), so that a change is
visible to the very next event; when asking has cost about as much as compiling would, or compiling
is about to take long, it is compiled. What was unsubscribed is listed as deleted where it stands,
and a segment of which nothing is left is gone at once. Segments of similar size, and those that are
mostly deleted, are merged (``merging.py``), as in a log-structured merge tree, so that there are
few of them and each clause is merged O(log n) times.

Nobody waits for anybody. A match reads a *view* (``view.py``), which changes never touch. Compiling
and merging run in background threads, two at most: one for what is small, so that recents are never
many, and one for the rest. What they made takes the place of what it was made of in the latest
view.

Invariants, whether or not anybody matches: no segment is without a live clause; deleted clauses
are at most about three times as many as live ones, and ``small``; there are O(log n) segments.

Cost: a batch pays per segment for coding its events (a lookup per event and axis), then for the
blocks and rows that it reaches. Space: two codes per axis and two numbers per clause in blocks,
some 30 bytes per test in rows.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from functools import partial
from time import sleep
from typing import ClassVar, Final

import numpy as np

from predicast.locks import new_lock
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.columnar import warming_up
from predicast.matching.columnar.background import Calls, started
from predicast.matching.columnar.compile.coded_tests import CodedTests
from predicast.matching.columnar.compile.from_operands import coded_operands
from predicast.matching.columnar.compile.uniting import merged
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.merging import Lane, Merge, due, worth_merging
from predicast.matching.columnar.recent import Recent
from predicast.matching.columnar.segment import Segment
from predicast.matching.columnar.view import ColumnarView, Ledger, Parts, Setting
from predicast.matching.delta import Before, Delta, Effect, Group
from predicast.matching.matcher import Matcher, Pairs, Stored
from predicast.model import Absent, Event
from predicast.model.outline import Stated

_SMALL: Final = 16_384  # clauses; merging a few such segments takes some ten milliseconds
_PRESSING: Final = 6  # segments that may wait for a merge to be over
_MOST_FULL: Final = 2  # recents that may wait to be compiled
_MOMENT: Final = 0.001  # seconds
_LANES: Final[tuple[Lane, ...]] = ("small", "large")
_new: Final = tuple.__new__  # makes a named tuple without a call of Python's own


class Columnar(Matcher):
    """Compiled segments, the largest first, and what came after them.

    A change that is interrupted leaves the matcher half changed: it must be filled anew. Views of
    before go on answering.
    """

    name = "columnar"
    has_lasting_views: ClassVar[bool] = True
    layout: ClassVar[Layout] = Layout()
    small: ClassVar[int] = _SMALL
    bulk_minimum: ClassVar[int] = 512  # subscriptions at a time that are compiled at once
    compile_threshold: ClassVar[float] = 1.0  # at 0 all is compiled at once
    in_background: ClassVar[bool] = True  # or before the call returns that finds it due

    def __init__(self, *, absent: Absent = "fails") -> None:
        super().__init__(absent=absent)
        here = weakref.ref(self)  # views outlive a matcher that nobody needs any more
        self._ledger = Ledger(
            lambda lane: None if (m := here()) is None else m._wake(lane), self.compile_threshold
        )
        self._view = ColumnarView(0, Parts(), 0, Setting(absent, self.layout, self._ledger))
        self._recent = Recent(absent)
        self._full: tuple[Recent, ...] = ()  # recents that wait to be compiled
        self._merges: dict[Lane, Merge] = {}
        self._workers: dict[Lane, threading.Thread] = {}
        self._calls: dict[Lane, Calls] = {lane: Calls() for lane in _LANES}
        self._compiled = 0
        self._merged = 0
        self._is_whole = True
        self._is_large_due = False
        # A key that is deleted, and the epoch: to make two arrays would take longer than to delete.
        self._one = np.empty(1, np.int64), np.empty(1, np.int64)
        self._changing = new_lock()  # held while parts change, never for long
        warming_up.begin()

    # Changes.

    def apply(self, delta: Delta, before: Before) -> Effect:
        gone, added, removed = delta.removed, len(delta.added), len(delta.removed)
        if delta.changed:
            changed = [key for key, _ in delta.changed]
            gone = [*gone, *changed] if gone else changed
        if delta.added_groups or delta.changed_groups:
            added += sum(len(group.keys) for group in delta.added_groups)
            for group in delta.changed_groups:
                gone = [*gone, *group.keys.tolist()]
        with self._changing:
            self._is_whole = False
            self._change(delta, gone, added - removed)
            self._is_whole = True
        if self._full and "small" not in self._merges:
            self._wake("small")
        if self._is_large_due and "large" not in self._merges:
            self._wake("large")
        return _new(Effect, (0, len(gone) - removed, added + removed))

    def _change(self, delta: Delta, gone: Sequence[int], more: int) -> None:
        view = self._view
        epoch, parts = view.epoch + 1, view.parts
        self._is_large_due = False
        if self._full:
            self._forget_compiled()
        if gone:
            parts = self._drop(parts, gone, epoch)
        if delta.added or delta.changed:  # together: what is alike is written in one go
            self._add([*delta.added, *delta.changed], epoch)
        if delta.added_groups or delta.changed_groups:
            groups = (*delta.added_groups, *delta.changed_groups)
            parts = self._add_groups(parts, groups, epoch)
        if gone and self._recent.has_gaps():
            self._recent = self._recent.moved(epoch)
        if self.compile_threshold == 0 and len(self._recent):
            self._set_full()
        if self._full:
            parts = self._relieved(parts, epoch)
        if self._is_large_due and "large" in self._merges:
            parts = self._merged_under_pressure(parts, epoch)
        recents = (*self._full, self._recent) if self._recent else self._full
        if recents != parts.recents:
            parts = Parts(parts.segments, recents)
        self._view = view.following(epoch, parts, view.subscriptions + more)

    def _add(self, pairs: Sequence[tuple[int, Stated]], epoch: int) -> None:
        self._recent.add_many(pairs, epoch)
        if self._recent.is_full():
            self._set_full()

    def _set_full(self) -> None:
        """Have what is recent compiled; what comes next is the next one's."""
        self._full = (*self._full, self._recent)
        self._recent = Recent(self.absent)

    def _add_groups(self, parts: Parts, groups: Sequence[Group], epoch: int) -> Parts:
        """Those of large groups become a segment at once, the others wait."""
        tables: list[CodedTests] = []
        for group in groups:
            if len(group.keys) > self.bulk_minimum:
                tables += coded_operands(group.keys, group.operands, self.absent)
                continue
            self._add(list(group.one_by_one()), epoch)
        if not tables:
            return parts
        self._compiled += sum(map(len, tables))
        self._is_large_due = True
        return parts.with_segment(Segment.of(merged(tables), self.absent, self.layout))

    def _relieved(self, parts: Parts, epoch: int) -> Parts:
        """Compile what is recent here and now, if compiling in the background cannot keep up."""
        if self.compile_threshold and len(self._full) <= _MOST_FULL:
            return parts
        in_work = self._in_work()
        waiting = [each for each in self._full if each not in in_work]
        if self.compile_threshold:
            if len(waiting) <= _MOST_FULL:
                return parts
            del waiting[1:]  # no longer than it takes to have room for the next
        merge = Merge(waiting, (), epoch)
        merge.run(self.absent, self.layout)
        self._full = tuple(each for each in self._full if each not in waiting)
        self._compiled += merge.compiled
        self._is_large_due = True
        return parts.with_segment(merge.result())

    def _merged_under_pressure(self, parts: Parts, epoch: int) -> Parts:
        """Merge here and now what cannot wait until the merge that is under way is over."""
        in_work = self._in_work()
        chosen = due([s for s in parts.segments if s not in in_work], self.small, self.small // 8)
        deleted = sum(segment.deleted for segment in chosen)
        if len(chosen) <= _PRESSING and deleted <= parts.live() + self.small:
            return parts
        merge = Merge((), chosen, epoch)
        merge.run(self.absent, self.layout)
        self._merged += merge.merged
        return parts.with_segment(merge.result(), chosen)

    def _drop(self, parts: Parts, keys: Sequence[int], epoch: int) -> Parts:
        """Forget the subscriptions under some keys."""
        left = self._recent.drop(keys, epoch)
        if self._full:
            for recent in self._full:
                left = recent.drop(left, epoch)
            self._full = tuple(recent for recent in self._full if len(recent))
        if not left:
            return parts
        wanted, epochs = self._one
        if len(left) == 1:
            wanted[0], epochs[0] = left[0], epoch
        else:
            wanted, epochs = np.array(left, np.int64), np.full(len(left), epoch, np.int64)
        for segment in reversed(parts.segments):  # the latest are the likeliest to change again
            some = segment.delete(wanted, epochs, epoch)
            if some == len(wanted):
                continue
            if segment.is_worn():
                self._is_large_due |= segment.deleted > self.small // 8 or not segment.live()
            if not some:
                break
            wanted, epochs = wanted[:some], epochs[:some]
        if self._is_large_due and not all(segment.live() for segment in parts.segments):
            live = tuple(segment for segment in parts.segments if segment.live())
            return parts._replace(segments=live)
        return parts

    # Matching.

    def view(self) -> ColumnarView:
        return self._view

    def match(self, event: Event) -> list[int]:
        return self._view.match(event)

    def match_batch(self, events: Sequence[Event]) -> list[list[int]]:
        return self._view.match_batch(events)

    def match_columns(self, columns: EventBatch, limit: int | None = None) -> Pairs:
        return self._view.match_columns(columns, limit)

    def count_columns(self, columns: EventBatch, limit: int | None = None) -> np.ndarray:
        return self._view.count_columns(columns, limit)

    def statistics(self) -> dict[str, int]:
        """What is held, and the work done.

        ``deleted`` clauses take room though nobody asks for them any more. ``compiled`` and
        ``merged`` count clauses, the same one as often as it was. ``events`` may be a little short
        where several threads ask.
        """
        with self._changing:
            segments, recents = self._view.parts
            return {
                "subscriptions": self._view.subscriptions,
                "clauses": self._view.parts.live() + sum(each.live_clauses() for each in recents),
                "deleted": sum(segment.deleted for segment in segments),
                "events": self._ledger.events,
                "segments": len(segments),
                "recent": sum(map(len, recents)),
                "compiled": self._compiled,
                "merged": self._merged,
                "merging": len(self._merges),
                "bytes": sum(segment.nbytes() for segment in segments),
            }

    # Files.

    def stored(self) -> Stored:
        return self._view.stored()

    def restore(self, stored: Stored, bound: int) -> bool:
        from predicast.matching.columnar.stored import FORM, restored

        if stored.form != FORM:
            return False
        segments, count = restored(stored, self.absent, bound)
        parts = Parts(tuple(segment for segment in segments if segment.live()))
        self._view = self._view.following(1, parts, count)
        return True

    def warm_up(self) -> None:
        warming_up.wait()

    # Compiling and merging.

    def settle(self) -> None:
        """Compile and merge whatever waits: a quiet moment spares the next events the work."""
        with self._changing:
            self._compile_recent()
        while True:
            worked = [self._work(lane, room=0) for lane in _LANES]
            if self._merges:
                sleep(_MOMENT)  # somebody else is at work
            elif not any(worked):
                return

    def _compile_recent(self) -> None:
        """Have what is recent compiled, as the latest view has it."""
        if len(self._recent):
            full, recent = (*self._full, self._recent), Recent(self.absent)
            self._full, self._recent = full, recent

    def _forget_compiled(self) -> None:
        """See to it that nothing waits which the latest view has compiled: that is what counts.

        Whoever had it compiled may have been interrupted before he could say so.
        """
        recents, full = self._view.parts.recents, self._full
        if recents[: len(full)] != full:
            self._full = tuple(each for each in full if each in recents)

    def _wake(self, lane: Lane) -> None:
        """Have what is due in a lane done, in a background thread."""
        if not self.in_background:
            self._work(lane)
            return
        calls = self._calls[lane]
        if calls.empty():
            calls.put(None)
        worker = self._workers.get(lane)
        if worker is not None and worker.is_alive():
            return
        work = partial(_tend, weakref.ref(self), lane)
        try:
            self._workers[lane] = started(work, calls, f"predicast-{lane}")
        except RuntimeError:  # there are too many threads, or the interpreter is about to end
            self._work(lane)

    def _work(self, lane: Lane, room: int | None = None) -> bool:
        """Do what is due in a lane until nothing is; whether there was anything."""
        worked = False
        while (merge := self._begun(lane, self.small // 8 if room is None else room)) is not None:
            worked = True
            try:
                merge.run(self.absent, self.layout)
            except MemoryError:
                # All is as before, only larger than need be: go without for a while.
                self._ended(lane, merge, take_over=False)
                return False
            except BaseException:
                self._ended(lane, merge, take_over=False)
                raise
            self._ended(lane, merge, take_over=True)
        return worked

    def _begun(self, lane: Lane, room: int) -> Merge | None:
        """What to do next in a lane, if anything is due."""
        with self._changing:
            if not self._is_whole or self._is_running(lane):
                return None
            self._forget_compiled()
            merge = self._due_small() if lane == "small" else self._due_large(room)
            if merge is not None:
                self._merges[lane] = merge
                self._merged += merge.merged
            return merge

    def _is_running(self, lane: Lane) -> bool:
        """Whether somebody is at work in a lane: a fork leaves threads behind."""
        merge = self._merges.get(lane)
        if merge is None:
            return False
        if merge.thread is threading.current_thread() or not merge.thread.is_alive():
            del self._merges[lane]  # whoever began it is gone, and it with him
            return False
        return True

    def _due_small(self) -> Merge | None:
        """What is recent, with the small segments: that takes hardly longer than without."""
        view, ledger = self._view, self._ledger
        if ledger.is_worth_compiling(self._recent):
            self._compile_recent()
        if not self._full:
            return None
        ledger.rent = 0.0
        in_work = self._in_work()
        idle = [each for each in view.parts.segments if each not in in_work]
        small = [each for each in idle if each.weight() <= self.small]
        return Merge(self._full, small, view.epoch)

    def _due_large(self, room: int) -> Merge | None:
        """Segments of similar size, worn ones, and those that are asked again and again."""
        view, ledger, in_work = self._view, self._ledger, self._in_work()
        idle = [each for each in view.parts.segments if each not in in_work]
        chosen = due(idle, self.small, room)
        if not chosen:
            chosen = worth_merging(idle, ledger.spent)
        if not chosen:
            return None
        ledger.spent = 0.0
        return Merge((), chosen, view.epoch)

    def _in_work(self) -> list[object]:
        """The parts that are being made into others."""
        return [part for m in self._merges.values() for part in (*m.recents, *m.segments)]

    def _ended(self, lane: Lane, merge: Merge, *, take_over: bool) -> None:
        """Have what was made take the place of what it was made of, unless that came to nothing."""
        with self._changing:
            if self._merges.get(lane) is not merge:
                return
            del self._merges[lane]
            if not take_over or not self._is_whole:
                return
            new = merge.result()
            view = self._view
            view.parts = view.parts.with_segment(new, (*merge.recents, *merge.segments))
            self._forget_compiled()
            self._compiled += merge.compiled


def _tend(here: weakref.ref[Columnar], lane: Lane) -> bool:
    """Do all that is due in a lane, unless nobody needs the matcher any more: whether anybody does.

    While its thread waits to be called again, nothing there keeps the matcher.
    """
    matcher = here()
    if matcher is None:
        return False
    matcher._work(lane)
    return True
