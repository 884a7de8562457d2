"""The runner for subscriptions that change: every way of changing them, window by window.

The ways are those of the paper on the poset (unsubscribe and subscribe; change, VS; windows, VSS)
and windows on ``columnar``. Each has a matcher of its own. They take turns at every window, so
that a slow moment of the machine falls to all of them, and match the same events after it, with the
same answers.

The time of a change is that of its operations with what relinking they do. What is still waiting
at the end is relinked then, and the time of that is kept too (``settle_us``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import process_time
from typing import Final, NamedTuple

from bench.measuring.timing import collector_off, in_turn
from bench.papers.quantities import STRUCTURE
from bench.papers.results import ExperimentResult, MatcherResult, PointResult
from bench.papers.workloads.vector_subscriptions import ChangeExperiment, Stage
from predicast.matching import Matcher, make_matcher
from predicast.matching.delta import Delta
from predicast.matching.poset.poset import Poset
from predicast.model import Event, Subscription
from predicast.model.outline import outlined


def _twice(matcher: Matcher, window: Mapping[int, Subscription]) -> None:
    for key, subscription in window.items():
        matcher.unsubscribe(key)
        matcher.subscribe(key, subscription)


def _one_by_one(matcher: Matcher, window: Mapping[int, Subscription]) -> None:
    for key, subscription in window.items():
        matcher.change(key, subscription)


def _together(matcher: Matcher, window: Mapping[int, Subscription]) -> None:
    changed = [(key, outlined(subscription)) for key, subscription in window.items()]
    matcher.apply(Delta(changed=changed), window.__getitem__)


class Way(NamedTuple):
    """A matcher, and what it is asked to do with a window."""

    matcher: str
    run: Callable[[Matcher, Mapping[int, Subscription]], None]


WAYS: Final = {
    "unsub/sub": Way("poset", _twice),
    "VS": Way("poset", _one_by_one),
    "VSS": Way("poset", _together),
    "columnar": Way("columnar", _together),
}
_COUNTED: Final = (*STRUCTURE, "relinked", "in_place", "restructured", "shared")


class WaysDisagreeError(Exception):
    """Two ways of changing subscriptions led to different matches."""


class _Contestant:
    """One way under way: its matcher, and what the current point has cost so far."""

    def __init__(self, name: str, experiment: ChangeExperiment) -> None:
        self.way = WAYS[name]
        self.matcher = make_matcher(self.way.matcher)
        for key, subscription in enumerate(experiment.start()):
            self.matcher.subscribe(key, subscription)
        self.matcher.match_batch([Event({})])  # what is built at first use is not charged
        self.before = self._statistics()
        self.change_s = 0.0
        self.match_s = 0.0

    def change(self, window: Mapping[int, Subscription]) -> None:
        start = process_time()
        self.way.run(self.matcher, window)
        self.change_s += process_time() - start

    def match(self, events: Sequence[Event]) -> list[list[int]]:
        start = process_time()
        found = self.matcher.match_batch(events)
        self.match_s += process_time() - start
        return [sorted(keys) for keys in found]

    def settled(self) -> tuple[dict[str, int], dict[str, int]]:
        """What is held, and the work done since the start."""
        after = self._statistics()
        counted: tuple[str, ...] = (*_COUNTED, "events")
        work = {name: after[name] - self.before[name] for name in counted if name in after}
        return {name: value for name, value in after.items() if name not in _COUNTED}, work

    def settle_us(self) -> int:
        """How long it takes to relink all that wait."""
        if not isinstance(self.matcher, Poset):
            return 0
        start = process_time()
        self.matcher.relink(10**9)
        return round((process_time() - start) * 1e6)

    def _statistics(self) -> dict[str, int]:
        return self.matcher.statistics()


def run_changes(
    experiment: ChangeExperiment, repeats: int, progress: Callable[[str], None]
) -> ExperimentResult:
    """All the ways through one experiment."""
    samples: dict[tuple[int, str], list[MatcherResult]] = {}
    points: dict[int, PointResult] = {}
    for _ in range(repeats):
        contestants: dict[str, _Contestant] = {}
        for position, stage in enumerate(experiment.stages()):
            progress(f"{experiment.paper} {experiment.name}: {stage.x:,}")
            if position == 0 or not experiment.grows:
                contestants = {name: _Contestant(name, experiment) for name in WAYS}
            last = not experiment.grows or stage.x == experiment.values[-1]
            matches = _run_stage(stage, contestants, experiment)
            for name, contestant in contestants.items():
                held, work = contestant.settled()
                if last:
                    work["settle_us"] = contestant.settle_us()
                samples.setdefault((stage.x, name), []).append(
                    MatcherResult(contestant.change_s, contestant.match_s, [], [], held, work)
                )
            points[stage.x] = _described(experiment, stage, points, matches)
    for x, point in points.items():
        point.matchers = {name: _median(samples[x, name]) for name in WAYS}
    return ExperimentResult(
        paper=experiment.paper,
        name=experiment.name,
        title=experiment.title,
        x_label=experiment.x_label,
        points=list(points.values()),
        stopped={},
    )


def _run_stage(
    stage: Stage, contestants: dict[str, _Contestant], experiment: ChangeExperiment
) -> int:
    """Every window by every contestant; how many matches there were."""
    matches = 0
    names = list(contestants)
    with collector_off():
        for number, (window, events) in enumerate(zip(stage.windows, stage.events, strict=True)):
            found: dict[str, list[list[int]]] = {}
            for name in in_turn(names, number):
                contestants[name].change(window)
                found[name] = contestants[name].match(events)
            for name in names[1:]:
                if found[name] != found[names[0]]:
                    raise WaysDisagreeError(
                        f"{experiment.name}, {stage.x:,}: after window {number}, {names[0]} and "
                        f"{name} match differently"
                    )
            matches += sum(map(len, found[names[0]]))
    return matches


def _described(
    experiment: ChangeExperiment, stage: Stage, points: dict[int, PointResult], matches: int
) -> PointResult:
    """The point; where the experiment grows, with what came before it."""
    earlier = [point for x, point in points.items() if experiment.grows and x < stage.x]
    before = earlier[-1] if earlier else None
    events = [event for some in stage.events for event in some]
    return PointResult(
        x=stage.x,
        subscriptions=experiment.load.subscriptions,
        inserted=stage.changes + (before.inserted if before else 0),
        events=len(events) + (before.events if before else 0),
        matches=matches + (before.matches if before else 0),
        attributes=sum(map(len, events)),
        distinct_attributes=sum(map(len, events)),
        matchers={},
    )


def _median(samples: Sequence[MatcherResult]) -> MatcherResult:
    """The median times; counts are the same every time, but for the time to settle."""
    change = [each.insert_median_s for each in samples]
    match = [each.match_median_s for each in samples]
    work = Counter(samples[0].work)
    if "settle_us" in work:
        work["settle_us"] = round(median(each.work["settle_us"] for each in samples))
    return MatcherResult(median(change), median(match), change, match, samples[0].held, dict(work))
