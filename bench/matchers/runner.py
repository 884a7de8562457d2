"""The runner: every rival at every point, taking turns, round after round.

At a point all rivals are loaded side by side; then, in each round, each matches the batch once.
Who goes first changes from round to round. A slow rival gets fewer of the events, so many that a
round stays within the budget: a time per event does not need two thousand of them. What it finds
must be as much as we find on the same events.

A rival is left out where its loading would take too long, judged by what it took at the size
before; the results say so.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bench.matchers.catalogue import Family
from bench.matchers.duckdb_rival import DuckdbRival
from bench.matchers.engine_rival import EngineRival
from bench.matchers.goals import SPARSE, SPARSE_RIVAL
from bench.matchers.numpy_rival import NumpyRival
from bench.matchers.results import OURS, FamilyResult, RivalResult, SizeResult
from bench.matchers.rival import AnyWorkload, LeftOutError, Rival
from bench.matchers.yardstick import Yardstick
from bench.measuring.sizes import Size
from bench.measuring.timing import in_turn, timed_on_the_clock

PAPER_RIVALS: Final = ("improved-counting", "redundant-attributes", "ceem")
# Seconds to load a subscription into one of them, until the first size has shown it.
PAPER_LOAD_S: Final = 0.0004
# Except where a goal is a ratio to one of them: there it is loaded, however long it takes.
NEEDED: Final = {("redundant", SPARSE_RIVAL): SPARSE}
# A join may take so many times the budget of a round, since a small batch would not do it justice.
JOIN_BUDGETS: Final = 5
# A rival that takes much longer than the budget for a single event gets no more rounds than this.
FEW_ROUNDS: Final = 3


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    rounds: int
    round_budget_s: float  # of a rival other than ours and the yardstick
    load_limit_s: float
    largest: int | None = None  # subscriptions; points beyond it are left out


EFFORT: Final = {
    Size.SMALL: Effort(rounds=7, round_budget_s=0.05, load_limit_s=2),
    Size.FULL: Effort(rounds=7, round_budget_s=1, load_limit_s=60),
}


def default_rivals() -> list[Rival]:
    """Everyone but us."""
    papers = [EngineRival(name) for name in PAPER_RIVALS]
    return [Yardstick(), DuckdbRival(), NumpyRival(), *papers]


def turns(families: Sequence[Family], size: Size) -> int:
    """How often ``measure_family`` calls ``progress``, over all families."""
    return sum(len(family.sizes[size].subscriptions) for family in families)


def measure_family(
    family: Family,
    size: Size,
    effort: Effort,
    *,
    seed: int = 0,
    progress: Callable[[str], None] = lambda _: None,
    rivals: Callable[[], Iterable[Rival]] = default_rivals,
    ours: str = OURS,
) -> FamilyResult:
    """Every size of a workload; ``progress`` is called with a title before each.

    Whatever ``ours`` is, a test's stand-in, the results call it by the production matcher's name.
    """
    result = FamilyResult(family.name, family.workload, family.title, [])
    sizes = family.sizes[size].up_to(effort.largest)
    for subscriptions in sizes.subscriptions:
        progress(f"{family.name}: {subscriptions:,}")
        workload = family.make(subscriptions, sizes.events, seed)
        before = result.points[-1] if result.points else None
        result.points.append(_Point(workload, EngineRival(ours), effort, before).result(rivals()))
        gc.collect()
    return result


class _Point:
    """One point under way."""

    def __init__(
        self, workload: AnyWorkload, ours: EngineRival, effort: Effort, before: SizeResult | None
    ) -> None:
        self._workload = workload
        self._ours = ours
        self._effort = effort
        self._before = before
        self._load_s: dict[str, float] = {}
        self._events: dict[str, int] = {}
        self._samples: dict[str, list[float]] = {}

    def result(self, rivals: Iterable[Rival]) -> SizeResult:
        workload = self._workload
        self._load(self._ours)
        counts = self._ours.matches_per_event(workload.event_count)
        point = SizeResult(
            workload.subscriptions, workload.clauses, workload.event_count, int(counts.sum())
        )
        self._events[self._ours.name] = workload.event_count
        playing: list[Rival] = [self._ours]
        for rival in rivals:
            try:
                self._admit(rival)
            except LeftOutError as error:
                point.left_out[rival.name] = str(error)
                rival.close()
            else:
                playing.append(rival)
        self._play(playing, counts, point)
        for rival in playing:
            if samples := self._samples.get(rival.name):
                point.rivals[_name(rival, self._ours)] = self._measured(rival, counts, samples)
            rival.close()
        return point

    def _measured(self, rival: Rival, counts: np.ndarray, samples: list[float]) -> RivalResult:
        events = self._events[rival.name]
        return RivalResult.of(
            events=events,
            matches=int(counts[:events].sum()),
            load_s=self._load_s[rival.name],
            match_s=samples,
            bytes=rival.bytes_held(),
        )

    def _admit(self, rival: Rival) -> None:
        """Load a rival and find how many events it can match in a round."""
        self._refuse_what_takes_too_long(rival.name)
        self._load(rival)
        every = self._workload.event_count
        if isinstance(rival, Yardstick):
            self._events[rival.name] = every
            return
        # A join has work to do before its first event: a longer trial, and a larger batch.
        is_join = isinstance(rival, DuckdbRival)
        trial = max(1, every // 20) if is_join else 1
        per_event = rival.match(trial).seconds / trial
        budget = self._effort.round_budget_s * (JOIN_BUDGETS if is_join else 1)
        affordable = int(budget / max(per_event, 1e-9))
        self._events[rival.name] = min(every, max(trial, affordable))

    def _refuse_what_takes_too_long(self, name: str) -> None:
        size = self._workload.subscriptions
        if name not in PAPER_RIVALS or NEEDED.get((self._workload.family, name)) == size:
            return
        before = self._before
        known = before.rivals.get(name) if before else None
        each = known.load_s / before.subscriptions if known and before else PAPER_LOAD_S
        if size * each > self._effort.load_limit_s:
            raise LeftOutError(
                "a Python object for everything: loading would take longer than "
                f"{self._effort.load_limit_s:g} s"
            )

    def _load(self, rival: Rival) -> None:
        seconds, _ = timed_on_the_clock(lambda: rival.load(self._workload))
        self._load_s[rival.name] = seconds

    def _play(self, playing: list[Rival], counts: np.ndarray, point: SizeResult) -> None:
        rounds = dict.fromkeys((rival.name for rival in playing), self._effort.rounds)
        for number in range(self._effort.rounds):
            for rival in in_turn(playing, number):
                if number >= rounds[rival.name]:
                    continue
                events = self._events[rival.name]
                try:
                    seconds, matches = rival.match(events)
                except LeftOutError as error:
                    point.left_out[rival.name] = str(error)
                    rounds[rival.name] = 0
                    continue
                self._samples.setdefault(rival.name, []).append(seconds)
                if seconds > 10 * self._effort.round_budget_s and rival is not self._ours:
                    rounds[rival.name] = min(FEW_ROUNDS, rounds[rival.name])
                expected = int(counts[:events].sum())
                if matches != expected:
                    point.wrong[rival.name] = f"found {matches:,} matches and we {expected:,}"


def _name(rival: Rival, ours: EngineRival) -> str:
    return OURS if rival is ours else rival.name
