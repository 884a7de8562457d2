"""``Joins``: patterns as plans over the arcs of an event, plans that begin alike as one.

::

    pattern ── plan.py ──> plans ── trie.py ──> segment     an event's arcs and kinds as arrays
                                                   │                  (event_arrays.py)
                                                   └── search ───────────────┘
                                               (kernels/search.py, plain.py)

Subscriptions are held in *segments*, each a trie of its own that never changes. New ones wait until
somebody asks, or until they are many, and are then made into a segment; segments of similar size
are merged, so that there are few. What is gone is marked as deleted, and left behind when segments
are merged. So a view of all this lasts, and may be asked while others change what is held.

An event is encoded once for all segments. A plan finds what may match by the sets of vertices that
are left for each slot; what that does not prove is looked for (``kernels/search.py``), and what a
plan cannot say, a comparison of two variables, the definition decides.

Cost: a subscription takes part in O(log n) merges. An event is compared with as many nodes of the
trie as have not been ruled out by those above them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final, NamedTuple

import numpy as np

from predicast.arrays import Array
from predicast.graph.brute_force import find
from predicast.graph.event_graph import EventGraph
from predicast.graph.matching.joins import warming_up
from predicast.graph.matching.joins.conditions import AskedConditions
from predicast.graph.matching.joins.event_arrays import Closure, encoded
from predicast.graph.matching.joins.plan import plans_of
from predicast.graph.matching.joins.segment import Compiled, Segment
from predicast.graph.matching.joins.vocabulary import Vocabulary
from predicast.graph.matching.matcher import (
    DEFAULT_BUDGET,
    Found,
    GraphMatcher,
    GraphView,
    PatternDelta,
)
from predicast.graph.ontology import Ontology
from predicast.graph.patterns import GraphPattern
from predicast.matching.delta import Effect

_FEW: Final = 256  # subscriptions that wait for somebody to ask
_SIMILAR: Final = (
    2  # a segment up to this many times as large as the one after it is merged with it
)
_AT_ONCE: Final = 256  # events that are encoded and matched at a time


class _Live(NamedTuple):
    """A segment, and which of its rows are held."""

    segment: Segment
    is_live: Array


class Counts:
    """What all views of one matcher did; those who match at the same time may lose some."""

    def __init__(self) -> None:
        self.events = self.undecided = self.rough = 0


class JoinsView(GraphView):
    """What was held at one moment."""

    def __init__(
        self,
        segments: tuple[_Live, ...],
        waiting: tuple[Compiled, ...],
        rough: dict[int, GraphPattern],
        asked: AskedConditions | None,
        closure: Callable[[], Closure],
        budget: int,
        counts: Counts,
    ) -> None:
        self._segments, self._waiting = segments, waiting
        self._rough, self._asked = rough, asked
        self._closure, self._budget, self._counts = closure, budget, counts

    def find(self, event: EventGraph) -> Found:
        return self.find_batch([event])[0]

    def match_batch(self, events: Sequence[EventGraph]) -> list[list[int]]:
        return [found.keys for found in self.find_batch(events)]

    def find_batch(self, events: Sequence[EventGraph]) -> list[Found]:
        found: list[Found] = []
        for start in range(0, len(events), _AT_ONCE):
            found += self._found(events[start : start + _AT_ONCE])
        return found

    def ready(self) -> tuple[_Live, ...]:
        """The segments, of which the last is what has been waiting."""
        if self._waiting:
            # Two threads may both do this, and come to the same.
            segment = Segment(self._waiting)
            self._segments = (*self._segments, _Live(segment, np.ones(len(segment), bool)))
            self._waiting = ()
        return self._segments

    def _found(self, events: Sequence[EventGraph]) -> list[Found]:
        warming_up.begin()  # in a forked process it has not begun
        closure = self._closure()
        arrays = encoded(events, closure, self._asked)
        keys: list[set[int]] = [set() for _ in events]
        undecided: list[set[int]] = [set() for _ in events]
        for segment, is_live in self.ready():
            matches = segment.match(arrays, is_live, self._budget)
            for place, key in matches.found.tolist():
                keys[place].add(key)
            for place, key in matches.undecided.tolist():
                undecided[place].add(key)
            for place, key in matches.rough.tolist():
                if key not in keys[place]:
                    self._decide(
                        events[place], key, closure.ontology, keys[place], undecided[place]
                    )
        self._counts.events += len(events)
        open_ones = [left - found for left, found in zip(undecided, keys, strict=True)]
        self._counts.undecided += sum(map(len, open_ones))
        return [Found([*found], [*left]) for found, left in zip(keys, open_ones, strict=True)]

    def _decide(
        self, event: EventGraph, key: int, ontology: Ontology, keys: set[int], undecided: set[int]
    ) -> None:
        """Ask the definition about a pattern that is more than its plan."""
        self._counts.rough += 1
        matched = find(self._rough[key], event, ontology, budget=self._budget).matched
        if matched is None:
            undecided.add(key)
        elif matched:
            keys.add(key)


class Joins(GraphMatcher):
    """Patterns in segments."""

    name: ClassVar[str] = "joins"
    has_lasting_views: ClassVar[bool] = True

    def __init__(self, ontology: Ontology, *, budget: int = DEFAULT_BUDGET) -> None:
        super().__init__(ontology, budget=budget)
        self._vocabulary = Vocabulary()
        self._segments: list[_Live] = []
        self._waiting: dict[int, Compiled] = {}
        self._rows: dict[int, tuple[Segment, int]] = {}  # where each key is that does not wait
        self._rough: dict[int, GraphPattern] = {}
        self._known: Closure | None = None
        self._counts = Counts()
        self._view: JoinsView | None = None
        warming_up.begin()

    def warm_up(self) -> None:
        warming_up.wait()
        self._vocabulary.conditions.warm_up()

    # Changes.

    def apply(self, delta: PatternDelta, before: Callable[[int], GraphPattern]) -> Effect:
        for key in delta.removed:
            self._forget(key)
        for key, _ in delta.changed:
            self._forget(key)
        for key, pattern in (*delta.added, *delta.changed):
            self._hold(key, pattern)
        if len(self._waiting) > _FEW:
            self._gather()
        self._view = None
        return Effect(0, len(delta.changed), len(delta.added) + len(delta.removed))

    def understand(self, ontology: Ontology) -> None:
        super().understand(ontology)
        self._view = None

    def _hold(self, key: int, pattern: GraphPattern) -> None:
        plans = tuple(plans_of(pattern, self._vocabulary))
        for plan in plans:
            self._vocabulary.conditions.hold(plan.conditions)
        self._waiting[key] = Compiled(key, plans)
        if any(plan.is_rough for plan in plans):
            self._rough = {**self._rough, key: pattern}

    def _forget(self, key: int) -> None:
        compiled = self._waiting.pop(key, None)
        if compiled is None:
            segment, row = self._rows.pop(key)
            compiled = segment.compiled[row]
            place = next(at for at, live in enumerate(self._segments) if live.segment is segment)
            is_live = self._segments[place].is_live.copy()
            is_live[row] = False
            self._segments[place] = _Live(segment, is_live)
        for plan in compiled.plans:
            self._vocabulary.conditions.drop(plan.conditions)
        if key in self._rough:
            self._rough = {known: each for known, each in self._rough.items() if known != key}

    def _gather(self) -> None:
        """Make a segment of what waits, and one of those of similar size."""
        gathered = list(self._waiting.values())
        while self._segments:
            segment, is_live = self._segments[-1]
            held = int(np.count_nonzero(is_live))
            if held > _SIMILAR * len(gathered) and 2 * held > len(segment):
                break
            rows = np.flatnonzero(is_live).tolist()
            gathered = [segment.compiled[row] for row in rows] + gathered
            self._segments.pop()
        merged = Segment(gathered)
        self._segments.append(_Live(merged, np.ones(len(merged), bool)))
        self._rows |= {each.key: (merged, row) for row, each in enumerate(gathered)}
        self._waiting = {}

    def settle(self) -> None:
        """Merge everything into one segment."""
        self._waiting = {
            **{
                segment.compiled[row].key: segment.compiled[row]
                for segment, is_live in self._segments
                for row in np.flatnonzero(is_live).tolist()
            },
            **self._waiting,
        }
        self._segments = []
        if self._waiting:
            self._gather()
        self._vocabulary.conditions.settle()
        self._view = None

    # Asking.

    def view(self) -> GraphView:
        if self._view is None:
            self._view = JoinsView(
                tuple(self._segments),
                tuple(self._waiting.values()),
                self._rough,
                self._vocabulary.conditions.asked(),
                self._closure_of(self.ontology),
                self.budget,
                self._counts,
            )
        return self._view

    def _closure_of(self, ontology: Ontology) -> Callable[[], Closure]:
        def closure() -> Closure:
            known = self._known
            if (
                known is None
                or known.ontology is not ontology
                or known.size != self._vocabulary.size
                or known.is_full
            ):
                known = self._known = Closure(ontology, self._vocabulary)
            return known

        return closure

    def find(self, event: EventGraph) -> Found:
        return self.view().find(event)

    def find_batch(self, events: Sequence[EventGraph]) -> list[Found]:
        return self.view().find_batch(events)

    def match_batch(self, events: Sequence[EventGraph]) -> list[list[int]]:
        return self.view().match_batch(events)

    def statistics(self) -> dict[str, int]:
        return {
            "subscriptions": len(self._waiting) + len(self._rows),
            "waiting": len(self._waiting),
            "segments": len(self._segments),
            "nodes": sum(each.segment.nodes for each in self._segments),
            "conditions": len(self._vocabulary.conditions),
            "events": self._counts.events,
            "undecided": self._counts.undecided,
            "decided_by_definition": self._counts.rough,
        }
