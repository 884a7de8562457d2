"""``columnar``: the production matcher, a log-structured set of immutable segments.

None of the papers' structures is how a matcher is built on today's processors. This one compiles
clauses into *segments* (``segment.py``): every span becomes a pair of rank codes (``cuts.py``),
clauses that look alike are scanned in blocks (``blocks.py``), the others are reached one by one
through their most selective test (``rows.py``), and the loops over them are compiled
(``_kernels.py``).

Segments do not change. What was subscribed since the last one waits as it is (``recent.py``), so
that a change is visible to the very next event; when asking has cost about as much as compiling
would, it is compiled. What was unsubscribed is struck out where it
stands. Segments of similar size are merged beside the matching (``merging.py``), as in a
log-structured merge tree, so that there are few of them and each clause is merged O(log n) times.

Cost: a batch pays per segment for coding its events (a lookup per event and axis), then for the
blocks and rows that it reaches. Space: two codes per axis and two numbers per clause in blocks,
some 30 bytes per test in rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from predicast.matching.columnar import _kernels
from predicast.matching.columnar.blocks import Layout
from predicast.matching.columnar.coded_tests import STRUCK, CodedTests, merged
from predicast.matching.columnar.from_alike import coded_alike
from predicast.matching.columnar.merging import Merge
from predicast.matching.columnar.recent import Recent
from predicast.matching.columnar.runs import joined
from predicast.matching.columnar.segment import EVERY, Segment
from predicast.matching.columns import Columns
from predicast.matching.matcher import Matcher, Pairs, Stored
from predicast.matching.window import Added, Operation, Removed, Replaced, Saved, net_effect
from predicast.model import Absent, Event, Subscription
from predicast.model.alike import Gathering
from predicast.model.outline import Stated, outlined

if TYPE_CHECKING:
    from predicast.model.alike import Alike

_SIMILAR: Final = 2  # segments up to this many times as large as all smaller ones are merged
_SMALL: Final = 8_192  # clauses; merging a few such segments takes some milliseconds
_MANY: Final = 3  # small segments that are not merged yet

# What compiling costs, in microseconds or so; ``Recent.price`` is what asking does.
_COMPILE: Final = 3_000
_COMPILE_EACH: Final = 10


class Columnar(Matcher):
    """Compiled segments, the largest first, and what came after them."""

    name = "columnar"
    works_in_bulk = True
    layout: ClassVar[Layout] = Layout()
    small: ClassVar[int] = _SMALL
    few: ClassVar[int] = 512  # subscriptions at a time that are not compiled at once
    patience: ClassVar[float] = 1.0  # at 0 all is compiled before the next event

    def __init__(self, *, absent: Absent = "fails") -> None:
        super().__init__(absent=absent)
        self._recent = Recent(absent)
        self._waiting: list[CodedTests] = []  # from bulk loads, to be compiled at the next event
        self._segments: list[Segment] = []
        self._merge: Merge | None = None
        self._debt = 0.0
        self._subscriptions = 0
        self._events = 0
        self._compiled = 0
        self._merged = 0

    # Changes.

    def subscribe(self, key: int, subscription: Subscription) -> None:
        self._subscriptions += 1
        self._recent.add(key, outlined(subscription))

    def subscribe_alike(self, keys: np.ndarray, alike: Alike) -> None:
        self._subscriptions += len(keys)
        if len(keys) <= self.few:
            for row, key in enumerate(keys.tolist()):
                self._recent.add(key, alike.stated(row))
            return
        tables = coded_alike(keys, alike, self.absent)
        self._compiled += sum(map(len, tables))
        self._waiting += tables
        if sum(map(len, self._waiting)) > self.small:
            self._settle_waiting()

    def unsubscribe(self, key: int) -> None:
        self._drop([key])

    def change(self, key: int, subscription: Subscription) -> None:
        self.unsubscribe(key)
        self.subscribe(key, subscription)

    def run_window(self, operations: Sequence[Operation]) -> Saved:
        net = net_effect(operations)
        stated: list[Added | Replaced] = [op for op in net if not isinstance(op, Removed)]
        self._drop([op.key for op in net if not isinstance(op, Added)])
        if len(stated) <= self.few:
            self._subscriptions += len(stated)
            for each in stated:
                self._recent.add(each.key, _taken_apart(each.stated))
        else:
            gathering = Gathering()
            for each in stated:
                gathering.add(each.key, *_taken_apart(each.stated))
            for keys, alike in gathering.groups():
                self.subscribe_alike(keys, alike)
        in_place = sum(isinstance(each, Replaced) for each in net)
        given = len(operations)
        return Saved(given, given - len(net), 0, in_place, len(net) - in_place)

    def change_alike(self, keys: np.ndarray, alike: Alike) -> None:
        self._drop(keys.tolist())
        self.subscribe_alike(keys, alike)

    def _drop(self, keys: Sequence[int]) -> None:
        """Forget the subscriptions under some keys."""
        self._subscriptions -= len(keys)
        left = np.array([key for key in keys if not self._recent.drop(key)], np.int64)
        for table in self._waiting if len(left) else ():
            # A subscription of several clauses may be in several tables, but then in no segment.
            table.keys[np.isin(table.keys, left)] = STRUCK
        for segment in reversed(self._segments):  # the latest are the likeliest to change again
            if not len(left):
                return
            found = segment.strike_all(left)
            if self._merge is not None and segment in self._merge.segments:
                self._merge.strike(left[found])
            left = left[~found]

    # Matching.

    def match(self, event: Event) -> list[int]:
        self._prepare(1, can_tell=self._recent.can_tell_one(event))
        found = self._recent.match(event) if len(self._recent) else []
        may_repeat = self._recent.may_repeat
        for segment in self._segments:
            keys = segment.match_one(event)
            if segment.struck:
                keys = keys[keys >= 0]
            found += keys.tolist()
            may_repeat |= segment.may_repeat()
        return list(dict.fromkeys(found)) if may_repeat else found

    def match_batch(self, events: Sequence[Event]) -> list[list[int]]:
        return self.match_columns(Columns.from_events(events)).by_event(len(events))

    def match_columns(self, columns: Columns, limit: int | None = None) -> Pairs:
        self._prepare(len(columns), can_tell=self._recent.can_tell(columns))
        return self._pairs(columns, limit)

    def _pairs(self, columns: Columns, limit: int | None) -> Pairs:
        pieces = self._recent.match_columns(columns)
        largest = 0 if self._recent.may_repeat else -1
        for segment in self._segments:
            exact = not segment.struck and not segment.may_repeat()
            enough = limit if exact and limit is not None else EVERY
            pieces += segment.match(columns, counting=False, enough=enough)
            if segment.may_repeat():
                largest = max(largest, segment.largest_key)
        keys, runs = joined(pieces)
        if largest >= 0:
            largest = max(largest, int(keys.max(initial=0)))
        is_plain = largest < 0 and limit is None and not any(s.struck for s in self._segments)
        most = EVERY if limit is None else limit
        return Pairs(*_kernels.gather(keys, runs, len(columns), is_plain, most, largest))

    def count_columns(self, columns: Columns, limit: int | None = None) -> np.ndarray:
        self._prepare(len(columns), can_tell=self._recent.can_tell(columns))
        if self._recent.may_repeat or any(
            segment.struck or segment.may_repeat() for segment in self._segments
        ):
            return self._pairs(columns, limit).counts(len(columns))
        pieces = self._recent.match_columns(columns)
        enough = EVERY if limit is None else limit
        for segment in self._segments:
            pieces += segment.match(columns, counting=True, enough=enough)
        counts = np.zeros(len(columns), np.int64)
        for _, runs in pieces:
            np.add.at(counts, runs[:, 0], runs[:, 2] - runs[:, 1])
        return counts if limit is None else np.minimum(counts, limit)

    def statistics(self) -> dict[str, int]:
        """What is held, and the work done: ``compiled`` clauses, and ``merged`` ones."""
        held = sum(len(segment) - segment.struck for segment in self._segments)
        return {
            "subscriptions": self._subscriptions,
            "clauses": held + self._recent.clauses() + sum(map(len, self._waiting)),
            "events": self._events,
            "segments": len(self._segments),
            "recent": len(self._recent),
            "compiled": self._compiled,
            "merged": self._merged,
            "bytes": sum(segment.nbytes() for segment in self._segments),
        }

    # Files.

    def stored(self) -> Stored:
        from predicast.matching.columnar.stored import stored

        self._compile_recent()
        self._settle_waiting()
        return stored(self._segments, self._subscriptions)

    def restore(self, stored: Stored, bound: int) -> bool:
        from predicast.matching.columnar.stored import FORM, restored

        if stored.form != FORM:
            return False
        self._segments, self._subscriptions = restored(stored, self.absent, bound)
        return True

    # Compiling and merging.

    def settle(self) -> None:
        """Compile and merge whatever waits: a quiet moment spares the next events the work."""
        self._compile_recent()
        self._settle_waiting()
        while self._merge is not None or self._start_merge():
            assert self._merge is not None
            self._merge.wait()
            self._finish_merge()

    def _prepare(self, events: int, *, can_tell: bool) -> None:
        """Before events: pay what is owed, and take over what a merge made."""
        self._events += events
        if len(self._recent):
            self._debt += self._recent.price(events)
            price = _COMPILE + _COMPILE_EACH * len(self._recent)
            if not can_tell or self._debt > self.patience * price:
                self._compile_recent()
        if self._waiting:
            self._settle_waiting()
        if self._merge is not None and self._merge.is_over():
            self._finish_merge()

    def _compile_recent(self) -> None:
        """Make tables of what came one by one."""
        self._debt = 0.0
        tables = self._recent.tables()
        self._compiled += sum(map(len, tables))
        self._waiting += tables

    def _settle_waiting(self) -> None:
        """Make a segment of the tables that wait; with the smallest ones, if these are many."""
        tables = [live for table in self._waiting if len(live := table.live())]
        self._waiting = []
        if not tables:
            return
        busy = [] if self._merge is None else self._merge.segments
        small = [each for each in self._segments if len(each) <= self.small and each not in busy]
        if len(small) >= _MANY:
            tables += [segment.tests() for segment in small]
            self._segments = [each for each in self._segments if each not in small]
            self._merged += sum(map(len, small))
        self._add(Segment.of(merged(tables), self.absent, self.layout))
        if self._merge is None:
            self._start_merge()

    def _add(self, segment: Segment) -> None:
        if len(segment) > segment.struck:
            self._segments.append(segment)
            self._segments.sort(key=len, reverse=True)

    def _start_merge(self) -> bool:
        """Merge the smaller segments while each is no match for all smaller ones together."""
        total = 0
        similar: list[Segment] = []
        for segment in reversed(self._segments):
            if similar and len(segment) > _SIMILAR * total:
                break
            similar.append(segment)
            total += len(segment)
        if len(similar) < 2 or total <= self.small:
            similar = [each for each in self._segments if 2 * each.struck > len(each)]
        if not similar:
            return False
        self._merged += sum(len(segment) - segment.struck for segment in similar)
        self._merge = Merge(similar, self.absent, self.layout)
        return True

    def _finish_merge(self) -> None:
        merge, self._merge = self._merge, None
        assert merge is not None
        result = merge.result()
        if result is not None:
            self._segments = [each for each in self._segments if each not in merge.segments]
            self._add(result)
        self._start_merge()


def _taken_apart(stated: Subscription | Stated) -> Stated:
    return stated if isinstance(stated, Stated) else outlined(stated)
