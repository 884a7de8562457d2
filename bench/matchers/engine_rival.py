"""``EngineRival``: a matcher of ours behind ``Engine``, all in: Arrow in, ids out.

The wide, sparse workload gives one name values of several types, which no Arrow column can hold;
there the events are ``Event`` objects made beforehand, and ``match_batch`` is timed.
"""

from __future__ import annotations

import numpy as np

from bench.matchers.redundant import SparseWorkload
from bench.matchers.rival import AnyWorkload, LeftOutError, Rival, Round
from bench.measuring.timing import timed
from predicast import Engine
from predicast.errors import UnsupportedByMatcherError


class EngineRival(Rival):
    """An engine with the matcher of that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._engine: Engine | None = None
        self._workload: AnyWorkload | None = None

    def load(self, workload: AnyWorkload) -> None:
        self._workload = workload
        self._engine = Engine(matcher=self.name)
        try:
            self._engine.subscribe_arrow(workload.table())
        except UnsupportedByMatcherError as error:
            raise LeftOutError(f"it cannot hold these subscriptions: {error}") from error
        self.match(1)  # some matchers compile what they hold when the first event comes

    def match(self, events: int) -> Round:
        seconds, matches = self._matched(events)
        return Round(seconds, int(matches.sum()))

    def matches_per_event(self, events: int) -> np.ndarray:
        """How many subscriptions each of the first events matches."""
        return self._matched(events)[1]

    def _matched(self, events: int) -> tuple[float, np.ndarray]:
        assert self._engine is not None
        assert self._workload is not None
        engine, workload = self._engine, self._workload
        if isinstance(workload, SparseWorkload):
            seconds, found = timed(lambda: engine.match_batch(workload.events[:events]))
            return seconds, np.array([len(ids) for ids in found])
        batch, intervals = workload.events.slice(0, events), workload.intervals
        seconds, table = timed(lambda: engine.match_arrow(batch, intervals=intervals))
        return seconds, np.bincount(table["event"].to_numpy(), minlength=events)

    def bytes_held(self) -> int | None:
        assert self._engine is not None
        return self._engine.statistics().get("bytes")

    def close(self) -> None:
        self._engine = self._workload = None
