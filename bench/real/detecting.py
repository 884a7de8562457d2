"""The whole Sigma corpus against events like its own: ours by batches and one by one, and rsigma.

Everybody has the same rules and the same events, and answers on one thread; rounds take turns.
Ours is given Arrow tables, and dicts one by one; rsigma its own JSON values, one by one, which is
all that it does on one thread. All (event, rule) pairs are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from statistics import median
from typing import Any, Final

import pyarrow as pa

from bench.matchers.rival import LeftOutError
from bench.measuring.timing import timed
from bench.real import rsigma
from bench.real.corpus import Corpus, Rule
from bench.real.events import event_table, like
from bench.real.results import Rate, SigmaResult
from predicast import Engine
from predicast.language.sigma.dialect import KEYWORDS

OURS: Final = "columnar"
_FEWEST: Final = 20_000  # events that a round of batches matches, if there are that many


@dataclass(frozen=True, slots=True)
class Detecting:
    """How much is measured."""

    batches: tuple[int, ...] = (500, 2_000, 5_000, 20_000, 50_000)
    singles: int = 5_000  # events one by one
    rounds: int = 5
    with_rsigma: bool = True

    def events(self) -> int:
        """As many as are needed."""
        return max(*self.batches, min(_FEWEST, 10 * max(self.batches)))

    def steps(self) -> int:
        """What ``measure_detecting`` reports on."""
        return 2 + self.rounds


Pairs = set[tuple[int, str]]


def measure_detecting(
    corpus: Corpus, effort: Detecting, *, seed: int, progress: Callable[[str], None]
) -> SigmaResult:
    """All rivals in turn."""
    progress("loading the Sigma rules")
    engine = _loaded(corpus.rules)
    events = like([each.event for each in corpus.firings], effort.events(), seed=seed)
    table = event_table(events)
    compared = min(_FEWEST, len(events))
    left_out: dict[str, str] = {}
    with ExitStack() as stack:
        rival: rsigma.Rsigma | None = None
        if effort.with_rsigma:
            progress("building and loading rsigma-eval")
            try:
                rival = stack.enter_context(
                    rsigma.Rsigma(corpus.rules, _without_text(events[:compared]))
                )
            except LeftOutError as reason:
                left_out[rsigma.NAME] = str(reason)
        pairs = _pairs(engine.match_arrow(table.slice(0, compared)))
        wrong = _differences(engine, events, effort, pairs, rival)
        taken: dict[tuple[str, int], list[float]] = {}
        for number in range(effort.rounds):
            progress(f"Sigma rules, round {number + 1} of {effort.rounds}")
            for batch in effort.batches:
                rate = _in_batches(engine, table, batch)
                taken.setdefault((OURS, batch), []).append(rate)
            rate = _one_by_one(engine, events[: effort.singles])
            taken.setdefault((OURS, 1), []).append(rate)
            if rival is not None:
                taken.setdefault((rsigma.NAME, 1), []).append(compared / rival.seconds())
    return SigmaResult(
        rules=len(corpus.rules),
        events=len(events),
        fields=sum(len(event) - 1 for event in events) / len(events),
        matches=len(pairs),
        rates=[Rate(name, batch, median(rates)) for (name, batch), rates in taken.items()],
        wrong=wrong,
        left_out=left_out,
    )


def _loaded(rules: Sequence[Rule]) -> Engine:
    engine = Engine()
    engine.subscribe_many((rule.id, rule.expression()) for rule in rules)
    engine._store.matcher.settle()  # merging in the background would disturb the first rounds
    return engine


def _without_text(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: event[name] for name in event if name != KEYWORDS} for event in events]


def _in_batches(engine: Engine, table: pa.Table, batch: int) -> float:
    """Events a second, over at least as many as a batch holds."""
    count: int = max(batch, min(_FEWEST, table.num_rows))
    batches = [table.slice(start, min(batch, count - start)) for start in range(0, count, batch)]

    def match() -> None:
        for each in batches:
            engine.match_arrow(each)

    return count / timed(match)[0]


def _one_by_one(engine: Engine, events: Sequence[dict[str, Any]]) -> float:
    def match() -> None:
        for event in events:
            engine.match(event)

    return len(events) / timed(match)[0]


def _differences(
    engine: Engine,
    events: Sequence[dict[str, Any]],
    effort: Detecting,
    pairs: Pairs,
    rival: rsigma.Rsigma | None,
) -> list[str]:
    """What the batch does not share with single events and with the rival."""
    singles = range(min(effort.singles, len(events)))
    alone = {(n, id) for n in singles for id in engine.match(events[n])}
    wrong = _told("one by one", alone, {pair for pair in pairs if pair[0] in singles})
    return wrong if rival is None else wrong + _told(rsigma.NAME, rival.pairs(), pairs)


def _told(name: str, found: Pairs, expected: Pairs) -> list[str]:
    differing = sorted(found ^ expected)
    if not differing:
        return []
    some = ", ".join(f"event {number} and rule {id}" for number, id in islice(differing, 3))
    return [f"{name} differs from the batch on {len(differing):,} pairs, such as {some}"]


def _pairs(found: pa.Table) -> Pairs:
    columns = found["event"].to_pylist(), found["subscription"].to_pylist()
    return set(zip(*columns, strict=True))
