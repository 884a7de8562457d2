"""EventBridge patterns on events as they come, with arrays, beside Event Ruler."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any

from bench.matchers.rival import LeftOutError
from bench.measuring.timing import timed
from bench.real.dialects import Spoken
from bench.real.event_ruler import EventRuler
from bench.real.eventbridge import documents, eventbridge_workload
from bench.real.results import RulerResult
from predicast import Engine
from predicast.language import dialect_named


def measure_ruler(effort: Spoken, *, seed: int) -> RulerResult:
    """Both on the same patterns and events; answers are compared pair by pair."""
    texts = eventbridge_workload(effort.subscriptions, 0, seed).texts
    patterns = {f"s{number}": text for number, text in enumerate(texts)}
    events = documents(effort.subscriptions, effort.events, seed)
    ours = _Ours(patterns, events)
    try:
        if not effort.with_ruler:
            raise LeftOutError("it was not asked for")
        rival = EventRuler(patterns, events)
    except LeftOutError as error:
        return _result(ours, None, [ours.round() for _ in range(effort.rounds)], str(error))
    with rival:
        rounds = [(*ours.round(), rival.seconds()) for _ in range(effort.rounds)]
        return _result(ours, rival, rounds, "")


class _Ours:
    """The patterns, loaded, and the events as JSON text."""

    def __init__(self, patterns: dict[str, str], events: list[dict[str, Any]]) -> None:
        self.engine, self._read = Engine(), dialect_named("eventbridge").read_event
        load = partial(self.engine.subscribe_many, list(patterns.items()), dialect="eventbridge")
        self.load_s, _ = timed(load)
        self.engine._store.matcher.settle()  # merging in the background would disturb rounds
        self.texts = [json.dumps(event) for event in events]

    def round(self) -> tuple[float, float, float]:
        """Seconds to read all events, to match them one by one, and together."""
        return tuple(timed(each)[0] for each in (self._reading, self._singles, self.batch))  # type: ignore[return-value]

    def _reading(self) -> None:
        for text in self.texts:
            self._read(text)

    def _singles(self) -> None:
        for text in self.texts:
            self.engine.match(self._read(text))

    def batch(self) -> list[list[str]]:
        """The ids that match each event."""
        return self.engine.match_batch([self._read(text) for text in self.texts])


def _result(
    ours: _Ours, rival: EventRuler | None, rounds: Sequence[tuple[float, ...]], left_out: str
) -> RulerResult:
    count = len(ours.texts)
    reading, single, batch, *others = (
        1e6 * median(each) / count for each in zip(*rounds, strict=True)
    )
    found = {(number, id) for number, ids in enumerate(ours.batch()) for id in ids}
    differing = set() if rival is None else found ^ rival.pairs()
    return RulerResult(
        patterns=len(ours.engine),
        events=count,
        matches=len(found),
        load_s=ours.load_s,
        read_us=reading,
        single_us=single,
        batch_us=batch,
        ruler_load_s=None if rival is None else rival.load_s,
        ruler_us=others[0] if others else None,
        left_out=left_out,
        wrong=f"{len(differing)} pairs differ, such as {min(differing)}" if differing else "",
    )
