"""``columnar``: the production matcher, a log-structured set of immutable segments.

None of the papers' structures is how a matcher is built on today's processors. This one compiles
clauses into *segments* (``segment.py``): every span becomes a pair of rank codes (``cuts.py``),
clauses that look alike are scanned in blocks (``blocks.py``), the others are reached one by one
through their most selective test (``rows.py``), and the loops over them are compiled
(``_kernels.py``).

Segments do not change. What was subscribed since the last one waits in a small brute-force
matcher, which sees to it that a change is visible to the very next event; a batch that meets more
than a few hundred of them has them compiled first. What was unsubscribed is struck out where it
stands. Segments of similar size are merged, as in a log-structured merge tree, so that there are
few of them and each clause is compiled O(log n) times.

Cost: a batch pays per segment for coding its events (a binary search per event and axis), then
for the blocks and rows that it reaches. Space: two codes per axis and a key per clause in blocks,
some 30 bytes per test in rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np

from predicast.matching.brute_force import BruteForce
from predicast.matching.columnar.clause_tests import ClauseTests, compiled_tests
from predicast.matching.columnar.output import Writer
from predicast.matching.columnar.segment import Layout, Segment
from predicast.matching.columns import Columns
from predicast.matching.matcher import Matcher, Pairs
from predicast.model import Absent, Event, Subscription

_SIMILAR: Final = (
    2  # a segment up to this many times as large as the one after it is merged with it
)
_FEW: Final = 1 << 10  # matches to make room for at first, for one event
_KEY_BITS: Final = 40  # of a key when it is packed with the number of an event


class Columnar(Matcher):
    """Compiled segments, the oldest and largest first, and what came after them."""

    name = "columnar"
    most_recent: ClassVar[int] = 256  # subscriptions that may wait to be compiled
    layout: ClassVar[Layout] = Layout()

    def __init__(self, *, absent: Absent = "fails") -> None:
        super().__init__(absent=absent)
        self._held: dict[int, Subscription] = {}
        self._recent = BruteForce(absent=absent)
        self._segments: list[Segment] = []
        self._disjunctions = 0  # subscriptions of several clauses, which may match twice
        self._events = 0
        self._compiled = 0

    def subscribe(self, key: int, subscription: Subscription) -> None:
        self._held[key] = subscription
        self._disjunctions += len(subscription.clauses) > 1
        self._recent.subscribe(key, subscription)

    def unsubscribe(self, key: int) -> None:
        self._disjunctions -= len(self._held.pop(key).clauses) > 1
        if key in self._recent:
            self._recent.unsubscribe(key)
        else:
            self._strike(key)

    def change(self, key: int, subscription: Subscription) -> None:
        self.unsubscribe(key)
        self.subscribe(key, subscription)

    def match(self, event: Event) -> list[int]:
        self._events += 1
        if len(self._recent) > self.most_recent:
            self._compile_recent()
        found = self._recent.match(event)
        for segment in self._segments:
            writer = Writer(_FEW)
            segment.match_one(event, writer)
            keys = writer.matches().keys.tolist()
            if segment.struck:
                keys = [key for key in keys if key >= 0]
            found += keys
        return list(dict.fromkeys(found))

    def match_batch(self, events: Sequence[Event]) -> list[list[int]]:
        return self.match_columns(Columns.from_events(events)).by_event(len(events))

    def match_columns(self, columns: Columns) -> Pairs:
        self._events += len(columns)
        if len(self._recent) > self.most_recent:
            self._compile_recent()
        recent = self._recent.match_columns(columns)
        writer = Writer()
        may_repeat = self._disjunctions > 0
        for segment in self._segments:
            segment.match(columns, writer)
            may_repeat |= segment.may_repeat
        out = writer.matches()
        events = np.concatenate([recent.events, out.events])
        keys = np.concatenate([recent.keys, out.keys])
        if any(segment.struck for segment in self._segments):
            live = keys >= 0
            events, keys = events[live], keys[live]
        if may_repeat:
            packed = np.unique(events << _KEY_BITS | keys)
            return Pairs(packed >> _KEY_BITS, packed & ((1 << _KEY_BITS) - 1))
        order = np.argsort(events, kind="stable")
        return Pairs(events[order], keys[order])

    def statistics(self) -> dict[str, int]:
        """What is held, and the work done: ``compiled`` counts clauses, those of merges
        included.
        """
        return {
            "subscriptions": len(self._held),
            "clauses": sum(len(each.clauses) for each in self._held.values()),
            "events": self._events,
            "segments": len(self._segments),
            "recent": len(self._recent),
            "compiled": self._compiled,
            "bytes": sum(segment.nbytes() for segment in self._segments),
        }

    def _strike(self, key: int) -> None:
        for segment in self._segments:
            if segment.strike(key):
                if segment.is_mostly_struck():
                    self._segments.remove(segment)
                    self._add_segment(segment.live_keys())
                return

    def _compile_recent(self) -> None:
        keys = sorted(self._recent)
        self._recent = BruteForce(absent=self.absent)
        while self._segments and len(self._segments[-1]) <= _SIMILAR * len(keys):
            keys = sorted([*self._segments.pop().live_keys(), *keys])
        self._add_segment(keys)

    def _add_segment(self, keys: Sequence[int]) -> None:
        owners: list[int] = []
        clauses: list[ClauseTests] = []
        for key in keys:
            for clause in self._held[key].clauses:
                tests = compiled_tests(clause, self.absent)
                if tests is not None:
                    owners.append(key)
                    clauses.append(tests)
        self._compiled += len(clauses)
        if clauses:
            self._segments.append(Segment(owners, clauses, self.absent, self.layout))
            self._segments.sort(key=len, reverse=True)
